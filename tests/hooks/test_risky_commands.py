"""Commands that can destroy uncommitted code are recognised; looking around is not one of them."""

import json
import subprocess
from collections.abc import Sequence

import pytest

from hooks.letterboxes import SCRIPT
from leftoff.hooks.risky_commands import assess

RISKY = """
git reset --hard
git checkout .
git checkout -- src
git checkout main
git checkout -f -b new
git restore src/app.py
git clean -fdx
git stash
git stash -u && git stash drop
git rebase main
git switch --discard-changes main
git worktree remove --force ../feature
git branch -D feature
git apply -R fix.patch
git merge --abort
git -C ../other reset --hard
git read-tree -u --reset HEAD
rm -rf src
rm src/app.py
cd src && rm -rf .
find . -name '*.py' -delete
rsync -a --delete a/ b/
truncate -s 0 app.py
mv new.py app.py
sh tools/clean.sh
pytest -q && bash tools/clean.sh
./tools/clean.sh --all
sudo rm -rf build
xargs rm < list
python3 -c "import shutil; shutil.rmtree('src')"
echo "$(git reset --hard)"
""".strip().splitlines()

HARMLESS = """
git status
git stash list
git worktree add ../feature
git checkout -b feature
git switch -c feature
git branch -a
git log --oneline
git commit -m 'Restore and clean the reset'
echo rm -rf src
cat tools/clean.sh
grep -r 'git reset' docs
pytest -q tests
npm run clean
""".strip().splitlines()


@pytest.mark.parametrize("command", RISKY)
def test_a_command_that_can_destroy_code_is_risky(command: str) -> None:
    assert assess(command, "/repo") is not None


@pytest.mark.parametrize("command", HARMLESS)
def test_a_command_that_destroys_nothing_is_not(command: str) -> None:
    assert assess(command, "/repo") is None


def list_stopped(commands: Sequence[str], shell: str, separators: tuple[str, str]) -> list[str]:
    """List the commands for which the letterbox starts Python."""
    script = SCRIPT.read_text(encoding="utf-8")
    start = script.index("is_risky() {")
    words = script[start : script.index("\n}\n", start) + 3]
    loop = 'for each in "$@"; do is_risky " $each" && echo yes || echo no; done'
    calls = [{"tool_input": {"command": each, "description": "Look (twice)"}} for each in commands]
    given = [json.dumps(each, separators=separators) for each in calls]
    done = subprocess.run(
        [shell, "-c", f"{words}\n{loop}", shell, *given],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    answers = zip(commands, done.stdout.split(), strict=True)
    return [command for command, answer in answers if answer == "yes"]


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_the_letterbox_stops_at_every_risky_command(
    shell: str, separators: tuple[str, str]
) -> None:
    """The words in the script are enough to start Python for each of them."""
    hidden = ["cat a.sh; rm -r b", "grep x $(rm -r b) .sh", "ls a.sh\nrm -r b", "ls .sh && rm -r b"]
    risky = [*RISKY, *hidden, 'cat "a.sh" | sh x.sh', "git commit -m Clean & rm -r b"]

    assert list_stopped(risky, shell, separators) == risky


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_the_letterbox_does_not_start_python_for_what_only_reads(shell: str) -> None:
    reading = ["cat run.sh", "ls *.sh", "grep -rn 'git reset' docs", "git commit -m 'Clean up'"]

    assert list_stopped(reading, shell, (",", ":")) == []


def test_the_folders_of_a_command_are_known() -> None:
    found = assess("cd ../other && git -C sub reset --hard", "/home/ada/repo")

    assert found is not None
    assert found.folders == ["/home/ada/repo", "/home/ada/other", "/home/ada/other/sub"]


@pytest.mark.parametrize(
    ("command", "is_broad"),
    [("rm a.py", False), ("mv a.py b.py", False), ("rm -r src", True), ("rm *.py", True)],
)
def test_only_a_broad_command_can_surprise(command: str, *, is_broad: bool) -> None:
    found = assess(command, "/repo")

    assert found is not None
    assert found.is_broad == is_broad
