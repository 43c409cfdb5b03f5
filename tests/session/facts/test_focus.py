"""The files that are needed next come first."""

import pytest

from leftoff.agents.stream import (
    AssistantText,
    Place,
    PlanSeen,
    SessionEvent,
    TodoItem,
    TodoList,
    ToolCall,
    ToolResult,
    UserText,
)
from leftoff.session.facts.fold import Fold
from leftoff.session.facts.report import report


def ranked(*events: SessionEvent) -> list[str]:
    fold = Fold()
    fold.add([Place(cwd="/u/r"), *events])
    return report(fold.export()).ranked_files


def use(kind: str, path: str) -> list[SessionEvent]:
    call = ToolCall(id=path, tool=kind, kind="edit" if kind == "Edit" else "read", paths=(path,))
    return [call, ToolResult(id=path, ok=True)]


def shown(output: str) -> list[SessionEvent]:
    call = ToolCall(id=output, tool="Bash", kind="run", command="git status")
    return [call, ToolResult(id=output, ok=True, output=output)]


def test_the_file_used_last_comes_before_those_used_long_ago() -> None:
    events = [event for n in range(30) for event in use("Read", f"/u/r/f{n}.py")]

    assert ranked(*events)[0] == "f29.py"


def test_the_file_in_flight_comes_first() -> None:
    open_call = ToolCall(id="x", tool="Edit", kind="edit", paths=("/u/r/b.py",))

    assert ranked(*use("Edit", "/u/r/a.py"), open_call)[0] == "b.py"


def test_a_todo_in_work_lifts_the_file_it_names() -> None:
    todos = TodoList(items=(TodoItem(text="Mend b.py", status="in_progress"),))
    reads = [event for name in "abcdefgh" for event in use("Read", f"/u/r/{name}.py")]

    assert ranked(*reads, todos)[0] == "b.py"


def test_files_named_in_plan_request_answer_and_output_are_candidates() -> None:
    found = ranked(
        PlanSeen(text="# P\n\nchange `src/plan.py`"),
        UserText(text="begin with src/request.py please"),
        AssistantText(text="I look at src/answer.py"),
        *shown(" M src/output.py"),
    )

    assert set(found) == {"src/plan.py", "src/request.py", "src/answer.py", "src/output.py"}


def test_a_bare_name_means_the_known_file_of_that_name() -> None:
    found = ranked(*use("Read", "/u/r/src/deep/a.py"), UserText(text="now change a.py, will you"))

    assert found == ["src/deep/a.py"]


def test_the_sides_of_a_diff_are_not_folders() -> None:
    assert ranked(*shown("--- a/src/x.py\n+++ b/src/x.py")) == ["src/x.py"]


def test_files_outside_the_roots_are_shown_only_if_used() -> None:
    assert ranked(*shown("/etc/hosts and /opt/x/y.conf")) == []
    assert ranked(*use("Read", "/opt/x/y.conf")) == ["/opt/x/y.conf"]


@pytest.mark.parametrize(
    "noise",
    [
        "see vercel/next.js for that",
        "github.com/acme/cli/cmd/build.Version",
        "config.yaml/other.config",
        "s/Render(a/b.Context)/x.go",
    ],
)
def test_what_only_looks_like_a_path_is_not_a_file(noise: str) -> None:
    assert ranked(*use("Read", "/u/r/src/a.py"), UserText(text=noise)) == ["src/a.py"]


def test_folders_and_vendored_files_are_left_out_unless_edited() -> None:
    read = [*use("Read", "/u/r/src/a.py"), *use("Read", "/u/r/node_modules/x/i.js")]

    assert ranked(*read, *use("Grep", "/u/r/src")) == ["src/a.py"]
    assert "vendor/x.go" in ranked(*read, *use("Edit", "/u/r/vendor/x.go"))


def test_files_without_a_suffix_and_files_in_a_commit_are_found() -> None:
    assert ranked(*shown("docker/Containerfile")) == ["docker/Containerfile"]
    call = ToolCall(id="1", tool="Bash", kind="run", command="git show HEAD~1:src/old.py")
    assert ranked(call, ToolResult(id="1", ok=True)) == ["src/old.py"]


def test_a_folder_is_not_a_file_whatever_its_name() -> None:
    search = ToolCall(id="1", tool="Grep", kind="search", paths=("/u/r/docs",))
    looked = [search, ToolResult(id="1", ok=True)]

    assert ranked(*use("Read", "/u/r/.ci/a.yml"), *shown(".ci .ci/a.yml"), *looked) == [".ci/a.yml"]


def test_a_shortened_path_is_not_a_file() -> None:
    assert ranked(*use("Read", "/u/r/src/a.py"), UserText(text="in .../b.py")) == ["src/a.py"]


@pytest.mark.parametrize(
    ("command", "new"),
    [
        ("mv docker/Dockerfile docker/Containerfile", "docker/Containerfile"),
        ("git mv docker/Dockerfile docker/old/ && git status", "docker/old/Dockerfile"),
    ],
)
def test_a_file_is_known_by_its_new_name(command: str, new: str) -> None:
    call = ToolCall(id="1", tool="Bash", kind="run", command=command)
    moved = [*use("Edit", "/u/r/docker/Dockerfile"), call, ToolResult(id="1", ok=True)]
    later = [event for n in range(9) for event in use("Read", f"/u/r/{n}.py")]

    assert new in ranked(*moved, *later)


def test_a_file_is_listed_once_where_the_folder_is_not_known() -> None:
    fold = Fold()
    fold.add([*use("Edit", "a.txt"), *use("Read", "/home/ada/notes/a.txt")])

    assert report(fold.export()).ranked_files == ["a.txt"]


def test_a_file_that_the_request_names_is_needed_even_if_nobody_opened_it() -> None:
    asked = UserText(text="add a line to notes.txt, we use Next.js and github.com")

    assert ranked(asked) == ["notes.txt"]


def test_colours_are_no_part_of_a_path() -> None:
    assert ranked(*shown("\x1b[33msrc/a.ts\x1b[0m changed")) == ["src/a.ts"]
