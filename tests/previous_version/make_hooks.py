"""Create hooks.tar.xz with another version of leftoff: make_hooks.py LEFTOFF FOLDER.

    PYTHONPATH=tests python tests/previous_version/make_hooks.py LEFTOFF /tmp/work

LEFTOFF is the program of that version. It installs its hooks beside settings that the user had, and
a session saves its work through them. tests/test_previous_hooks.py lets the hooks run on.
"""

import shutil
import sys
import tarfile
from pathlib import Path

from previous_version.make import HERE, User, answer, ask, pack_member, result

# What the user had in the settings before, with an own order and own spaces.
SETTINGS = """{
    "model": "opus",
    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}
}
"""


def work(user: User) -> None:
    """Install hooks, and save the work of a session through them."""
    (user.home / ".claude").mkdir()
    (user.home / ".claude" / "settings.json").write_text(SETTINGS, encoding="utf-8")
    user.run("git", "init", "--quiet", "--initial-branch=main")
    (user.repo / "app.py").write_text("print('hello')\n")
    user.run("git", "add", "--all")
    user.run("git", "commit", "--quiet", "--message=Begin")
    user.do("init", "--yes", "--agent", "claude")
    user.do("config", "set", "offer_days", "3000")
    edit = {"type": "tool_use", "id": "toolu_1", "name": "Edit",
            "input": {"file_path": str(user.repo / "app.py")}}  # fmt: skip
    user.hook("SessionStart", "session-1", source="startup")
    user.talk("session-1", ask("Add retries to the client in app.py"))
    user.hook("UserPromptSubmit", "session-1", prompt="Add retries to the client in app.py")
    user.talk(
        "session-1",
        answer(edit),
        result("toolu_1", "The file has been updated."),
        answer({"type": "text", "text": "Next I will run the tests."}),
    )
    user.hook("Stop", "session-1", last_assistant_message="Next I will run the tests.")
    user.hook("SessionEnd", "session-1", reason="other")


def main() -> None:
    """Make and pack it, with the settings and the record of the Python."""
    leftoff, root = Path(sys.argv[1]).absolute(), Path(sys.argv[2]).absolute()
    shutil.rmtree(root, ignore_errors=True)
    user = User(leftoff, root / "hooks")
    work(user)
    with tarfile.open(HERE / "hooks.tar.xz", "w:xz") as archive:
        archive.add(
            user.root, arcname="hooks", filter=lambda each: pack_member(each, {"settle.lock"})
        )


if __name__ == "__main__":
    main()
