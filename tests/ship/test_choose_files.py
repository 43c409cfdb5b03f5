import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from cli.runs import Cli
from leftoff.errors import LeftoffError
from leftoff.git.write import Repo
from leftoff.ship import choose_files
from leftoff.ship.choose_files import Chosen, Judge
from leftoff.subprocesses import Ended
from ship.shop import Shop


def stage(shop: Shop) -> Chosen:
    repo = Repo(shop.folder)
    return choose_files.stage(repo, Judge(repo))


def staged(shop: Shop) -> set[str]:
    return set(Repo(shop.folder).list_staged())


def test_everything_that_changed_is_staged_whatever_happened_to_it(shop: Shop) -> None:
    shop.commit("Files", {name: f"{name}\n" for name in ("edited", "gone", "moved", "staged")})
    shop.write("edited", "other\n")
    (shop.folder / "gone").unlink()
    shop.git("mv", "moved", "new-name")
    shop.write("staged", "one\n")
    shop.git("add", "staged")
    shop.write("staged", "two\n")
    shop.write("new folder/new file")
    shop.git("rm", "--quiet", "app.py")

    chosen = stage(shop)

    expected = {"edited", "gone", "moved", "new-name", "staged", "new folder/new file", "app.py"}
    assert staged(shop) == expected
    assert set(chosen.files) == expected - {"moved"}
    assert shop.git("show", ":staged") == "two"


def test_native_state_comes_before_everything_else(shop: Shop) -> None:
    shop.write("a.py")
    shop.write(".claude-harness/claude-progress.json", "{}")

    chosen = stage(shop)

    assert chosen.files == [".claude-harness/claude-progress.json", "a.py"]


def test_ignored_files_stay_out_without_a_word(shop: Shop) -> None:
    shop.commit("Ignore", {".gitignore": "*.log\n"})
    shop.write("a.log")
    shop.write("a.py")

    chosen = stage(shop)

    assert (chosen.files, chosen.left_out) == (["a.py"], [])


def test_a_rename_to_a_secret_leaves_both_names_as_they_were(shop: Shop) -> None:
    shop.git("mv", "app.py", ".env")

    chosen = stage(shop)

    assert [each.path for each in chosen.left_out] == [".env"]
    assert staged(shop) <= {"app.py"}
    assert ".env" not in staged(shop)


def test_a_lock_that_goes_away_is_waited_for(shop: Shop) -> None:
    lock = shop.folder / ".git" / "index.lock"
    lock.touch()
    shop.write("a.py")
    timer = threading.Timer(0.3, lock.unlink)
    timer.start()

    chosen = stage(shop)

    timer.join()
    assert chosen.files == ["a.py"]
    assert staged(shop) == {"a.py"}


class _Meddling(Repo):
    """A repository in which somebody writes while files are staged."""

    def __init__(self, shop: Shop, text: str, *, times: int = 1) -> None:
        super().__init__(shop.folder)
        self._shop, self._text, self._times = shop, text, times

    def stage(self, files: Sequence[str]) -> Ended:
        self._write()
        ended = super().stage(files)
        self._write()
        return ended

    def _write(self) -> None:
        if self._times:
            self._times -= 1
            self._shop.write("a.py", f"{self._text}# {self._times}\n")


def test_a_secret_written_between_the_look_and_the_staging_is_seen(shop: Shop) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    shop.write("a.py", "x = 1\n")
    repo = _Meddling(shop, f"token = '{token[:40]}'\n")

    chosen = choose_files.stage(repo, Judge(repo))

    assert [each.path for each in chosen.left_out] == ["a.py"]
    assert staged(shop) == set()


def test_files_that_keep_changing_end_in_a_clear_error(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choose_files, "_LOCK_SECONDS", 0.3)
    shop.write("a.py", "x = 1\n")
    repo = _Meddling(shop, "x = 2\n", times=1000)

    with pytest.raises(LeftoffError, match="files keep changing while they are staged"):
        choose_files.stage(repo, Judge(repo))


def test_a_dirty_submodule_keeps_nothing_from_being_staged(tmp_path: Path, shop: Shop) -> None:
    inner = Shop(tmp_path / "inner")
    shop.git("submodule", "--quiet", "add", str(inner.remote.folder), "lib")
    shop.commit("Add lib")
    (shop.folder / "lib" / "app.py").write_text("changed\n")
    shop.write("a.py")

    chosen = stage(shop)

    assert chosen.files == ["a.py"]
    assert [each.path for each in chosen.left_out] == ["lib"]
    assert staged(shop) == {"a.py"}


def test_a_submodule_that_moved_to_another_commit_is_staged(tmp_path: Path, shop: Shop) -> None:
    inner = Shop(tmp_path / "inner")
    shop.git("submodule", "--quiet", "add", str(inner.remote.folder), "lib")
    shop.commit("Add lib")
    lib = ("-C", "lib", "-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    shop.git(*lib, "commit", "--quiet", "--allow-empty", "--message", "On")

    assert stage(shop).files == ["lib"]


def test_a_file_that_is_not_different_once_staged_is_not_counted(shop: Shop) -> None:
    shop.commit("Ends of lines", {".gitattributes": "*.txt text eol=lf\n", "a.txt": "one\n"})
    (shop.folder / "a.txt").write_bytes(b"one\r\n")

    assert stage(shop).files == []
    assert staged(shop) == set()


def test_a_thousand_new_files_are_one_step(shop: Shop) -> None:
    for number in range(1000):
        shop.write(f"many/{number}.txt", f"{number}\n")

    assert len(stage(shop).files) == 1000
    assert len(staged(shop)) == 1000


def test_a_plan_shows_each_name_on_one_line(shop: Shop, cli: Cli) -> None:
    (shop.folder / "two\nlines.py").write_text("x = 1\n")

    assert "       two\\nlines.py\n" in cli.ok("ship", "--dry-run", "--no-push").out
