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


def test_a_file_that_must_stay_untouched_is_not_needed_next() -> None:
    asked = UserText(text="Add a flag to src/cli.py. Don't touch src/app.py or src/db.py.")

    assert ranked(asked, *use("Read", "/u/r/src/app.py")) == ["src/cli.py"]
    assert "src/db.py" in ranked(asked, *use("Edit", "/u/r/src/db.py"))


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


def test_a_source_file_in_a_folder_that_nobody_opened_is_one() -> None:
    words = AssistantText(text="Next I will fix tests/test_export.py.")

    assert ranked(*use("Edit", "/u/r/export.py"), words) == ["tests/test_export.py", "export.py"]


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


def test_a_request_that_names_a_file_twice_needs_it_once() -> None:
    asked = UserText(text="Lint docs/colors.mdx too; colors.mdx has six issues")

    assert ranked(asked) == ["docs/colors.mdx"]


def test_a_suffix_of_known_files_is_not_a_file() -> None:
    found = ranked(
        *use("Edit", "/u/r/packages/msi/app.wxs"), *shown("/u/r/.wxs"), *shown("/u/r/.env")
    )

    assert "packages/msi/app.wxs" in found
    assert ".wxs" not in found


def test_colours_are_not_part_of_a_path() -> None:
    assert ranked(*shown("\x1b[33msrc/a.ts\x1b[0m changed")) == ["src/a.ts"]


def removed(command: str, output: str = "", *, ok: bool = True) -> list[SessionEvent]:
    call = ToolCall(id=command, tool="Bash", kind="run", command=command)
    return [call, ToolResult(id=command, ok=ok, output=output)]


@pytest.mark.parametrize(
    "gone",
    [
        removed("rm -f old/a.py && ls"),
        removed("git rm -q -r old"),
        removed("Remove-Item old/a.py"),
        removed("git mv old new"),
        # The chain failed after its first part; git says what became of it.
        removed("git rm old/a.py && false", ok=False) + removed("git status -s", "D  old/a.py"),
        removed("git commit -m x", "[main 1234567] x\n delete mode 100644 old/a.py"),
        [
            ToolCall(
                id="p",
                tool="apply_patch",
                kind="edit",
                paths=("/u/r/old/a.py",),
                removed=("/u/r/old/a.py",),
            ),
            ToolResult(id="p", ok=True),
        ],
    ],
)
def test_a_file_that_the_session_deleted_is_not_needed_next(gone: list[SessionEvent]) -> None:
    begun = [*use("Edit", "/u/r/old/a.py"), *use("Read", "/u/r/b.py")]

    assert "old/a.py" in ranked(*begun)
    assert "old/a.py" not in ranked(*begun, *gone)
    assert "old/a.py" in ranked(*begun, *gone, *use("Edit", "/u/r/old/a.py"))


def test_a_pattern_deletes_no_file_that_leftoff_could_name() -> None:
    begun = [*use("Edit", "/u/r/old/a.py"), *removed('rm -rf "$TMP/old" build/*')]

    assert "old/a.py" in ranked(*begun)


def test_files_of_a_renamed_folder_are_known_by_their_new_names() -> None:
    found = ranked(*use("Edit", "/u/r/msi/build.ps1"), *removed("git mv msi msix"))

    assert found == ["msix/build.ps1"]


def test_the_file_that_was_opened_is_meant_and_not_another_of_its_name() -> None:
    found = ranked(*use("Edit", "/u/r__worktrees/x/src/a.py"), *shown(" M src/a.py"))

    assert found == ["/u/r__worktrees/x/src/a.py"]


def test_the_next_part_of_the_plan_comes_before_what_was_read_for_it() -> None:
    plan = PlanSeen(text="# P\n\n## 1. Parse\n`src/parse.py`\n\n## 2. Print\n`src/print.py`\n")
    read = [*use("Read", "/u/r/src/types.py"), *use("Read", "/u/r/src/util.py")]

    assert ranked(plan, *read)[0] == "src/parse.py"
    assert ranked(plan, *use("Edit", "/u/r/src/parse.py"), *read)[0] == "src/print.py"


def test_the_files_that_the_last_words_name_come_first() -> None:
    edits = [event for name in "abcdef" for event in use("Edit", f"/u/r/src/{name}.ts")]
    said = AssistantText(text="The errors are in `App.tsx`. Let me fix that so the hook passes.")

    assert ranked(*use("Read", "/u/r/web/App.tsx"), *edits, said)[0] == "web/App.tsx"


def test_a_test_is_near_the_file_that_it_tests() -> None:
    old = [*use("Read", "/u/r/src/z_test.go"), *use("Read", "/u/r/src/a_test.go")]
    later = [event for n in range(20) for event in use("Read", f"/u/r/{n}.md")]
    found = ranked(*old, *later, *use("Edit", "/u/r/src/a.go"))

    assert found.index("src/a_test.go") < found.index("src/z_test.go")


def test_the_end_of_a_path_after_a_variable_is_not_a_file() -> None:
    assert ranked(*removed('cat > "$d/main.go" && cat ${dir}/x.go')) == []


def test_a_file_whose_name_the_request_hints_at_comes_before_others() -> None:
    reads = [
        event for name in ("docker/Containerfile", "z.py") for event in use("Read", f"/u/r/{name}")
    ]
    asked = UserText(text="use the newer image for our container")

    assert ranked(*reads, asked)[0] == "docker/Containerfile"


def test_a_path_in_an_output_is_relative_to_the_folder_of_the_command() -> None:
    command = "cd packages/web && npx vitest"
    call = ToolCall(id="v", tool="Bash", kind="run", command=command)
    failed = ToolResult(id="v", ok=False, output="FAIL src/a.test.ts\nM packages/api/b.ts")

    found = ranked(*use("Read", "/u/r/packages/api/b.ts"), call, failed)

    # git names files from the root of the repository.
    assert {"packages/web/src/a.test.ts", "packages/api/b.ts"} == {*found}


def test_a_path_from_the_folder_of_a_package_is_found_beside_the_file_used_last() -> None:
    call = ToolCall(id="v", tool="Bash", kind="run", command="pnpm --filter web test")
    failed = ToolResult(id="v", ok=False, output="FAIL src/a.test.ts")
    used = [*use("Edit", "/u/r/packages/api/src/b.ts"), *use("Edit", "/u/r/packages/web/src/a.ts")]

    assert "packages/web/src/a.test.ts" in ranked(*used, call, failed)
    # Where the project has such a folder itself, that one is meant.
    assert "src/a.test.ts" in ranked(*used, *use("Read", "/u/r/src/main.ts"), call, failed)


def test_names_in_code_are_not_files() -> None:
    found = ranked(UserText(text="print pkg/buildinfo.Version in src/main.go, then os/os.Exit"))

    assert found == ["src/main.go"]


def test_folders_with_a_dot_are_not_files() -> None:
    output = "agents/.github\nweb/.agents\nweb/.gitignore\nweb/.eslintrc"

    assert {*ranked(*shown(output))} == {"web/.gitignore", "web/.eslintrc"}


def test_a_folder_may_have_one_of_the_same_name_in_it() -> None:
    fold = Fold()
    read = use("Read", "/u/docs/docs/install.md")
    fold.add([Place(cwd="/u/docs"), *read, *shown("docs/faq.md:3: see install.md")])

    assert {*report(fold.export()).ranked_files} == {"docs/install.md", "docs/faq.md"}
