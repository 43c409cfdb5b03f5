from pathlib import Path

from leftoff.wiring import backups
from leftoff.wiring.foreign_files import FileChange


def test_an_empty_file_of_the_user_is_not_what_a_removal_left(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    backup = backups.keep(tmp_path, path, b"{}")
    removal = FileChange(path=path, what="the settings", before=b"{}", after=None)
    backups.note(tmp_path, removal, backup, [])

    assert backups.original(tmp_path, path, b"") is None


def test_an_empty_file_that_leftoff_wrote_is_traced_back(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    backup = backups.keep(tmp_path, path, b"{}")
    emptied = FileChange(path=path, what="the settings", before=b"{}", after=b"")
    backups.note(tmp_path, emptied, backup, [])

    assert backups.original(tmp_path, path, b"") == backups.Original(data=b"{}")
