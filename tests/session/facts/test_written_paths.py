"""Paths from any machine are parsed as text."""

import pytest

from leftoff.session.facts import written_paths


@pytest.mark.parametrize(
    ("path", "cwd", "expected"),
    [
        ("/r/a.py", "/r", "/r/a.py"),
        ("a.py", "/r/sub", "/r/sub/a.py"),
        ("../a.py", "/r/sub", "/r/a.py"),
        ("./a.py", "/r", "/r/a.py"),
        ("/r//x/./a.py", "/r", "/r/x/a.py"),
        ("file:///r/a.py", "/r", "/r/a.py"),
        ("'/r/a b.py'", "/r", "/r/a b.py"),
        ("d:\\r\\a.py", "D:/r", "D:/r/a.py"),
        ("sub\\a.py", "D:/r", "D:/r/sub/a.py"),
        ("/d/r/a.py", "D:/r", "D:/r/a.py"),
        ("~/a.py", "/r", "~/a.py"),
        ("a.py", "", "a.py"),
        ("", "/r", "/r"),
    ],
)
def test_a_path_is_made_absolute_with_plain_slashes(path: str, cwd: str, expected: str) -> None:
    assert written_paths.normalise(path, cwd) == expected


@pytest.mark.parametrize(
    ("cwds", "roots"),
    [
        (["/u/r", "/u/r/sub"], ["/u/r"]),
        (["/u/r/sub", "/u/r"], ["/u/r"]),
        (["/u/r", "/v/r"], ["/u/r", "/v/r"]),
        (["/u/r", "/u/rest"], ["/u/r", "/u/rest"]),
        (["/u/r", "/", "/u"], ["/u/r"]),
        (["/app", "/app/sub"], ["/app"]),
        (["/u/r", "/tmp", "/tmp/worktree"], ["/u/r", "/tmp/worktree"]),
    ],
)
def test_only_the_outermost_folders_are_roots(cwds: list[str], roots: list[str]) -> None:
    found: list[str] = []
    for cwd in cwds:
        found = written_paths.widen_roots(found, cwd)

    assert found == roots


def test_a_path_is_anchored_at_its_root() -> None:
    assert written_paths.anchor("/u/r/a.py", ["/x", "/u/r"]) == "a.py"
    assert written_paths.anchor("/elsewhere/a.py", ["/u/r"]) == "/elsewhere/a.py"


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("see `src/a.py:12` and b.ts.", ("src/a.py", "b.ts")),
        ("https://example.invalid/x/y.html is not one", ()),
        ("version 1.2.3 at 10:30 in 2/3", ()),
        ("./run.sh ../up/x.go /abs/y.rs", ("run.sh", "../up/x.go", "/abs/y.rs")),
        ("twice src/a.py src/a.py", ("src/a.py",)),
        ("route app/[id]/page.tsx", ("app/[id]/page.tsx",)),
        ("write @AGENTS.md, see @docs/a.md", ("AGENTS.md", "docs/a.md")),
        ("import @scope/name", ("@scope/name",)),
    ],
)
def test_paths_are_found_in_prose(text: str, paths: tuple[str, ...]) -> None:
    assert written_paths.paths_in(text) == paths


@pytest.mark.parametrize(
    ("path", "roots", "expected"),
    [
        ("/tmp/try.py", ["/r"], True),
        ("/private/tmp/claude-501/x/scratchpad/a.py", ["/r"], True),
        ("C:/Users/u/AppData/Local/Temp/a.ps1", ["D:/r"], True),
        ("/home/u/.claude/projects/-r/memory/MEMORY.md", ["/r"], True),
        ("/home/u/.copilot/session-state/1/plan.md", ["/r"], True),
        ("/tmp/r/a.py", ["/tmp/r"], False),
        ("/tmp/r/a.py", [], False),
        ("/home/u/.zshrc", ["/r"], False),
        ("/r/.claude/settings.json", ["/r"], False),
    ],
)
def test_what_is_temporary_or_the_agents_own_is_not_work_on_the_project(
    path: str, roots: list[str], *, expected: bool
) -> None:
    assert written_paths.is_scratch(path, roots) is expected


def test_backslashes_are_separators_on_windows_only() -> None:
    assert written_paths.paths_in("packages\\msi\\a.wxs", is_windows=True) == (
        "packages/msi/a.wxs",
    )
    assert "packages/msi/a.wxs" not in written_paths.paths_in("packages\\msi\\a.wxs")
