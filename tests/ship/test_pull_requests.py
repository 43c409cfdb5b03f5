import subprocess
from pathlib import Path

import pytest

from cli.runs import Cli
from leftoff.knowledge import features
from leftoff.store import Store
from ship.hub import Hub
from ship.shop import Shop
from stores import set_loop

pytestmark = pytest.mark.slow("ships many times")


@pytest.mark.accept(145)
def test_a_pull_request_is_opened_with_title_links_bullets_steps_and_labels(
    shop: Shop, cli: Cli, store: Store, hub: Hub
) -> None:
    hub.know(issues={"3": ["bug", "area:export"]})
    scenario = features.Scenario(given="no orders", when="exported", then="only the header")
    draft = features.ItemDraft(name="Export orders", issue=3, scenarios=[scenario])
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
    features.add(store, features.ItemDraft(name="Export orders", issue=3))
    fix = features.add_fix(store, "1", features.ItemDraft(name="Quote commas", issue=9))
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
@pytest.mark.parametrize("has_file", [False, True], ids=["none", "one-that-cannot-be-run"])
def test_without_gh_the_pull_request_is_skipped_with_a_note(
    shop: Shop, cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, has_file: bool
) -> None:
    (tmp_path / "bin").mkdir()
    if has_file:
        (tmp_path / "bin" / "gh").write_text("no program")
    for name in ("git", "sh"):
        found = subprocess.run(("which", name), capture_output=True, text=True, check=True)
        (tmp_path / "bin" / name).symlink_to(found.stdout.strip())
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    shop.write("app.py", "print('csv')\n")

    done = cli.ok("ship", "-m", "Export orders")

    assert "skip  pull request  gh was not found on the PATH" in done.out


def test_without_a_login_the_way_in_is_reported_and_the_next_run_opens_it(
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

    assert hub.pulls[0]["title"] == "feat: Export orders"


def test_trouble_with_labels_is_a_note_and_no_failure(shop: Shop, cli: Cli, hub: Hub) -> None:
    hub.know(trouble={"pr edit": "GraphQL: Resource not accessible (addLabelsToLabelable)"})
    shop.write("app.py", "print('csv')\n")

    done = cli.ok("ship", "-m", "Export orders")

    assert "Could not set the labels" in done.out


def test_from_a_fork_the_branch_is_named_with_its_owner(shop: Shop, cli: Cli, hub: Hub) -> None:
    address = f"ssh://git@{shop.remote.folder.name}/ada/shop"
    shop.git("config", f"url.{shop.remote.folder}.insteadOf", address)
    shop.git("remote", "set-url", "origin", address)
    shop.git("remote", "add", "upstream", "https://github.com/grace/shop")
    shop.write("app.py", "print('csv')\n")

    cli.ok("ship", "-m", "Export orders")

    assert ["pr create", "--head", "ada:feature/csv"] in [call[:3] for call in hub.calls]


@pytest.mark.accept(146)
def test_the_number_is_kept_the_state_reported_and_the_tree_left_clean(
    shop: Shop, cli: Cli, store: Store, hub: Hub
) -> None:
    features.add(store, features.ItemDraft(name="Export orders"))
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
    features.add(store, features.ItemDraft(name="Export orders"))
    features.start(store, "1")
    (file,) = (shop.folder / ".git" / "leftoff" / "loops").iterdir()
    before = file.read_bytes()
    shop.write("app.py", "print('csv')\n")

    cli.ok("ship", "--no-pr")

    assert file.read_bytes() == before


@pytest.mark.accept(146)
def test_mirrored_files_hold_the_number_and_a_second_ship_finds_nothing_to_do(
    shop: Shop, cli: Cli, store: Store, hub: Hub
) -> None:
    cli.ok("config", "set", "--project", "mirror", "harness")
    features.add(store, features.ItemDraft(name="Export orders"))
    features.start(store, "1")
    shop.write("app.py", "print('csv')\n")

    first = cli.ok("ship")
    head = shop.head()
    second = cli.ok("ship")

    active = (shop.folder / ".claude-harness/features/active.json").read_text()
    assert '"prNumber": 12' in active
    assert "feat(feature-001): Export orders" in first.out.partition("CHECKPOINT COMPLETE")[2]
    assert "NOTHING TO SHIP" in second.out
    assert (shop.status, shop.head(), shop.remote_head()) == ("", head, head)
    assert hub.pulls[0]["comments"] == []
    assert not any("/sessions/" in path for path in shop.committed())


def test_a_commit_of_state_alone_says_so_and_is_not_news_for_reviewers(
    shop: Shop, cli: Cli, hub: Hub
) -> None:
    cli.ok("config", "set", "--project", "mirror", "harness")
    shop.write("app.py", "print('csv')\n")
    cli.ok("ship", "-m", "Export orders")
    cli.ok("save", "more", "--summary", "Quote commas", "--next", "Write tests/test_quote.py")

    again = cli.ok("ship")

    assert shop.subjects()[0] == "chore(leftoff): keep the state of what was shipped"
    assert "Nothing is new for #12" in again.out
    assert hub.pulls[0]["comments"] == []
    assert shop.remote_head() == shop.head()


def test_a_branch_without_anything_new_needs_none(shop: Shop, cli: Cli, hub: Hub) -> None:
    hub.know(trouble={"pr create": "GraphQL: No commits between main and feature/csv (create)"})
    shop.write("app.py", "print('csv')\n")

    assert "skip  pull request  The branch has no commits" in cli.ok("ship", "-m", "Export").out


def test_one_that_another_run_has_just_opened_is_taken(shop: Shop, cli: Cli, hub: Hub) -> None:
    shop.write("app.py", "print('csv')\n")
    cli.ok("ship", "-m", "Export orders")
    # Not there when it is looked for, and there when it is to be opened.
    hub.know(blind=1)
    shop.write("app.py", "print('more')\n")

    done = cli.ok("ship", "-m", "Quote commas")

    assert "Opened #12" in done.out
    assert len(hub.pulls) == 1


def test_labels_of_an_issue_that_cannot_be_read_are_a_note(
    shop: Shop, cli: Cli, store: Store, hub: Hub
) -> None:
    features.add(store, features.ItemDraft(name="Export orders", issue=3))
    features.start(store, "1")
    shop.write("app.py", "print('csv')\n")

    done = cli.ok("ship")

    assert hub.pulls
    assert "Could not read the labels of #3" in done.out


def test_a_feature_whose_loop_is_over_is_known_by_its_branch_or_its_commit(
    shop: Shop, cli: Cli, store: Store, hub: Hub
) -> None:
    features.add(store, features.ItemDraft(name="Export orders", issue=3))
    fix = features.add_fix(store, "1", features.ItemDraft(name="Quote commas", issue=9))
    hub.know(issues={"3": [], "9": []}, login=False)
    features.start(store, fix.id)
    features.pass_(store, fix.id)
    shop.write("app.py", "print('csv')\n")
    assert cli("ship").code == 1
    # As if the loop had been set back meanwhile.
    set_loop(store, features.Loop())
    hub.know(login=True)

    cli.ok("ship")

    assert "Fixes #9\nRelated to #3" in hub.pulls[0]["body"]
    assert features.find(features.load(store), fix.id).pr == 12
    shop.write("app.py", "print('more')\n")
    cli.ok("ship", "-m", "Quote tabs")
    assert shop.subjects()[0] == "fix(feature-001): Quote tabs"
