"""A seal proves that a session belongs to this user on this machine."""

from pathlib import Path

import pytest

from leftoff.context import state_folder
from leftoff.session import records


def test_only_the_session_that_was_sealed_is_known() -> None:
    made = records.seal(state_folder(), "claude", "one")

    assert records.is_sealed(state_folder(), "claude", "one", made)
    assert not records.is_sealed(state_folder(), "claude", "two", made)
    assert not records.is_sealed(state_folder(), "codex", "one", made)
    assert not records.is_sealed(state_folder(), "claude", "one", "")
    assert not records.is_sealed(state_folder(), "claude", "one", "ü")


def test_another_machine_seals_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = records.seal(state_folder(), "claude", "one")
    monkeypatch.setenv("LEFTOFF_HOME", str(tmp_path / "other"))

    assert not records.is_sealed(state_folder(), "claude", "one", made)


def test_only_the_user_can_read_the_key() -> None:
    records.seal(state_folder(), "claude", "one")

    assert (state_folder() / "key").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("target", ["known", "missing"])
def test_a_key_that_is_a_link_seals_nothing(tmp_path: Path, target: str) -> None:
    (tmp_path / "known").write_bytes(b"0" * 32)
    state_folder().mkdir(parents=True)
    (state_folder() / "key").symlink_to(tmp_path / target)

    made = records.seal(state_folder(), "claude", "one")

    assert made == ""
    assert not records.is_sealed(state_folder(), "claude", "one", made)
