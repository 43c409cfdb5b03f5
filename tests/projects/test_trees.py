import os
from pathlib import Path

import pytest

from leftoff.projects.project import guard, leads_out, open_file, read_start


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Make a guarded tree with links of all kinds."""
    root = tmp_path / "tree"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "file").write_text("inside", encoding="utf-8")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "file").write_text("outside", encoding="utf-8")
    links = {"near": "sub", "far": "../out", "alias": "sub/file", "leak": "../out/file"}
    for name, target in links.items():
        (root / name).symlink_to(target)
    # A name that begins like the tree's is not in it.
    (tmp_path / "tree-two").symlink_to("out")
    guard(root)
    return root


@pytest.mark.parametrize("path", ["sub/file", "near/file", "sub/../sub/file"])
def test_a_file_inside_is_read(tree: Path, path: str) -> None:
    assert read_start(tree / path, 100) == b"inside"
    assert read_start(tree / path, 2) == b"in"


@pytest.mark.parametrize("path", ["far/file", "leak", "near/../far/file"])
@pytest.mark.parametrize("follow", [False, True])
def test_no_link_leads_out(tree: Path, path: str, *, follow: bool) -> None:
    with pytest.raises(OSError, match="link"):
        read_start(tree / path, 100, follow=follow)
    assert leads_out(tree / path)


def test_a_link_to_a_file_of_the_same_tree_is_followed_on_demand(tree: Path) -> None:
    assert read_start(tree / "alias", 100, follow=True) == b"inside"
    with pytest.raises(OSError, match="not a regular file"):
        read_start(tree / "alias", 100)


def test_elsewhere_links_are_the_user_s_own(tree: Path) -> None:
    assert read_start(tree.parent / "tree-two" / "file", 100) == b"outside"


def test_what_will_be_there_is_judged_by_the_folders_that_are(tree: Path) -> None:
    assert not leads_out(tree / "new" / "file")
    assert leads_out(tree / "far" / "new" / "file")


def test_of_a_tree_within_a_tree_the_inner_one_counts(tree: Path) -> None:
    guard(tree / "sub")
    (tree / "other").mkdir()
    (tree / "sub" / "up").symlink_to("../other")

    assert leads_out(tree / "sub" / "up" / "file")


@pytest.mark.parametrize("kind", ["fifo", "folder", "device", "gone"])
def test_whatever_is_not_a_regular_file_neither_hangs_nor_is_read(tree: Path, kind: str) -> None:
    path = tree / "odd"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        path = Path("/dev/zero")

    with pytest.raises(OSError, match=r"regular|No such"):
        open_file(path, follow=True)
