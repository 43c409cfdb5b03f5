"""Imitate GitHub's `gh`: keep pull requests in a file, and answer as the real program does.

`FLAGS` and `FIELDS` are what it accepts; `test_gh_contract.py` compares them with the real program.
Its data is in the folder FAKE_GH: `state.json`, and `calls.jsonl` with every call.
"""

import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

FLAGS = {
    "pr list": {"--head", "--state", "--json"},
    "pr view": {"--json"},
    "pr create": {"--head", "--title", "--body-file"},
    "pr edit": {"--body-file", "--add-label", "--remove-label"},
    "pr comment": {"--body-file"},
    "issue view": {"--json"},
    "label create": set(),
}
FIELDS = {
    "pr list": {
        "number", "url", "title", "body", "labels", "headRepositoryOwner", "isCrossRepository",
    },
    "pr view": {
        "number", "url", "title", "body", "labels", "comments", "isDraft", "mergeable",
        "reviewDecision", "state", "statusCheckRollup",
    },
    "issue view": {"labels"},
}  # fmt: skip
LOGIN = (
    "To get started with GitHub CLI, please run:  gh auth login\n"
    "Alternatively, populate the GH_TOKEN environment variable with a GitHub API authentication "
    "token."
)
EMPTY: dict[str, Any] = {"pulls": [], "labels": ["bug"], "issues": {}, "login": True, "trouble": {}}


def fail(words: str, code: int = 1) -> NoReturn:
    sys.stderr.write(f"{words}\n")
    sys.exit(code)


def parse(command: str, words: list[str]) -> tuple[list[str], dict[str, list[str]]]:
    """Tell arguments from flags, and refuse flags that the real one would not know."""
    plain: list[str] = []
    given: dict[str, list[str]] = {}
    rest = iter(words)
    for word in rest:
        if not word.startswith("--"):
            plain.append(word)
            continue
        flag, has_value, value = word.partition("=")
        if flag not in FLAGS[command]:
            fail(f"unknown flag: {flag}")
        given.setdefault(flag, []).append(value if has_value else next(rest, ""))
    return plain, given


class Hub:
    """What GitHub would know."""

    def __init__(self, folder: Path) -> None:
        self.place = folder / "state.json"
        known = json.loads(self.place.read_text()) if self.place.exists() else {}
        self.state: dict[str, Any] = {**EMPTY, **known}

    def keep(self) -> None:
        new = self.place.with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps(self.state))
        new.replace(self.place)

    def pull(self, number: str) -> dict[str, Any]:
        for each in self.state["pulls"]:
            if str(each["number"]) == number:
                found: dict[str, Any] = each
                return found
        fail("GraphQL: Could not resolve to a PullRequest with that number. (repository.pull)")

    def answer(self, command: str, plain: list[str], given: dict[str, list[str]]) -> None:
        getattr(self, command.replace(" ", "_"))(plain, given)
        self.keep()

    def pr_list(self, _plain: list[str], given: dict[str, list[str]]) -> None:
        head = given["--head"][0]
        if self.state.get("blind", 0):
            self.state["blind"] -= 1
            head = ""
        mine = [each for each in self.state["pulls"] if each["head"] == head]
        show("pr list", [each for each in mine if each["state"] == "OPEN"], given)

    def pr_view(self, plain: list[str], given: dict[str, list[str]]) -> None:
        show("pr view", self.pull(plain[0]), given)

    def pr_create(self, _plain: list[str], given: dict[str, list[str]]) -> None:
        number = 12 + len(self.state["pulls"])
        head = given["--head"][0].rpartition(":")[2]
        url = f"https://github.com/ada/shop/pull/{number}"
        if any(each["head"] == head and each["state"] == "OPEN" for each in self.state["pulls"]):
            fail(f'a pull request for branch "{head}" into branch "main" already exists:\n{url}')
        made = {
            "headRepositoryOwner": {"login": "ada"}, "isCrossRepository": False,
            "number": number, "head": head, "url": url, "title": given["--title"][0],
            "body": sys.stdin.read(), "labels": [], "comments": [], "state": "OPEN",
            "isDraft": False, "mergeable": "MERGEABLE", "reviewDecision": "REVIEW_REQUIRED",
            "statusCheckRollup": [{"conclusion": "SUCCESS"}],
        }  # fmt: skip
        self.state["pulls"].append(made)
        sys.stdout.write(f"{url}\n")

    def pr_edit(self, plain: list[str], given: dict[str, list[str]]) -> None:
        pull = self.pull(plain[0])
        added = [name for each in given.get("--add-label", []) for name in each.split(",")]
        for name in [*added, *given.get("--remove-label", [])]:
            if name not in self.state["labels"]:
                fail(f"failed to update {pull['url']}: '{name}' not found")
        if "--body-file" in given:
            pull["body"] = sys.stdin.read()
        gone = given.get("--remove-label", [])
        kept = [each for each in pull["labels"] if each["name"] not in {*gone, *added}]
        pull["labels"] = [*kept, *({"name": name} for name in added)]
        sys.stdout.write(f"{pull['url']}\n")

    def pr_comment(self, plain: list[str], _given: dict[str, list[str]]) -> None:
        pull = self.pull(plain[0])
        pull["comments"].append({"body": sys.stdin.read()})
        sys.stdout.write(f"{pull['url']}#issuecomment-{len(pull['comments'])}\n")

    def issue_view(self, plain: list[str], given: dict[str, list[str]]) -> None:
        labels = self.state["issues"].get(plain[0])
        if labels is None:
            fail(f"GraphQL: Could not resolve to an issue with the number of {plain[0]}.")
        show("issue view", {"labels": [{"name": name} for name in labels]}, given)

    def label_create(self, plain: list[str], _given: dict[str, list[str]]) -> None:
        if plain[0] in self.state["labels"]:
            fail(f'label with name "{plain[0]}" already exists; use `--force` to update its color')
        self.state["labels"].append(plain[0])


def show(command: str, found: Any, given: dict[str, list[str]]) -> None:
    fields = given["--json"][0].split(",")
    for field in fields:
        if field not in FIELDS[command]:
            fail(f'Unknown JSON field: "{field}"')
    chosen = [found] if isinstance(found, dict) else found
    shown = [{field: each[field] for field in fields} for each in chosen]
    sys.stdout.write(json.dumps(shown[0] if isinstance(found, dict) else shown))


def main() -> None:
    folder = Path(os.environ["FAKE_GH"])
    command, rest = " ".join(sys.argv[1:3]), sys.argv[3:]
    with (folder / "calls.jsonl").open("a") as calls:
        calls.write(json.dumps([command, *rest]) + "\n")
    if command not in FLAGS:
        fail(f'unknown command "{command}" for "gh"')
    plain, given = parse(command, rest)
    lock = (folder / "lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    hub = Hub(folder)
    if not hub.state["login"]:
        fail(LOGIN, 4)
    if command in hub.state["trouble"]:
        fail(hub.state["trouble"][command])
    if script := hub.state.get("meanwhile", {}).get(command):
        # What others do while it works.
        subprocess.run(("sh", "-c", script), check=True)
    hub.answer(command, plain, given)


if __name__ == "__main__":
    main()
