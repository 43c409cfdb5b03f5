import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitrepo import Repo
from leftoff.checkpoint import Checkpoint
from leftoff.context import find_project
from leftoff.errors import BelowQualityBar, ChoiceNeeded, LeftoffError, UsageError
from leftoff.fingerprints import state_of
from leftoff.knowledge import features
from leftoff.store import Store
from leftoff.threads import persist
from leftoff.threads.compose import parse_fields
from leftoff.threads.name_thread import name_thread
from stores import Clock, compose, contents

GOOD: dict[str, Any] = {
    "summary": "Validate the login form",
    "done": ["Wrote src/login.py"],
    "next_action": "Run pytest tests/test_login.py",
}


@pytest.fixture
def repo_store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    repo = Repo(tmp_path / "repo")
    repo.commit("Begin", {"src/login.py": "x\n"})
    with contextlib.closing(Store(find_project(repo.folder), now=clock)) as store:
        yield store


def composed(store: Store, **value: Any) -> Checkpoint:
    return compose(parse_fields({**GOOD, **value}), store)


def test_short_forms_become_canonical() -> None:
    fields = parse_fields(
        {
            "next_action": "Run make",
            "plan": "p.md",
            "files": ["a", {"path": "b", "role": "main"}],
            "decisions": ["a :: b :: c", {"what": "w"}],
            "failed": ["alone"],
        }
    )

    assert fields == {
        "next_action": {"text": "Run make"},
        "plan": {"path": "p.md"},
        "files": [{"path": "a"}, {"path": "b", "role": "main"}],
        "decisions": [{"what": "a", "why": "b :: c"}, {"what": "w"}],
        "failed": [{"what": "alone", "why": ""}],
    }


@pytest.mark.accept(20)
@pytest.mark.parametrize("nothing", ["None", "none.", " N/A ", "-", ""])
def test_an_entry_that_says_there_is_none_is_none(nothing: str) -> None:
    assert parse_fields({"failed": [nothing, "real"], "blockers": [nothing]}) == {
        "failed": [{"what": "real", "why": ""}],
        "blockers": [],
    }


def test_what_leftoff_sets_cannot_be_given() -> None:
    assert parse_fields({"id": "x", "saved_at": "y", "schema": 9, "summary": "s"}) == {
        "summary": "s"
    }


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
KEYS = st.sampled_from(
    ["summary", "done", "next_action", "plan", "files", "decisions", "failed", "todos", "name", "x"]
)


@settings(deadline=None)
@given(st.dictionaries(KEYS, JSON, max_size=5) | JSON)
def test_any_json_makes_a_checkpoint_or_is_refused(
    tmp_path_factory: pytest.TempPathFactory, plain: Any
) -> None:
    folder = tmp_path_factory.getbasetemp() / "plain"
    folder.mkdir(exist_ok=True)
    store = Store(find_project(folder), now=Clock())
    try:
        draft = compose(parse_fields(plain), store)
    except UsageError as error:
        assert error.message  # noqa: PT017 - either way is right
    else:
        assert isinstance(draft, Checkpoint)
    store.close()


def test_git_is_observed_and_what_is_stated_beats_it(repo_store: Store) -> None:
    seen = composed(repo_store)
    found = composed(repo_store, branch="other", head=None)

    assert seen.branch == "main"
    assert seen.last_commit is not None
    assert seen.last_commit.sha == seen.head
    assert seen.worktree == seen.project == str(repo_store.project.root)
    assert found.branch == "other"


def test_named_files_the_plan_and_modified_files_are_fingerprinted_once(repo_store: Store) -> None:
    root = repo_store.project.worktree
    (root / "plan.md").write_text("# P\n\n- [x] a\n- [ ] b\n")
    (root / "new.py").write_text("y")
    draft = composed(
        repo_store,
        files=[{"path": "./src/login.py", "role": "main"}, "plan.md"],
        files_modified=["src/login.py", "new.py"],
        plan="plan.md",
    )

    assert [(file.path, file.role, file.sha256 is not None) for file in draft.files] == [
        ("src/login.py", "main", True),
        ("plan.md", "", True),
        ("new.py", "modified", True),
    ]
    assert draft.plan is not None
    assert (draft.plan.title, draft.plan.step, draft.plan.total) == ("P", 2, 2)


def test_a_file_that_the_work_deleted_is_not_missing_at_resume(repo_store: Store) -> None:
    root = repo_store.project.worktree
    (root / "again.py").write_text("y")
    names = ["gone.py", "again.py"]
    draft = composed(repo_store, files_modified=names, files_deleted=names)
    kept = {file.path: file for file in draft.files}

    assert draft.files_deleted == ["gone.py"]
    assert state_of(kept["gone.py"], root) == "same"
    (root / "gone.py").write_text("x")
    assert state_of(kept["gone.py"], root) == "changed"
    (root / "again.py").unlink()
    assert state_of(kept["again.py"], root) == "missing"


def test_a_plan_that_never_answers_is_not_waited_for(repo_store: Store) -> None:
    os.mkfifo(repo_store.project.worktree / "plan.md")

    assert composed(repo_store, plan="plan.md").plan is not None


@pytest.mark.parametrize("path", ["x" * 5000, "nul\0", "a/" * 3000])
def test_what_cannot_be_a_path_is_refused(repo_store: Store, path: str) -> None:
    with pytest.raises(UsageError, match="cannot be the path of a file"):
        composed(repo_store, files=[path])
    with pytest.raises(UsageError, match="cannot be the path of a file"):
        composed(repo_store, plan=path)


def test_a_name_is_suggested_from_the_work_and_is_free(repo_store: Store) -> None:
    draft = composed(repo_store)

    assert name_thread(draft, repo_store) == "validate-login-form"
    persist.save(repo_store, draft, name="validate-login-form")
    assert name_thread(draft, repo_store) == "validate-login-form-2"


def test_a_good_checkpoint_is_saved_without_a_word(repo_store: Store) -> None:
    outcome = persist.save(repo_store, composed(repo_store), name="Login Form")

    assert outcome.saved.checkpoint.name == "login-form"
    assert outcome.saved.path.is_file()
    assert outcome.warnings == []


@pytest.mark.accept(61)
def test_a_name_in_use_needs_a_choice_and_no_file_ever_changes(repo_store: Store) -> None:
    first = persist.save(repo_store, composed(repo_store), name="login-form").saved
    before = contents(first.path.parent)
    with pytest.raises(ChoiceNeeded):
        persist.save(repo_store, composed(repo_store), name="login-form")
    second = persist.save(repo_store, composed(repo_store), name="login-form", overwrite=True).saved

    assert second.replaced == first.checkpoint.id
    assert before.items() <= contents(first.path.parent).items()
    assert len(contents(first.path.parent)) == 2


@pytest.mark.accept(30)
def test_strict_refuses_what_is_below_the_bar_and_saves_nothing(repo_store: Store) -> None:
    with pytest.raises(BelowQualityBar) as refused:
        persist.save(
            repo_store, composed(repo_store, next_action="continue"), name="login-form", strict=True
        )

    assert refused.value.exit_code == 4
    assert refused.value.message.endswith("next-action")
    assert len(refused.value.findings) == 1
    with pytest.raises(LeftoffError):
        repo_store.find("login-form")


def test_a_big_checkpoint_is_kept_and_reported(repo_store: Store) -> None:
    outcome = persist.save(repo_store, composed(repo_store, notes=["n" * 3900] * 2), name="big-one")

    assert any(
        each.startswith("exceeds 4 KB soft cap (") and each.endswith(str(outcome.saved.path))
        for each in outcome.warnings
    )


def test_secrets_are_cut_out_before_anything_is_stored(repo_store: Store) -> None:
    secret = "AKIA" + "ABCDEFGH12345678"
    outcome = persist.save(
        repo_store, composed(repo_store, notes=[f"key {secret}"]), name="login-form"
    )

    assert secret not in outcome.saved.path.read_text()


def test_the_feature_under_way_is_kept(repo_store: Store) -> None:
    feature = features.add(repo_store, features.ItemDraft(name="Export orders"))
    features.start(repo_store, feature.id)

    assert compose({"summary": "Work"}, repo_store).feature == feature.id


def test_without_a_feature_under_way_none_is_kept(repo_store: Store) -> None:
    features.add(repo_store, features.ItemDraft(name="Export orders"))

    assert compose({"summary": "Work"}, repo_store).feature is None
