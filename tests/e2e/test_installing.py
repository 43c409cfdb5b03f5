"""leftoff can be installed and removed without a trace, as hooks in the settings or as a plugin."""

import json

from e2e.claude import Bench
from e2e.model import Model
from e2e.user import TASK, User

SETTINGS = """{
    "theme":   "dark",
  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]},

  "permissions": {"allow": ["Bash(ls:*)"]}
}"""


def test_uninstall_leaves_the_settings_as_they_were(bench: Bench, newcomer: User) -> None:
    path = bench.home / ".claude" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(SETTINGS, encoding="utf-8")

    newcomer.installs()
    installed = json.loads(path.read_text(encoding="utf-8"))
    newcomer.ok("uninstall", "--yes")

    assert "SessionStart" in installed["hooks"]
    assert path.read_text(encoding="utf-8") == SETTINGS


def test_after_uninstall_a_session_runs_without_leftoff(
    bench: Bench, model: Model, user: User
) -> None:
    user.works()
    before = len(user.saved())

    user.ok("uninstall", "--yes")
    bench.run("hello")

    assert TASK not in model.requests()[-1].news
    assert len(user.saved()) == before


def test_the_interactive_program_starts_without_a_warning(bench: Bench, user: User) -> None:
    screen = bench.tui().screen()

    assert "Settings Warning" not in screen
    assert user.trouble() == []


def test_leftoff_writes_nothing_into_the_users_tree(bench: Bench, user: User) -> None:
    user.works()

    assert bench.repo.git("status", "--porcelain", "--ignored") == "?? retry.py"


def test_doctor_finds_nothing_wrong_after_a_real_session(user: User) -> None:
    user.works()

    assert user.leftoff("doctor").code == 0
