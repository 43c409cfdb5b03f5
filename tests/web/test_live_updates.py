"""The live updates notice what other processes write."""

from gitrepo import Repo
from leftoff.context import read_environment
from leftoff.web.live_updates import look_at
from leftoff.web.site import Site


def test_a_save_changes_what_the_live_updates_look_at(repo: Repo) -> None:
    site = Site(read_environment(), lambda: [repo.folder])
    (home,) = site.list_projects()
    before = look_at([home.project])

    with site.open(home) as work:
        work.save("csv-export", summary="Export orders", next_action="Write the header")

    assert look_at([home.project]) != before
