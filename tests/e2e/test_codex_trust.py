"""Codex runs leftoff's hooks only when the user trusts them, and doctor says so."""

from e2e.codex import CodexBench
from e2e.turns import bash, say
from e2e.user import TASK, User, edits


def test_hooks_run_once_they_are_trusted_and_uninstalling_leaves_no_trace(
    codex: CodexBench, codex_user: User
) -> None:
    assert "You have not trusted its hooks yet" in codex_user.ok("doctor")
    codex.program("codex", "exec", TASK)
    assert "leftoff" not in [path.name for path in (codex.repo.folder / ".git").iterdir()]

    codex.trust_hooks()

    assert "ok      codex: You trust its hooks" in codex_user.ok("doctor")
    codex.model.will(edits(codex), say("Half of it is done."))
    codex.program("codex", "exec", TASK)
    assert codex_user.saved("session-end")
    codex_user.ok("uninstall", "--yes")
    assert not codex.hooks.exists()
    assert "hooks" not in codex.config.read_text(encoding="utf-8")


def test_a_hook_that_was_changed_is_reported(codex: CodexBench, codex_user: User) -> None:
    codex.trust_hooks()

    text = codex.hooks.read_text(encoding="utf-8")
    codex.hooks.write_text(text.replace('"timeout": 15', '"timeout": 30'), encoding="utf-8")

    assert "Its hooks have changed since you trusted them" in codex_user.ok("doctor")


def test_what_was_there_comes_back_byte_for_byte(codex: CodexBench, codex_user: User) -> None:
    codex_user.ok("uninstall", "--yes")
    theirs = '{ "hooks": {"Stop":[ {"hooks": [{"type":"command","command":"true"}]} ]} }'
    codex.hooks.write_text(theirs, encoding="utf-8")
    config = codex.config.read_bytes()

    codex_user.installs()
    codex.run(TASK)
    codex_user.settled()
    codex_user.ok("uninstall", "--yes")

    assert codex.hooks.read_text(encoding="utf-8") == theirs
    assert codex.config.read_bytes() == config


def test_work_is_handed_over_with_and_without_hooks(codex: CodexBench, codex_user: User) -> None:
    stated = "Write tests/test_retry.py"
    codex_user.ok("save", "retry", "--summary", TASK, "--next", stated, "--decision", "No library")
    hand_over = ("resume", "retry", "--in", "codex", "--headless")

    # Hooks that nobody trusts do not run, so the briefing is the first prompt.
    codex.model.will(say("I see."))
    codex_user.ok(*hand_over)
    asked = codex.model.requests()[-1].news
    assert f"Next action: {stated}" in asked
    assert asked.rstrip().endswith("</leftoff-briefing>")

    codex.trust_hooks()
    codex.model.will(edits(codex), say("retry.py is there."))
    before = len(codex.model.requests())
    codex_user.ok(*hand_over)
    asked = codex.model.requests()[before].news
    assert "leftoff: the user handed this work over to this session." in asked
    assert asked.rstrip().endswith("continue")
    _check_thread(codex_user, codex.sessions()[-1])
    assert "handed over to codex" in codex_user.ok("log", "retry")
    command = codex_user.ok("resume", "retry", "--in", "codex", "--print")
    assert f"codex resume {codex.sessions()[-1]}" in command

    # A briefing that comes back as a prompt is never a task.
    codex.model.will(bash("echo more >> retry.py"), say("It goes on."))
    codex.program("codex", "exec", codex_user.ok("resume", "retry"))
    _check_thread(codex_user, codex.sessions()[-1])


def test_work_in_a_plain_folder_is_handed_over(codex: CodexBench, codex_user: User) -> None:
    plain = codex.root / "plain"
    plain.mkdir()
    codex_user.ok("save", "retry", "--summary", TASK, "--next", "Write it", cwd=plain)
    codex.model.will(say("I see."))

    codex_user.ok("resume", "retry", "--in", "codex", "--headless", cwd=plain)

    assert f"Task: {TASK}" in codex.model.requests()[-1].news


def _check_thread(user: User, session: str) -> None:
    """Check that one thread is open, with all that was stated, and belongs to a session now."""
    (thread,) = user.saved()
    assert (thread["name"], thread["summary"]) == ("retry", TASK)
    assert thread["decisions"][0]["what"] == "No library"
    assert (thread["agent"], thread["session_id"]) == ("codex", session)
    assert "retry.py" in thread["files_modified"]
    assert thread.get("requests", []) == []
