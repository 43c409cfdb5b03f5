"""Which commands are denied and which are not, as a table."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff.hooks.destructive_commands import CommandContext, find_danger
from rows import for_each

HERE = CommandContext(
    folder="/home/ada/shop",
    home="/home/ada",
    worktree="/home/ada/shop",
    own=("/home/ada/shop/.git/leftoff", "/home/ada/.local/state/leftoff"),
    native=("/home/ada/shop/.claude-harness",),
    branch="export",
)
AT_WORK = CommandContext(
    folder="/home/ada/shop", worktree="/home/ada/shop", branch="export", feature="feature-007"
)
ON_MAIN = CommandContext(
    folder="/home/ada/shop", worktree="/home/ada/shop", branch="main", feature="feature-007"
)

DENIED = {
    "force push": [
        "git push --force",
        "git push -f",
        "git push -fu origin export",
        "git push -uf origin export",
        "git push origin export --force",
        "git push origin +export",
        "git push origin +HEAD:refs/heads/export",
        "git push --mirror",
        "git push --force-with-lease --force",
        "git -C ../other push -f",
        "git -c user.name=Ada --no-pager push -f",
        "git --git-dir .git push -f",
        "/usr/bin/git push -f",
        "cd src && git push -f",
        "make test; git push -f",
        "false || git push -f",
        "GIT_SSH_COMMAND='ssh -v' git push -f",
        "env X=1 git push -f",
        "sudo -u ada git push -f",
        "timeout 60 git push -f",
        "(git push -f)",
        "if true; then git push -f; fi",
        "git commit -m 'done' && git push -f 2>&1 | tail -3",
        "git commit -m \"$(cat <<'END'\nDon't fear\nEND\n)\" && git push -f",
        "bash -c 'git push -f'",
        "bash -lc \"cd src && git push '-f'\"",
        "sh <<END\ngit push -f\nEND",
        "eval git push -f",
        'echo "$(git push -f)"',
        "echo `git push -f`",
        "git \\\n  push \\\n  --force",
        "echo origin | xargs git push -f",
    ],
    "reset --hard": [
        "git reset --hard",
        "git reset --hard HEAD~3",
        "git reset HEAD~1 --hard",
        "git reset --har",
        "git fetch && git reset --hard origin/main",
    ],
    "clean -f": [
        "git clean -f",
        "git clean -fd",
        "git clean -xdf",
        "git clean --force -d",
        "git clean -d -f -e keep",
    ],
    "branch -D": [
        "git branch -D export",
        "git branch -d -f export",
        "git branch -df export",
        "git branch --delete --force export",
        "git branch | grep old | xargs git branch -D",
    ],
    "That would remove": [
        "rm -rf .git/leftoff",
        "rm -r .git",
        "rm -R ./.git/",
        "rm --recursive --force .git/leftoff/checkpoints",
        "rm .git/leftoff/events.jsonl",
        "rm -f .git/leftoff/*",
        "rm -rf .claude-harness",
        "rm -rf -- .claude-harness",
        "rm -rf src/../.claude-harness/",
        "rm -rf build .claude-*",
        "rm -rf .*",
        "rm -rf /home/ada/shop",
        "rm -rf ../shop",
        "rm -rf ../*",
        'rm -rf "$PWD/.claude-harness"',
        'rm -rf "$(pwd)/.claude-harness"',
        "rm -rf ~/.local/state/leftoff",
        "rm -rf $HOME/.local",
        "cd .git && rm -rf leftoff",
        "cd && rm -rf shop",
        "sudo rm -rf /",
    ],
}
SILENT = [
    "",
    "ls -la",
    "git",
    "git status",
    "git push",
    "git push -u origin export",
    "git push --force-with-lease",
    "git push --force-with-lease=export origin export",
    "git push --force-if-includes --force-with-lease",
    "git push -nf",
    "git push --dry-run --force",
    "git push -o f origin export",
    "git push --push-option --force",
    "git push origin feat+more",
    "git push --follow-tags",
    "git commit -m 'Never git push --force'",
    'git commit -m "git reset --hard; git clean -fd"',
    "git commit -m \"$(cat <<'END'\nDon't git push -f\ngit reset --hard\nEND\n)\"",
    "git commit -F - <<END\ngit push -f && rm -rf .git\nEND",
    "echo git push -f",
    "echo 'git push -f' > notes.txt",
    "cat > notes.md <<'END'\ngit reset --hard\nEND",
    "# git push -f",
    "ls # && git push -f",
    "grep -rn 'git push -f' .",
    "grep -rn reset --hard-wrap",
    "git log --grep='reset --hard'",
    "git log -- --hard",
    "git reset",
    "git reset --soft HEAD~1",
    "git reset --keep HEAD~1",
    "git reset -- --hard",
    "git clean -n",
    "git clean -nfd",
    "git clean --dry-run -f",
    "git clean -n -e f",
    "git branch -d export",
    "git branch -f export HEAD~1",
    "git branch Dev",
    "git branch --list -v",
    "git stash -u",
    "git checkout main",
    "git switch master",
    "git push origin main",
    "git rm -r src",
    "rm -rf build dist",
    "rm -rf node_modules/.cache",
    "rm -rf *",
    "rm -rf src/*",
    "rm -r .claude-harness/sessions/old",
    "rm .claude-harness/notes.md",
    "rm .git/index.lock",
    "rm -rf $SOMEWHERE",
    "rm -rf $(mktemp -d)",
    "rm -rf .claude-harness-old",
    "rm -rf /tmp/leftoff",
    "cd /tmp && rm -rf .claude-harness",
    "cd $SOMEWHERE && rm -rf .git",
    "cd - && rm -rf .git",
    "docker run --rm -it shop",
    "leftoff clear --all",
    "npm run push -- -f",
    "gitk -f",
    "mygit push -f",
]


@pytest.mark.accept(159)
@for_each(("command", "what"), [(each, what) for what, listed in DENIED.items() for each in listed])
def test_what_throws_work_away_is_denied_with_a_reason_and_a_way_out(
    command: str, what: str
) -> None:
    reason = find_danger(command, HERE)

    assert reason is not None
    assert what in reason
    assert reason.endswith("ask the user to run it.")


@pytest.mark.accept(159)
@for_each("command", SILENT)
def test_nothing_is_said_of_other_commands(command: str) -> None:
    assert find_danger(command, HERE) is None


@pytest.mark.accept(159)
@pytest.mark.parametrize(
    "command",
    [
        "git checkout main",
        "git checkout -f master",
        "git checkout -B main",
        "git switch main",
        "git switch -C main origin/main",
        "git switch --create=main",
        "git pull && git checkout main",
        "cd src && git checkout main",
        "git -C src switch main",
        "git push origin main",
        "git push -u origin export:main",
        "git push origin HEAD:refs/heads/master",
        "git push --all",
        "git push --delete origin main",
        "git checkout -q main && git push",
    ],
)
def test_main_is_left_alone_while_a_feature_is_under_way(command: str) -> None:
    reason = find_danger(command, AT_WORK)

    assert reason is not None
    assert reason.startswith("Feature feature-007 is under way")
    assert find_danger(command, HERE) is None


@pytest.mark.accept(159)
@for_each(
    "command",
    [
        "git checkout export",
        "git checkout main -- app.py",
        "git checkout main app.py",
        "git checkout -b export-2 main",
        "git switch -c export-2 main",
        "git switch --detach main",
        "git checkout origin/main",
        "git checkout maintenance",
        "git checkout -- main",
        "git push",
        "git push origin HEAD",
        "git push origin export",
        "git push origin main:backup",
        "git push --tags",
        "git merge main",
        "git worktree add ../look main",
        "git -C ../other checkout main",
        "cd ../other && git checkout main && git push",
    ],
)
def test_work_on_branches_goes_on_meanwhile(command: str) -> None:
    assert find_danger(command, AT_WORK) is None


@pytest.mark.parametrize("command", ["git push", "git push origin", "git push origin HEAD"])
def test_a_push_that_names_no_branch_pushes_the_one_at_hand(command: str) -> None:
    assert find_danger(command, ON_MAIN) is not None
    assert find_danger(f"git switch -c export && {command}", ON_MAIN) is None
    assert find_danger(f"cd ../other && {command}", ON_MAIN) is None
    assert find_danger("git push --tags", ON_MAIN) is None


PIECES = ["git", "rm", "cd", "push", "reset", "clean", "branch", "checkout", "-f", "-C", "-D", "--"]
PIECES += [
    "--hard",
    "-",
    "~",
    "..",
    ".git",
    "+x",
    "&&",
    "'",
    '"',
    "$(",
    ")",
    "`",
    "<<E",
    "\n",
    "-b",
]


@pytest.mark.accept(159)
@given(st.text(max_size=40) | st.lists(st.sampled_from(PIECES) | st.text(max_size=4)).map(" ".join))
def test_no_command_raises(command: str) -> None:
    for standing in (None, HERE, AT_WORK):
        assert find_danger(command, standing) != ""
