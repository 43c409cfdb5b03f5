import os
import subprocess
from pathlib import Path

import pytest

from leftoff.git.safe_directories import is_safe


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[safe]\n\tdirectory = *\n", True),
        ("[safe]\n\tdirectory = {folder}\n", True),
        ('[safe]\n\tdirectory = "{folder}" ; mine\n', True),
        ("[Safe] Directory = {folder} # mine\n", True),
        ("[safe]\n\tdirectory = {folder}/\n", True),
        ("[safe]\n\tdirectory = {parent}/*\n", True),
        ("[safe]\n\tdirectory = ~/repo\n", True),
        ("[safe]\n\tdirectory = {folder}\n\tdirectory =\n", False),
        ("[safe]\n\tdirectory =\n\tdirectory = {folder}\n", True),
        ("[safe]\n\tdirectory = {folder}/deeper\n", False),
        ("[safe]\n\tdirectory = {parent}\n", False),
        ("[safe]\n\tdirectory = repo\n", False),
        ("[user]\n\tdirectory = *\n", False),
        ("[safe]\n\tbareRepository = all\n[core]\n\teditor = directory = *\n", False),
        ("# [safe]\n# directory = *\n", False),
        ("", False),
        ("\x00[[[", False),
    ],
)
def test_the_user_s_own_settings_say_what_is_safe(
    tmp_path: Path, text: str, *, expected: bool
) -> None:
    folder = tmp_path / "repo"
    folder.mkdir()
    settings = tmp_path / "gitconfig"
    settings.write_text(text.format(folder=folder, parent=tmp_path), encoding="utf-8")

    assert is_safe(folder, [settings], tmp_path) == expected


def test_settings_may_be_in_an_included_file(tmp_path: Path) -> None:
    (tmp_path / "more").write_text(f"[safe]\n\tdirectory = {tmp_path}\n", encoding="utf-8")
    settings = tmp_path / "gitconfig"
    settings.write_text("[include]\n\tpath = more\n\tpath = gitconfig\n", encoding="utf-8")

    assert is_safe(tmp_path, [settings], tmp_path)


def test_a_file_as_git_writes_it_is_understood(tmp_path: Path) -> None:
    settings, folder = tmp_path / "gitconfig", tmp_path / 'odd "name" #1'
    folder.mkdir()
    command = ["git", "config", "--file", os.fspath(settings), "safe.directory", os.fspath(folder)]
    subprocess.run(command, check=True)

    assert is_safe(folder, [settings], tmp_path)


def test_odd_files_neither_hang_nor_count(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")

    assert not is_safe(tmp_path, [tmp_path / "fifo", tmp_path, tmp_path / "gone"], tmp_path)
