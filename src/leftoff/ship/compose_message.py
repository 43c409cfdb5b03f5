"""Write the texts of commits and pull requests, free of secrets."""

import re
from collections.abc import Sequence

import msgspec

from leftoff.checkpoint import Checkpoint, Decision
from leftoff.knowledge.features import Scenario
from leftoff.profiles import TIDY_SUBJECT
from leftoff.redact import redact
from leftoff.ship.branch_history import (
    BranchHistory,
    list_breaking,
    list_points,
)
from leftoff.ship.outcome import Check
from leftoff.ship.shipped_work import Work
from leftoff.text.lookalikes import drop_unseen

READY, FAILING = "status:ready-for-review", "status:failing"

_JOINT = "\n\n"
# The usual limit of a subject line.
_SUBJECT_CHARS = 72
_MOST_BULLETS = 12
_BULLET_CHARS = 300
_CONVENTIONAL = re.compile(
    r"(build|chore|ci|docs|feat|fix|perf|refactor|revert|style|test)(\([^)\s]+\))?!?: \S"
)
# The kind of work that the first part of a branch's name stands for.
_KINDS = {kind: kind for kind in "chore ci docs feat fix perf refactor test".split()} | {
    "feature": "feat",
    "bugfix": "fix",
    "hotfix": "fix",
}
# What a commit of native files says if there is nothing else to say.
_RECORDED = "Record the progress"
# GitHub refuses a longer description.
_BODY_CHARS = 60_000
# The sections of a description that only grow: earlier pushes are part of it too.
_GROWING = ("Summary", "Decisions", "Breaking changes")
# Those that only describe the last push.
_RENEWED = ("", "How to test", "Checks")
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
# HTML comments, which GitHub does not show: they delimit our section of a description.
_END = "<!-- leftoff: end -->"
_SECTION = re.compile(r"<!-- leftoff: ([0-9a-f]+) -->.*?" + re.escape(_END), re.DOTALL)


class About(msgspec.Struct, frozen=True, kw_only=True):
    """A commit that is published, with everything known about it."""

    sha: str
    text: str
    """The commit's whole message."""
    work: Work
    branch: str = ""
    saved: Checkpoint | None = None
    checks: Sequence[Check] = ()
    history: BranchHistory = BranchHistory()

    @property
    def subject(self) -> str:
        """The first line of its message."""
        return self.text.partition("\n")[0]


class Text(msgspec.Struct, frozen=True, kw_only=True):
    """The title, body and labels of a pull request."""

    title: str
    body: str
    labels: list[str]
    unfit_labels: list[str]
    """Labels to remove from it."""


def commit_message(
    work: Work,
    message: str,
    saved: Checkpoint | None,
    files: Sequence[str],
    history: BranchHistory | None = None,
) -> str:
    """Write a commit message: the given text, or what is new since the branch's last commit."""
    message = _fit(message).strip()
    known = history or BranchHistory()
    text = message or _fit(_describe_news(work, saved, files, known)).strip()
    head, _, rest = text.partition("\n")
    # Your own message is kept as it is; only a generated one is cut and completed.
    subject, overflow = (head, "") if message else _cut(head, _format_prefix(work, head))
    done = [] if message else [f"- {each}" for each in _list_new(saved, known)[:_MOST_BULLETS]]
    parts = [
        _format_prefix(work, head) + subject,
        overflow,
        rest.strip(),
        "\n".join(done),
        _list_links(work),
    ]
    return _fit(_JOINT.join(part for part in parts if part)) + "\n"


def write_state_message(work: Work, saved: Checkpoint | None, history: BranchHistory) -> str:
    """Write the message of a commit that holds native files only.

    Without a feature it gets a fixed subject, by which later runs recognize it.
    """
    if work.scope is None:
        return TIDY_SUBJECT
    # Without any changed code, only what someone stated is news.
    is_stated = saved is not None and not {"summary", "done"}.isdisjoint(saved.stated)
    unnamed = msgspec.structs.replace(work, name="")
    return commit_message(unnamed, "", saved if is_stated else None, (), history)


def pull_request(about: About) -> Text:
    """Write a pull request's title, body and labels."""
    has_failed = any(not check.has_passed for check in about.checks)
    parts = {
        "": _format_closing(about.work),
        "Summary": "\n".join(f"- {each}" for each in _summarize(about)),
        "Decisions": "\n".join(map(_format_decision, about.history.decisions)),
        "How to test": "\n".join(_list_test_steps(about.work, about.checks)),
        "Checks": "\n".join(map(_check_line, about.checks)),
        "Breaking changes": "\n".join(f"- {each}" for each in _list_breaking(about)),
    }
    sections = [f"## {head}\n{text}" if head else text for head, text in parts.items() if text]
    return Text(
        title=_fit(_format_title(about)),
        body=_shorten_section(
            f"<!-- leftoff: {about.sha} -->\n{_escape_marks(_JOINT.join(sections))}\n{_END}"
        ),
        labels=[*_list_labels(about.work), FAILING if has_failed else READY],
        unfit_labels=[READY if has_failed else FAILING],
    )


def merge_body(standing: str, ours: str) -> str:
    """Update our section of a description, and keep what others wrote around it.

    Lines of earlier pushes stay, even if their commits are no longer on the branch.
    """
    if found := _SECTION.search(standing):
        merged = _with_earlier(ours, found[0])
        # A function, because a backslash in a replacement text would be interpreted.
        return _SECTION.sub(lambda _: merged, standing, count=1)
    return f"{standing.rstrip()}\n\n{ours}" if standing.strip() else ours


def find_described_commit(body: str) -> str | None:
    """Return the last commit that a description covers, or None if we did not write it."""
    found = _SECTION.search(body)
    return found[1] if found else None


def comment(about: About) -> str:
    """Write the comment about one push; the hash in it identifies the push."""
    new = list_points(about.text) or _list_done(about.saved)[-_MOST_BULLETS:]
    breaking = list_breaking(about.text)
    new = [each for each in new if each not in breaking]
    new += [f"Breaking change: {each}" for each in breaking]
    bullets = [*(f"- {each}" for each in new), *map(_check_line, about.checks)]
    return _fit("\n".join([f"{comment_mark(about.sha)} {about.subject}", "", *bullets]).strip())


def comment_mark(sha: str) -> str:
    """Return the mark that a comment about this commit starts with."""
    return f"Shipped {sha[:12]}:"


def _fit(text: str) -> str:
    """Make a text safe for other people and their agents to read."""
    return redact(drop_unseen(text))


def _escape_marks(text: str) -> str:
    """Escape anything that could pass for the marks around our section of a description."""
    # A hidden mark in a commit message could otherwise end our section early.
    return _fit(text).replace("<!--", "&lt;!--")


def _with_earlier(ours: str, standing: str) -> str:
    """Return our section with the lines of an earlier one in the parts that only grow."""
    earlier, parts = _split(standing), _split(ours)
    for heading, text in earlier.items():
        if heading in _GROWING:
            new = parts.get(heading, "").split("\n")
            missing = [line for line in text.split("\n") if line not in new]
            parts[heading] = "\n".join(filter(None, [*missing, *new]))
        elif heading not in _RENEWED:
            # Somebody's own words among ours.
            parts[heading] = text
    head = parts.pop("")
    gap = "\n" if head.endswith("-->") else _JOINT
    body = [f"## {each}\n{text}" for each, text in parts.items() if text]
    return _shorten_section(f"{head}{gap}{_JOINT.join(body)}\n{_END}")


def _shorten_section(section: str) -> str:
    """Leave out the oldest items of a section that GitHub would refuse for its length."""
    lines = section.split("\n")
    items = [number for number, line in enumerate(lines) if line.startswith("- ")]
    excess = len(section) - _BODY_CHARS
    for number in items:
        if excess <= 0:
            break
        excess -= len(lines[number]) + 1
        lines[number] = ""
    is_whole = excess == len(section) - _BODY_CHARS
    return section if is_whole else re.sub(r"\n{3,}", _JOINT, "\n".join(lines))


def _split(section: str) -> dict[str, str]:
    """Return the parts of our section by their headings; the first one has none."""
    first, *rest = _HEADING.split(section.removesuffix(_END))
    return {
        "": first.strip(),
        **dict(zip(rest[::2], (each.strip() for each in rest[1::2]), strict=True)),
    }


def _describe_news(
    work: Work, saved: Checkpoint | None, files: Sequence[str], known: BranchHistory
) -> str:
    """Describe what no earlier commit of the branch says: the work, the task, or what is done."""
    # A name is too short to say what was done.
    task = " ".join(
        ((saved.summary or saved.intent or saved.left_off or "") if saved else "").split()
    )
    done = _list_new(saved, known)
    is_stated = saved is not None and "summary" in saved.stated
    # The name of a feature is not new in its later commits.
    is_begun = any(each.startswith(f"feat({work.scope})") for each in known.subjects)
    name = "" if is_begun and not work.is_fix else work.name
    known_texts = {*(_strip_subject(each) for each in known.subjects), *known.shipped_texts}
    said = [task, *done, name] if is_stated else [name, task, *done]
    return next((each for each in said if each and each not in known_texts), _describe_files(files))


def _list_new(saved: Checkpoint | None, known: BranchHistory) -> list[str]:
    points = {*known.points}
    return [each for each in _list_done(saved) if each not in points]


def _summarize(about: About) -> list[str]:
    """Return what the whole branch did: all that its commits say, and what was stated."""
    lines = []
    for message in [*about.history.messages, about.text]:
        subject, points = _strip_subject(message.partition("\n")[0]), list_points(message)
        # A subject that was cut is repeated in full below.
        is_cut = any(each.startswith(subject.rstrip("…")) for each in points)
        lines += [*([] if is_cut or subject == _RECORDED else [subject]), *points]
    lines += [*about.history.done, *_list_done(about.saved)]
    found = [*dict.fromkeys(each for each in lines if each)]
    return found or [_strip_subject(about.subject)]


def _list_breaking(about: About) -> list[str]:
    messages = [*about.history.messages, about.text]
    found = [each for message in messages for each in list_breaking(message)]
    return [*dict.fromkeys([*found, *about.history.breaking])]


def _format_decision(decision: Decision) -> str:
    why = f" — {_format_line(decision.why)}" if decision.why else ""
    return f"- {_format_line(decision.what)}{why}"


def _describe_files(files: Sequence[str]) -> str:
    names = sorted({" ".join(file.rpartition("/")[2].split()) for file in files})
    if not names:
        return _RECORDED
    if len(names) <= 3:
        return f"Update {', '.join(names)}"
    return f"Update {', '.join(names[:2])} and {len(names) - 2} more files"


def _format_prefix(work: Work, head: str) -> str:
    if work.scope is None or _CONVENTIONAL.match(head):
        return ""
    return f"{work.kind}({work.scope}): "


def _cut(head: str, prefix: str) -> tuple[str, str]:
    """Shorten a generated subject; the body then repeats it in full."""
    room = _SUBJECT_CHARS - len(prefix)
    if len(head) <= room:
        return head, ""
    kept = head[: room - 1].rpartition(" ")[0] or head[: room - 1]
    return f"{kept.rstrip(' ,;:.')}…", head


def _list_done(saved: Checkpoint | None) -> list[str]:
    # Headings, such as the days of a long task, are not work.
    return [
        _format_line(each) for each in (saved.done if saved else []) if not each.startswith("#")
    ]


def _format_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _BULLET_CHARS else line[: _BULLET_CHARS - 1] + "…"


def _list_links(work: Work) -> str:
    """List the issues of a fix; a feature's issue is closed by its pull request."""
    if not work.is_fix:
        return ""
    fixes = [f"Fixes #{work.issue}"] if work.issue else []
    related = [f"Related to #{work.related_issue}"] if work.related_issue else []
    return "\n".join([*fixes, *related])


def _format_closing(work: Work) -> str:
    if work.is_fix:
        return _list_links(work)
    return f"Closes #{work.issue}" if work.issue else ""


def _strip_subject(subject: str) -> str:
    found = _CONVENTIONAL.match(subject)
    return subject[found.end() - 1 :] if found else subject


def _format_title(about: About) -> str:
    """Write a title without the feature's number, which means nothing to other readers."""
    subject = about.subject
    if _CONVENTIONAL.match(subject) is None:
        folder, slash, _ = about.branch.partition("/")
        kind = _KINDS.get(folder.lower()) if slash else None
        return f"{kind}: {subject}" if kind else subject
    if about.work.scope is None:
        return subject
    kind = subject.partition(":")[0].partition("(")[0].rstrip("!")
    return f"{kind}: {_strip_subject(subject)}"


def _list_test_steps(work: Work, checks: Sequence[Check]) -> list[str]:
    scenarios = work.item.scenarios if work.item else []
    steps = [f"- [ ] {_format_scenario(each)}" for each in scenarios[:_MOST_BULLETS]]
    steps += [f"- [ ] Run `{each.command}`" for each in checks]
    return steps or ["- [ ] Run the project's tests"]


def _format_scenario(scenario: Scenario) -> str:
    parts = (("given", scenario.given), ("when", scenario.when), ("then", scenario.then))
    steps = ", ".join(f"{word} {text}" for word, text in parts if text)
    return _format_line(": ".join(part for part in (scenario.scenario, steps) if part))


def _check_line(check: Check) -> str:
    return f"- `{check.command}`: {'passed' if check.has_passed else 'FAILING'}"


def _list_labels(work: Work) -> list[str]:
    labels = list(work.item.labels) if work.item else []
    if work.is_fix:
        labels += ["bugfix", f"linked-to:{work.scope}"]
    return list(dict.fromkeys(labels))
