"""guardz files in unusual spellings: each part is read as what it is, not only kept."""

from pathlib import Path
from typing import Any

import pytest

from cli.runs import Cli
from gitrepo import Repo
from leftoff.profiles import guardz

CORPUS = Path(__file__).parent / "corpus" / "guardz-unusual"
FILES = sorted(CORPUS.glob("checkpoint-*.md"))


def read(name: str) -> dict[str, Any]:
    path = CORPUS / f"checkpoint-{name}.md"
    native = guardz.read(path, path.read_bytes())
    assert native.problem is None
    assert native.saved_at is not None
    return {**native.fields, "saved": f"{native.saved_at:%Y-%m-%d %H:%M}"}


@pytest.mark.promise("guardz", 71)
@pytest.mark.parametrize(
    ("name", "left_off", "failed", "files"),
    [
        ("polish", "Walidacja PESEL", ["Wyrażenie regularne"], ["pesel.py"]),
        ("turkish-vietnamese", "İstek kuyruğu", ["Redis"], ["kuyruk.py"]),
        ("hindi", "भुगतान", ["क्रॉन"], ["pay.py"]),
        ("both-languages", "`index.ts`", ["`any` を使う"], ["tsconfig.json"]),
        ("quoted", "The importer", ["csv.Sniffer"], ["reader.py"]),
        ("callouts", "> [!todo]", ["> [!failure] BM25", "> [!failure] TF-IDF"],
         ["src/ranker.py", "src/index.py"]),
        ("emoji-nested", "The trigram", ["💥 FTS5", "🐢 LIKE '%x%'"],
         ["src/index.rs", "src/trigram.rs"]),
        ("one-line-head", "DST gap", ["time.LoadLocation at init", "embed tzdata"],
         ["clock.go", "clock_lisbon_test.go", "notes/tz.md"]),
        ("sub-headings-everywhere", "The worker", ["asyncio.Queue", "multiprocessing"],
         ["worker.py", "app.py"]),
    ],
)  # fmt: skip
def test_every_section_is_found_in_any_language_and_frame(
    name: str, left_off: str, failed: list[str], files: list[str]
) -> None:
    fields = read(name)

    assert fields["saved"] == "2026-11-15 18:40"
    assert fields["branch"]
    assert fields["left_off"].startswith(left_off)
    assert [each["what"] for each in fields["failed"]] == failed
    assert all(each["why"] for each in fields["failed"])
    assert fields["files_modified"] == files
    assert fields["done"]


@pytest.mark.promise("guardz", 72)
@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("- [x] src/money.py", "src/money.py"),
        ("- [money.py](src/money.py#L10-L80)", "src/money.py"),
        ("- <src/money.py>", "src/money.py"),
        (" src/money.py | 12 +++++++-----", "src/money.py"),
        ("- ?? src/money.py", "src/money.py"),
        ("R  src/cash.py -> src/money.py", "src/money.py"),
    ],
)
def test_a_modified_file_is_its_path(line: str, path: str) -> None:
    text = f"# Checkpoint: money\n\n## Left Off\nHalf.\n\n## Modified Files\n{line}\n"
    native = guardz.read(Path("checkpoint-money.md"), text.encode())

    assert native.fields["files_modified"] == [path]


@pytest.mark.promise("guardz", 73)
@pytest.mark.parametrize("nothing", ["TBD", "None known", "🎉 none", "brak", "нет"])
def test_nothing_failed_in_still_other_words(nothing: str) -> None:
    text = f"# Checkpoint: money\n\n## Left Off\nHalf.\n\n## Failed Approaches\n- {nothing}\n"
    native = guardz.read(Path("checkpoint-money.md"), text.encode())

    assert native.fields["failed"] == []


HEAD = "- **Branch:** `main`\n- **Saved:** 2026-11-15 18:40\n"
LAST = "## Done\n- Header\n\n## Failed\n- Redis: slow\n\n## Files\n- src/a.py\n"
FRAMES = {
    "two titles in no known language": f"# Checkpoint: money\n{HEAD}\n## Kie ni haltis\n"
    "Half of it.\n\n## Erledigt\n- Header\n\n## Gescheiterte Ansätze\n- Redis — slow\n\n"
    "## Ŝanĝitaj dosieroj\n- src/a.py\n\n---\n",
    "fields instead of headings": f"# Checkpoint: money\n{HEAD}\n**Left Off:** Half of it.\n\n"
    "**Done This Session:**\n- Header\n\n**Failed Approaches:** Redis — slow\n\n"
    "**Modified Files:** src/a.py\n",
    "a field, and a title that is underlined": f"Checkpoint: money\n=======\n{HEAD}"
    f"- **Left Off:** Half of it.\n\n{LAST}",
    "a fence around all of it": f"```md\n# Checkpoint: money\n{HEAD}\n## Left Off\n"
    "Half of it.\n\n## Done\n- Header\n\n## Failed\n- Redis (reason: slow)\n\n"
    "## Files\n- src/a.py\n```\n",
    "a quote": f"# Checkpoint: money\n{HEAD}\n## Left Off\n> Half of it.\n\n{LAST}",
}


@pytest.mark.promise("guardz", 74)
@pytest.mark.parametrize("text", FRAMES.values(), ids=FRAMES)
def test_the_parts_of_a_file_are_found_in_still_other_frames(text: str) -> None:
    fields = guardz.read(Path("checkpoint-money.md"), text.encode()).fields

    assert (fields["branch"], fields["left_off"]) == ("main", "Half of it.")
    assert fields["done"] == ["Header"]
    assert fields["failed"] == [{"what": "Redis", "why": "slow"}]
    assert fields["files_modified"] == ["src/a.py"]
    assert [each for each in fields["notes"] if not each.startswith(("Kie", "Ŝan"))] == []


def test_four_headings_of_another_kind_are_not_taken_for_the_template() -> None:
    text = (
        "# Checkpoint: money\n\n## Goal\na\n\n## Changes\nb\n\n## Trouble\nc\n\n## Later\n- docs\n"
    )
    native = guardz.read(Path("checkpoint-money.md"), text.encode())

    assert native.fields["notes"] == ["Goal\na", "Changes\nb", "Trouble\nc", "Later\n- docs"]
    assert native.fields["failed"] == []


def test_they_are_exported_byte_for_byte(cli: Cli, repo: Repo, tmp_path: Path) -> None:
    del repo
    report = cli.json("import", "--from", "guardz", str(CORPUS))
    assert (report["imported"], report["problems"]) == (len(FILES), [])
    cli.ok("export", "--to", "guardz", str(tmp_path / "out"))

    written = {path.name: path.read_bytes() for path in (tmp_path / "out").glob("checkpoint-*")}
    assert written == {path.name: path.read_bytes() for path in FILES}
