"""sail's JSON: what it contains, what it cannot contain, and what others added to it."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cli.runs import Cli
from gitrepo import Repo
from leftoff import profiles
from leftoff.checkpoint import Checkpoint, from_plain, to_plain
from leftoff.profiles import import_native, sail
from leftoff.profiles.mirror.export_changes import export_all
from leftoff.profiles.profile import Profile  # noqa: TC001 - the annotation is the test
from leftoff.store import Store
from stores import MEMORY, contents, draft, project_at

GOLDEN = Path(__file__).parent / "golden" / "sail"


def test_the_module_is_a_profile() -> None:
    profile: Profile = sail

    assert profiles.load("sail") is profile


def read(path: str) -> Any:
    file = GOLDEN / path
    return sail.read(file, file.read_bytes())


def test_every_key_of_a_file_has_its_place() -> None:
    native = read("plain/plans/rate-limits/checkpoints/20261115T184012Z.json")

    assert native.name == "rate-limits"
    assert f"{native.saved_at:%Y-%m-%dT%H:%M:%S%z}" == "2026-11-15T18:40:12+0000"
    assert native.fields == {
        "summary": "Counting requests in Redis because each deploy empties the counters in memory",
        "decisions": [
            {"what": "Sliding window instead of token bucket: support quotes counts per minute"},
            {"what": "One region for now"},
        ],
        "next_action": {"text": "Write src/limit.lua and call it from src/limiter.ts"},
        "blockers": ["The password of the staging Redis is not known"],
        "plan": {"title": "rate-limits", "step": 4},
        "tdd_phase": "red",
        "files_modified": ["src/limiter.ts", "src/limit.lua"],
    }


def test_a_global_checkpoint_is_named_after_its_summary() -> None:
    assert read("plain/checkpoints/20261114T090000Z.json").name == "upgrading-linter"


def test_texts_of_any_script_are_read_as_they_are() -> None:
    native = read("unicode/plans/größe-评审/checkpoints/20261115T120000Z.json")

    assert native.name == "größe-评审"
    assert native.fields["summary"] == "Größen prüfen — 评审 🧭 «ok»\n# keine Überschrift"
    assert native.fields["plan"] == {"title": "größe-评审", "stage": "challenge"}
    assert native.saved_at.hour == 12


def test_line_ends_of_windows_change_nothing() -> None:
    fields = read("crlf/checkpoints/20261115T100000Z.json").fields

    assert fields["summary"] == "First line\r\nsecond line"
    assert fields["files_modified"] == ["invoice.txt"]


def test_missing_keys_are_allowed_and_the_file_name_gives_the_time() -> None:
    native = read("missing/checkpoints/20261115T080000Z.json")

    assert native.problem is None
    assert native.fields == {"summary": "Only a summary here"}
    assert native.saved_at.hour == 8


def test_unknown_keys_and_odd_values_are_kept() -> None:
    fields = read("unknown/checkpoints/20261115T110000Z.json").fields

    assert fields["decisions"] == [{"what": "Two queues", "why": "one is slow"}]
    assert fields["blockers"] == ["a single text"]
    assert fields["plan"] == {"title": "worker", "stage": "3.5"}
    assert fields["sail"]["mood"] == {"energy": 3, "words": ["tired", None]}
    assert fields["sail"]["context"]["key_artifacts"] == ["docs/worker.md"]


def test_newer_members_show_the_session_and_how_full_the_context_was() -> None:
    fields = read("later/plans/export/checkpoints/20261116T070000Z.json").fields

    assert fields["session_id"] == "s-77"
    assert fields["context"] == {"percent": 77.0}
    assert fields["reason"] == "context 77%"
    assert fields["sail"]["epistemic"]["last_finding_count"] == 2


@contextmanager
def stores() -> Iterator[tuple[Store, Store, Path]]:
    """Make two projects and a folder for files between them."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as place:
        folder = Path(place)
        one, other = Store(project_at(folder / "one")), Store(project_at(folder / "other"))
        try:
            yield one, other, folder / "files"
        finally:
            one.close()
            other.close()


def handed_over(checkpoints: list[Checkpoint]) -> list[Checkpoint]:
    """Export checkpoints from one project and import them into another."""
    with stores() as (one, other, folder):
        for checkpoint in checkpoints:
            one.save(checkpoint, overwrite=True)
        export_all(one, "sail", folder)
        report = import_native.import_all(other, "sail", sail, folder)
        assert report.problems == []
        return [other.load(entry) for entry in other.index().newest(100)]


def held(checkpoint: Checkpoint) -> dict[str, Any]:
    plain = to_plain(checkpoint)
    return {key: plain[key] for key in sail.HOLDS if plain.get(key) not in (None, "", [], {})}


@pytest.mark.accept(162)
@pytest.mark.parametrize("kind", [path.name for path in sorted(GOLDEN.iterdir())])
def test_what_was_imported_is_exported_as_it_was(kind: str) -> None:
    with stores() as (one, _, folder):
        import_native.import_all(one, "sail", sail, GOLDEN / kind)
        export_all(one, "sail", folder)
        known = {entry.id for entry in one.index().heads(["open"], 100)}
        for path in sail.list_natives(folder):
            native = json.loads(path.read_bytes())
            ours = native.pop("leftoff")
            assert ours["id"] in known
            before = json.loads(Path(one.load(one.find(ours["id"])).source.path).read_bytes())  # type: ignore[union-attr]
            written = {key: native[key] for key in before if key not in {"timestamp", "context"}}
            assert written == {
                key: value for key, value in before.items() if key not in {"timestamp", "context"}
            }
            assert before.get("context", {}).items() <= native["context"].items()


words = st.text(min_size=1, max_size=40).filter(str.strip)
texts = st.lists(words, max_size=3)
plans = st.fixed_dictionaries(
    {},
    optional={
        "title": words,
        "path": words,
        "step": st.integers(0, 99),
        "total": st.integers(0, 99),
        "stage": words,
    },
)
decisions = st.fixed_dictionaries(
    {"what": words}, optional={"why": words, "alternatives": texts, "impact": words}
)
plain_json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
fields = st.fixed_dictionaries(
    {"summary": words},
    optional={
        "intent": words,
        "left_off": words,
        "next_action": st.fixed_dictionaries(
            {"text": words}, optional={"origin": st.just("inferred")}
        ),
        "blockers": texts,
        "decisions": st.lists(decisions, max_size=3),
        "files_modified": texts,
        "plan": plans,
        "tdd_phase": words,
        "session_id": words,
        "reason": words,
        "context": st.fixed_dictionaries(
            {},
            optional={
                "percent": st.floats(0, 100),
                "tokens": st.integers(0, 10**6),
                "window": st.integers(1, 10**6),
            },
        ),
        "files": st.lists(st.fixed_dictionaries({"path": words}), max_size=2),
        "sail": st.fixed_dictionaries(
            {}, optional={"free": plain_json, "context": st.just({"key_artifacts": ["a", None]})}
        ),
    },
)


@pytest.mark.slow("tries many checkpoints")
@pytest.mark.accept(162)
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(fields)
def test_exported_and_imported_a_checkpoint_is_the_same(fields: dict[str, Any]) -> None:
    base = to_plain(draft("any-work"))
    checkpoint = from_plain({**base, "next_action": None, **fields}, Checkpoint)

    [back] = handed_over([checkpoint])

    assert held(back) == held(checkpoint)


def test_the_moment_is_kept_whole_although_the_file_name_shows_seconds() -> None:
    with stores() as (one, other, folder):
        saved = one.save(draft("some-work")).checkpoint.saved_at
        export_all(one, "sail", folder)
        import_native.import_all(other, "sail", sail, folder)

        assert other.load(other.find("some-work")).saved_at == saved


def test_what_a_person_changed_in_a_file_counts_more_than_what_was_kept_beside_it() -> None:
    with stores() as (one, other, folder):
        one.save(draft("some-work", "Said so", left_off="In the middle"))
        [path] = export_all(one, "sail", folder)
        native = json.loads(path.read_bytes())
        native["summary"] = "Changed by hand"
        path.write_text(json.dumps(native), encoding="utf-8")
        import_native.import_all(other, "sail", sail, folder)

        assert other.load(other.find("some-work")).summary == "Changed by hand"


# Broken files


def files_of(cli: Cli, folder: Path) -> Any:
    result = cli("import", "--from", "sail", str(folder), "--json")
    assert result.code in {0, 1}, result
    return json.loads(result.out)


def copied(repo: Repo, kind: str) -> Path:
    folder = repo.folder / "native"
    shutil.copytree(GOLDEN / kind, folder)
    return folder


@pytest.mark.accept(162)
def test_originals_stay_and_a_second_import_adds_nothing(cli: Cli, repo: Repo) -> None:
    folder = copied(repo, "plain")
    before = contents(folder)

    assert files_of(cli, folder)["imported"] == 3
    again = files_of(cli, folder)

    assert (again["imported"], again["known"]) == (0, 3)
    assert contents(folder) == before
    assert {each["name"] for each in cli.json("list")} == {"rate-limits", "upgrading-linter"}


def test_a_broken_file_is_reported_and_the_rest_is_imported(cli: Cli, repo: Repo) -> None:
    folder = copied(repo, "plain")
    (folder / "checkpoints" / "20261113T000000Z.json").write_bytes(b'{"summary": "torn')
    (folder / "checkpoints" / "20261113T000001Z.json").write_bytes(b"[]")
    (folder / "checkpoints" / "20261113T000002Z.json").write_bytes(b"\xff\xfe\x00")
    (folder / "checkpoints" / "20261113T000003Z.json").symlink_to("20261114T090000Z.json")
    deep = b"[" * 300 + b"]" * 300
    (folder / "checkpoints" / "20261113T000004Z.json").write_bytes(b'{"summary": %s}' % deep)
    huge = b'{"summary": "big", "n": 123456789012345678901234567890, "f": NaN}'
    (folder / "checkpoints" / "20261113T000005Z.json").write_bytes(huge)

    report = files_of(cli, folder)

    assert report["imported"] == 4
    assert len(report["problems"]) == 5


@pytest.mark.slow("imports many files")
def test_five_hundred_files_are_imported_as_revisions_of_their_plan(cli: Cli, repo: Repo) -> None:
    folder = repo.folder / "native" / "plans" / "big" / "checkpoints"
    folder.mkdir(parents=True)
    for n in range(500):
        native = {"timestamp": f"2026-11-{1 + n // 60:02d}T10:{n % 60:02d}:00Z", "summary": f"S{n}"}
        (folder / f"202611{1 + n // 60:02d}T10{n % 60:02d}00Z.json").write_text(json.dumps(native))

    assert files_of(cli, folder.parents[2])["imported"] == 500
    [entry] = cli.json("list")
    assert (entry["name"], entry["summary"]) == ("big", "S499")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_torn_or_garbled_file_is_read_or_refused_but_never_a_crash(data: st.DataObject) -> None:
    files = sorted(GOLDEN.rglob("checkpoints/*.json"))
    path = data.draw(st.sampled_from(files))
    whole = path.read_bytes()
    at = data.draw(st.integers(0, len(whole)))
    garbage = data.draw(st.binary(max_size=6))
    kind = data.draw(st.sampled_from(["cut", "put", "over"]))
    broken = whole[:at] + {"cut": b"", "put": garbage + whole[at:]}.get(
        kind, garbage + whole[at + len(garbage) :]
    )
    with tempfile.TemporaryDirectory(dir=MEMORY) as place:
        folder = Path(place)
        store = Store(project_at(folder))
        file = folder / "native" / "checkpoints" / path.name
        file.parent.mkdir(parents=True)
        file.write_bytes(broken)
        (file.parent / "20260101T000000Z.json").write_text('{"summary": "A whole one"}')

        report = import_native.import_all(store, "sail", sail, folder / "native")
        again = import_native.import_all(store, "sail", sail, folder / "native")
        store.close()

        assert report.imported + len(report.problems) == 2
        assert all(each.problem for each in report.problems)
        assert report.imported >= 1
        assert again.imported == 0
        assert file.read_bytes() == broken


# --- what agents write instead of texts and lists of texts ---

SAID = '"timestamp": "2026-11-15T18:40:12Z", "summary": "Rate limits", "next_action": "Run it"'


@pytest.mark.promise("sail", 49)
@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{{{SAID}}}\n```\n",
        f"{{\n  // where it stopped\n  {SAID}, /* no more */\n}}",
        f"[{{{SAID}}}]",
        f'{{"version": 2, "checkpoint": {{{SAID}}}}}',
        f'{{{SAID}, "decisions": ["see http://x.example/a, // b",]}}',
    ],
    ids=["fence", "comments", "list", "wrapped", "comma"],
)
def test_a_file_that_is_almost_sails_json_is_read(text: str) -> None:
    native = sail.read(Path(".claude/checkpoints/20261115T184012Z.json"), text.encode())

    assert native.problem is None
    assert native.fields["summary"] == "Rate limits"
    assert native.fields["next_action"] == {"text": "Run it"}
    if "decisions" in text:
        assert native.fields["decisions"] == [{"what": "see http://x.example/a, // b"}]


@pytest.mark.promise("sail", 50)
@pytest.mark.parametrize(
    ("member", "fields"),
    [
        ({"blockers": "None at the moment."}, {}),
        ({"blockers": {"infra": "no database"}}, {"blockers": ["infra: no database"]}),
        (
            {"blockers": [{"what": "password", "owner": "ops"}]},
            {"blockers": ["password (owner: ops)"]},
        ),
        ({"decisions": [None, "", "Keep it"]}, {"decisions": [{"what": "Keep it"}]}),
        (
            {"decisions": {"naming": ["kebab because of URLs", "no dots"]}},
            {"decisions": [{"what": "naming: kebab because of URLs"}, {"what": "naming: no dots"}]},
        ),
        (
            {"decisions": [{"chosen": "Redis", "over": "memory", "because": "it has a TTL"}]},
            {"decisions": [{"what": "Redis", "why": "it has a TTL; over: memory"}]},
        ),
        (
            {"context": {"active_plan": {"name": "limits", "stage": 3}}},
            {"plan": {"title": "limits", "step": 3}},
        ),
        (
            {"Context": {"FilesInProgress": {"a.ts": "half done"}}},
            {"files_modified": ["a.ts"], "notes": ["a.ts: half done"]},
        ),
    ],
)
def test_a_member_in_another_shape_is_read_as_what_it_says(
    member: dict[str, Any], fields: dict[str, Any]
) -> None:
    data = json.dumps({"summary": "Rate limits", **member}).encode()
    native = sail.read(Path(".claude/checkpoints/20261115T184012Z.json"), data)

    found = {key: value for key, value in native.fields.items() if key not in {"summary", "sail"}}
    assert found == fields


@pytest.mark.parametrize("moment", [1794768012, 1794768012000, "Nov 15, 2026 18:40:12 UTC"])
def test_a_time_in_another_form_is_the_same_moment(moment: object) -> None:
    data = json.dumps({"timestamp": moment, "summary": "Rate limits"}).encode()
    native = sail.read(Path(".claude/checkpoints/other.json"), data)

    assert f"{native.saved_at:%Y-%m-%dT%H:%M:%SZ}" == "2026-11-15T18:40:12Z"


@pytest.mark.promise("sail", 51)
def test_members_in_another_language_are_read() -> None:
    data = json.dumps(
        {"Zusammenfassung": "Limits", "entscheidungen": ["A, weil B"], "nächster_schritt": "Los"}
    ).encode()
    native = sail.read(Path(".claude/checkpoints/20261115T184012Z.json"), data)

    assert native.fields["summary"] == "Limits"
    assert native.fields["decisions"] == [{"what": "A, weil B"}]
    assert native.fields["next_action"] == {"text": "Los"}
