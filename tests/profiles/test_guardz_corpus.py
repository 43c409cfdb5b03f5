"""guardz files as agents spell them: imported, shown, exported and imported again, nothing lost."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.runs import Cli
from gitrepo import Repo
from leftoff.checkpoint import Checkpoint as Saved
from leftoff.checkpoint import from_plain, to_plain
from leftoff.profiles import guardz, guardz_file, guardz_index, guardz_words, import_native
from leftoff.profiles.guardz_words import TITLES
from leftoff.profiles.loose_markdown import LABELS, fold, read_field
from leftoff.profiles.loose_times import read_moment
from stores import draft

CORPUS = Path(__file__).parent / "corpus" / "guardz"
FILES = sorted(CORPUS.glob("checkpoint-*.md"))
# Labels, and words that stand for nothing; leftoff shows the values under its own labels.
_LABELS = {"step", "steps", "of", "etape", "sur", *" ".join(guardz_words.FIELDS).split()}
_NOTHING = re.compile(r"[-*+\d.) ]*[(_]*(none( yet)?|tbd)[)_.]*", re.IGNORECASE)


def words_of(text: str) -> set[str]:
    """Return the words that a reader of a file would miss if they were gone."""
    words: set[str] = set()
    for whole in text.splitlines():
        # leftoff keeps a table's heading unless it is a usual label.
        cells = whole.strip().strip("|").split("|")
        is_header = LABELS.issuperset(map(fold, cells[1:2])) and "|" in whole
        line = " ".join(each for each in cells if fold(each) not in LABELS) if is_header else whole
        field = read_field(line)
        key = guardz_words.FIELDS.get(fold(field[0])) if field is not None else None
        is_date = field is not None and key == "saved_at" and read_moment(field[1])[1]
        if fold(line) in TITLES or _NOTHING.fullmatch(line) or is_date:
            continue
        # A section of one line has its title as the name of a field.
        line = field[1] if field is not None and fold(field[0]) in TITLES else line
        plain = line.strip().rstrip(":").strip("*")
        unmarked = re.sub(r"^\s*\d+[.)]", "", line)
        words |= set() if fold(plain) in TITLES else {*re.findall(r"\w+", unmarked)}
    return {word for word in words if fold(word) not in _LABELS | {"checkpoint"}}


def content(shown: dict[str, Any]) -> dict[str, Any]:
    """Return what a checkpoint says, without what belongs to this import."""
    ours = {"id", "act", "source", "project", "worktree", "path", "thread", "files"}
    ours |= {guardz_index.LINES}
    return {key: value for key, value in shown.items() if key not in ours}


def test_the_corpus_is_large_and_in_many_spellings() -> None:
    assert len(FILES) >= 40


@pytest.mark.slow("runs several commands for each file")
@pytest.mark.promise("guardz", 49)
def test_nothing_in_a_file_is_lost_on_its_way_in_and_out(
    cli: Cli, repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del repo
    report = cli.json("import", "--from", "guardz", str(CORPUS))
    assert (report["imported"], report["problems"]) == (len(FILES), [])
    names = {path: path.stem.removeprefix("checkpoint-") for path in FILES}

    first = {name: cli.json("show", name) for name in names.values()}
    lost: dict[str, list[str]] = {}
    for path, name in names.items():
        shown = cli.ok("show", name).out
        missing = {word for word in words_of(path.read_text("utf-8-sig")) if word not in shown}
        lost |= {name: sorted(missing)} if missing else {}
    assert lost == {}

    cli.ok("export", "--to", "guardz", str(tmp_path / "out"))
    written = {path.name: path.read_bytes() for path in (tmp_path / "out").glob("checkpoint-*")}
    assert written == {path.name: path.read_bytes() for path in FILES}

    other = Repo.begun(tmp_path / "other")
    monkeypatch.chdir(other.folder)
    cli.ok("import", "--from", "guardz", str(tmp_path / "out"))
    again = {name: cli.json("show", name) for name in names.values()}
    assert {name: comparable(each) for name, each in again.items()} == {
        name: comparable(each) for name, each in first.items()
    }


def comparable(shown: dict[str, Any]) -> dict[str, Any]:
    """Return a checkpoint without its line in MEMORY.md, and without a date that no file names."""
    is_dated = re.search(r"Saved.*20\d\d", shown[guardz_file.TEXT])
    kept = content(shown)
    return {key: kept[key] for key in kept if key != "summary" and (is_dated or key != "saved_at")}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.stem))
def test_what_is_written_anew_says_the_same(path: Path) -> None:
    """A checkpoint that was changed is written in our own form, and keeps every word."""
    native = guardz.read(path, path.read_bytes())
    text = guardz_file.render(as_checkpoint(native.fields, native.name))
    again = guardz.read(path, text.encode())

    assert {word for word in words_of(path.read_text("utf-8-sig")) if word not in text} == set()
    assert _without_text(again.fields) == _without_text(native.fields)


def as_checkpoint(fields: dict[str, Any], name: str | None) -> Saved:
    """Make a checkpoint of what was read, as if somebody had changed it since."""
    plain = {key: value for key, value in fields.items() if value not in (None, [], {}, "")}
    base = to_plain(draft(name))
    for key in ("summary", "next_action", "intent"):
        base.pop(key, None)
    return from_plain({**base, **plain}, Saved)


def _without_text(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key != guardz_file.TEXT and value}


# Generated variants

WORD = st.text("abcdefghijklmnopqrstuvwxyzäöüß中文", min_size=1, max_size=8)
WORDS = st.lists(WORD, min_size=1, max_size=6).map(" ".join)
MARK = st.sampled_from(["- ", "* ", "+ ", "• ", "1. ", "2) "])
HEADING = st.sampled_from(["# ", "## ", "### "])
TITLE = st.sampled_from(
    [
        "Left Off", "LEFT OFF", "Where I Left Off", "Done This Session", "✅ Done", "2. Done:",
        "Failed Approaches", "What didn't work", "Modified Files", "`Modified Files`", "Notes",
        "Next Steps", "Open Questions", "Blockers", "Key Decisions", "Gotchas", "备注", "Stand",
    ]
)  # fmt: skip


@st.composite
def sections(draw: st.DrawFn) -> str:
    """Draw a section with its bullets, nested ones, prose and fences."""
    lines = []
    for text in draw(st.lists(WORDS, max_size=4)):
        kind = draw(st.sampled_from(["bullet", "nested", "prose", "fence", "quote", "box", "cell"]))
        lines += {
            "bullet": [draw(MARK) + text],
            "nested": [f"- {text}", f"  - {draw(WORDS)}", f"    - {draw(WORDS)}"],
            "prose": [text, "", draw(WORDS)],
            "fence": ["```", f"# {text}", "```"],
            "quote": [f"> {text}"],
            "box": [f"- [x] {text}"],
            "cell": [f"| {text} | {draw(WORDS)} |"],
        }[kind]
    return "\n".join(["", draw(TITLE), *lines])


@given(
    heading=HEADING,
    fields=st.lists(st.tuples(st.sampled_from(["Ticket", "Owner", "Mood"]), WORDS), max_size=2),
    drawn=st.lists(sections(), min_size=1, max_size=6),
    newline=st.sampled_from(["\n", "\r\n"]),
)
def test_every_word_of_a_generated_file_is_kept(
    heading: str, fields: list[tuple[str, str]], drawn: list[str], newline: str
) -> None:
    top = ["# Checkpoint: some-work", "", *(f"- **{name}:** {value}" for name, value in fields)]
    body = [each.replace("\n", f"\n{heading}", 1) for each in drawn]
    text = "\n".join([*top, *body, ""]).replace("\n", newline)
    path = Path("checkpoint-some-work.md")
    native = guardz.read(path, text.encode())
    checkpoint = as_checkpoint(native.fields, native.name)

    said = repr({**_without_text(native.fields), "name": native.name})
    assert {word for word in words_of(text) if word not in said} == set()
    written = guardz_file.render(checkpoint)
    assert {word for word in words_of(text) if word not in written} == set()
    assert import_native.name_of(native) == "some-work"
    assert native.fields[guardz_file.TEXT] == text
