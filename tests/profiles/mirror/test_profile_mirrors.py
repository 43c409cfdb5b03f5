"""Without a profile, mirrors do and import nothing, but have the same functions."""

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from leftoff.context import find_project
from leftoff.profiles.mirror import Exported, ImportedEdits, Mirrors, open_mirrors
from leftoff.profiles.mirror.profile_mirrors import ProfileMirrors
from leftoff.store import Store
from stores import draft

METHODS = [name for name, _ in inspect.getmembers(Mirrors, inspect.isfunction)]


def test_without_a_profile_nothing_that_writes_native_files_is_loaded() -> None:
    program = """
import sys
from leftoff.profiles.mirror import open_mirrors
open_mirrors([]).export_changes(None)
print([name for name in sys.modules if name.startswith("leftoff.profiles.mirror.")])
"""
    command = [sys.executable, "-c", program]

    done = subprocess.run(command, capture_output=True, check=True, text=True)

    assert done.stdout == "[]\n"


@pytest.mark.parametrize("name", METHODS)
def test_mirrors_of_profiles_answer_each_question_in_the_same_form(name: str) -> None:
    null, real = getattr(Mirrors, name), getattr(ProfileMirrors, name)

    assert real is not null
    assert [*inspect.signature(real).parameters] == [*inspect.signature(null).parameters]


def test_mirrors_of_no_profile_find_and_write_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    mirrors, store = open_mirrors([]), Store(find_project(folder))
    with mirrors.mark_work(store.project, "save"):
        assert mirrors.find_others_at_work(store.project) == []

    assert mirrors.export_changes(store) == Exported()
    assert mirrors.import_edits(store) == ImportedEdits()
    assert (mirrors.read_notes(store), mirrors.find_waiting(store)) == ({}, [])
    assert (mirrors.find_shown(store), mirrors.find_path(store, "id")) == ({}, None)
    assert (mirrors.keep_notes(), mirrors.use_sentinels()) == (False, False)
    assert mirrors.find_task(draft("csv-export")) == "csv-export"
    store.close()
    assert [*folder.iterdir()] == []
