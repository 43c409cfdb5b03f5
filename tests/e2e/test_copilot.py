"""With the real Copilot CLI, work goes on from session to session as with Claude Code."""

from e2e.copilot import CopilotBench
from e2e.turns import bash, say
from e2e.user import LAST_WORDS, TASK, User, edits


def test_a_hook_of_claude_code_does_nothing_in_copilot(
    copilot: CopilotBench, copilot_user: User
) -> None:
    copilot_user.ok("init", "--agent", "claude", "--scope", "project", "--yes")
    copilot.model.will(edits(copilot), say(LAST_WORDS))

    copilot.run(TASK)

    (saved,) = copilot_user.saved()
    assert saved["agent"] == "copilot"
    copilot_user.ok("uninstall", "--yes")
    assert not copilot.hooks.parent.exists()


def test_only_the_safety_rules_deny_a_call(copilot: CopilotBench, copilot_user: User) -> None:
    copilot_user.ok("config", "set", "safety", "on")
    copilot.model.will(edits(copilot), bash("git reset --hard"), say("Then not."))
    copilot.run(TASK)
    assert "discards uncommitted changes" in copilot.model.requests()[-1].news
    copilot_user.settled()

    # Copilot denies a call if the hook before it fails.
    (copilot.state / "hook").unlink()
    copilot.model.will(bash("echo yes >ran.txt"), say("Done."))
    copilot.run("hello")

    assert (copilot.repo.folder / "ran.txt").read_text(encoding="utf-8") == "yes\n"
    copilot_user.installs()
