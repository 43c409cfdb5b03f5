"""`leftoff status` names the agents that run the hooks, and those that skip them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from leftoff.agents.codex import hook_trust
from leftoff.context import read_environment
from leftoff.wiring import install
from leftoff.wiring.agent_wirings import WIRINGS
from leftoff.wiring.hooks_state import read_hooks
from leftoff.wiring.install_places import Places


def _install(places: Places, *agents: str) -> None:
    install.install(places, install.plan_install(places, agents))


def _read() -> tuple[str, str]:
    found = read_hooks(read_environment(), None)
    return found.state, found.text


def _trust_codex(places: Places, *, more: str = "") -> None:
    hooks = WIRINGS["codex"].find_file(places)
    values = json.loads(hooks.read_bytes())
    entries = [
        f'[hooks.state."{hook_trust.build_key(hooks, event, group, place)}"]\n'
        f'trusted_hash = "{hook_trust.hash_hook(event, handler, matcher)}"\n'
        for event, group, place, handler, matcher in hook_trust.list_handlers(values)
    ]
    hooks.with_name("config.toml").write_text("".join([more, *entries]), encoding="utf-8")


def _disable_claude(places: Places) -> None:
    values = {**json.loads(places.settings.read_bytes()), "disableAllHooks": True}
    places.settings.write_text(json.dumps(values), encoding="utf-8")


def test_an_agent_that_waits_for_trust_is_not_among_those_that_run_them(places: Places) -> None:
    _install(places, "claude", "codex", "opencode")
    idle = "Codex does not run them; run `leftoff doctor`"
    assert _read() == ("on", f"on for Claude Code and opencode; {idle}")

    _trust_codex(places)

    assert _read() == ("on", "on for Claude Code, Codex and opencode")


def test_what_an_agent_runs_is_looked_up_again_only_after_a_change(places: Places) -> None:
    _install(places, "codex", "gemini")
    before = _read()
    # In a process of its own: here, everything is loaded.
    program = (
        "import sys; from leftoff.context import read_environment as read; "
        "from leftoff.wiring.hooks_state import read_hooks; print(read_hooks(read(), None).text); "
        "print('leftoff.wiring.agent_wirings' in sys.modules)"
    )

    def ask() -> list[str]:
        done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
        return done.stdout.decode().splitlines()

    assert ask() == [before[1], "False"]
    _trust_codex(places)
    assert ask() == ["on for Codex and Gemini CLI", "True"]
    assert ask() == ["on for Codex and Gemini CLI", "False"]
    (places.state / "switches").write_text("damaged", encoding="utf-8")
    assert ask() == ["on for Codex and Gemini CLI", "True"]


def test_hooks_of_the_users_own_in_the_configuration_change_nothing(places: Places) -> None:
    _install(places, "codex")
    _trust_codex(places, more="[[hooks.Stop]]\nhooks = []\n")

    assert _read() == ("on", "on for Codex")


def test_agents_that_all_skip_the_hooks_are_named(places: Places) -> None:
    _install(places, "codex", "gemini")
    settings = WIRINGS["gemini"].find_file(places)
    values = {**json.loads(settings.read_bytes()), "hooksConfig": {"enabled": False}}
    settings.write_text(json.dumps(values), encoding="utf-8")

    names = "Codex and Gemini CLI do not run them; run `leftoff doctor` to see why"
    assert _read() == ("broken", names)


def test_what_disables_the_hooks_of_claude_code_leaves_those_of_others_on(places: Places) -> None:
    _install(places, "claude")
    _disable_claude(places)
    off = f"disabled by disableAllHooks in {places.settings}"
    assert _read() == ("off", off)

    _install(places, "copilot")

    idle = "Claude Code does not run them; run `leftoff doctor`"
    assert _read() == ("on", f"on for Copilot CLI; {idle}")


@pytest.mark.parametrize("agent", WIRINGS)
def test_an_agent_without_a_switch_always_runs_its_hooks(places: Places, agent: str) -> None:
    Path(places.settings).unlink(missing_ok=True)
    _install(places, agent)
    table = WIRINGS[agent].table

    assert WIRINGS[agent].is_active(places) or table.has_switch
    expected = "broken" if agent == "codex" else "on"
    assert _read()[0] == expected
