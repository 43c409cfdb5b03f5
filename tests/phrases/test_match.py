"""Language files are read correctly, and a new one needs no code."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
import pytest

import leftoff
from leftoff.phrases.match import (
    LANGUAGES,
    Language,
    any_of,
    fold,
    mentions_branch,
    read_languages,
    split_phrases,
)

ESPERANTO = """
code = "eo"
known_by = "la mi ne uzu neniam ciam kaj"

[corrections]
empty = "la mi ne uzu neniam"
fillers = "bonvolu"
high = "neniam VERB \\\\S"

[corrections.parts]
VERB = "(?:uzu|sxangxu)"

[intents]
save = "konservu (?:la|mian) progreson(?: kiel NAME)?"
clear = "forigu ALL POINTS"
bare = ["daurigu"]
polite_before = "bonvolu"

[intents.parts]
ALL = "ciujn"
POINTS = "kontrolpunktojn"

[goodbyes]
messages = ["ĝis revido"]
before = "dankon"

[notes]
preference = "\\\\bmi preferas\\\\b"
"""
ASK_IN_ESPERANTO = """
from leftoff.phrases.match import is_goodbye
from leftoff.phrases.intents import find_intent
from leftoff.knowledge.reflect.judge_message import UserMessage, judge
from leftoff.wal.scan_message import scan

assert is_goodbye("Dankon, ĝis revido!")
assert find_intent("Bonvolu konservu mian progreson kiel login").command[1:] == ["save", "login"]
assert find_intent("forigu ĉiujn kontrolpunktojn").is_for_all
assert find_intent("Daŭrigu", at_start=True, can_resume=True).kind == "resume"
(finding,) = judge(UserMessage(text="Bonvolu, neniam uzu mocks"))
assert finding.grade == "high"
assert [found.kind for found in scan("Mi preferas tabs")] == ["preference"]
assert is_goodbye("goodnight")
"""


def add_esperanto(folder: Path) -> Path:
    (folder / "esperanto.toml").write_text(ESPERANTO, encoding="utf-8")
    return folder


def test_a_language_is_added_with_one_file_and_no_code(tmp_path: Path) -> None:
    package = tmp_path / "leftoff"
    shutil.copytree(Path(leftoff.__file__).parent, package)
    add_esperanto(package / "phrases" / "languages")

    run = [sys.executable, "-c", ASK_IN_ESPERANTO]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr


def test_languages_are_read_from_any_folder_in_the_order_in_which_they_count(
    tmp_path: Path,
) -> None:
    for name in ("german", "english"):
        shutil.copy(LANGUAGES / f"{name}.toml", tmp_path)
    add_esperanto(tmp_path)

    assert [language.code for language in read_languages(tmp_path)] == ["en", "de", "eo"]


@pytest.mark.parametrize("line", ['colour = "red"', '[goodbyes]\nword = "bye"', "[jokes]"])
def test_a_key_that_nothing_reads_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "typo.toml").write_text(f'code = "xx"\n{line}\n', encoding="utf-8")

    with pytest.raises(msgspec.ValidationError, match="unknown field"):
        read_languages(tmp_path)


def test_every_language_has_its_own_code_and_order() -> None:
    read = read_languages()

    assert len({language.code for language in read}) == len(read)
    assert len({language.order for language in read}) == len(read)


def phrases_of(language: Language) -> Iterator[tuple[str, str]]:
    given = {"NAME": "name", "KNOWN": "name", "ALL": "all", "POINT": "point", "POINTS": "points"}
    given["TOPIC"] = "topic"
    for table in (language.corrections, language.intents, language.goodbyes, language.notes):
        parts: Mapping[str, str] = {**given, **table.parts}
        for key, text in msgspec.structs.asdict(table).items():
            if isinstance(text, str):
                yield from ((key, phrase) for phrase in split_phrases(text, parts))


@pytest.mark.parametrize("language", read_languages(), ids=lambda language: language.code)
def test_every_phrase_compiles_and_has_all_its_parts(language: Language) -> None:
    for key, phrase in phrases_of(language):
        re.compile(phrase)
        # An escape such as `\S` may be followed by another, so a missing part has two letters.
        assert not re.search(r"(?<!\\)[A-Z]{2}", phrase), f"{key}: {phrase}"


def test_a_line_that_ends_with_a_bar_continues_on_the_next_one() -> None:
    assert split_phrases("\n  one|\n    two\n  three\n") == ["one|two", "three"]


def test_a_part_may_contain_other_parts() -> None:
    parts = {"GREETING": "hi WHOM", "WHOM": "(?:you|\n  all)"}

    assert split_phrases("GREETING there", parts) == ["hi (?:you|all) there"]


def test_no_phrase_matches_nothing() -> None:
    assert re.search(any_of([]), "") is None
    assert re.search(any_of([]), "any text") is None


def test_accents_and_case_play_no_part_but_kana_keep_their_marks() -> None:
    assert fold("Préfère  ÜBER ’s") == "prefere uber 's"
    assert fold("ガ が パ") == "ガ が パ"


def test_long_prompts_and_the_modules_of_hooks_read_no_language() -> None:
    asked = """
import leftoff.hooks.answer, leftoff.hooks.process_event, leftoff.hooks.start
from leftoff.phrases import intents, match

prompt = "Fix the login form, please. " * 20
assert not match.is_goodbye(prompt)
assert not intents.passes_always(prompt)
assert intents.passes_always("/compact")
assert match.read_languages.cache_info().currsize == 0
"""
    run = [sys.executable, "-c", asked]
    done = subprocess.run(run, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("message", "is_mentioned"),
    [
        ("Do that on a new Branch.", True),
        ("do it in another worktree", True),
        ("hazlo en otra rama", True),
        ("sur une nouvelle branche", True),
        ("在新分支上做", True),
        ("新しいブランチで", True),
        ("fix the branching factor", False),
        ("añade un programa", False),
    ],
)
def test_a_branch_is_recognized_in_every_language(message: str, *, is_mentioned: bool) -> None:
    assert mentions_branch(message) is is_mentioned
