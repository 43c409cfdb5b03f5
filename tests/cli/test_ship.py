import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cli.runs import Cli, environment
from gitrepo import Repo
from leftoff import features, memory
from leftoff.paths import find_project
from leftoff.store import Store
from ship.hub import Hub
from ship.shop import Shop, step


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    made = Shop(tmp_path)
    monkeypatch.chdir(made.folder)
    return made


@pytest.fixture
def cli(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Cli:
    del shop
    return Cli(monkeypatch)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    made = Hub(tmp_path / "github")
    made.install(monkeypatch)
    return made


@pytest.fixture
def store(shop: Shop) -> Store:
    return Store(find_project(shop.folder))


# --- saving and remembering ---


@pytest.mark.accept(131)
def test_progress_is_saved_with_summary_blockers_and_next_steps(
    shop: Shop, cli: Cli, store: Store
) -> None:
    words = ["--summary", "Export orders", "--next", "Test 0 orders", "--blocker", "No test data"]
    earlier = cli.json("save", "csv", *words)
    shop.write("app.py", "print('csv')\n")

    shipped = store.load(store.find(cli.json("ship", "--no-pr")["checkpoint"]))

    assert shipped.trigger == "ship"
    assert shipped.id > earlier["id"]
    assert (shipped.summary, shipped.blockers) == ("Export orders", ["No test data"])
    assert shipped.next_action is not None
    assert shipped.next_action.text == "Test 0 orders"


@pytest.mark.accept(132)
def test_files_of_the_feature_and_changed_files_are_saved_with_their_roles(
    shop: Shop, cli: Cli, store: Store
) -> None:
    draft = features.Draft(name="Export orders", related_files=["app.py", "routes.py"])
    feature = features.add(store, draft)
    shop.write("app.py", "print('csv')\n")
    shop.write("export.py", "rows = []\n")

    shipped = store.load(store.find(cli.json("ship", "--no-pr")["checkpoint"]))

    assert shipped.feature == feature.id
    roles = {file.path: file.role for file in shipped.files}
    assert set(roles) == {"app.py", "routes.py", "export.py"}
    assert all(roles.values())


def test_decisions_reach_memory_and_helpers_results_are_folded(
    shop: Shop, cli: Cli, store: Store
) -> None:
    cli.ok("save", "csv", "--decision", "Stream rows :: tenants with a million rows")
    result = features.Result(
        agent="helper", status="failed", summary="Buffered all", errors=["OOM"]
    )
    features.add_result(store, "s1", result)
    shop.write("app.py", "print('csv')\n")

    told = step(cli.json("ship", "--no-pr"), "memory")

    assert told["state"] == "done"
    kinds = {entry.kind: entry.text for entry in memory.entries(store)}
    assert kinds == {"decision": "Stream rows", "failure": "Buffered all"}
    assert features.load(store).orchestration.results == []


def test_what_is_complete_is_archived_and_the_loop_set_back(
    shop: Shop, cli: Cli, store: Store
) -> None:
    features.add(store, features.Draft(name="Export orders"))
    features.start(store, "1")
    features.pass_(store, "1")
    shop.write("app.py", "print('csv')\n")

    answer = cli.json("ship", "--no-pr")

    assert step(answer, "archive")["text"] == "Archived 1 completed features"
    assert "Loop completed and reset" in [
        step(answer, "tidy")["text"],
        *step(answer, "tidy")["lines"],
    ]
    assert shop.subjects()[0] == "feat(feature-001): Export orders"
    assert [loop.last_checkpoint for loop in features.loops(store).values()] == [shop.head()]


# --- checks ---


@pytest.mark.accept(140)
def test_each_check_runs_live_and_is_summed_up(shop: Shop, cli: Cli) -> None:
    cli.ok("config", "set", "verify", "echo one two\ntest -f app.py")
    shop.write("app.py", "print('csv')\n")

    done = cli.ok("ship", "--no-pr")

    assert "       one two\n" in done.out
    assert "done  checks        2 checks passed" in done.out


@pytest.mark.accept(140)
def test_a_failing_check_loses_nothing_marks_the_pull_request_and_tells(
    shop: Shop, cli: Cli, hub: Hub
) -> None:
    cli.ok("config", "set", "verify", "echo $((1 + 2)) tests failed; exit 7")
    shop.write("app.py", "print('csv')\n")

    failed = cli("ship", "-m", "Export orders")

    assert failed.code == 1
    assert "3 tests failed" in failed.out
    assert shop.remote_head() == shop.head()
    assert hub.labels() == {"status:failing"}
    assert "FAILING" in hub.pulls[0]["body"]
    assert "3 tests failed" not in hub.pulls[0]["body"]


@pytest.mark.accept(140)
def test_the_mark_goes_once_the_checks_pass(shop: Shop, cli: Cli, hub: Hub) -> None:
    cli.ok("config", "set", "verify", "test -f fixed")
    shop.write("app.py", "print('csv')\n")
    assert cli("ship", "-m", "Export orders").code == 1
    shop.write("fixed")

    cli.ok("ship", "-m", "Repair it")

    assert hub.labels() == {"status:ready-for-review"}
    assert "FAILING" not in hub.pulls[0]["body"]


# --- committing ---


@pytest.mark.accept(141)
def test_secrets_are_named_and_never_committed(shop: Shop, cli: Cli) -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA7bq" * 8 + "\n"
    for path in (".env", "deploy/id_rsa", "server.key", "notes.txt"):
        shop.write(path, key if path == "notes.txt" else "x\n")
    shop.write(".claude-harness/claude-progress.json", "{}\n")
    shop.write(".claude-harness/sessions/s1/context.json", "{}\n")
    shop.write(".claude-harness/memory/compaction-backups/pre-compact-1.json", "{}\n")
    shop.write("app.py", "print('csv')\n")

    answer = cli.json("ship", "--no-pr")

    left_out = {each["path"] for each in answer["left_out"]}
    assert {".env", "deploy/id_rsa", "server.key", "notes.txt"} <= left_out
    assert shop.committed() == {"app.py", ".claude-harness/claude-progress.json"}


@pytest.mark.accept(141)
def test_a_secret_that_is_staged_already_is_taken_out_and_stays_on_disk(
    shop: Shop, cli: Cli
) -> None:
    shop.write(".env", "TOKEN=x\n")
    shop.git("add", ".env")
    shop.write("app.py", "print('csv')\n")

    cli.ok("ship", "--no-pr")

    assert shop.committed() == {"app.py"}
    assert shop.status == "?? .env"


@pytest.mark.accept(142)
def test_nothing_changed_makes_no_commit_and_says_so(shop: Shop, cli: Cli) -> None:
    head = shop.head()

    first, second = cli.ok("ship", "--no-pr"), cli.ok("ship", "--no-pr")

    assert shop.head() == head
    assert "Nothing changed since the last commit" in first.out
    assert "NOTHING TO SHIP" in second.out


@pytest.mark.accept(142)
def test_shipping_twice_saves_and_commits_once(shop: Shop, cli: Cli) -> None:
    cli.ok("config", "set", "briefing_file", "BRIEFING.md")
    shop.write("app.py", "print('csv')\n")
    first = cli.json("ship", "--no-pr")
    head = shop.head()

    again = cli.json("ship", "--no-pr")

    assert (again["checkpoint"], shop.head()) == (first["checkpoint"], head)
    assert shop.committed() == {"app.py", "BRIEFING.md"}
    assert shop.status == ""


@pytest.mark.accept(143)
def test_the_loop_gives_the_prefix_and_a_fix_its_issues(shop: Shop, cli: Cli, store: Store) -> None:
    features.add(store, features.Draft(name="Export orders", issue=3))
    features.start(store, "1")
    shop.write("app.py", "print('csv')\n")
    cli.ok("ship", "--no-pr")
    features.pass_(store, "1")
    shop.write("app.py", "print('more')\n")
    cli.ok("ship", "--no-pr", "-m", "Stream it")
    fix = features.add_fix(store, "1", features.Draft(name="Quote commas", issue=9))
    features.start(store, fix.id)
    shop.write("app.py", "print('quoted')\n")

    cli.ok("ship", "--no-pr")

    assert shop.subjects()[:3] == [
        "fix(feature-001): Quote commas",
        "feat(feature-001): Stream it",
        "feat(feature-001): Export orders",
    ]
    assert shop.message().splitlines()[-2:] == ["Fixes #9", "Related to #3"]


@pytest.mark.accept(143)
def test_a_loop_of_the_worktree_counts_where_the_session_has_none(
    shop: Shop, cli: Cli, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    features.add(store, features.Draft(name="Export orders"))
    features.start(store, "1")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "11111111-1111-4111-8111-111111111111")
    shop.write("app.py", "print('csv')\n")

    cli.ok("ship", "--no-pr")

    assert shop.subjects()[0] == "feat(feature-001): Export orders"


def test_without_a_loop_the_message_is_what_was_said_or_what_changed(shop: Shop, cli: Cli) -> None:
    shop.write("app.py", "print('csv')\n")
    cli.ok("ship", "--no-pr", "-m", "Say hello in CSV\n\nBecause.")
    assert shop.message() == "Say hello in CSV\n\nBecause."
    shop.write("export.py")
    cli.ok("ship", "--no-pr")
    assert shop.message() == "Update export.py"


# --- pushing ---


@pytest.mark.accept(144)
def test_the_branch_is_pushed_and_its_hash_told(shop: Shop, cli: Cli) -> None:
    shop.write("app.py", "print('csv')\n")

    done = cli.ok("ship", "--no-pr", "-m", "Export orders")

    assert shop.remote_head() == shop.head()
    assert f"Commit        {shop.head()[:12]} Export orders" in done.out
    assert shop.git("rev-parse", "--abbrev-ref", "@{upstream}") == "origin/feature/csv"


@pytest.mark.accept(144)
def test_without_a_remote_the_commit_stands_and_a_second_run_goes_on(shop: Shop, cli: Cli) -> None:
    shop.git("remote", "remove", "origin")
    shop.write("app.py", "print('csv')\n")
    failed = cli("ship", "-m", "Export orders")
    head = shop.head()
    assert failed.code == 1
    assert "There is no remote to push to" in failed.out
    assert shop.subjects()[0] == "Export orders"
    shop.git("remote", "add", "origin", str(shop.remote.folder))

    cli.ok("ship", "--no-pr")

    assert shop.remote_head() == head == shop.head()


@pytest.mark.accept(144)
def test_a_rejected_push_says_how_to_get_what_is_missing(
    tmp_path: Path, shop: Shop, cli: Cli
) -> None:
    shop.git("push", "--quiet", "--set-upstream", "origin", "feature/csv")
    other = Repo(tmp_path / "other", init=False)
    other.git("clone", "--quiet", "--branch=feature/csv", str(shop.remote.folder), ".")
    other.commit("Meanwhile", {"other.py": "x = 1\n"})
    other.git("push", "--quiet")
    shop.write("app.py", "print('csv')\n")

    failed = cli("ship", "--no-pr", "-m", "Export orders")

    assert failed.code == 1
    assert "origin/feature/csv has commits that you do not have" in failed.out
    assert "git pull --rebase origin feature/csv" in failed.out
    shop.git("pull", "--quiet", "--rebase", "origin", "feature/csv")
    cli.ok("ship", "--no-pr")
    assert shop.remote_head() == shop.head()
    assert shop.subjects()[:2] == ["Export orders", "Meanwhile"]


@pytest.mark.accept(144)
def test_a_pre_push_hook_that_refuses_is_named(shop: Shop, cli: Cli) -> None:
    shop.hook("pre-push", "echo tests are red >&2; exit 1")
    shop.write("app.py", "print('csv')\n")

    failed = cli("ship", "--no-pr", "-m", "Export orders")

    assert failed.code == 1
    assert "The pre-push hook refused the push" in failed.out
    assert "tests are red" in failed.out
    assert shop.remote_head() == ""


def test_a_remote_that_refuses_is_quoted(shop: Shop, cli: Cli) -> None:
    hook = shop.remote.folder / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho not on Sundays >&2\nexit 1\n")
    hook.chmod(0o755)
    shop.write("app.py", "print('csv')\n")

    failed = cli("ship", "--no-pr", "-m", "Export orders")

    assert failed.code == 1
    assert (
        "The remote refused the push: [remote rejected] (pre-receive hook declined)" in failed.out
    )
    assert "not on Sundays" in failed.out


def test_a_remote_that_is_gone_fails_the_push_alone(shop: Shop, cli: Cli) -> None:
    shop.git("remote", "set-url", "origin", str(shop.folder.parent / "nowhere"))
    shop.write("app.py", "print('csv')\n")

    failed = cli("ship", "--no-pr", "-m", "Export orders")

    assert failed.code == 1
    assert "The push failed" in failed.out
    assert shop.subjects()[0] == "Export orders"


def test_several_remotes_and_none_chosen_is_a_question_to_the_user(shop: Shop, cli: Cli) -> None:
    shop.git("remote", "rename", "origin", "one")
    shop.git("remote", "add", "two", str(shop.remote.folder))
    shop.write("app.py", "print('csv')\n")

    failed = cli("ship", "--no-pr")

    assert failed.code == 1
    assert "none is the one to push to: one, two" in failed.out
    shop.git("config", "remote.pushDefault", "two")
    cli.ok("ship", "--no-pr")


# --- pull requests ---


@pytest.mark.accept(145)
def test_a_pull_request_is_opened_with_title_links_bullets_steps_and_labels(
    shop: Shop, cli: Cli, store: Store, hub: Hub
) -> None:
    hub.know(issues={"3": ["bug", "area:export"]})
    scenario = features.Scenario(given="no orders", when="exported", then="only the header")
    draft = features.Draft(name="Export orders", issue=3, scenarios=[scenario])
    features.add(store, draft)
    features.start(store, "1")
    cli.ok("save", "csv", "--done", "Streamed the rows", "--done", "Added the route")
    shop.write("app.py", "print('csv')\n")

    cli.ok("ship")

    pull = hub.pulls[0]
    assert pull["title"] == "feat: Export orders"
    assert "Closes #3" in pull["body"]
    assert "- Streamed the rows\n- Added the route" in pull["body"]
    assert "- [ ] given no orders, when exported, then only the header" in pull["body"]
    assert hub.labels() == {"bug", "area:export", "status:ready-for-review"}
    assert pull["comments"] == []


@pytest.mark.accept(145)
def test_a_fix_is_labelled_and_linked(shop: Shop, cli: Cli, store: Store, hub: Hub) -> None:
    features.add(store, features.Draft(name="Export orders", issue=3))
    fix = features.add_fix(store, "1", features.Draft(name="Quote commas", issue=9))
    features.start(store, fix.id)
    shop.write("app.py", "print('csv')\n")
    hub.know(issues={"9": []})

    cli.ok("ship")

    assert hub.pulls[0]["title"] == "fix: Quote commas"
    assert "Fixes #9\nRelated to #3" in hub.pulls[0]["body"]
    assert hub.labels() == {"bugfix", "linked-to:feature-001", "status:ready-for-review"}


@pytest.mark.accept(145)
def test_an_open_pull_request_is_updated_with_one_comment(shop: Shop, cli: Cli, hub: Hub) -> None:
    shop.write("app.py", "print('csv')\n")
    cli.ok("ship", "-m", "Export orders")
    theirs = f"A word by hand.\n\n{hub.pulls[0]['body']}\n\nAnother."
    hub.know(pulls=[{**hub.pulls[0], "body": theirs}])
    shop.write("app.py", "print('more')\n")

    updated = cli.ok("ship", "-m", "Quote commas")
    again = cli.ok("ship", "-m", "Quote commas")

    (pull,) = hub.pulls
    assert "Updated #12" in updated.out
    assert "Nothing is new for #12" in again.out
    assert pull["body"].startswith("A word by hand.")
    assert pull["body"].endswith("Another.")
    assert "- Quote commas" in pull["body"]
    assert [each["body"] for each in pull["comments"]] == [
        f"Shipped {shop.head()[:12]}: Quote commas"
    ]


@pytest.mark.accept(145)
def test_on_main_there_is_a_commit_and_no_pull_request(shop: Shop, cli: Cli, hub: Hub) -> None:
    shop.git("switch", "--quiet", "main")
    shop.write("app.py", "print('csv')\n")

    done = cli.ok("ship", "-m", "Export orders")

    assert "You are on main: no pull request" in done.out
    assert shop.remote_head("main") == shop.head()
    assert hub.calls == []


@pytest.mark.accept(145)
def test_without_gh_the_pull_request_is_skipped_with_a_note(
    shop: Shop, cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("git", "sh"):
        found = subprocess.run(("which", name), capture_output=True, text=True, check=True)
        (tmp_path / "bin" / name).symlink_to(found.stdout.strip())
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    shop.write("app.py", "print('csv')\n")

    done = cli.ok("ship", "-m", "Export orders")

    assert "skip  pull request  There is no gh on the PATH" in done.out


def test_without_a_login_the_way_in_is_told_and_the_next_run_opens_it(
    shop: Shop, cli: Cli, hub: Hub
) -> None:
    hub.know(login=False)
    shop.write("app.py", "print('csv')\n")
    failed = cli("ship", "-m", "Export orders")
    assert failed.code == 1
    assert "gh is not logged in" in failed.out
    assert "gh auth login" in failed.out
    hub.know(login=True)

    cli.ok("ship")

    assert hub.pulls[0]["title"] == "Export orders"


def test_trouble_with_labels_is_a_note_and_no_failure(shop: Shop, cli: Cli, hub: Hub) -> None:
    hub.know(trouble={"pr edit": "GraphQL: Resource not accessible (addLabelsToLabelable)"})
    shop.write("app.py", "print('csv')\n")

    done = cli.ok("ship", "-m", "Export orders")

    assert "The labels could not be set" in done.out


def test_from_a_fork_the_branch_is_named_with_its_owner(shop: Shop, cli: Cli, hub: Hub) -> None:
    address = f"ssh://git@{shop.remote.folder.name}/ada/shop"
    shop.git("config", f"url.{shop.remote.folder}.insteadOf", address)
    shop.git("remote", "set-url", "origin", address)
    shop.git("remote", "add", "upstream", "https://github.com/grace/shop")
    shop.write("app.py", "print('csv')\n")

    cli.ok("ship", "-m", "Export orders")

    assert ["pr create", "--head", "ada:feature/csv"] in [call[:3] for call in hub.calls]


@pytest.mark.accept(146)
def test_the_number_is_kept_the_state_told_and_the_tree_left_clean(
    shop: Shop, cli: Cli, store: Store, hub: Hub
) -> None:
    features.add(store, features.Draft(name="Export orders"))
    features.start(store, "1")
    shop.write("app.py", "print('csv')\n")
    native = shop.write(".claude-harness/features/active.json", "{}\n")
    # As a mirror does once the number is known.
    hub.know(meanwhile={"pr create": f"echo '{{\"prNumber\": 12}}' > '{native}'"})

    done = cli.ok("ship")

    assert features.find(features.load(store), "1").pr == 12
    assert "#12 https://github.com/ada/shop/pull/12" in done.out
    assert "checks pass, review required, no conflicts" in done.out
    assert shop.status == ""
    assert shop.remote_head() == shop.head()
    assert shop.subjects()[:2] == [
        "chore(leftoff): keep the state of what was shipped",
        "feat(feature-001): Export orders",
    ]
    hub.know(meanwhile={})
    assert "Nothing is new for #12" in cli.ok("ship").out


@pytest.mark.accept(147)
def test_a_loop_under_way_stays_as_it_is_to_the_byte(shop: Shop, cli: Cli, store: Store) -> None:
    features.add(store, features.Draft(name="Export orders"))
    features.start(store, "1")
    (file,) = (shop.folder / ".git" / "leftoff" / "loops").iterdir()
    before = file.read_bytes()
    shop.write("app.py", "print('csv')\n")

    cli.ok("ship", "--no-pr")

    assert file.read_bytes() == before


# --- the end ---


@pytest.mark.accept(150)
def test_the_panel_tells_the_commit_the_rest_and_where_things_are(
    shop: Shop, cli: Cli, hub: Hub
) -> None:
    cli.ok("save", "csv", "--next", "Test 0 orders", "--decision", "Stream :: memory")
    shop.write("app.py", "print('csv')\n")

    panel = cli.ok("ship", "-m", "Export orders").out.partition("\n\n")[2]

    assert hub.pulls
    assert panel.startswith("CHECKPOINT COMPLETE\n")
    for words in ("Commit ", "Push ", "Pull request ", "Next: Test 0 orders", "memory.jsonl"):
        assert words in panel
    assert "clear" not in panel


@pytest.mark.accept(150)
def test_clearing_the_context_is_advised_only_where_it_is_wanted(shop: Shop, cli: Cli) -> None:
    cli.ok("config", "set", "advise_clear", "true")
    shop.write("app.py", "print('csv')\n")

    assert "You can clear the agent's context now" in cli.ok("ship", "--no-pr").out
    shop.git("remote", "remove", "origin")
    assert "clear the agent's" not in cli("ship", "--no-pr").out


@pytest.mark.accept(157)
@pytest.mark.parametrize(
    "url",
    ["git@github.com:ada/shop.git", "ssh://git@github.com/ada/shop", "https://github.com/ada/shop"],
)
def test_owner_and_repository_are_told(shop: Shop, cli: Cli, url: str) -> None:
    shop.git("remote", "set-url", "origin", url)

    assert cli.json("ship", "--dry-run")["repository"] == "ada/shop"


# --- bad days ---


def test_who_you_are_must_be_known(shop: Shop, cli: Cli) -> None:
    shop.git("config", "--unset", "user.name")
    shop.git("config", "--unset", "user.email")
    shop.git("config", "user.useConfigOnly", "true")
    shop.write("app.py", "print('csv')\n")

    failed = cli("ship", "--no-pr")

    assert failed.code == 1
    assert "git does not know who you are, so nothing was committed." in failed.out
    assert "git config --global user.name" in failed.out


def test_a_hook_that_refuses_the_commit_is_named_with_its_words(shop: Shop, cli: Cli) -> None:
    shop.hook("pre-commit", "echo line too long >&2; exit 1")
    head = shop.head()
    shop.write("app.py", "print('csv')\n")

    failed = cli("ship", "--no-pr")

    assert failed.code == 1
    assert "The pre-commit hook refused the commit" in failed.out
    assert "line too long" in failed.out
    assert shop.head() == head
    (shop.folder / ".git" / "hooks" / "pre-commit").unlink()
    cli.ok("ship", "--no-pr")
    assert len(shop.subjects("main..")) == 1


def test_what_a_hook_changes_behind_the_commit_is_told(shop: Shop, cli: Cli) -> None:
    shop.hook("post-commit", "echo tidy >> app.py")
    shop.write("app.py", "print('csv')\n")

    assert "Not committed: app.py" in cli.ok("ship", "--no-pr").out


def test_on_no_branch_nothing_is_committed(shop: Shop, cli: Cli) -> None:
    shop.git("checkout", "--quiet", "--detach")
    shop.write("app.py", "print('csv')\n")

    failed = cli("ship", "--no-pr")

    assert failed.code == 1
    assert "You are on no branch (detached HEAD)" in failed.out
    assert "git switch --create NAME" in failed.out
    assert "done  save" in failed.out


def test_conflicts_are_named_and_nothing_is_committed(shop: Shop, cli: Cli) -> None:
    shop.commit("Ours", {"app.py": "ours\n"})
    shop.git("switch", "--quiet", "--create", "other", "main")
    shop.commit("Theirs", {"app.py": "theirs\n"})
    shop.git("merge", "feature/csv", check=False)
    head = shop.head()

    failed = cli("ship", "--no-pr")

    assert failed.code == 1
    assert "There are merge conflicts in app.py" in failed.out
    shop.write("app.py", "both\n")
    shop.git("add", "app.py")
    assert "A merge is in progress" in cli("ship", "--no-pr").out
    assert shop.head() == head


def test_where_git_cannot_tell_what_changed_the_save_stands(shop: Shop, cli: Cli) -> None:
    (shop.folder / ".git" / "index").write_bytes(b"garbage")

    failed = cli("ship", "--no-pr")

    assert failed.code == 1
    assert "done  save" in failed.out
    assert "git cannot tell what changed" in failed.out


@pytest.mark.accept(156)
def test_in_another_worktree_its_own_branch_is_shipped_and_the_project_remembers(
    shop: Shop, cli: Cli, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    features.add(store, features.Draft(name="Export orders"))
    features.start(store, "1")
    other = shop.worktree(tmp_path / "other", "feature/other")
    monkeypatch.chdir(other.folder)
    other.write("other.py")
    cli.ok("save", "other", "--decision", "Use rows :: simpler")

    cli.ok("ship", "--no-pr", "-m", "Other work")

    assert other.git("log", "-1", "--format=%s") == "Other work"
    assert shop.remote_head("feature/other") == other.head()
    assert [entry.text for entry in memory.entries(store)] == ["Use rows"]
    assert shop.status == ""


def test_outside_git_it_says_what_to_use_instead(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plain").mkdir()
    monkeypatch.chdir(tmp_path / "plain")

    failed = cli("ship")

    assert failed.code == 1
    assert "no git repository" in failed.err


def test_a_lock_left_behind_is_told_with_the_file(
    shop: Shop, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leftoff.ship.staging._LOCK_SECONDS", 0.2)
    (shop.folder / ".git" / "index.lock").touch()
    shop.write("app.py", "print('csv')\n")

    failed = cli("ship", "--no-pr")

    assert failed.code == 1
    assert "left its lock behind" in failed.out
    assert "index.lock" in failed.out


def test_a_first_commit_can_be_shipped(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = Repo(tmp_path / "fresh")
    for key, value in (("user.name", "Ada"), ("user.email", "ada@example.org")):
        fresh.git("config", key, value)
    fresh.write("a.py")
    monkeypatch.chdir(fresh.folder)

    cli.ok("ship", "--no-push", "-m", "Begin")

    assert fresh.git("log", "--format=%s") == "Begin"


# --- dry run ---


def test_a_dry_run_shows_everything_and_touches_nothing(shop: Shop, cli: Cli, hub: Hub) -> None:
    cli.ok("save", "csv", "--summary", "Export orders", "--done", "Streamed the rows")
    cli.ok("config", "set", "verify", "make test")
    shop.write("app.py", "print('csv')\n")
    shop.write(".env", "TOKEN=x\n")
    before = _stamps(shop.folder)

    done = cli.ok("ship", "--dry-run")

    assert _stamps(shop.folder) == before
    assert hub.calls == []
    for words in ("app.py", "left out .env", "Would commit Export orders", "- Streamed the rows"):
        assert words in done.out
    for words in ("Would run make test", "Would push to origin/feature/csv", "that of feature/csv"):
        assert words in done.out


def _stamps(folder: Path) -> dict[str, tuple[int, int]]:
    found = [folder, *folder.rglob("*")]
    return {str(path): (path.lstat().st_mtime_ns, path.lstat().st_size) for path in found}


# --- Ctrl-C ---


@pytest.mark.parametrize("where", ["check", "pre-commit", "pre-push"])
def test_ctrl_c_ends_it_cleanly_and_the_next_run_goes_on(
    shop: Shop, cli: Cli, where: str, tmp_path: Path
) -> None:
    reached = tmp_path / "reached"
    os.mkfifo(reached)
    script = f"echo at it > '{reached}'; sleep 60"
    if where == "check":
        cli.ok("config", "set", "verify", script)
    else:
        shop.hook(where, script)
    shop.write("app.py", "print('csv')\n")
    child = subprocess.Popen(
        (sys.executable, "-m", "leftoff", "ship", "--no-pr", "-m", "Export orders"),
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    reached.read_text()
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=30)

    assert child.returncode == 130
    assert "Interrupted" in err
    assert not (shop.folder / ".git" / "index.lock").exists()
    if where == "check":
        cli.ok("config", "unset", "verify")
    else:
        (shop.folder / ".git" / "hooks" / where).unlink()
    cli.ok("ship", "--no-pr", "-m", "Export orders")
    assert shop.subjects("main..") == ["Export orders"]
    assert shop.remote_head() == shop.head()
