import json
import shlex
from pathlib import Path

import pytest

from cli.runs import Cli, truth
from gitrepo import Repo
from talk import Talk

PLAN = "# Login\n\n" + "".join(f"- [{'x' if n < 4 else ' '}] task {n}\n" for n in range(1, 8))
GOOD = (
    "--summary=Validate the login form",
    "--left-off=src/login.py checks the mail address; the password is not checked yet",
    "--done=Wrote tests/test_login.py, 4 of 6 pass",
    "--next=Run pytest tests/test_login.py and make test_password pass",
)


@pytest.mark.accept(29)
def test_a_save_confirms_name_task_next_action_and_path(cli: Cli) -> None:
    result = cli.ok("save", "login-form", *GOOD)

    assert 'Saved checkpoint "login-form"' in result.out
    assert "Task  Validate the login form" in result.out
    assert "Next  Run pytest tests/test_login.py and make test_password pass" in result.out
    assert Path(result.out.rpartition("Path  ")[2].strip()).is_file()
    assert result.err == ""


def test_json_answers_id_name_path_and_warnings(cli: Cli) -> None:
    saved = cli.json("save", "login-form", *GOOD)

    assert [*saved] == ["id", "name", "path", "warnings"]
    assert saved["name"] == "login-form"
    assert saved["warnings"] == []
    assert json.loads(Path(saved["path"]).read_text())["id"] == saved["id"]


def test_every_flag_is_kept_under_its_canonical_key(cli: Cli, repo: Repo) -> None:
    repo.write("plan.md", PLAN)
    flags = """--blocker B1 --blocker B2 --question Q1
        --file app.py --note N1 --plan plan.md --step 2/7""".split()
    flags += ["--decision", "D1 :: because", "--failed", "F1:: broke"]
    cli.ok("save", "login-form", *GOOD, *flags)
    shown = cli.json("show", "login-form")

    assert shown["blockers"] == ["B1", "B2"]
    assert shown["questions"] == ["Q1"]
    assert shown["decisions"] == [{"what": "D1", "why": "because"}]
    assert shown["failed"] == [{"what": "F1", "why": "broke"}]
    assert shown["notes"] == ["N1"]
    assert shown["next_action"] == {"text": GOOD[3].removeprefix("--next=")}
    assert shown["plan"] == {"path": "plan.md", "title": "Login", "step": 2, "total": 7}
    assert shown["files"][0]["path"] == "app.py"
    assert shown["trigger"] == "manual"
    assert shown["branch"] == "main"
    assert shown["head"] == repo.head()
    assert shown["last_commit"] == {"sha": repo.head(), "subject": "Begin"}
    assert shown["dirty"] == ["plan.md"]


@pytest.mark.accept(2)
def test_a_name_may_begin_with_a_dash_and_an_option_may_not_be_misspelt(cli: Cli) -> None:
    assert cli.json("save", "-/x", "--summary", "Log in")["name"] == "x"
    assert cli("save", "-x", "--summary", "Log in").code == 2
    assert cli("save", "--sumary", "Log in").code == 2


@pytest.mark.accept(2)
@pytest.mark.parametrize(
    ("given", "stored_as"),
    [
        ("Feat/My Thing", "feat-my-thing"),
        ("-/x-ray", "x-ray"),
        ("../../etc/passwd", "etc-passwd"),
        ("LOGIN_form", "login-form"),
        ("Größe ändern", "große-andern".replace("ß", "ss")),
        ("検索 機能", "検索-機能"),
        ("a\u202eb c", "a-b-c"),
        ("x" * 10_000, "x" * 64),
    ],
)
def test_any_name_becomes_kebab_case(
    cli: Cli, stored: Path, tmp_path: Path, given: str, stored_as: str
) -> None:
    # `--` as a shell user writes it before a name that begins with a dash.
    saved = cli("save", "--json", "--summary=A summary", "--", given).json

    assert saved["name"] == stored_as
    assert cli("show", "--json", "--", given).json["id"] == saved["id"]
    # The list of all projects is named by the folder, never by the checkpoint.
    ours = {".git", "known"}
    made = {path for path in tmp_path.rglob("*") if path.is_file() and not ours & {*path.parts}}
    assert made == {tmp_path / "repo" / "app.py"}
    assert Path(saved["path"]).is_relative_to(stored)


@pytest.mark.accept(27)
@pytest.mark.parametrize(
    "name", ["task", "Work", "save", "untitled", "BACKUP", "autosave", "", "🎉", "--"]
)
def test_a_name_that_says_nothing_is_refused_with_the_reason(
    cli: Cli, stored: Path, name: str
) -> None:
    result = cli("save", *GOOD, "--", name)

    assert result.code == 2
    assert result.err.startswith("leftoff: ")
    assert len(result.err.splitlines()) == 2
    assert not truth(stored)


@pytest.mark.accept(27)
def test_strict_refuses_a_name_that_is_not_kebab_case(cli: Cli) -> None:
    result = cli("save", "Login Form", *GOOD, "--strict")

    assert result.code == 2
    assert "'Login Form' is not kebab-case." in result.err
    assert "Use login-form" in result.err


def test_names_that_differ_in_case_are_one_name(cli: Cli) -> None:
    cli.ok("save", "Login-Form", *GOOD)

    assert cli("save", "login-FORM", *GOOD).code == 3


@pytest.mark.parametrize(
    ("flags", "branch", "name"),
    [
        (["--summary=Validate the login form now"], "main", "validate-login-form"),
        (["--summary=Login"], "feat/oauth-tokens", "oauth-tokens"),
        (["--left-off=Half of the parser is written"], "main", "half-parser-written"),
        ([], "main", "unnamed-session"),
    ],
)
def test_without_a_name_a_short_one_is_made_and_printed(
    cli: Cli, repo: Repo, flags: list[str], branch: str, name: str
) -> None:
    if branch != "main":
        repo.git("checkout", "-q", "-b", branch)
    (repo.folder / "changed.txt").write_text("1\n", encoding="utf-8")

    assert f'Saved checkpoint "{name}"' in cli.ok("save", *flags).out


@pytest.mark.parametrize("flags", [[], ["--next", ""], ["--summary", " "], ["--json"]])
def test_a_save_of_nothing_is_refused(cli: Cli, flags: list[str]) -> None:
    result = cli("save", *flags)

    assert (result.code, "There is nothing to save" in result.out + result.err) == (2, True)
    assert "leftoff save --summary" in result.out + result.err
    assert cli.json("list") == []


@pytest.mark.parametrize("flags", [["login-form"], ["--note=n"], ["--step=1/2"]])
def test_a_save_that_says_anything_is_kept(cli: Cli, flags: list[str]) -> None:
    assert cli("save", *flags).code == 0


def test_an_agent_can_save_whatever_it_says(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "session-1")

    assert cli("save").code == 0


def test_a_task_that_nobody_stated_is_the_next_action_in_words(cli: Cli) -> None:
    saved = cli.ok("save", "--next", "Fix validate() in src/login.py")

    assert "Task  Fix validate() in src/login.py" in saved.out


def test_an_unknown_key_is_named_and_kept(cli: Cli, tmp_path: Path) -> None:
    source = tmp_path / "keys.json"
    source.write_text(json.dumps({"summary": "Validate the form", "bogus": 1}), encoding="utf-8")
    result = cli.ok("save", "login-form", "--from-json", str(source))

    assert "'bogus'" in result.err
    assert json.loads(Path(result.out.rpartition("Path  ")[2].strip()).read_text())["bogus"] == 1


def test_a_made_name_never_collides(cli: Cli) -> None:
    names = [cli.json("save", "--summary=Validate the form")["name"] for _ in range(3)]

    assert names == ["validate-form", "validate-form-2", "validate-form-3"]


@pytest.mark.accept(7)
def test_a_name_in_use_is_a_choice_and_nothing_changes(cli: Cli, stored: Path) -> None:
    cli.ok("save", "login-form", *GOOD)
    before = truth(stored)
    result = cli("save", "login-form", "--summary=Something else; with $HOME")

    assert result.code == 3
    assert truth(stored) == before
    overwrite, rename = result.json["choices"]
    assert overwrite["choice"] == "overwrite"
    assert overwrite["left_off"] == GOOD[1].removeprefix("--left-off=")
    assert overwrite["saved_at"][:2] == "20"
    assert overwrite["command"] == (
        "leftoff save --overwrite login-form '--summary=Something else; with $HOME'"
    )
    assert rename["choice"] == "rename"
    assert rename["command"] == ("leftoff save OTHER-NAME '--summary=Something else; with $HOME'")
    assert "leftoff: A checkpoint named" in result.err


@pytest.mark.parametrize(
    ("arguments", "stdin", "commands"),
    [
        (
            ["--json", "--", "-login-form"],
            "",
            ["leftoff save --overwrite --json -- -login-form", "leftoff save --json -- OTHER-NAME"],
        ),
        (
            ["--from-json", "-"],
            '{"name": "login-form"}',
            ["leftoff save --overwrite --from-json -", "leftoff save OTHER-NAME --from-json -"],
        ),
        (
            ["login-form", "--note", "login-form"],
            "",
            ["leftoff save --overwrite login-form --note login-form", "leftoff save OTHER-NAME"],
        ),
    ],
)
def test_the_commands_to_choose_from_can_be_run_as_they_are(
    cli: Cli, arguments: list[str], stdin: str, commands: list[str]
) -> None:
    cli.ok("save", "login-form", *GOOD)

    result = cli("save", *arguments, stdin=stdin)

    assert [each["command"] for each in result.json["choices"]] == commands
    for command in commands:
        cli.ok(*shlex.split(command)[1:], stdin=stdin)


@pytest.mark.accept(166)
def test_overwrite_makes_a_new_revision_and_undo_brings_the_old_one_back(cli: Cli) -> None:
    old = cli.json("save", "login-form", *GOOD)
    new = cli.json("save", "login-form", "--summary=Another form", "--overwrite")

    assert cli.json("show", "login-form")["id"] == new["id"]
    revisions = cli.json("log", "login-form")["revisions"]
    assert [each["id"] for each in revisions] == [new["id"], old["id"]]
    cli.ok("undo")
    assert cli.json("show", "login-form")["id"] == old["id"]


def test_the_name_of_a_cleared_checkpoint_is_free(cli: Cli) -> None:
    cli.ok("save", "login-form", *GOOD)
    cli.ok("clear", "login-form")

    cli.ok("save", "login-form", *GOOD)


@pytest.mark.accept(30)
def test_strict_refuses_and_names_every_broken_rule(cli: Cli, stored: Path) -> None:
    vague = ("--summary=Validate the form", "--progress=worked on the task", "--next=continue")
    result = cli("save", "login-form", *vague, "--blocker=stuck", "--decision=sqlite", "--strict")

    assert result.code == 4
    assert "below the quality bar: progress, next-action, blockers, decisions" in result.err
    assert result.err.count("\n  - ") == 4
    assert not truth(stored)


def test_strict_can_be_a_setting(cli: Cli) -> None:
    cli.ok("config", "set", "strict", "true", "--project")

    assert cli("save", "login-form", "--next=continue").code == 4


def test_weak_saves_are_kept_with_a_warning(cli: Cli) -> None:
    result = cli.ok("save", "login-form", "--next=continue")

    assert "warning: The next action 'continue' cannot be carried out without asking" in result.err
    assert cli.json("show", "login-form")["next_action"]["text"] == "continue"


@pytest.mark.accept(5)
@pytest.mark.parametrize(("flags", "step"), [([], 4), (["--step", "3/7"], 3)])
def test_the_step_is_read_from_the_plan_unless_it_is_given(
    cli: Cli, repo: Repo, flags: list[str], step: int
) -> None:
    repo.write("p.md", PLAN)
    cli.ok("save", "login-form", *GOOD, "--plan", "p.md", *flags)

    assert f"`p.md` (step {step} of 7)" in cli.ok("resume", "login-form").out


@pytest.mark.parametrize("step", ["0/7", "8/7", "3", "x/y", "3/7/9", "-1/2"])
def test_a_step_that_is_none_is_refused(cli: Cli, step: str) -> None:
    assert cli("save", "login-form", *GOOD, f"--step={step}").code == 2


def test_paths_are_relative_to_the_current_folder(
    cli: Cli, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.write("docs/plan.md", PLAN)
    monkeypatch.chdir(repo.folder / "docs")
    cli.ok("save", "login-form", *GOOD, "--file", "../app.py", "--plan", "plan.md")
    shown = cli.json("show", "login-form")

    assert shown["plan"]["path"] == "docs/plan.md"
    assert [each["path"] for each in shown["files"]] == ["app.py", "docs/plan.md"]
    monkeypatch.chdir(repo.folder)
    checks = cli.json("resume", "login-form")["checks"]
    assert [each["state"] for each in checks["files"]] == ["same"]
    assert checks["plan"]["state"] == "same"


def test_json_is_read_from_a_file_or_from_stdin_and_flags_beat_it(cli: Cli, repo: Repo) -> None:
    fields = {
        "name": "from-json",
        "summary": "Told in JSON",
        "done": ["one", "two"],
        "next_action": "Run make",
        "decisions": ["sqlite :: no server", {"what": "w", "why": "y", "impact": "i"}],
        "files": ["app.py"],
        "plan": "plan.md",
        "unheard_of": {"kept": True},
        "id": "forged",
        "saved_at": "1999-01-01T00:00:00Z",
    }
    repo.write("told.json", json.dumps(fields))
    cli.ok("save", "--from-json", "told.json", "--done", "three")
    cli.ok("save", "other-name", "--from-json", "-", stdin=json.dumps(fields))
    shown = cli.json("show", "from-json")

    assert shown["done"] == ["three"]
    assert shown["next_action"] == {"text": "Run make"}
    assert shown["decisions"][0] == {"what": "sqlite", "why": "no server"}
    assert shown["decisions"][1]["impact"] == "i"
    assert shown["unheard_of"] == {"kept": True}
    assert shown["plan"] == {"path": "plan.md"}
    assert shown["id"] != "forged"
    assert shown["saved_at"] > "2020"
    assert cli.json("show", "other-name")["done"] == ["one", "two"]


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '"x"', "null", '{"summary": 3}', '{"summary": "\\ud800"}', "[" * 10_000,
     '{"plan": 7}', '{"files": [{"path": "a\\u0000b"}]}', '{"next_action": [7]}'],
)  # fmt: skip
def test_json_that_makes_no_checkpoint_is_refused_in_one_sentence(
    cli: Cli, stored: Path, text: str
) -> None:
    result = cli("save", "login-form", "--from-json", "-", "--step=1/2", stdin=text)

    assert result.code == 2, result
    assert result.err.startswith("leftoff: ")
    assert not truth(stored)


def test_json_that_cannot_be_read_is_refused(cli: Cli, repo: Repo) -> None:
    assert "No such file" in cli("save", "--from-json", "nowhere.json").err
    assert "directory" in cli("save", "--from-json", str(repo.folder)).err


@pytest.mark.accept(20)
def test_a_name_with_colons_in_it_is_not_split_from_its_reason(cli: Cli) -> None:
    words = ("--decision", "Use std::vector :: Foo::bar is slow", "--failed", "std::list")
    saved = cli.json("save", "login-form", *GOOD, *words)

    shown = cli.json("show", saved["id"])
    assert shown["decisions"] == [{"what": "Use std::vector", "why": "Foo::bar is slow"}]
    assert shown["failed"] == [{"what": "std::list"}]


def test_a_blank_text_says_nothing(cli: Cli) -> None:
    saved = cli.json("save", "login-form", "--summary", "  ", "--next", "Run pytest")

    shown = cli.json("show", saved["id"])
    assert "summary" not in shown
    assert [each["summary"] for each in cli.json("list")] == ["Run pytest"]


def test_none_is_not_an_entry(cli: Cli) -> None:
    nothing = ("--failed=None", "--blocker=none.", "--question=N/A", "--decision=-")
    cli.ok("save", "login-form", *GOOD, *nothing)
    shown = cli.json("show", "login-form")

    assert not {"failed", "blockers", "questions", "decisions"} & {*shown}
    assert "Previously failed" not in cli.ok("resume", "login-form").out


def test_secrets_never_reach_the_disk(cli: Cli, stored: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    cli.ok("save", "login-form", *GOOD, f"--note=The token is {secret}")

    found = [path for path in stored.rglob("*") if path.is_file()]
    assert not [path for path in found if secret.encode() in path.read_bytes()]
    assert "redacted" in cli.json("show", "login-form")["notes"][0]


@pytest.mark.accept(4)
def test_of_many_changed_files_ten_are_shown_and_all_are_kept(cli: Cli, repo: Repo) -> None:
    for number in range(14):
        repo.write(f"new-{number:02}.txt")
    cli.ok("save", "login-form", *GOOD)

    assert len(cli.json("show", "login-form")["dirty"]) == 14
    shown = cli.ok("show", "login-form").out
    assert shown.count("- new-") == 10
    assert "… and 4 more" in shown


@pytest.mark.accept(4)
def test_a_detached_head_is_shown_by_its_commit(cli: Cli, repo: Repo) -> None:
    repo.git("checkout", "-q", "--detach")
    cli.ok("save", "login-form", *GOOD)

    assert f"detached at {repo.head()[:8]}" in cli.ok("show", "login-form").out


@pytest.mark.parametrize("artifacts", [["a"], 5, "a", None])
def test_artifacts_of_another_shape_are_refused_in_one_sentence(
    cli: Cli, artifacts: object
) -> None:
    result = cli("save", "x", "--from-json", "-", stdin=json.dumps({"artifacts": artifacts}))

    assert result.code == 2
    assert "artifacts" in result.err


def test_every_next_step_is_kept_in_its_order(cli: Cli) -> None:
    steps = ("--next", "Run pytest tests/a.py", "--next", "Write docs/a.md", "--next", "Ask Ada")
    cli.ok("save", "cart-total", "--summary", "Fix the total", *steps)

    found = cli.json("show", "cart-total")
    assert found["next_action"]["text"] == "Run pytest tests/a.py"
    assert found["next_steps"] == ["Write docs/a.md", "Ask Ada"]
    assert "next_steps" in found["stated"]
    output = cli.ok("resume", "cart-total").out
    assert "Next action: Run pytest tests/a.py\nThen: Write docs/a.md\nThen: Ask Ada\n" in output
    cli.ok("save", "json", "--from-json", "-", stdin='{"next_action": ["Run a.py", "Run b.py"]}')
    assert cli.json("show", "json")["next_steps"] == ["Run b.py"]


def test_a_file_may_have_a_role(cli: Cli, repo: Repo) -> None:
    repo.write("a b.py", "pass\n")
    cli.ok("save", "cart-total", "--file", "a b.py :: sums the cart", "--file", "c::d.py")

    files = [(each["path"], each.get("role")) for each in cli.json("show", "cart-total")["files"]]
    assert files == [("a b.py", "sums the cart"), ("c::d.py", None)]


def test_a_save_waits_for_the_prompt_that_joins_its_session_to_a_thread(
    cli: Cli, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.ok("save", "csv-port", "--summary", "Port the exporter", "--next", "Write the rows")
    talk = Talk(repo.folder, "session-2")
    talk.start()
    talk.post("UserPromptSubmit", prompt="continue")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", talk.session_id)

    cli.ok("save", "--next", "Write the header", "--auto-name")

    (row,) = cli.json("list")
    assert (row["name"], row["next_action"]) == ("csv-port", "Write the header")
