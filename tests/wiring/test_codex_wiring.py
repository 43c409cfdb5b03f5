"""Codex is wired without disturbing the user's trust in other hooks, and never trusts for them."""

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from leftoff.agents.codex import hook_trust
from leftoff.agents.codex.codex_hook_table import TABLE
from leftoff.context import read_environment
from leftoff.wiring import install
from leftoff.wiring.agent_wirings import WIRINGS
from leftoff.wiring.findings import World
from leftoff.wiring.hook_groups import HookGroups
from leftoff.wiring.install_places import Places, find_places
from stores import contents

THEIRS: dict[str, Any] = {"hooks": [{"type": "command", "command": "true"}]}
# What `codex app-server` of 0.166.0 reports as the hash of each of leftoff's hooks. If one changes,
# every user has to trust the hooks again.
RECORDED = {
    "SessionStart": "d51531bec2ad10a37aa8e671f498952e67754f3301f96375e9797647fec4390e",
    "UserPromptSubmit": "5365e34b87cea6dff422bdde2000b4476a2c1a96ed7e3d12d5f4117eb67f0e88",
    "PreToolUse": "1df301b0bb87ce31628bc3a53e068a8ce76e01cce004c6d46276690434db0cd9",
    "Stop": "a79d07dede55f6973f781d1620144b2c41d097b719cdd25732a6090297901f9b",
    "PreCompact": "42c9458ec96f37a23ef126628c860f570d729418b0f3966ff621e7e128d10b62",
    "SessionEnd": "86cf21134b37f85cf4cfa53e04a8f6434393d7a24e0ed2dca3809f3014f25a99",
}


@pytest.fixture
def places(tmp_path: Path) -> Places:
    (tmp_path / "home" / ".codex").mkdir()
    return find_places(read_environment())


@pytest.fixture
def hooks(places: Places) -> Path:
    return WIRINGS["codex"].find_file(places)


def _install(places: Places) -> None:
    install.install(places, install.plan_install(places, ["codex"]))


def _uninstall(places: Places) -> None:
    install.uninstall(places, install.plan_uninstall(places))


def _trust(hooks: Path, *, before: str = "") -> Path:
    """Store the hashes of all hooks, as Codex does when the user trusts them."""
    config = hooks.with_name("config.toml")
    entries = [
        f'\n[hooks.state."{hook_trust.build_key(hooks, event, group, place)}"]\n'
        f'trusted_hash = "{hook_trust.hash_hook(event, handler, matcher)}"\n'
        for event, group, place, handler, matcher in hook_trust.list_handlers(
            json.loads(hooks.read_bytes())
        )
    ]
    config.write_text(f"{before}\n[hooks.state]\n{''.join(entries)}", encoding="utf-8")
    return config


def _inspect(places: Places) -> list[tuple[str, str]]:
    found = WIRINGS["codex"].inspect(World(places=places))
    return [(each.level, each.what) for each in found]


def test_each_hook_has_the_hash_that_codex_gives_it() -> None:
    text = HookGroups(TABLE).wire("{}", Path("/home/ada/.local/state/leftoff/hook"))

    assert {
        event: hook_trust.hash_hook(event, handler, matcher)
        for event, _, _, handler, matcher in hook_trust.list_handlers(json.loads(text))
    } == {event: f"sha256:{expected}" for event, expected in RECORDED.items()}


@pytest.mark.parametrize(
    "before",
    [
        None,
        b"",
        b"{}",
        json.dumps({"hooks": {"Stop": [THEIRS]}}, indent="\t").encode(),
        b'{"hooks":{"SubagentStop":[]}}\r\n',
    ],
)
def test_uninstall_restores_the_very_bytes(
    places: Places, hooks: Path, before: bytes | None
) -> None:
    if before is not None:
        hooks.write_bytes(before)
    _install(places)
    assert WIRINGS["codex"].is_wired(places)
    assert install.plan_install(places, ["codex"]) == []

    _uninstall(places)

    assert (hooks.read_bytes() if hooks.exists() else None) == before


def test_our_groups_come_after_all_others(places: Places, hooks: Path) -> None:
    hooks.write_text(json.dumps({"hooks": {"Stop": [THEIRS]}}), encoding="utf-8")
    _install(places)

    groups = json.loads(hooks.read_bytes())["hooks"]
    assert groups["Stop"][0] == THEIRS
    assert list(groups) == ["Stop", *(e.event for e in TABLE.events if e.event != "Stop")]


def test_a_hook_after_ours_keeps_its_position_and_so_its_trust(places: Places, hooks: Path) -> None:
    _install(places)
    now = json.loads(hooks.read_bytes())
    now["hooks"]["Stop"].append(THEIRS)
    hooks.write_text(json.dumps(now), encoding="utf-8")
    config = _trust(hooks)
    theirs = hook_trust.build_key(hooks, "Stop", 1, 0)

    _uninstall(places)

    assert json.loads(hooks.read_bytes()) == {"hooks": {"Stop": [{"hooks": []}, THEIRS]}}
    assert list(tomllib.loads(config.read_text(encoding="utf-8"))["hooks"]["state"]) == [theirs]


def test_the_notes_about_our_trust_go_and_the_rest_of_the_configuration_stays(
    places: Places, hooks: Path
) -> None:
    _install(places)
    mine = '# mine\nmodel = "x"   # why\n\n[features]\nhooks = true\n'
    config = _trust(hooks, before=mine)

    _uninstall(places)

    assert config.read_text(encoding="utf-8") == mine


def test_what_follows_the_notes_stays_apart(places: Places, hooks: Path) -> None:
    _install(places)
    config = _trust(hooks, before='model = "x"\n')
    with config.open("a", encoding="utf-8") as file:
        file.write("\n[projects.a]\ntrust_level = 'trusted'\n")

    _uninstall(places)

    kept = "model = \"x\"\n\n[projects.a]\ntrust_level = 'trusted'\n"
    assert config.read_text(encoding="utf-8") == kept


def test_installing_writes_no_trust(places: Places, hooks: Path, tmp_path: Path) -> None:
    _install(places)

    assert list(contents(tmp_path / "home" / ".codex")) == ["hooks.json"]
    del hooks


def test_doctor_says_whether_the_hooks_are_trusted(places: Places, hooks: Path) -> None:
    assert _inspect(places) == [
        ("warning", "Codex was found, but its hooks are not installed"),
    ]
    _install(places)
    assert _inspect(places)[-1] == ("warning", "You have not trusted its hooks yet")
    assert "until you trust them" in WIRINGS["codex"].explain(places)[0]
    config = _trust(hooks)
    assert _inspect(places)[-1] == ("ok", "You trust its hooks")
    assert WIRINGS["codex"].explain(places) == []
    text = config.read_text(encoding="utf-8")
    config.write_text(
        text.replace('trusted_hash = "', 'enabled = false\ntrusted_hash = "'), "utf-8"
    )
    assert _inspect(places)[-1] == ("warning", "Its hooks are disabled in Codex")
    config.write_text(text, encoding="utf-8")
    hooks.write_text(
        hooks.read_text(encoding="utf-8").replace('"timeout": 15', '"timeout": 20'),
        encoding="utf-8",
    )
    assert _inspect(places)[-1] == ("warning", "Its hooks have changed since you trusted them")


@pytest.mark.parametrize("kind", ["link", "dots"])
def test_trust_is_found_where_codex_resolves_the_folder_that_its_variable_names(
    places: Places, hooks: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    folder = hooks.parent
    link = folder.with_name("a link \u00fc")
    link.symlink_to(folder)
    (folder / "x").mkdir()
    named = link if kind == "link" else folder / "x" / ".."
    monkeypatch.setenv("CODEX_HOME", str(named))
    moved = find_places(read_environment())
    mine = 'model = "x"\n'
    _install(moved)
    config = _trust(hooks, before=mine)

    assert _inspect(moved)[-1] == ("ok", "You trust its hooks")
    assert WIRINGS["codex"].is_active(moved)
    # The default folder is not resolved: `~/.codex` may be a link, too.
    assert WIRINGS["codex"].is_active(places)

    _uninstall(moved)
    assert config.read_text(encoding="utf-8") == mine


def test_doctor_and_init_say_that_all_hooks_of_codex_are_off(places: Places, hooks: Path) -> None:
    _install(places)
    off = "[features]\nhooks = false\n"
    config = _trust(hooks, before=off)

    assert _inspect(places)[-1] == ("warning", f"features.hooks is false in {config}")
    assert not WIRINGS["codex"].is_active(places)
    (note,) = WIRINGS["codex"].explain(places)
    assert note.startswith(f"features.hooks is false in {config}")


def test_doctor_says_that_the_daemon_is_running(places: Places, hooks: Path) -> None:
    _install(places)
    mark = hooks.parent / "app-server-daemon" / "daemon.pid"
    mark.parent.mkdir()
    mark.write_text(json.dumps({"pid": os.getpid(), "more": 1}), encoding="utf-8")
    assert f"Its daemon is running (process {os.getpid()})" in _inspect(places)[-1][1]

    mark.write_text(json.dumps({"pid": os.getpid(), "processIdentity": {"startTicks": 1}}), "utf-8")
    assert "daemon" not in _inspect(places)[-1][1]
    mark.write_text("{", encoding="utf-8")
    assert "daemon" not in _inspect(places)[-1][1]


def test_doctor_finds_a_key_that_makes_codex_ignore_the_file(places: Places, hooks: Path) -> None:
    _install(places)
    hooks.write_text(json.dumps({**json.loads(hooks.read_bytes()), "version": 1}), "utf-8")

    assert ("broken", f"{hooks} has a key that Codex does not know: version") in _inspect(places)


def test_hooks_in_the_configuration_are_mentioned(places: Places, hooks: Path) -> None:
    _install(places)
    config = hooks.with_name("config.toml")
    config.write_text("[[hooks.Stop]]\nhooks = []\n", encoding="utf-8")

    assert any("also names hooks" in note for note in WIRINGS["codex"].explain(places))


def test_a_configuration_that_is_not_toml_is_left_alone(places: Places, hooks: Path) -> None:
    _install(places)
    config = hooks.with_name("config.toml")
    config.write_bytes(b"model = \xff")

    _uninstall(places)

    assert config.read_bytes() == b"model = \xff"
    assert not hooks.exists()


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=8)


@given(
    st.dictionaries(NAMES, st.sampled_from(["a", "b"]), max_size=4),
    st.dictionaries(NAMES, st.dictionaries(NAMES, st.integers(0, 9), max_size=2), max_size=3),
    st.data(),
)
def test_only_the_named_entries_go_from_any_configuration(
    entries: dict[str, str], tables: dict[str, dict[str, int]], data: st.DataObject
) -> None:
    # As Codex's own keys, which hold a path.
    entries = {f"/{key}:stop:0:0": value for key, value in entries.items()}
    state = {key: {"trusted_hash": value} for key, value in entries.items()}
    before = {"model": "x", "hooks": {"state": state}, "tables": tables}
    gone = data.draw(st.sets(st.sampled_from([*entries]))) if entries else set()

    after = hook_trust.remove_entries(tomlkit.dumps(before), gone)

    left = {key: value for key, value in state.items() if key not in gone}
    found = tomllib.loads(after)
    assert hook_trust.read_state(after.encode()) == left
    assert {**found, "hooks": None} == {**before, "hooks": None}


@pytest.mark.parametrize("agent", ["codex", "gemini", "cursor"])
def test_doctor_knows_its_own_program_in_a_folder_with_quotes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "ada's st\u00e4te"))
    places = find_places(read_environment())
    install.install(places, install.plan_install(places, [agent]))
    wiring = WIRINGS[agent]
    assert not [each for each in wiring.inspect(World(places=places)) if "another" in each.what]

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
    elsewhere = World(places=find_places(read_environment()))

    (found,) = [each for each in wiring.inspect(elsewhere) if "another" in each.what]
    assert found.what.endswith(f" run another program: {places.hook}")
