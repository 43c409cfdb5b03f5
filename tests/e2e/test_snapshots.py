"""The real agents run every command that destroys uncommitted work, and all of it comes back."""

import json
import re
import stat
from pathlib import Path

import pytest

from e2e.bench import AgentBench, Result
from e2e.claude import Bench
from e2e.model import Model
from e2e.turns import Turn, bash, call, say, write
from e2e.user import TASK, User, edits
from e2e.wire import Request
from gitrepo import Repo

ALL_TOOLS = ("--allowedTools", "Write,Bash,Read,Edit")
SCRIPT = "for each in src/*; do : >$each; done\n"
PYTHON_SCRIPT = "import glob\nfor each in glob.glob('src/*'):\n    open(each, 'w').close()\n"
DESTROYERS = {
    "reset": "git reset --hard && git clean -fd",
    "checkout": "git checkout . && rm -r src/new.py src/run.sh notes src/by-shell.py",
    "restore": "git restore --staged --worktree . && git clean -fd",
    "clean": "git clean -fd",
    "clean with ignored files": "git clean -fdx",
    "stash": "git stash --include-untracked && git stash drop",
    "folder": "rm -rf src",
    "found": "find src -type f -delete",
    "found by another program": "find src -type f -exec rm {} +",
    "listed": "git ls-files -o --exclude-standard -z src | xargs -0 rm",
    "alias": "git config alias.nuke 'reset --hard' && git nuke",
    "script": "sh tools/empty.sh",
    "script in Python": "python3 tools/empty.py",
    "redirected": "cat tools/empty.sh >src/app.py",
    "script from a pipe": "cat tools/empty.sh | sh",
    "in Python": "python3 -c \"import shutil; shutil.rmtree('src')\"",
    "moved": "mv src/new.py src/app.py",
    "everything": "cd .. && cd repo && rm -rf src notes tools .gitignore",
}

State = dict[str, tuple[int, bytes]]


def read_files(repo: Repo) -> State:
    """Return the mode and content of every file that is not ignored."""
    listed = repo.git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    found: State = {}
    for name in filter(None, listed):
        place = repo.folder / name
        if place.is_symlink():
            found[name] = (0, str(place.readlink()).encode())
        elif place.is_file():
            found[name] = (place.stat().st_mode & stat.S_IXUSR, place.read_bytes())
    return found


def prepare(repo: Repo) -> None:
    """Commit some files, and edit one by hand."""
    files = {"src/app.py": "one\n", "src/gone.py": "x\n", "tools/empty.sh": SCRIPT}
    files["tools/empty.py"] = PYTHON_SCRIPT
    repo.commit("Work so far", {**files, ".gitignore": "*.log\n"})
    begin_anew(repo)


def begin_anew(repo: Repo) -> None:
    """Go back to what was committed, with one file edited by hand."""
    repo.git("reset", "--quiet", "--hard")
    repo.git("clean", "-fdxq")
    repo.write("notes/by hand.txt", "mine\r\n")
    repo.write("debug.log", "ignored\n")


def list_edits(repo: Repo, mark: str) -> tuple[Turn, ...]:
    """Make turns that edit files with each of the agent's tools, and leave a mark."""
    app = str(repo.folder / "src/app.py")
    edit = {"file_path": app, "old_string": "one", "new_string": "two"}
    made = "printf '#!/bin/sh\\n' >src/run.sh; chmod +x src/run.sh; ln -s app.py src/link"
    return (
        call("Read", given={"file_path": app}),
        call("Edit", given=edit),
        write(repo.folder / "src/new.py", f"new = {mark!r}\n"),
        bash(f"echo by-shell >src/by-shell.py; {made}; rm src/gone.py"),
    )


class Eye:
    """Remembers the files as they are before the destroyer runs."""

    def __init__(self, repo: Repo, model: Model, command: str) -> None:
        self.repo, self.command = repo, command
        self.before: State = {}
        model.watch = lambda request: self._look(request.text)

    def _look(self, text: str) -> None:
        # Each request shows all earlier calls.
        if json.dumps(self.command)[1:-1] not in text and self.command not in text:
            self.before = read_files(self.repo) or self.before


def run_all(bench: Bench, *turns: Turn) -> Result:
    bench.model.will(*turns)
    return bench.run(TASK, *ALL_TOOLS)


def restore_newest(user: User, before: State, repo: Repo) -> None:
    """Restore what a user would: the last snapshot before the command."""
    user.settled()
    rows = json.loads(user.ok("snapshot", "list", "--json"))
    newest = next(row for row in rows if row["files"] + row["absent"] and _is_before(row))
    user.ok("snapshot", "restore", newest["short_id"], "--here", "--yes")
    assert read_files(repo) == before


def _is_before(row: dict[str, object]) -> bool:
    return row["trigger"] == "command"


class Rounds:
    """One session that destroys its work again and again; after each time, the user restores it."""

    def __init__(self, user: User, repo: Repo, names: list[str]) -> None:
        self._user, self._repo = user, repo
        self._names, self._left = names, [*names]
        self._before: State = {}
        self.wrong: dict[str, str] = {}
        user.bench.model.watch = self._look

    def script(self) -> list[Turn]:
        """Return the turns of all rounds. The mark makes the files of each round different."""
        rounds = (
            (*list_edits(self._repo, name), bash(DESTROYERS[name], f"Now: {name}."))
            for name in self._names
        )
        return [turn for each in rounds for turn in each]

    def _look(self, request: Request) -> None:
        """See the files as the model is asked: after the edits, and after the destroyer."""
        if request.kind != "main" or not self._left:
            return
        if f"Now: {self._left[0]}." not in request.text:
            self._before = read_files(self._repo)
            return
        name = self._left.pop(0)
        try:
            self._check(name)
        except AssertionError as error:
            self.wrong[name] = str(error)
        begin_anew(self._repo)

    def _check(self, name: str) -> None:
        wanted = {"src/new.py", "src/by-shell.py", "src/run.sh", "notes/by hand.txt"}
        assert {*self._before} >= wanted, [*self._before]
        assert name in self._before["src/new.py"][1].decode()
        assert read_files(self._repo) != self._before, "nothing was destroyed"
        restore_newest(self._user, self._before, self._repo)


@pytest.mark.parametrize("part", range(3))
def test_whatever_a_command_destroys_comes_back(bench: Bench, user: User, part: int) -> None:
    prepare(bench.repo)
    rounds = Rounds(user, bench.repo, [*DESTROYERS][part::3])
    run_all(bench, *rounds.script(), say("Cleaned up."))

    assert rounds.wrong == {}
    assert bench.model.turns_left == 0


def test_work_in_a_removed_worktree_comes_back(bench: Bench, user: User) -> None:
    tree = bench.worktree("feature")
    prepare(tree)
    before = read_files(tree)
    run_all(
        bench,
        bash(f"git worktree remove --force {tree.folder} && git branch -D feature"),
        say("Removed."),
    )
    user.settled()

    assert not tree.folder.exists()
    (row,) = json.loads(user.ok("snapshot", "list", "--json"))
    user.ok("snapshot", "restore", row["short_id"], "--to", str(bench.root / "back"))
    assert read_files(Repo(bench.root / "back", init=False)) == before


def test_the_agent_is_told_how_to_get_it_back(bench: Bench, model: Model, user: User) -> None:
    bench.repo.write("app.py", "print('two')\n")
    model.will(bash("git reset --hard"), say("Done."), say("I see."))
    tui = bench.tui(*ALL_TOOLS)
    tui.send(TASK)
    user.reply_is_ready()

    tui.send("What now?")

    said = model.wait_for("What now?").news
    assert "since `git reset --hard`, the uncommitted work in 1 file is gone" in said
    command = re.search(r"leftoff (snapshot restore \w+ --here)", said)
    assert command is not None
    user.ok(*command[1].split())
    assert (bench.repo.folder / "app.py").read_text(encoding="utf-8") == "print('two')\n"


def test_the_next_session_is_told_that_code_is_gone(bench: Bench, model: Model, user: User) -> None:
    user.works(TASK)
    bench.repo.git("clean", "-fdq")

    bench.run("hello")

    said = model.requests()[-1].news
    assert "not in your worktree: uncommitted changes in 1 file" in said
    assert "retry.py" in said


def test_a_snapshot_leaves_no_trace_in_the_repository(bench: Bench, user: User) -> None:
    prepare(bench.repo)
    before = describe(bench)
    run_all(bench, bash("git stash list && git checkout ."), say("Looked."))
    user.settled()

    assert describe(bench) == before


def describe(bench: AgentBench) -> list[object]:
    """Describe all that git can show of a repository."""
    commands = ("status --porcelain=v2", "for-each-ref", "stash list", "fsck --unreachable")
    shown = [bench.repo.git("--no-optional-locks", *each.split()) for each in commands]
    git = Path(bench.repo.folder / ".git")
    objects = sorted(each.name for each in (git / "objects").rglob("*"))
    return [*shown, objects, (git / "config").read_bytes()]


@pytest.mark.parametrize("agent", ["codex", "gemini", "opencode", "copilot"])
def test_other_agents_wait_for_a_snapshot_too(request: pytest.FixtureRequest, agent: str) -> None:
    user: User = request.getfixturevalue(f"{agent}_user")
    bench: AgentBench = request.getfixturevalue(agent)
    bench.repo.write("app.py", "print('two')\n")
    command = "git reset --hard && git clean -fd"
    eye = Eye(bench.repo, bench.model, command)
    bench.model.will(edits(bench), bash(command), say("Done."))
    bench.run(TASK)

    assert {*eye.before} >= {"app.py", "retry.py"}
    assert read_files(bench.repo) != eye.before
    # On a busy machine, what a session start cannot read in time comes with the second prompt.
    user.settled()
    bench.run("hello")
    said = bench.model.requests()[-1].news
    assert "not in your worktree: uncommitted changes in 2 files" in said
    assert re.search(r"leftoff snapshot restore \w+ --here", said)
    restore_newest(user, eye.before, bench.repo)
