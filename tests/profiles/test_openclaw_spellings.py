"""openclaw files in unusual spellings: each part is read as what it is, not only kept."""

from pathlib import Path
from typing import Any

import pytest

from cli.runs import Cli
from gitrepo import Repo
from leftoff.checkpoint import Checkpoint, from_plain
from leftoff.profiles import openclaw
from leftoff.profiles.openclaw import openclaw_layout

CORPUS = Path(__file__).parent / "corpus" / "openclaw"
BY_PLACE = """\
# Punkt kontrolny: by-place

**Zapisano dnia:** 2026-11-15 18:40
**Cel pracy:** Walidacja numerów

## Co gotowe
- Napisano `pesel.py`

## Co dalej
Uruchomić `pytest`

## Co blokuje
- Nie ma danych

## Ustalenia
- Bez wyrażeń (nie liczą sumy)

## Tło
- pesel.py
"""


def read_text(text: str, name: str = "by-place") -> dict[str, Any]:
    native = openclaw.read(Path(f"memory/checkpoints/{name}.md"), text.encode())
    assert native.problem is None
    return native.fields


def read_file(name: str) -> dict[str, Any]:
    return read_text((CORPUS / f"{name}.md").read_text("utf-8-sig"), name)


@pytest.mark.promise("openclaw", 71)
@pytest.mark.parametrize("mark", ["1. ", "2) ", "• ", "3、"])
def test_a_numbered_list_has_an_item_for_each_number(mark: str) -> None:
    lists = {
        "Progress": "done", "Blockers": "blockers", "Relevant Context": "notes",
    }  # fmt: skip
    text = "\n".join(f"## {title}\n{mark}First\n{mark}Second\n" for title in lists)
    fields = read_text(text)

    assert [fields[key] for key in lists.values()] == [["First", "Second"]] * len(lists)


@pytest.mark.promise("openclaw", 71)
def test_where_it_stopped_may_be_a_numbered_text_of_leftoff() -> None:
    """What leftoff wrote as prose is not read back as items."""
    left_off = "1. not an item\n2) neither\n• nor this"
    base = {"schema": 2, "id": "20261115T184000000Z-00000000", "trigger": "manual"}
    given = {**base, "name": "by-place", "saved_at": "2026-11-15T18:40:00Z", "left_off": left_off}
    fields = read_text(openclaw_layout.render(from_plain(given, Checkpoint)))

    assert (fields["left_off"], fields["done"]) == (left_off, [])


@pytest.mark.promise("openclaw", 72)
@pytest.mark.parametrize(
    ("name", "task", "action"),
    [
        ("japanese", "検索を速くする", "`npm test` を実行する"),
        ("russian", "Ускорить отчёт", "Запустить `pytest`"),
        ("korean-italian", "결제 재시도", "`pytest` 실행"),
        ("portuguese", "Importar notas fiscais", "Rodar `pytest nf`"),
        ("chinese-mixed", "优化搜索", "运行 `npm test`"),
        ("yaml-matter-emoji", "Fix the exporter: quotes and commas", "`npm run test:export`"),
        ("table-fields", "Move the limits to Redis", "Command: `npm test` — verify the limiter"),
        ("setext", "Setext headings", "Run `make check`"),
        ("headings-level-mixed", "Mixed levels", "run p.py"),
        ("html-and-quotes", "<b>HTML</b> & quotes", "Open `a.html`"),
    ],
)
def test_task_and_next_action_are_found_in_any_language_and_frame(
    name: str, task: str, action: str
) -> None:
    fields = read_file(name)

    assert (fields["summary"], fields["next_action"]["text"]) == (task, action)
    assert len(fields["done"]) + bool(fields["left_off"]) > 0
    assert fields["decisions"]


@pytest.mark.promise("openclaw", 72)
def test_in_a_language_that_nobody_foresaw_the_place_of_a_section_counts() -> None:
    native = openclaw.read(Path("memory/checkpoints/by-place.md"), BY_PLACE.encode())

    assert native.fields["summary"] == "Walidacja numerów"
    assert native.saved_at is not None
    assert f"{native.saved_at:%Y-%m-%d %H:%M}" == "2026-11-15 18:40"
    assert native.fields["done"] == ["Napisano `pesel.py`"]
    assert native.fields["next_action"]["text"] == "Uruchomić `pytest`"
    assert native.fields["blockers"] == ["Nie ma danych"]
    assert native.fields["decisions"][0]["why"] == "nie liczą sumy"


@pytest.mark.promise("openclaw", 73)
@pytest.mark.parametrize(
    "nothing", ["None at the moment.", "*None*", "🚧 none known", "N/A", "なし", "нет", "无", "TBD"]
)
def test_a_section_that_says_that_there_is_nothing_names_no_blocker(nothing: str) -> None:
    fields = read_text(f"## Progress\n- Wrote a.py\n\n## Blockers\n- {nothing}\n")

    assert fields["blockers"] == []


@pytest.mark.parametrize("blocker", ["None", "\\None", "TBD", "nichts"])
def test_a_blocker_that_only_looks_like_nothing_is_read_back(blocker: str) -> None:
    base = {"schema": 2, "id": "20261115T184000000Z-00000000", "trigger": "manual"}
    given = {**base, "name": "by-place", "saved_at": "2026-11-15T18:40:00Z", "summary": "Task"}
    made = from_plain({**given, "blockers": [blocker]}, Checkpoint)

    assert read_text(openclaw_layout.render(made))["blockers"] == [blocker]


@pytest.mark.parametrize("label", ["Why", "Reason", "**Rationale:**"])
def test_the_reason_below_a_decision_is_its_reason(label: str) -> None:
    named = label if label.endswith("**") else f"{label}:"
    fields = read_text(f"## Key Decisions\n- Use sqitch\n  - {named} it verifies\n")

    assert fields["decisions"][0]["what"] == "Use sqitch"
    assert fields["decisions"][0]["why"] == "it verifies"


@pytest.mark.promise("openclaw", 66)
def test_undo_of_a_save_brings_a_file_back_byte_for_byte(
    cli: Cli, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = repo.folder / "memory" / "checkpoints"
    folder.mkdir(parents=True)
    monkeypatch.setenv("LEFTOFF_PROFILE", "openclaw")
    monkeypatch.setenv("LEFTOFF_MIRROR", "openclaw")
    data = (CORPUS / "extra-plenty.md").read_bytes()
    (folder / "extra-plenty.md").write_bytes(data)
    done = "Wrote reader.py lines 1-9"
    cli.ok("save", "extra-plenty", "--overwrite", "--done", done, "--next", "Run pytest reader.py")
    assert done in (folder / "extra-plenty.md").read_text("utf-8")
    cli.ok("undo")

    assert (folder / "extra-plenty.md").read_bytes() == data


@pytest.mark.promise("openclaw", 72)
def test_a_field_has_a_sign_before_it_and_a_task_a_summary_beside_it() -> None:
    fields = read_text(
        "# 📌 Checkpoint: by-place\n\n🕐 **Created:** 2026-11-15 18:40 UTC\n"
        "🎯 **Task:** Import CSVs\n**Summary:** Half of it\n\n## 🔜 Next Action\nRun it\n"
    )

    assert fields["summary"] == "Import CSVs"
    assert fields[openclaw_layout.KEY]["fields"] == {"Summary": "Half of it"}
