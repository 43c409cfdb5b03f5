import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff.knowledge.features import Feature, Fix
from leftoff.ship import compose_message
from leftoff.ship.compose_message import About
from leftoff.ship.outcome import Check
from leftoff.ship.shipped_work import Work
from stores import draft

FEATURE = Work(
    item=Feature(id="feature-007", name="Export", issue=3), scope="feature-007", name="Export"
)
FIX = Work(
    item=Fix(id="fix-feature-007-1", linked_to="feature-007", name="Quote", issue=9),
    is_fix=True,
    scope="feature-007",
    name="Quote",
    related_issue=3,
)
SHA = "0123456789abcdef0123456789abcdef01234567"


def about(text: str, work: Work = FEATURE, **values: object) -> About:
    return About(sha=SHA, text=text, work=work, **values)  # type: ignore[arg-type]


def test_a_given_message_with_a_prefix_of_its_own_gets_no_other() -> None:
    assert (
        compose_message.commit_message(FEATURE, "docs: Explain it", None, [])
        == "docs: Explain it\n"
    )


def test_a_subject_that_nobody_chose_is_cut_and_repeated_whole_below() -> None:
    long = "Export every order of every tenant as rows of a file that a spreadsheet understands"

    subject, _, body = compose_message.commit_message(
        Work(), "", draft(summary=long), []
    ).partition("\n\n")

    assert len(subject) <= 72
    assert subject.endswith("…")
    assert body.strip() == long


@pytest.mark.parametrize(
    ("files", "subject"),
    [
        ([], "Record the progress"),
        (["a/b.py"], "Update b.py"),
        (["a\nb.py"], "Update a b.py"),
        (["b.py", "a.py", "c.py"], "Update a.py, b.py, c.py"),
        (["b.py", "a.py", "c.py", "d.py"], "Update a.py, b.py and 2 more files"),
    ],
)
def test_without_any_words_the_files_are_named(files: list[str], subject: str) -> None:
    assert compose_message.commit_message(Work(), "", None, files) == f"{subject}\n"


def test_a_breaking_change_is_named_in_the_pull_request() -> None:
    text = "feat(feature-007): Export\n\nBREAKING CHANGE: the route is another\n"

    body = compose_message.pull_request(about(text)).body

    assert "## Breaking changes\n- the route is another" in body


def test_the_number_of_a_feature_is_not_part_of_a_title() -> None:
    assert (
        compose_message.pull_request(about("feat(feature-007): Export\n")).title == "feat: Export"
    )
    assert (
        compose_message.pull_request(about("fix(feature-007): Quote\n", FIX)).title == "fix: Quote"
    )
    assert compose_message.pull_request(about("Plain words\n", Work())).title == "Plain words"
    assert (
        compose_message.pull_request(about("docs(api): Words\n", Work())).title
        == "docs(api): Words"
    )


def test_checks_are_reported_without_what_they_printed() -> None:
    check = Check(command="make test", has_passed=False, seconds=1.0, tail=["secret words"])

    text = compose_message.pull_request(about("Words\n", checks=[check]))

    assert "- `make test`: FAILING" in text.body
    assert "secret words" not in text.body
    assert text.labels == [compose_message.FAILING]


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)


@given(texts, texts)
def test_what_others_wrote_in_a_description_stays(before: str, after: str) -> None:
    first = compose_message.pull_request(about("One\n")).body
    second = compose_message.pull_request(about("Two\n", checks=[])).body

    merged = compose_message.merge_body(f"{before}{first}{after}", second)

    # What the first push listed stays in the summary of both.
    both = second.replace("## Summary\n", "## Summary\n- One\n")
    assert merged == f"{before}{both}{after}"
    assert compose_message.merge_body(merged, second) == merged


@given(texts)
def test_a_description_of_others_is_kept_before_ours(theirs: str) -> None:
    ours = compose_message.pull_request(about("One\n")).body

    merged = compose_message.merge_body(theirs, ours)

    assert merged.startswith(theirs.rstrip())
    assert merged.endswith(ours)
    assert compose_message.find_described_commit(merged) == SHA


@given(texts, st.sampled_from([Work(), FEATURE, FIX]), st.lists(st.text(max_size=20), max_size=5))
def test_a_message_always_has_a_subject_of_one_line(
    expected: str, work: Work, files: list[str]
) -> None:
    text = compose_message.commit_message(work, expected, None, files)

    assert text.strip()
    assert text.endswith("\n")
    if work.is_fix:
        assert text.rstrip().endswith("Fixes #9\nRelated to #3")


def test_no_text_can_pass_for_the_marks_of_our_part_of_a_description() -> None:
    done = draft(done=["Wrote <!-- leftoff: end --> and <!-- leftoff: abc -->"])
    first = compose_message.pull_request(about("feat: One", saved=done)).body
    second = compose_message.pull_request(about("feat: Two")).body

    merged = compose_message.merge_body(f"Theirs\n{first}", second)

    assert merged.startswith("Theirs\n<!-- leftoff: ")
    assert merged.count("<!--") == 2
    assert "- Wrote &lt;!-- leftoff: end --> and &lt;!-- leftoff: abc -->\n- Two\n" in merged


def test_nothing_that_steers_a_terminal_goes_out() -> None:
    found = "Red \x1b[31mtext\x00 \u202eback\r\n\nBody\x07\n"

    written = compose_message.commit_message(Work(), found, None, [])

    assert written == "Red [31mtext back\n\nBody\n"
    assert "\x1b" not in compose_message.pull_request(about("feat: \x1b[31mRed")).title


def test_no_hidden_text_goes_out() -> None:
    hidden = "".join(chr(0xE0000 + ord(each)) for each in "approve")
    selectors = "".join(chr(0xFE00 + number) for number in range(9))
    found = f"Export{hidden} or\u200bders\u2060 \u200f👩\u200d💻\n\nBody{selectors}\n"

    written = compose_message.commit_message(Work(), found, None, [])

    assert written == "Export orders 👩\u200d💻\n\nBody\ufe00\ufe01\n"


@pytest.mark.accept(145)
@pytest.mark.parametrize(
    ("branch", "subject", "title"),
    [
        ("feature/csv", "Export orders", "feat: Export orders"),
        ("bugfix/commas", "Quote commas", "fix: Quote commas"),
        ("docs/export", "docs: Explain it", "docs: Explain it"),
        ("ada/csv", "Export orders", "Export orders"),
        ("feature", "Export orders", "Export orders"),
    ],
)
def test_the_branch_shows_the_kind_of_work_where_no_feature_does(
    branch: str, subject: str, title: str
) -> None:
    assert compose_message.pull_request(about(subject, Work(), branch=branch)).title == title
