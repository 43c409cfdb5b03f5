# Everything here needs only python3 (3.11 or later), make and git. The rest goes to .venv.
# `make test PYTHON=python3.13` uses that Python instead, in an environment of its own: .venv-3.13.

PYTHON ?= python3
# The version and prefix of that Python, such as `3.13 /usr`. Empty if it does not run.
ABOUT := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2], sys.base_prefix)' 2>/dev/null)
VENV := .venv$(if $(filter-out python3,$(PYTHON)),-$(firstword $(ABOUT)))
BIN := $(VENV)/bin
# The name depends on the folder and the Python: an environment stops working when it is moved, and
# one made with another Python is the wrong one.
READY := $(VENV)/ready-$(shell echo "$$(pwd) $(ABOUT)" | cksum | cut -d' ' -f1)
# These tests cover what differs between Pythons: SQLite, JSON, regular expressions, processes.
# `make distcheck` runs a hook and a command on each of them, too.
COMPAT := tests/store/test_store.py tests/store/test_index.py tests/store/test_disk.py \
  tests/store/test_model.py tests/knowledge/memory/test_api.py tests/knowledge/memory/test_model.py \
  tests/knowledge/features/test_board_files.py tests/agents/test_copilot.py tests/agents/test_opencode.py \
  tests/test_checkpoint.py tests/git/test_query.py tests/test_redact.py tests/test_pythons.py \
  tests/wiring/test_json_edit.py tests/hooks/test_answer.py tests/hooks/test_settle.py \
  tests/cli/test_save.py tests/cli/test_list.py tests/cli/test_memory.py tests/cli/test_search.py \
  tests/cli/test_error_handler.py
# The tests here that are not slow must cover the gated parts. Measuring makes tests half as slow
# again, so all others run without it. tests/conftest.py marks what is measured.
MEASURED := tests/store tests/profiles tests/threads tests/projects tests/cli/test_clear.py \
  tests/test_checkpoint.py
GATED := checkpoint.py store/* threads/check_claims.py profiles/* profiles/*/*
# The real agents and their terminals mostly wait, so two more processes than there are processors.
WORKERS := $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 2)))
SESSIONS ?=
MINUTES ?= 2
VERSION ?=

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Programs must behave as they do for a user who has set none of these.
unexport PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONPATH PYTHONHOME

.DEFAULT_GOAL := help
.PHONY: help setup demo quick test compat lint bench shape fuzz fidelity accept picture man console plugin dist distcheck release clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

setup: $(READY) ## Create the environment (other targets do this if it is missing)

$(READY): pyproject.toml constraints.txt
	@test -n "$(ABOUT)" || \
	  { echo "leftoff needs Python 3.11 or later, but $(PYTHON) is missing or does not run."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "leftoff needs Python 3.11 or later. Name one with: make PYTHON=python3.12 …"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "This Python cannot create environments. On Debian and Ubuntu, run: apt install python3-venv"; exit 1; }
	@echo "Setting up $(VENV) (once; about a minute) …"
	@test -e $@ || $(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install -qq -c constraints.txt pip
	@$(BIN)/python -m pip install -qq -c constraints.txt --group dev -e '.[ui]'
	@touch $@

demo: $(READY) ## Run the demo (UI=1 opens its web page at the end)
	@UI="$(UI)" $(BIN)/python scripts/demo.py

quick: $(READY) ## Run the everyday tests, without the slow ones
	@$(BIN)/python -m pytest -q -n auto --dist worksteal -m "not slow" --hypothesis-profile=quick $(ARGS)

test: $(READY) ## Run all tests and check coverage
	@$(BIN)/python -m coverage erase
	@$(BIN)/python -m pytest -n auto --dist worksteal --cov --cov-report= -m measured $(MEASURED) $(ARGS)
	@for part in $(foreach part,$(GATED),'$(part)'); do \
	  $(BIN)/python -m coverage report --include="src/leftoff/$$part" --fail-under=95 || exit 1; \
	done
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not measured" tests $(ARGS)

compat: $(READY) ## Run a short set of tests: make compat PYTHON=python3.13
	@$(BIN)/python -m pytest -q -n auto --dist worksteal --hypothesis-profile=quick $(COMPAT) $(ARGS)

lint: $(READY) ## Check style, format, types and imports
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy
	$(BIN)/lint-imports

bench: $(READY) ## Measure speed and memory against limits
	@$(BIN)/python -m bench $(ARGS)

shape: $(READY) ## Measure the shape of the code
	@$(BIN)/python scripts/shape.py $(ARGS)

fuzz: $(READY) ## Fuzz the parsers: make fuzz ARGS=redaction MINUTES=10
	@$(BIN)/python scripts/fuzz.py $(ARGS) --minutes $(MINUTES)

fidelity: $(READY) ## Score captures: make fidelity SESSIONS=folder
	@test -n "$(SESSIONS)" || { echo "Name a folder of sessions: make fidelity SESSIONS=folder"; exit 2; }
	@$(BIN)/python scripts/fidelity.py "$(SESSIONS)" $(ARGS)

accept: $(READY) ## List and run the tests for docs/acceptance.md and docs/conformance
	@$(BIN)/python scripts/accept.py
	@$(BIN)/python -m pytest -n auto --dist worksteal -m "accept or promise" $(ARGS)

picture: $(READY) ## Redraw the README's pictures from real output
	@$(BIN)/python scripts/picture.py
	@$(BIN)/python scripts/ui_pictures.py

man: $(READY) ## Write the man pages from the help of the commands
	@$(BIN)/python scripts/man.py

console: $(READY) ## Update the console blocks of the docs from real output
	@$(BIN)/python scripts/console.py

plugin: $(READY) ## Update the plugin from the package
	@$(BIN)/python scripts/plugin.py

dist: $(READY) ## Build the sdist and the wheel, twice, and compare
	@$(BIN)/python scripts/dist.py build

distcheck: dist ## Test the wheel with every Python that is here
	@$(BIN)/python scripts/dist.py check $(PYTHON) $$(PYTHON=$(PYTHON) .ci/pythons)

release: $(READY) ## Set the version and date the changelog: make release VERSION=0.2.0
	@$(BIN)/python scripts/release.py "$(VERSION)"

clean: ## Remove the environment and all generated files
	rm -rf .venv .venv-3.* .cache dist .coverage .coverage.* .hypothesis .mypy_cache .pytest_cache \
	  .ruff_cache .import_linter_cache
	find src tests scripts bench -name __pycache__ -type d -prune -exec rm -rf {} +
