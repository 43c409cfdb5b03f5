# Everything here needs only python3 (3.11 or later), make and git. The rest goes to .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Named after the folder, since an environment that was moved or copied no longer works.
READY := $(VENV)/ready-$(shell pwd | cksum | cut -d' ' -f1)
GATED := checkpoint.py store/* restore.py profiles/* profiles/*/*
SESSIONS ?=
MINUTES ?= 2

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Programs behave as they do for a user who has set none of these.
unexport PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONPATH PYTHONHOME

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint bench fuzz fidelity accept picture clean

help: ## Show what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

setup: $(READY) ## Make the environment in .venv (every other target does so by itself)

$(READY): pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || \
	  { echo "leftoff needs Python 3.11 or later, and there is no $(PYTHON) on the PATH."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "leftoff needs Python 3.11 or later; name one with: make PYTHON=python3.12 …"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "This Python cannot make environments; on Debian and Ubuntu: apt install python3-venv"; exit 1; }
	@echo "Setting up .venv (once; about a minute) …"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -qq -c constraints.txt pip
	@$(BIN)/python -m pip install -qq -c constraints.txt --group dev -e .
	@rm -f $(VENV)/ready-* && touch $@

demo: $(READY) ## Play the story: a session is killed, the next one is told where it left off
	@$(BIN)/python scripts/demo.py

test: $(READY) ## Run all tests, with coverage and its gate
	@$(BIN)/python -m coverage erase
	@$(BIN)/python -m pytest -n auto --cov --cov-report= $(ARGS)
	@for part in $(foreach part,$(GATED),'$(part)'); do \
	  $(BIN)/python -m coverage report --include="src/leftoff/$$part" --fail-under=95 || exit 1; \
	done

lint: $(READY) ## Check style, format, types and the direction of imports
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy
	$(BIN)/lint-imports

bench: $(READY) ## Measure, and print each figure beside its limit
	@$(BIN)/python -m bench $(ARGS)

fuzz: $(READY) ## Feed garbage to what parses: make fuzz ARGS=redaction MINUTES=10
	@$(BIN)/python scripts/fuzz.py $(ARGS) --minutes $(MINUTES)

fidelity: $(READY) ## Score captures: make fidelity SESSIONS=folder
	@test -n "$(SESSIONS)" || { echo "Name a folder of sessions: make fidelity SESSIONS=folder"; exit 2; }
	@$(BIN)/python scripts/fidelity.py "$(SESSIONS)" $(ARGS)

accept: $(READY) ## Show which tests hold each row of docs/acceptance.md, and run them
	@$(BIN)/python scripts/accept.py
	@$(BIN)/python -m pytest -n auto -m accept $(ARGS)

picture: $(READY) ## Draw the README's picture anew from real output
	@$(BIN)/python scripts/picture.py

clean: ## Remove the environment and everything that was made
	rm -rf $(VENV) .cache dist .coverage .coverage.* .hypothesis .mypy_cache .pytest_cache \
	  .ruff_cache .import_linter_cache
	find src tests scripts bench -name __pycache__ -type d -prune -exec rm -rf {} +
