"""The status line is short and quick, never fails, and records the live context use."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leftoff import context, statusline
from leftoff.hooks.context_usage import with_live_use
from leftoff.projects.project import Project
from leftoff.session.facts.report import Facts
from leftoff.store import Store
from programs import with_our_path
from stores import NOON, draft
from talk import Talk

NOW = NOON.timestamp()
SESSION = "96e719b4-0e86-4832-bc7e-2435e0105434"


def build_input(
    tokens: int | None = 420_000, session_id: str = SESSION, **fields: Any
) -> dict[str, Any]:
    """Make what Claude Code 2.1.325 gives its status line, as far as it counts here."""
    usage = {
        "input_tokens": 10,
        "output_tokens": 20,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": (tokens or 0) - 10,
    }
    return {
        "session_id": session_id,
        "transcript_path": "/home/dev/.claude/projects/-home-dev-repo/x.jsonl",
        "cwd": "/home/dev/repo",
        "model": {"id": "claude-opus-5-5", "display_name": "Opus 5.5"},
        "workspace": {"current_dir": "/home/dev/repo", "project_dir": "/home/dev/repo"},
        "context_window": {
            "context_window_size": 1_000_000,
            "current_usage": usage if tokens is not None else None,
            "used_percentage": 42 if tokens is not None else 7,
        },
        **fields,
    }


def shown(payload: object, *, now: float = NOW) -> str:
    return statusline.show(json.dumps(payload).encode(), now=now)


def state() -> str:
    return str(context.state_folder())


def test_it_shows_name_gauge_and_age_of_the_last_save() -> None:
    statusline.write_last_save(state(), SESSION, "login-form", NOW - 200)

    assert shown(build_input()) == "login-form ▓▓░░░ 42 % · saved 3m ago"


def test_a_session_that_was_never_saved_is_marked_so() -> None:
    assert shown(build_input()) == "▓▓░░░ 42 % · not saved"
    statusline.write_last_save(
        state(), SESSION, "Add the login form to the front page of the shop", 0.0
    )
    assert shown(build_input()) == "Add the login form to the front page of… ▓▓░░░ 42 % · not saved"


@pytest.mark.parametrize(
    ("seconds", "age"),
    [(5, "just now"), (60, "1m ago"), (7_200, "2h ago"), (200_000, "2d ago")],
)
def test_ages_read_as_everywhere_else(seconds: float, age: str) -> None:
    statusline.write_last_save(state(), SESSION, "x", NOW - seconds)

    assert shown(build_input()).endswith(f"saved {age}")


@pytest.mark.parametrize(
    ("percent", "gauge"),
    [(0.4, "░░░░░ 0 %"), (42, "▓▓░░░ 42 %"), (95, "▓▓▓▓▓ 95 %"), (104, "▓▓▓▓▓ 104 %")],
)
def test_the_gauge_fills_up(percent: float, gauge: str) -> None:
    assert shown(build_input(round(percent * 10_000))).startswith(gauge)


def test_before_the_first_answer_the_rounded_figure_is_shown_and_nothing_kept() -> None:
    assert shown(build_input(None)) == "░░░░░ 7 % · not saved"
    assert statusline.live_use(state(), SESSION) is None


def test_live_use_is_kept_for_settle() -> None:
    shown(build_input(955_000))

    assert statusline.live_use(state(), SESSION) == (955_000, 1_000_000, NOW)
    shown(build_input(955_000), now=NOW + 9)
    assert statusline.live_use(state(), SESSION) == (955_000, 1_000_000, NOW)
    shown(build_input(960_000), now=NOW + 10)
    assert statusline.live_use(state(), SESSION) == (960_000, 1_000_000, NOW + 10)
    modes = {path.stat().st_mode & 0o777 for path in Path(state(), "usage").iterdir()}
    assert modes == {0o600}


def test_a_session_that_has_ended_is_forgotten() -> None:
    shown(build_input())
    statusline.write_last_save(state(), SESSION, "x", NOW)

    statusline.forget(state(), SESSION)

    assert list(Path(state(), "usage").iterdir()) == []


@pytest.mark.parametrize("place", ["ready/4/home/dev/repo", "replies/home/dev/repo"])
def test_where_leftoff_is_off_nothing_is_shown_and_nothing_kept(place: str) -> None:
    mark = Path(state(), place, "off")
    mark.parent.mkdir(parents=True)
    mark.touch()

    assert shown(build_input()) == ""
    assert not Path(state(), "usage").exists()


@pytest.mark.parametrize("session_id", ["", "../../etc/passwd", "a/b", "x" * 200, "\0"])
def test_an_odd_session_id_writes_nowhere(session_id: str, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))

    assert shown(build_input(session_id=session_id)) == "▓▓░░░ 42 % · not saved"
    assert sorted(tmp_path.rglob("*")) == before


def test_names_cannot_steer_the_terminal() -> None:
    statusline.write_last_save(state(), SESSION, "evil\x1b[2J\nname", NOW)

    assert shown(build_input()).startswith("evil [2J name ▓")


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=10,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(
        st.sampled_from(["session_id", "cwd", "workspace", "context_window", "model"]), _VALUES
    )
)
def test_it_never_fails_whatever_it_is_given(changed: dict[str, Any]) -> None:
    assert "\n" not in shown({**build_input(), **changed})


@given(st.binary(max_size=100))
def test_whatever_comes_in_it_never_fails(data: bytes) -> None:
    assert statusline.show(data, now=NOW) == ""


# --- as a program ---


def run(data: bytes, *words: str, **env: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "leftoff", "statusline", *words],
        input=data,
        env={**with_our_path(), **env},
        capture_output=True,
        check=False,
        timeout=120,
    )


def test_the_program_prints_one_line_whatever_the_locale() -> None:
    done = run(json.dumps(build_input()).encode(), LC_ALL="C", PYTHONIOENCODING="ascii")

    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode() == "▓▓░░░ 42 % · not saved\n"


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[]", b"null"])
def test_the_program_is_silent_about_garbage(data: bytes) -> None:
    done = run(data)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_it_also_answers_in_json() -> None:
    done = run(json.dumps(build_input()).encode(), "--json")

    assert json.loads(done.stdout) == {"line": "▓▓░░░ 42 % · not saved"}


def test_it_loads_next_to_nothing() -> None:
    script = (
        "import sys; before = set(sys.modules); sys.argv[1:] = ['statusline'];"
        "from leftoff.__main__ import main; main();"
        "print(*sorted(each for each in set(sys.modules) - before if each.startswith('leftoff')));"
        "print(*sorted({'click', 'msgspec', 'pathlib', 'typing', 'sqlite3'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r};{script}"],
        input=json.dumps(build_input()).encode(),
        capture_output=True,
        check=True,
    )

    _, ours, heavy = done.stdout.decode().splitlines()
    assert ours.split() == [
        "leftoff",
        "leftoff.__main__",
        "leftoff.statusline",
        "leftoff.text",
        "leftoff.text.plural",
        "leftoff.user_state",
    ]
    assert heavy == ""


# --- with settle ---


def test_a_window_that_only_the_status_line_knows_counts(tmp_path: Path) -> None:
    shown(build_input(190_000))
    facts = Facts(tokens=150_000, window=200_000, last_at="2026-11-15T11:59:00Z")

    live = with_live_use(facts, Path(state()), SESSION)

    assert (live.tokens, live.window) == (190_000, 1_000_000)
    after = Facts(tokens=12_000, window=200_000, last_at="2026-11-15T12:01:00Z")
    assert with_live_use(after, Path(state()), SESSION).percent == 1.2
    assert with_live_use(facts, tmp_path, SESSION) == facts


def test_settle_lays_ready_what_the_line_shows_and_forgets_it_at_the_end(
    project: Project, store: Store
) -> None:
    talk = Talk(project.root, SESSION)
    talk.ask("Add the login form")
    talk.say("Done.")
    talk.fire("Stop")
    assert shown(build_input()) == "Add the login form ▓▓░░░ 42 % · not saved"

    saved = draft("login-form", agent="claude", session_id=SESSION)
    at = store.save(saved).checkpoint.saved_at.timestamp()
    talk.fire("Stop")
    assert shown(build_input(), now=at + 90) == "login-form ▓▓░░░ 42 % · saved 1m ago"

    talk.fire("SessionEnd", reason="other")
    assert not list(Path(state(), "usage").iterdir())


def test_before_the_first_save_the_line_shows_the_task_not_the_last_request(
    project: Project,
) -> None:
    talk = Talk(project.root, SESSION)
    talk.work()
    talk.ask("Try it with a million users")
    talk.say("It works.")
    talk.fire("Stop")

    assert shown(build_input()) == "Add a login form to app.py ▓▓░░░ 42 % · not saved"


def test_small_talk_is_not_shown_as_work(project: Project) -> None:
    talk = Talk(project.root, SESSION)
    for said in ("good morning", "yes", "thanks"):
        talk.ask(said)
        talk.say("What shall we do?")
        talk.fire("Stop")
        assert shown(build_input()) == "▓▓░░░ 42 % · not saved"

    talk.work()
    talk.fire("Stop")
    assert shown(build_input()).startswith("Add a login form to app.py ")


def test_a_session_that_has_joined_a_thread_shows_that_thread(
    project: Project, store: Store
) -> None:
    other = store.save(draft("login-form", agent="claude", session_id="earlier")).checkpoint
    store.record("resumed", [other.id], session=("claude", SESSION))
    talk = Talk(project.root, SESSION)
    talk.ask("continue")
    talk.say("Which test fails?")
    talk.ask("what do you think?")
    talk.say("None.")
    talk.fire("Stop")

    later = other.saved_at.timestamp() + 90
    assert shown(build_input(), now=later) == "login-form ▓▓░░░ 42 % · saved 1m ago"


@pytest.mark.parametrize(
    ("is_shown", "line"), [(True, "login-form · saved just now"), (False, "not saved")]
)
def test_a_save_is_shown_before_settle_has_seen_the_session(*, is_shown: bool, line: str) -> None:
    if is_shown:
        shown(build_input())

    statusline.update_last_save(state(), SESSION, "login-form", NOW)

    before_the_first_answer = {key: build_input()[key] for key in ("cwd", "session_id")}
    assert shown(before_the_first_answer) == line


@pytest.mark.accept(108)
@pytest.mark.parametrize(("tokens", "advice"), [(849_900, ""), (850_000, "context at 85.00%")])
def test_the_ladder_goes_by_live_use_to_the_basis_point(
    project: Project, monkeypatch: pytest.MonkeyPatch, tokens: int, advice: str
) -> None:
    monkeypatch.setenv("LEFTOFF_ADVISE_AT", "85")
    monkeypatch.setenv("LEFTOFF_URGE_AT", "89")
    talk = Talk(project.root, SESSION)
    talk.ask("Add the login form")
    talk.say("Done.", percent=10)
    shown(build_input(tokens), now=NOW + 60)

    talk.fire("Stop")

    reply = talk.waiting_reply()
    assert bool(reply) == bool(advice)
    assert advice in reply


def test_nothing_is_written_or_read_through_a_linked_folder(tmp_path: Path) -> None:
    elsewhere, folder = tmp_path / "elsewhere", context.state_folder()
    elsewhere.mkdir()
    folder.mkdir(parents=True)
    (folder / "usage").symlink_to(elsewhere)
    (elsewhere / "s1.saved").write_text('{"name": "stolen", "saved_at": 1}', encoding="utf-8")

    statusline.write_last_save(state(), "s1", "mine", 2.0)
    statusline.forget(state(), "s1")

    assert [path.name for path in elsewhere.iterdir()] == ["s1.saved"]
    assert "stolen" in (elsewhere / "s1.saved").read_text(encoding="utf-8")
