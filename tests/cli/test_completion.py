import os
from pathlib import Path

import pytest

from cli.runs import Cli
from rows import for_each


@pytest.fixture
def filled(cli: Cli) -> Cli:
    for name in ("login-form", "login-page", "parser-rules"):
        cli.ok("save", name, "--summary=Some work")
    cli.ok("clear", "login-page")
    return cli


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_is_printed_for_each_shell(cli: Cli, shell: str) -> None:
    script = cli.ok("completion", shell).out

    assert "_LEFTOFF_COMPLETE" in script
    assert cli.json("completion", shell) == {"shell": shell, "script": script.removesuffix("\n")}


@pytest.mark.parametrize(
    ("shell", "place"),
    [
        ("bash", ".local/share/bash-completion/completions/leftoff"),
        ("zsh", ".local/share/zsh/site-functions/_leftoff"),
        ("fish", ".config/fish/completions/leftoff.fish"),
    ],
)
def test_a_script_is_installed_where_the_shell_looks(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, shell: str, place: str
) -> None:
    monkeypatch.setenv("SHELL", f"/usr/bin/{shell}")
    path = Path(os.environ["HOME"], place)

    assert f"was installed in {path}" in cli.ok("completion", "install").out
    assert path.read_text(encoding="utf-8") == cli.ok("completion", shell).out
    assert f"is already installed in {path}" in cli.ok("completion", "install", shell).out

    path.write_text("mine", encoding="utf-8")
    assert "is not leftoff's" in cli("completion", "install").err
    assert path.read_text(encoding="utf-8") == "mine"


def test_bash_loads_what_was_installed(cli: Cli) -> None:
    path = cli.json("completion", "install", "bash")["path"]

    done = cli.shell(f"source {path}; complete -p leftoff")

    assert "leftoff" in done.stdout
    assert done.stderr == ""


def test_without_a_known_shell_you_are_asked_to_name_one(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    assert cli("completion", "install").code == 2
    monkeypatch.delenv("SHELL")
    assert cli("completion", "install").code == 2
    assert cli("completion", "bash", "zsh").code == 2


def test_a_shell_we_do_not_know_is_refused(cli: Cli) -> None:
    assert cli("completion", "tcsh").code == 2


def offered(cli: Cli, shell: str, words: str) -> list[str]:
    """Ask as the shell's script does, and return the words offered."""
    env = {"_LEFTOFF_COMPLETE": f"{shell}_complete", "COMP_WORDS": words}
    typed = words.split(" ")
    env |= {"COMP_CWORD": typed[-1] if shell == "fish" else str(len(typed) - 1)}
    done = cli.process(env=env)
    assert done.stderr == ""
    lines = [line for line in done.stdout.splitlines() if line]
    return (
        lines[1::3] if shell == "zsh" else [line.split(",", 1)[1].split("\t")[0] for line in lines]
    )


@for_each(
    ("words", "expected"),
    [
        ("leftoff rec", ["recover"]),
        ("leftoff show log", ["login-form", "login-page"]),
        ("leftoff resume log", ["login-form"]),
        ("leftoff restore log", ["login-form"]),
        ("leftoff done log", ["login-form"]),
        ("leftoff clear log", ["login-form"]),
        ("leftoff d", ["done", "drop", "doctor", "diff"]),
        ("leftoff diff login-form par", ["parser-rules"]),
        ("leftoff trash restore l", ["login-page"]),
        ("leftoff config set budg", ["budget"]),
        ("leftoff purge --ol", ["--older-than"]),
        ("leftoff show zzz", []),
        ("leftoff help sea", ["search"]),
        ("leftoff help memory a", ["add", "approve"]),
        ("leftoff help save x", []),
        ("leftoff help nope x", []),
    ],
)
def test_commands_options_and_names_are_offered(
    filled: Cli, words: str, expected: list[str]
) -> None:
    assert offered(filled, "bash", words) == expected


@for_each("shell", ["zsh", "fish"])
def test_the_other_shells_are_offered_the_same(filled: Cli, shell: str) -> None:
    assert offered(filled, shell, "leftoff show log") == ["login-form", "login-page"]
    assert offered(filled, shell, "leftoff purge --ol") == ["--older-than"]
    assert offered(filled, shell, "leftoff show zzz") == []


def test_a_place_without_a_project_offers_nothing_and_says_nothing(cli: Cli) -> None:
    env = {"_LEFTOFF_COMPLETE": "bash_complete", "COMP_WORDS": "leftoff show x", "COMP_CWORD": "2"}
    done = cli.process(env=env, cwd="/")

    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")


def test_a_real_bash_completes_a_name(filled: Cli) -> None:
    done = filled.shell(
        """
        eval "$(leftoff completion bash)"
        COMP_WORDS=(leftoff resume login-f) COMP_CWORD=2
        _leftoff_completion leftoff
        echo "${COMPREPLY[@]}"
        """
    )

    assert done.stdout.strip() == "login-form", done.stderr


@pytest.mark.parametrize("words", ["save x --file no", "save x --plan no", "show --plan no"])
def test_a_real_bash_completes_paths(filled: Cli, words: str) -> None:
    count = len(words.split())
    done = filled.shell(
        f"""
        touch notes.md
        eval "$(leftoff completion bash)"
        COMP_WORDS=(leftoff {words}) COMP_CWORD={count}
        compopt() {{ echo "$@"; }}
        _leftoff_completion leftoff
        """
    )

    assert "-o default" in done.stdout, done.stderr
