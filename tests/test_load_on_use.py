"""Packages load their modules when they are first used."""

import subprocess
import sys
from pathlib import Path

import pytest

import leftoff.threads
from leftoff.load_on_use import import_without, load_on_use, module_on_use

LAZY = ("leftoff.hooks", "leftoff.knowledge", "leftoff.session", "leftoff.threads")


@pytest.mark.parametrize(
    ("package", "name"),
    [
        ("leftoff.hooks", "after_compaction"),
        ("leftoff.knowledge", "features"),
        ("leftoff.knowledge", "memory"),
        ("leftoff.knowledge", "reflect"),
        ("leftoff.redact", "redact"),
        ("leftoff.session", "capture"),
        ("leftoff.store", "adoption"),
        ("leftoff.threads", "persist"),
    ],
)
def test_what_somebody_asks_for_is_loaded(package: str, name: str) -> None:
    """In a process of its own: here another test may have loaded it already."""
    program = f"import {package} as package; assert package.{name}"

    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("package", LAZY)
def test_importing_the_package_loads_none_of_its_modules(package: str) -> None:
    program = (
        f"import sys, {package}; print([n for n in sys.modules if n.startswith('{package}.')])"
    )

    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)

    assert done.stdout.strip() == b"[]"


@pytest.mark.parametrize("name", ["nothing", "_private", "__path_of__"])
def test_a_name_that_is_not_a_module_is_an_attribute_error(name: str) -> None:
    with pytest.raises(AttributeError, match=name):
        getattr(leftoff.threads, name)


def test_a_module_that_cannot_be_loaded_says_why(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    with open(f"{tmp_path}/broken.py", "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write("import no_such_module_anywhere\n")
    monkeypatch.setitem(sys.modules, "pack", type(sys)("pack"))
    sys.modules["pack"].__path__ = [str(tmp_path)]

    with pytest.raises(ModuleNotFoundError, match="no_such_module_anywhere"):
        load_on_use("pack")("broken")


def test_a_module_in_a_registry_is_loaded_by_its_first_use(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    with open(f"{tmp_path}/registered.py", "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write("NAME = 'first'\n")
    stand_in = module_on_use("registered")
    assert "registered" not in sys.modules

    assert stand_in.NAME == "first"
    monkeypatch.setattr(sys.modules["registered"], "NAME", "second")
    assert stand_in.NAME == "second"
    with pytest.raises(AttributeError, match="nothing"):
        _ = stand_in.nothing


@pytest.mark.parametrize("registry", ["agents.dialects", "agents.registry"])
def test_importing_a_registry_loads_no_agent(registry: str) -> None:
    agents = ("claude", "codex", "gemini", "opencode", "copilot", "cursor")
    program = (
        f"import sys, leftoff.{registry}; print([each for each in {agents} "
        "if f'leftoff.agents.{each}' in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)

    assert done.stdout.strip() == b"[]"


@pytest.mark.parametrize("uses", ["", "needless.NAME", "needless.GIVEN"])
def test_a_needless_import_waits_for_its_first_use(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch, uses: str
) -> None:
    """Also if the importing module uses it at once."""
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("needless", "wasteful"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    with open(f"{tmp_path}/needless.py", "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write("NAME = 'loaded'\nGIVEN = 'loaded'\n")
    with open(f"{tmp_path}/wasteful.py", "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write(f"import needless\nFOUND = {uses or None}\ndef use(): return needless.NAME\n")
    import_without("wasteful", "needless", GIVEN="given")

    wasteful = sys.modules["wasteful"]
    assert ("needless" in sys.modules) is (uses == "needless.NAME")
    assert {"needless.NAME": "loaded", "needless.GIVEN": "given"}.get(uses) == wasteful.FOUND
    assert wasteful.use() == "loaded"
    assert type(sys.modules["needless"]) is type(sys)


def test_a_name_imported_from_a_needless_module_does_not_load_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "unneeded.py").write_text("GIVEN = 'loaded'\n")
    (tmp_path / "eager.py").write_text("from unneeded import GIVEN as FOUND\n")
    import_without("eager", "unneeded", GIVEN="given")

    assert sys.modules["eager"].FOUND == "given"
    assert "unneeded" not in sys.modules
