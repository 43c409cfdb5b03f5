"""Native files as language models spell them: imported, shown and exported without losing a word.

`corpus/<system>` holds one file for each spelling. The property tests mix the spellings further.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cli.runs import Cli
from gitrepo import Repo
from leftoff import profiles
from leftoff.checkpoint import Checkpoint, from_plain
from leftoff.profiles.loose_headings import fold_title
from leftoff.profiles.markdown_codec import FilePart, Layout
from leftoff.profiles.openclaw import openclaw_layout
from leftoff.profiles.quoin import quoin_layout

CORPUS = Path(__file__).parent / "corpus"
FILES = {
    system: sorted((CORPUS / system).glob("*.md"), key=lambda path: path.name)
    for system in ("openclaw", "quoin")
}
FOLDERS = {"openclaw": "memory/checkpoints", "quoin": "memory/checkpoints"}
LAYOUTS = {"openclaw": openclaw_layout.LAYOUT, "quoin": quoin_layout.LAYOUT}
# What says that there is nothing, what is derived, and what the layouts write in one form only.
FRAME = {
    *"none found yet n a checkpoint created saved task artifact path age derived from file mtime"
    " at resume time concrete obstacles errors conflicts pending decisions x what why".split(),
    *"utc 2026 11 15 18 40 12z 15t18 nov pm".split(),
    *"无 なし нет nessuno at the moment known".split(),
    *"field value question decision markdown code".split(),
    *"rationale alternatives considered revisión".split(),
}


def spelled_words(layout: Layout) -> set[str]:
    """Return the words of a layout's headings and fields, in all spellings."""
    parts: list[FilePart[Any]] = [*layout.sections, *layout.fields]
    spellings = [spelling for part in parts for spelling in (part.title, *part.spellings)]
    return {word for spelling in spellings for word in fold_title(spelling).split()}


SPELLINGS = {system: spelled_words(layout) for system, layout in LAYOUTS.items()}
IDS = [f"{system}-{path.stem}" for system, paths in FILES.items() for path in paths]
ALL = [(system, path) for system, paths in FILES.items() for path in paths]


def words(text: str) -> Counter[str]:
    """Return the words of a text, however it is marked up."""
    plain = unicodedata.normalize("NFC", text).casefold()
    return Counter(re.findall(r"\w+", plain.replace("_", " ")))


def lost(system: str, before: str, after: str) -> set[str]:
    """Return the words that are missing afterwards, without those of the layout itself."""
    kept = words(after)
    frame = FRAME | SPELLINGS[system]
    return {
        word
        for word, count in words(before).items()
        if count > kept[word] and word not in frame and not re.fullmatch(r"\d{1,2}", word)
    }


def adopt(cli: Cli, system: str, folder: Path, paths: list[Path]) -> None:
    """Copy native files to a folder and import them."""
    place = folder / FOLDERS[system]
    place.mkdir(parents=True)
    for path in paths:
        (place / path.name).write_bytes(path.read_bytes())
    result = cli.json("import", "--from", system, str(folder))
    assert result["problems"] == []
    assert result["imported"] == len(paths)


def test_the_corpus_is_large() -> None:
    assert all(len(paths) >= 40 for paths in FILES.values())


@pytest.mark.promise("openclaw", 50)
@pytest.mark.promise("quoin", 55)
@pytest.mark.parametrize("system", FILES)
def test_every_spelling_survives_import_export_and_import(
    cli: Cli, repo: Repo, tmp_path: Path, system: str
) -> None:
    adopt(cli, system, tmp_path / "theirs", FILES[system])
    del repo
    cli.ok("export", "--to", system, str(tmp_path / "ours"))
    exported = {path.name: path for path in (tmp_path / "ours").rglob("*.md")}
    whole = "\n".join(path.read_text("utf-8") for path in exported.values())
    for path in FILES[system]:
        assert lost(system, path.read_text("utf-8"), whole) == set(), path.name

    monkey = Repo(tmp_path / "second")
    found = cli.process(
        "import", "--from", system, str(tmp_path / "ours"), "--json", cwd=monkey.folder
    )
    assert found.returncode == 0, found.stderr
    cli.process("export", "--to", system, str(tmp_path / "again"), cwd=monkey.folder)
    again = {path.name: path.read_bytes() for path in (tmp_path / "again").rglob("*.md")}
    assert _without_times(again) == _without_times(
        {name: path.read_bytes() for name, path in exported.items()}
    )


def _without_times(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return files without the lines that name the project or the ledger's sessions."""
    return {
        name: re.sub(rb"\*\*Project:\*\* .*\n", b"", data)
        for name, data in files.items()
        if name != "cost-ledger.md"
    }


@pytest.mark.promise("openclaw", 63)
@pytest.mark.parametrize(("system", "path"), ALL, ids=IDS)
def test_one_spelling_is_read_by_its_keys_and_written_without_loss(
    system: str, path: Path, tmp_path: Path
) -> None:
    again, text = rewrite(system, path.name, path.read_bytes(), tmp_path)

    assert lost(system, path.read_text("utf-8"), text) == set()
    assert again.summary or again.intent
    second, final = rewrite(system, path.name, text.encode(), tmp_path)
    assert final == text
    assert (second.next_action, second.questions, second.decisions) == (
        again.next_action, again.questions, again.decisions,
    )  # fmt: skip


def rewrite(system: str, name: str, data: bytes, folder: Path) -> tuple[Checkpoint, str]:
    """Read a file as its profile does, and write what was read."""
    path = folder / FOLDERS[system] / name
    profile = profiles.load(system)
    native = profile.read(path, data)
    assert native.problem is None, native.problem
    plain = {key: value for key, value in native.fields.items() if value not in (None, [], {}, "")}
    given = {"schema": 2, "id": "20261115T184000000Z-00000000", "name": native.name}
    moment = native.saved_at.isoformat() if native.saved_at else "2026-11-15T18:40:00Z"
    made = from_plain({"trigger": "import", **plain, **given, "saved_at": moment}, Checkpoint)
    render = openclaw_layout.render if system == "openclaw" else quoin_layout.render
    return made, render(made)


@pytest.mark.promise("quoin", 55)
def test_a_long_file_loses_nothing(cli: Cli, repo: Repo, tmp_path: Path) -> None:
    del repo
    steps = [f"- step {number} of many that are left" for number in range(300)]
    text = (CORPUS / "quoin" / "2026-11-15-cron-drift.md").read_text("utf-8")
    file = tmp_path / "2026-11-15-cron-drift.md"
    file.write_text(text.replace("- jitter test", "\n".join(steps)), "utf-8")
    adopt(cli, "quoin", tmp_path / "theirs", [file])

    assert cli.json("show")["left_off"].splitlines() == steps
    cli.ok("export", "--to", "quoin", str(tmp_path / "ours"))
    (exported,) = (tmp_path / "ours/memory/checkpoints").iterdir()
    assert "\n".join(steps) in exported.read_text("utf-8")


# What each of these files says, although it looks like none of quoin's.
FRAMED = {
    "refund-retry": ("feat/refund-retry", "implement"),
    "cart-merge": ("feat/cart-merge", "implement"),
    "plugin-sandbox": ("feat/sandbox (3 commits ahead of main)", "implement (stage 2 of 4)"),
    "invoice-pdf": ("feat/invoice-pdf", "review"),
    "mahnlauf": ("feat/mahnlauf", "implement"),
    "paie-export": ("feat/paie-export", "implement"),
    "order-sync": ("feat/order-sync", "implement"),
    "cron-drift": ("fix/cron-drift", "implement"),
    "dns-cache": ("feat/dns-cache", "implement"),
    "aviso-stock": ("feat/aviso-stock", "implement"),
    "boleto-split": ("feat/boleto-split", "plan"),
}


@pytest.mark.promise("quoin", 73)
@pytest.mark.parametrize("task", FRAMED)
def test_a_file_in_another_frame_or_language_is_read_by_its_sections(
    task: str, tmp_path: Path
) -> None:
    name = f"2026-11-15-{task}.md"
    read, _ = rewrite("quoin", name, (CORPUS / "quoin" / name).read_bytes(), tmp_path)

    assert read.name == task
    assert (read.branch, read.plan and read.plan.stage) == FRAMED[task]
    assert read.intent
    assert read.left_off
    assert read.questions
    assert read.decisions
    plan = f".workflow_artifacts/{task}/current-plan.md"
    assert read.artifacts["current-plan.md"] == plan
    assert all(" " not in path for path in read.artifacts.values())


def test_a_file_with_titles_that_nobody_foresaw_is_filed_under_its_name(tmp_path: Path) -> None:
    titles = ("Стан", "Завдання", "Гілка", "Питання")
    text = "".join(f"## {title}\nщось про {title.lower()}, досить довге\n\n" for title in titles)
    path = tmp_path / FOLDERS["quoin"] / "2026-11-15-kasa.md"
    native = profiles.load("quoin").read(path, text.encode())

    assert (native.problem, native.name) == (None, "kasa")
    assert [*native.fields["quoin"]["sections"]] == [*titles]


# Generated spellings

TITLES = st.sampled_from(["## {}", "## {}:", "## **{}**", "### {}", "# {}", "## {} ##", "**{}:**"])
CASES: st.SearchStrategy[Callable[[str], str]] = st.sampled_from(
    [str, str.upper, str.lower, str.title]
)
MARKS = st.sampled_from(["- ", "* ", "+ ", "1. ", "- [ ] ", ""])
ENDS = st.sampled_from(["\n", "\r\n"])
SAYINGS = st.lists(
    st.sampled_from(
        ["Wrote `a/b.py` lines 1-9", "größer als 10 000", "让搜索更快", "see | table | row", "a: b",
         "none of the tests fail", "**bold** words", "what (why) — because", "x -> y", "N/A now",
         "# not a title", "- nested", "café, naïve", "1. first", "T-04 wire processRefund()"]
    ),
    min_size=1, max_size=4, unique=True,
)  # fmt: skip


@st.composite
def native_files(draw: st.DrawFn) -> tuple[str, str]:
    """Make a file of one of the systems in a mix of spellings."""
    system = draw(st.sampled_from(["openclaw", "quoin"]))
    heading, case, end = draw(TITLES), draw(CASES), draw(ENDS)
    shown = [section.title for section in LAYOUTS[system].sections[:10]]
    known = draw(st.permutations(shown))[: draw(st.integers(5, len(shown)))]
    lines = []
    for title in [*known, "Mood of the day"]:
        mark = draw(MARKS)
        body = draw(SAYINGS)
        if title == "Active task":
            body, mark = ["some-task"], ""
        lines += [heading.format(case(title)), *(f"{mark}{text}" for text in body), ""]
    return system, end.join(lines)


@pytest.mark.slow("tries many files")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(made=native_files())
def test_any_mix_of_spellings_is_read_without_losing_a_word(
    made: tuple[str, str], tmp_path: Path
) -> None:
    system, text = made
    _, written = rewrite(system, "2026-11-15-some-task.md", text.encode(), tmp_path)

    assert lost(system, text, written) == set()
    _, again = rewrite(system, "2026-11-15-some-task.md", written.encode(), tmp_path)
    assert again == written


@pytest.mark.promise("openclaw", 51)
@pytest.mark.promise("quoin", 56)
@pytest.mark.parametrize("system", FILES)
def test_unknown_sections_are_shown_when_the_work_is_resumed(
    cli: Cli, repo: Repo, tmp_path: Path, system: str
) -> None:
    del repo
    (path,) = (each for each in FILES[system] if each.stem.endswith("extra-sections"))
    adopt(cli, system, tmp_path / "theirs", [path])
    shown = cli.ok("resume", "--budget", "4000").out
    title = "Test Matrix" if system == "openclaw" else "Active skills"
    assert f'"{title}" in the file:' in shown
    extra = path.read_text("utf-8").partition(f"## {title}")[2]
    assert lost(system, extra, shown) == set()
    assert lost(system, extra, cli.ok("show").out) == set()
