import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff.agents.patches import command_paths, join_path, list_patched_paths

PATHS = st.from_regex(r"[A-Za-z0-9_./ -]{0,20}[A-Za-z0-9_]", fullmatch=True).filter(
    lambda path: path == path.strip()
)
VERBS = st.sampled_from(("Add File", "Update File", "Delete File", "Move to"))


def envelope(*headings: str) -> str:
    body = "".join(f"*** {heading}\n@@\n-a\n+*** b\n" for heading in headings)
    return f"*** Begin Patch\n{body}*** End Patch\n"


@given(st.lists(st.tuples(VERBS, PATHS), max_size=5))
def test_every_file_of_a_patch_is_named_once_in_order(files: list[tuple[str, str]]) -> None:
    patch = envelope(*(f"{verb}: {path}" for verb, path in files))

    wanted = tuple(dict.fromkeys(path for _, path in files))
    assert list_patched_paths(patch) == wanted
    assert list_patched_paths(patch.replace("\n", "\r\n")) == wanted
    assert list_patched_paths(json.dumps(patch)) == wanted


def test_text_that_is_not_a_patch_names_nothing() -> None:
    assert list_patched_paths("*** Update File: a.py\n") == ()


@pytest.mark.parametrize(
    ("command", "folder", "path"),
    [
        ("apply_patch <<'EOF'\n{}EOF", "", "a.py"),
        ("apply_patch <<'EOF'\n{}EOF", "/repo", "/repo/a.py"),
        ("cd sub && apply_patch <<'EOF'\n{}EOF", "/repo", "/repo/sub/a.py"),
        ("cd '/other repo'; applypatch <<EOF\n{}EOF", "/repo", "/other repo/a.py"),
    ],
)
def test_a_command_patches_files_where_it_runs(command: str, folder: str, path: str) -> None:
    assert command_paths(command.format(envelope("Add File: a.py")), folder) == (path,)


def test_a_patch_that_is_only_shown_changes_nothing() -> None:
    assert command_paths(f"cat <<'EOF'\n{envelope('Add File: a.py')}EOF") == ()


@pytest.mark.parametrize(
    ("folder", "path", "whole"),
    [
        ("/repo/", "a.py", "/repo/a.py"),
        ("/repo", "/a.py", "/a.py"),
        ("/repo", "~/a.py", "~/a.py"),
        ("C:\\repo", "src\\a.py", "C:\\repo\\src\\a.py"),
        ("C:\\repo", "D:\\a.py", "D:\\a.py"),
        ("", "a.py", "a.py"),
    ],
)
def test_a_relative_path_is_put_under_its_folder(folder: str, path: str, whole: str) -> None:
    assert join_path(folder, path) == whole
