"""Slash commands mean commands of leftoff, with the arguments of each system."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff.phrases.slash_commands import read_slash_command
from rows import for_each


def meant(text: str, profile: str = "default") -> str | None:
    found = read_slash_command(text, profile=profile)
    return shlex.join(found.command) if found else None


@for_each(
    ("text", "command"),
    [
        ("/checkpoint", "leftoff save"),
        ("  /checkpoint  ", "leftoff save"),
        ("/checkpoint save", "leftoff save"),
        ("/checkpoint save meeting-prep", "leftoff save meeting-prep"),
        ("/checkpoint meeting-prep", "leftoff save meeting-prep"),
        ("/checkpoint before the refactoring", "leftoff save --note 'before the refactoring'"),
        ('/checkpoint save login --task "Add OAuth"', "leftoff save login --task 'Add OAuth'"),
        ("/checkpoint save login --task=OAuth", "leftoff save login --task OAuth"),
        ("/checkpoint --summary “Moving to Redis”", "leftoff save --summary 'Moving to Redis'"),
        ("/checkpoint --summary", "leftoff save"),
        ("/checkpoint list", "leftoff list"),
        ("/checkpoint resume login", "leftoff resume login"),
        ("/checkpoint delete login", "leftoff delete login"),
        ("/checkpoint --restore", "leftoff resume --pending"),
        ("/checkpoint --restore login", "leftoff resume --pending login"),
        ("/checkpoint --defer", "leftoff defer"),
        ("[no-redispatch] /checkpoint", "leftoff save"),
        ("/claude-harness:checkpoint", "leftoff save"),
        ("/leftoff:checkpoint list", "leftoff list"),
        ("/leftoff:save login", "leftoff save login"),
        ("/leftoff-continue", "leftoff resume"),
        ("/leftoff-continue login", "leftoff resume login"),
        ("/leftoff-checkpoint list", "leftoff list"),
        ("/leftoff:clear all", "leftoff clear --all"),
        ("/leftoff:ship", "leftoff ship"),
        ("/dashboard", "leftoff status --plan"),
        ("/start", "leftoff status --next"),
        ("/continue", "leftoff resume"),
        ("/continue login", "leftoff resume login"),
    ],
)
def test_a_slash_command_means_a_command(text: str, command: str) -> None:
    assert meant(text) == command


@pytest.mark.parametrize(
    ("profile", "text", "command"),
    [
        ("quoin", "/checkpoint login", "leftoff save --note login"),
        ("quoin", "/checkpoint don't lose this", "leftoff save --note 'don'\"'\"'t lose this'"),
        ("quoin", "/checkpoint list the open ends", "leftoff save --note 'list the open ends'"),
        ("quoin", "/checkpoint list", "leftoff list"),
        ("sail", "/checkpoint moving to Redis", "leftoff save --summary 'moving to Redis'"),
        ("harness", "/checkpoint the login works", "leftoff save --note 'the login works'"),
        ("openclaw", "/checkpoint save login", "leftoff save login"),
    ],
)
def test_the_profile_decides_what_other_words_are(profile: str, text: str, command: str) -> None:
    assert meant(text, profile) == command


@pytest.mark.parametrize(
    "text",
    [
        *["", "/", "checkpoint", "/checkpointfoo", "/checkpoint --purge", "/clear", "/compact"],
        *["/etc/hosts", "run /checkpoint", "/save", "/resume", "/leftoff", "/leftoff:nothing"],
        *["/leftoff-nothing", "/leftoff-agents", "/other-continue"],
    ],
)
def test_other_words_mean_no_command(text: str) -> None:
    assert meant(text) is None


@given(st.text(max_size=80))
def test_any_words_after_it_are_read(text: str) -> None:
    found = read_slash_command(f"/checkpoint {text}")

    assert found is None or found.command[0] == "leftoff"
