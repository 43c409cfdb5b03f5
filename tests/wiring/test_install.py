"""Installing changes only what it announces, and uninstalling restores everything."""

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from leftoff.context import Environment
from leftoff.errors import LeftoffError
from leftoff.hooks import settle
from leftoff.wiring import backups, claude_hooks, foreign_files, install
from leftoff.wiring.install_places import Places, find_places
from stores import contents

THEIRS = """{
    "theme":   "dark",
  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]},

  "permissions": {"allow": ["Bash(ls:*)"]}
}"""
TEXTS = {
    "odd layout": THEIRS.encode(),
    "windows": THEIRS.replace("\n", "\r\n").encode(),
    "byte order mark": b"\xef\xbb\xbf" + THEIRS.encode(),
    "tabs": json.dumps({"a": {"b": []}, "ü": "ü"}, indent="\t", ensure_ascii=False).encode(),
    "one line": b'{"a":1}',
    "empty object": b"{}\n",
    "nothing in it": b"",
    "blank": b" \n",
    "numbers": b'{"big": 123456789012345678901234567890, "e": 1e400, "f": 1.10}',
    "doubled key": b'{"hooks": {}, "hooks": {"Stop": []}}',
}


def _install(places: Places) -> None:
    install.install(places, install.plan_install(places))


def _uninstall(places: Places) -> None:
    install.uninstall(places, install.plan_uninstall(places))


@pytest.mark.accept(130)
@pytest.mark.parametrize("before", TEXTS.values(), ids=TEXTS)
def test_uninstall_restores_the_very_bytes(places: Places, before: bytes) -> None:
    places.settings.write_bytes(before)

    _install(places)
    wired = places.settings.read_bytes()
    _uninstall(places)

    assert claude_hooks.is_wired(json.loads(wired.removeprefix(b"\xef\xbb\xbf")), places.hook)
    assert places.settings.read_bytes() == before


@pytest.mark.accept(130)
@pytest.mark.parametrize("before", TEXTS.values(), ids=TEXTS)
def test_a_second_install_has_nothing_to_do(places: Places, before: bytes) -> None:
    places.settings.write_bytes(before)
    _install(places)

    assert install.plan_install(places) == []


def test_without_settings_they_are_made_and_go_away_again(places: Places) -> None:
    places.settings.parent.rmdir()

    _install(places)
    assert claude_hooks.is_wired(json.loads(places.settings.read_bytes()), places.hook)
    assert places.settings.read_bytes().endswith(b"}\n")
    _uninstall(places)

    assert not places.settings.parent.exists()


def test_the_hook_and_the_python_are_put_in_place_and_taken_away(places: Places) -> None:
    _install(places)

    assert places.hook.read_bytes() == install.read_shipped_hook()
    assert stat.S_IMODE(places.hook.stat().st_mode) == 0o755
    # A venv's python, resolved, would no longer know the packages of the venv.
    named = places.python.read_text(encoding="utf-8").splitlines()
    assert named == [sys.executable, settle.__file__]
    assert stat.S_IMODE(places.state.stat().st_mode) == 0o700
    _uninstall(places)
    assert not places.hook.exists()
    assert not places.python.exists()


def test_a_hook_of_another_version_or_mode_is_put_right(places: Places) -> None:
    _install(places)
    places.hook.write_text("#!/bin/sh\n", encoding="utf-8")
    assert [change.path for change in install.plan_install(places)] == [places.hook]
    _install(places)
    places.hook.chmod(0o600)
    assert [change.path for change in install.plan_install(places)] == [places.hook]
    _install(places)

    assert places.hook.read_bytes() == install.read_shipped_hook()
    assert stat.S_IMODE(places.hook.stat().st_mode) == 0o755


@pytest.mark.accept(130)
def test_a_backup_holds_the_bytes_and_shows_where_they_came_from(places: Places) -> None:
    places.settings.write_bytes(TEXTS["windows"])
    _install(places)

    [receipt] = [each for each in backups.receipts(places.state) if each.path.endswith(".json")]
    assert receipt.path == str(places.settings)
    backup = places.state / "backups" / str(receipt.before)
    assert backup.name.endswith("-settings.json")
    assert backup.read_bytes() == TEXTS["windows"]
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600


def test_after_an_edit_of_the_user_exactly_our_entries_go(places: Places) -> None:
    places.settings.write_bytes(TEXTS["odd layout"])
    _install(places)
    edited = places.settings.read_text(encoding="utf-8").replace('"dark"', '"light"')
    places.settings.write_text(edited, encoding="utf-8")

    _uninstall(places)

    assert places.settings.read_text(encoding="utf-8") == THEIRS.replace('"dark"', '"light"')


def test_hooks_of_an_installation_elsewhere_are_replaced_and_go_with_ours(
    places: Places, tmp_path: Path
) -> None:
    places.settings.write_bytes(TEXTS["tabs"])
    moved = {**places.environment.variables, "LEFTOFF_HOME": str(tmp_path / "old" / "leftoff")}
    elsewhere = find_places(Environment(moved))
    _install(elsewhere)
    _install(places)
    assert claude_hooks.is_wired(json.loads(places.settings.read_bytes()), places.hook)

    _uninstall(places)

    assert places.settings.read_bytes() == TEXTS["tabs"]


def test_the_first_bytes_are_found_through_several_installs(places: Places) -> None:
    places.settings.write_bytes(TEXTS["tabs"])
    _install(places)
    installed = places.settings.read_bytes()
    # What an update that needs one more event would do.
    more = foreign_files.FileChange(
        path=places.settings, what="", before=installed, after=installed + b"\n", is_foreign=True
    )
    install.install(places, [more])

    _uninstall(places)

    assert places.settings.read_bytes() == TEXTS["tabs"]


def test_settings_of_a_project_are_found_again_from_anywhere(
    places: Places, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    in_project = find_places(places.environment, project)
    _install(in_project)
    assert (project / ".claude" / "settings.json").exists()

    _uninstall(places)

    assert not (project / ".claude").exists()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        # Python 3.13 and later name the comma, earlier ones what follows it.
        (b'{"a": 1,}', "line 1, column [89]"),
        (b"// comment\n{}", "line 1, column 1"),
        (b"[]", "it is not a JSON object"),
        (b'{"hooks": []}', "its hooks are not a JSON object"),
        (b'{"hooks": {"Stop": {}}}', "its hooks for Stop are not a list"),
        (b'{"a": "\xff"}', "it is not UTF-8 at byte 7"),
    ],
)
def test_settings_that_cannot_be_used_are_reported_in_one_sentence_and_left_alone(
    places: Places, text: bytes, why: str
) -> None:
    places.settings.write_bytes(text)

    with pytest.raises(LeftoffError, match=why) as raised:
        _install(places)

    assert str(places.settings) in raised.value.message
    assert places.settings.read_bytes() == text
    assert not places.state.exists()


@pytest.mark.parametrize("is_relative", [True, False])
def test_a_link_stays_and_what_it_leads_to_is_written(
    places: Places, tmp_path: Path, *, is_relative: bool
) -> None:
    dotfiles = tmp_path / "home" / "dotfiles"
    dotfiles.mkdir()
    real = dotfiles / "claude.json"
    real.write_bytes(TEXTS["tabs"])
    target = Path("../dotfiles/claude.json") if is_relative else real
    places.settings.symlink_to(target)

    _install(places)

    assert places.settings.readlink() == target
    assert claude_hooks.is_wired(json.loads(real.read_bytes()), places.hook)
    _uninstall(places)
    assert places.settings.readlink() == target
    assert real.read_bytes() == TEXTS["tabs"]


def test_a_link_to_nothing_stays_a_link_to_nothing(places: Places, tmp_path: Path) -> None:
    places.settings.symlink_to(tmp_path / "home" / "later.json")

    _install(places)
    assert (tmp_path / "home" / "later.json").is_file()
    _uninstall(places)

    assert places.settings.is_symlink()
    assert not places.settings.exists()


def test_a_file_with_two_names_keeps_both(places: Places, tmp_path: Path) -> None:
    places.settings.write_bytes(TEXTS["tabs"])
    twin = tmp_path / "home" / "twin.json"
    twin.hardlink_to(places.settings)

    _install(places)

    assert twin.read_bytes() == places.settings.read_bytes() != TEXTS["tabs"]


def test_the_mode_of_the_settings_is_kept(places: Places) -> None:
    places.settings.write_bytes(b"{}")
    places.settings.chmod(0o640)

    _install(places)

    assert stat.S_IMODE(places.settings.stat().st_mode) == 0o640


def test_a_read_only_file_is_reported_and_left_alone(places: Places) -> None:
    places.settings.write_bytes(b"{}")
    places.settings.chmod(0o444)

    with pytest.raises(LeftoffError, match="is read-only, so nothing was changed"):
        _install(places)

    assert places.settings.read_bytes() == b"{}"
    assert not places.state.exists()


def test_a_folder_in_the_place_of_the_settings_is_reported(places: Places) -> None:
    places.settings.mkdir()

    with pytest.raises(LeftoffError, match="is not a file"):
        _install(places)


@pytest.mark.accept(130)
def test_trouble_on_the_way_puts_all_back(places: Places, tmp_path: Path) -> None:
    places.settings.write_bytes(TEXTS["tabs"])
    changes = install.plan_install(places)
    before = contents(tmp_path / "home")
    # Somebody writes the settings after the plan was made.
    places.settings.write_bytes(b'{"by": "somebody else"}')

    with pytest.raises(LeftoffError, match="Another program just changed"):
        install.install(places, changes)

    places.settings.write_bytes(TEXTS["tabs"])
    left = contents(tmp_path / "home")
    assert {path: left[path] for path in left if "backups" not in path} == before


@pytest.mark.accept(130)
def test_a_result_that_is_not_right_is_rolled_back(places: Places, tmp_path: Path) -> None:
    places.settings.write_bytes(TEXTS["tabs"])
    before = contents(tmp_path / "home")
    wrong = foreign_files.FileChange(
        path=places.settings,
        what="settings without hooks",
        before=TEXTS["tabs"],
        after=b"{}",
        is_foreign=True,
        agent="claude",
    )
    ours = [each for each in install.plan_install(places) if each.path != places.settings]

    with pytest.raises(LeftoffError, match="would be wrong"):
        install.install(places, [*ours, wrong])

    left = contents(tmp_path / "home")
    assert {path: left[path] for path in left if "backups" not in path} == before
    assert backups.receipts(places.state) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_still_lets_the_file_be(places: Places) -> None:
    places.settings.write_bytes(b"{}")
    places.settings.parent.chmod(0o500)
    try:
        _install(places)
        assert claude_hooks.is_wired(json.loads(places.settings.read_bytes()), places.hook)
    finally:
        places.settings.parent.chmod(0o700)


def test_a_lost_backup_is_not_a_reason_to_keep_the_hooks(places: Places) -> None:
    places.settings.write_bytes(TEXTS["tabs"])
    _install(places)
    for backup in (places.state / "backups").glob("*-settings.json"):
        backup.unlink()

    _uninstall(places)

    assert places.settings.read_bytes() == TEXTS["tabs"]


def test_uninstalling_what_is_not_installed_changes_nothing(places: Places) -> None:
    places.settings.write_bytes(TEXTS["tabs"])

    assert install.plan_uninstall(places) == []


def test_the_package_can_be_compiled_beforehand() -> None:
    assert install.compile_package()
