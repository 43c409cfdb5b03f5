"""The help page shows every command whole, and every example in it works."""

import re
import shlex
from collections.abc import Iterator

import click
import pytest

from cli.runs import Cli
from leftoff.cli import leftoff
from leftoff.cli.catalog import ALIASES, COMMANDS, EXAMPLES, GROUPS, OTHER_WORDS, PLUMBING

_MOST_CHARS = 60


def walk() -> Iterator[tuple[str, click.Command]]:
    for name in COMMANDS:
        command = leftoff.get_command(click.Context(leftoff), name)
        assert command is not None
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {sub}", within) for sub, within in command.commands.items())


ALL = dict(walk())


def test_help_shows_the_groups_in_the_order_of_need(cli: Cli) -> None:
    page = cli.ok("--help").out

    titles = re.findall(r"^([A-Z][a-z]+):$", page, re.MULTILINE)
    assert titles == ["Options", *GROUPS]
    rows = re.findall(r"^  ([a-z-]+) {2,}", page, re.MULTILINE)
    assert rows == [each.name for group in GROUPS.values() for each in group]
    assert "130 interrupted" in page


def test_help_shows_every_summary_whole_at_80_columns(cli: Cli) -> None:
    lines = cli.ok("help", "all").out.splitlines()

    assert all(len(line) <= 80 for line in lines)
    for command in COMMANDS.values():
        assert f"  {command.name:14}  {command.summary}" in lines


def test_help_all_adds_the_commands_of_agents_and_scripts(cli: Cli) -> None:
    page, short = cli.ok("help", "all").out, cli.ok("help").out

    assert short == cli.ok("--help").out
    for command in PLUMBING:
        assert f"\n  {command.name} " in page
        assert f"\n  {command.name} " not in short


@pytest.mark.parametrize("name", ALL)
def test_every_command_has_a_short_summary_and_an_example(cli: Cli, name: str) -> None:
    summary = (ALL[name].help or "").partition("\n")[0]
    page = cli.ok(*name.split(), "--help").out

    assert summary.endswith(".")
    assert len(summary) - 1 <= _MOST_CHARS
    if name in COMMANDS:
        assert summary == f"{COMMANDS[name].summary}."
    assert "Example:\n" in page
    assert cli.ok(*name.split(), "-h").out == page
    assert cli.ok("help", *name.split()).out == page


@pytest.mark.parametrize(
    "example", [*EXAMPLES.values(), *(each.example for each in COMMANDS.values())]
)
def test_every_example_is_a_call_that_can_be_made(example: str) -> None:
    line = re.sub(r'^eval "\$\((.*)\)"$', r"\1", example)
    words = shlex.split(re.sub(r" [<>]\S+$", "", line))

    assert words[0] == "leftoff"
    context = leftoff.make_context("leftoff", words[1:], resilient_parsing=False)
    command: click.Command = leftoff
    rest = [*context._protected_args, *context.args]  # noqa: SLF001 - click shows no other way
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        name, found, rest = command.resolve_command(context, rest)
        assert found is not None
        command, context = found, click.Context(found, info_name=name, parent=context)
    if command.name not in {"help", "capture", "prompts"}:
        command.make_context(command.name, rest, parent=context.parent)


@pytest.mark.parametrize("alias", ALIASES)
def test_another_word_shows_the_help_of_what_it_stands_for(cli: Cli, alias: str) -> None:
    assert cli.ok(alias, "--help").out == cli.ok(ALIASES[alias][0], "--help").out


def test_a_mistyped_command_gets_a_suggestion(cli: Cli) -> None:
    result = cli("sav")

    assert result.code == 2
    assert "No such command 'sav'. Did you mean `leftoff save`?" in result.err


@pytest.mark.parametrize("word", OTHER_WORDS)
def test_the_word_of_another_tool_gets_the_command_it_means(cli: Cli, word: str) -> None:
    result = cli(word)

    assert result.code == 2
    assert f"Did you mean `leftoff {OTHER_WORDS[word]}`?" in result.err
    assert word not in {*COMMANDS, *ALIASES}
    assert OTHER_WORDS[word] in {*COMMANDS, "--version"}


def test_a_word_that_is_like_no_command_gets_none(cli: Cli) -> None:
    assert cli("xyzzy").err.splitlines()[0] == "leftoff: No such command 'xyzzy'."


def test_without_a_command_you_see_the_status(cli: Cli) -> None:
    assert cli.ok().out == cli.ok("status").out


def test_help_of_what_has_no_commands_is_refused(cli: Cli) -> None:
    result = cli("help", "save", "now")

    assert result.code == 2
    assert "`leftoff save` has no subcommands." in result.err


def test_a_command_lists_its_own_options_first_and_in_sections(cli: Cli) -> None:
    titles = {
        name: re.findall(r"^([A-Z][a-z ]+):$", cli.ok(name, "--help").out, re.MULTILINE)
        for name in ("save", "list", "memory")
    }

    assert titles["list"] == ["Options", "Common options"]
    assert titles["memory"] == ["Commands", "Common options"]
    assert titles["save"][0] == "What only you know"
    assert titles["save"][-1] == "Common options"


def test_help_shows_no_limits_and_no_types_of_programmers(cli: Cli) -> None:
    pages = "".join(cli.ok(*name.split(), "--help").out for name in ALL)

    assert not re.findall(r"INTEGER|FLOAT|RANGE|<=x", pages)


def test_shells_show_the_summary_of_a_subcommand_whole() -> None:
    for name in (each for each in ALL if " " in each):
        assert not ALL[name].get_short_help_str().endswith(".")
