"""Brief a session on what the project remembers, and keep that page in a file.

The page lists active features, the last decisions, approaches to avoid and why, learned rules, and
the state of the work. It depends only on its values, so that it can be kept in a file that changes
only when something is new. If room is short, the lightest lines are left out.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from leftoff import knowledge
from leftoff.errors import StoreRefused
from leftoff.git import query
from leftoff.git.repository import find_repository, find_repository_name
from leftoff.knowledge import memory
from leftoff.knowledge.memory import Kind, MemoryEntry
from leftoff.knowledge.memory.entry import UNDATED
from leftoff.projects.project import Project, leads_out
from leftoff.store import LISTED, CheckpointEntry, Store, disk
from leftoff.text.briefing_page import is_generated
from leftoff.text.budget import (
    Item,
    Limit,
    Section,
    estimate,
    fit,
    fit_first,
    limit_lines,
    limit_tokens,
    limit_width,
    measure_width,
)
from leftoff.text.fence import Rendered, block, join, say
from leftoff.text.plural import format_count
from leftoff.threads.check_claims import is_here

if TYPE_CHECKING:
    from leftoff.knowledge.features import Feature, Fix


MOST_LINES = 120
MOST_TOKENS = 1_500
_FILES_NAMED = 3
_STEPS_NAMED = 5
# A page that someone wrote may be a whole book.
_MOST_QUOTED = 2_000
_SHIP = "ship"
# Commits of native state alone, which hold no work.
_OWN_COMMIT = "chore(leftoff): "
_COMMITS_LOOKED_AT = 10
_MOST_LOOKED_AT = 200
# With this step, the first line of each section outweighs the third line of any other.
_STEP = 10
# A generated page is far shorter.
_MOST_BYTES = 100_000
_NONE = "- none"
_UNREADABLE = "- The features cannot be read; `leftoff feature list` shows why."
_NO_ROOM = "- no room here; `leftoff memory` lists all"


class Caps(msgspec.Struct, frozen=True, kw_only=True):
    """How many entries of each kind to show."""

    features: int = 10
    decisions: int = 5
    failures: int = 10
    rules: int = 20


FULL = Caps()
AT_START = Caps(failures=3, rules=5)


class WorkState(msgspec.Struct, frozen=True, kw_only=True):
    """The state of the work: the last checkpoint, the branch and the next steps."""

    checkpoint: str = ""
    saved_at: datetime | None = None
    branch: str = ""
    repository: str = ""
    next_steps: tuple[str, ...] = ()


class Material(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a briefing shows; entries are newest first."""

    features: "Sequence[Feature | Fix]" = ()
    trouble: str = ""
    """Why features may be missing."""
    decisions: Sequence[MemoryEntry] = ()
    failures: Sequence[MemoryEntry] = ()
    rules: Sequence[MemoryEntry] = ()
    standing: WorkState | None = None

    @property
    def has_content(self) -> bool:
        """Whether there is more to show than the state of the work."""
        return bool(self.features or self.decisions or self.failures or self.rules)


def gather(
    store: Store, *, caps: Caps = FULL, with_standing: bool = True, subject: str = ""
) -> Material:
    """Collect what a briefing shows about a project.

    `subject` is that of a commit which is about to be made.
    """
    limits: Mapping[Kind, int] = {
        "decision": caps.decisions,
        # One more shows that there are more; to count them all takes longer.
        "failure": caps.failures + 1,
        "rule": caps.rules + 1,
    }
    found = memory.overview(store, limits)
    unfinished, trouble = _list_unfinished(store)
    return Material(
        features=unfinished,
        trouble=trouble,
        decisions=found["decision"],
        failures=found["failure"],
        rules=found["rule"],
        standing=_read_work_state(store, subject) if with_standing else None,
    )


def _list_unfinished(store: Store) -> "tuple[list[Feature | Fix], str]":
    """Return the unfinished features, and the reason if they cannot be read."""
    root = store.project.store
    if not any((root / name).exists() for name in ("features.json", "features.jsonl")):
        return [], ""
    try:
        return knowledge.features.load(store).pressing, ""
    except StoreRefused:
        return [], _UNREADABLE


def _read_work_state(store: Store, subject: str) -> WorkState:
    project = store.project
    branch = query.find_current_branch(project.worktree) if project.is_git else None
    newest = _find_newest(store, branch)
    here = WorkState(branch=branch or "", repository=_find_repository_name(project))
    if newest is None:
        return here
    label = ": ".join(text for text in (newest.name, newest.task) if text)
    # A save at the end of a session must not change what was shipped: git tracks the page.
    if newest.is_autosave and store.index().is_shipped(newest.slot):
        label = subject or _find_last_subject(project) or label
    return msgspec.structs.replace(
        here, checkpoint=label, saved_at=newest.saved_at, next_steps=_list_steps(store, newest)
    )


def _find_last_subject(project: Project) -> str:
    """Return the subject of the last commit that holds work."""
    found = query.list_newest_commits(project.worktree, _COMMITS_LOOKED_AT)
    subjects = (each.subject for each in found if not each.subject.startswith(_OWN_COMMIT))
    return next(subjects, "")


def _list_steps(store: Store, entry: CheckpointEntry) -> tuple[str, ...]:
    """Return what is to be done next: the next action, later steps, then the open todos."""
    checkpoint = store.load(entry)
    known = checkpoint.next_action
    # Once work has ended, only a next action that someone stated is still to be done.
    is_meant = known is not None and (entry.state in LISTED or known.origin == "stated")
    action = [known.text] if known and is_meant and not known.is_unknown else []
    todos = [each.text for each in checkpoint.todos if each.status != "completed"]
    return tuple(dict.fromkeys([*action, *checkpoint.next_steps, *todos]))[:_STEPS_NAMED]


def _find_repository_name(project: Project) -> str:
    """Return the repository's name from its remote, without running git."""
    try:
        found = find_repository(project.worktree) if project.is_git else None
    except OSError:
        return ""
    return (find_repository_name(found) or "") if found else ""


def _find_newest(store: Store, branch: str | None) -> CheckpointEntry | None:
    """Return the newest checkpoint of this worktree, or if there is none, of this branch."""
    heads = store.index().heads([*LISTED, "consumed"], _MOST_LOOKED_AT)
    # A ship ends its thread, and is still the last checkpoint.
    found = [each for each in heads if each.state in LISTED or each.trigger == _SHIP]
    ours = [each for each in found if is_here(each.worktree, each.branch, store.project)]
    return next(iter(ours or [each for each in found if branch and each.branch == branch]), None)


def page(store: Store, *, subject: str = "") -> Rendered:
    """Render the whole page for a new session."""
    return render(gather(store, subject=subject))


def render(
    material: Material,
    *,
    budget: int = MOST_TOKENS,
    caps: Caps = FULL,
    with_empty: bool = True,
    width: int | None = None,
) -> Rendered:
    """Render the briefing as Markdown, within the budget and 120 lines.

    `width` limits its length as a JSON string.
    """
    # Written out, as text for agents must be; `is_generated` knows a page by this beginning.
    head = say("# Session Briefing\nLast updated: {at}", at=_format_update_time(material))
    sections = [*_build_sections(material, caps)]
    if not with_empty:
        shown = fit(sections, _find_limits(head, budget=budget, width=width))
        if not any(shown):
            return say("")
    else:
        # Every heading is shown, so room for all of them is reserved first.
        frames = [join([each.heading, say(_NO_ROOM)]) for each in sections]
        bare = [msgspec.structs.replace(each, heading=say("")) for each in sections]
        bodies = fit(bare, _find_limits(join([head, *frames]), budget=budget, width=width))
        shown = [_with_body(*each) for each in zip(sections, bodies, strict=True)]
    return say("{page}\n", page=join([head, *shown]))


def _find_limits(taken: Rendered, *, budget: int, width: int | None) -> list[Limit]:
    """Return the limits that remain beside a text that is always shown."""
    text = f"{taken}\n"
    limits = [
        limit_tokens(min(budget, MOST_TOKENS) - estimate(text)),
        limit_lines(MOST_LINES - text.count("\n")),
    ]
    return limits if width is None else [*limits, limit_width(width - measure_width(text))]


def _with_body(section: Section, body: Rendered) -> Rendered:
    return join([section.heading, body or say(_NO_ROOM if section.items else _NONE)])


def _format_update_time(material: Material) -> str:
    # Not the current time: the page must change only when something is new.
    entries = [*material.decisions, *material.failures, *material.rules]
    moments = [entry.at for entry in entries]
    moments += [each.updated_at for each in material.features if each.updated_at is not None]
    if material.standing is not None and material.standing.saved_at is not None:
        moments.append(material.standing.saved_at)
    return f"{max(moments).astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if moments else "-"


def _build_sections(material: Material, caps: Caps) -> Iterator[Section]:
    features = list(_format_features(material.features[: caps.features]))
    if material.trouble:
        features.append(say(_UNREADABLE))
    beyond = max(0, len(material.features) - caps.features)
    yield _build_section(say("\n## Active Features"), features, 76, _say_more, beyond)
    decisions = [_format_decision(each) for each in material.decisions[: caps.decisions]]
    yield _build_section(say("\n## Recent Decisions (last 5)"), decisions, 80, _say_more)
    avoided = [_format_failure(each) for each in material.failures[: caps.failures]]
    yield _build_section(
        say("\n## Approaches to AVOID"), avoided, 90, *_cut(material.failures, caps.failures)
    )
    rules = [_format_rule(each) for each in material.rules[: caps.rules]]
    yield _build_section(say("\n## Learned Rules"), rules, 85, *_cut(material.rules, caps.rules))
    if material.standing is not None:
        yield _build_section(
            say("\n## Current Status"), [*_format_work_state(material.standing)], 95, None
        )


def _build_section(
    heading: Rendered,
    lines: Sequence[Rendered],
    weight: float,
    cut: Callable[[int], Rendered] | None,
    beyond: int = 0,
) -> Section:
    """Make a section; `weight` is that of the first line, and each following one is lighter.

    `beyond` is how many more there are than the lines show.
    """
    items = [Item(line, weight - _STEP * place) for place, line in enumerate(lines)]
    return Section(heading, items, cut, beyond=beyond)


def _cut(entries: Sequence[MemoryEntry], most: int) -> tuple[Callable[[int], Rendered], int]:
    """Return how to say that there are more; nobody counted those beyond the limit."""
    return (_say_uncounted, 1) if len(entries) > most else (_say_more, 0)


def _say_uncounted(_count: int) -> Rendered:
    return say("- and more")


def _say_more(count: int) -> Rendered:
    return say("- and {count} more", count=count)


def _format_features(features: "Iterable[Feature | Fix]") -> Iterator[Rendered]:
    """Yield each feature as one to three lines that stay together."""
    for each in features:
        head = say(
            "- {id:40}: {name:80} [{status:20}]", id=each.id, name=each.name, status=each.status
        )
        about = say("")
        if each.description.strip():
            about = say("  {text:100}", text=each.description)
        parts = [
            say("Acceptance: {count}", count=format_count(len(each.scenarios), "scenario")),
            say("Files:{paths}", paths=_format_files(each.related_files)),
        ]
        facts = join(parts if each.related_files else parts[:1], " | ")
        yield join([head, about, say("  {facts}", facts=facts)])


def _format_files(paths: Sequence[str]) -> Rendered:
    named = join([say(" {path:60}", path=path) for path in paths[:_FILES_NAMED]], ",")
    rest = len(paths) - _FILES_NAMED
    return say("{named} and {rest} more", named=named, rest=rest) if rest > 0 else named


def _format_decision(entry: MemoryEntry) -> Rendered:
    why = say(": {why:60}", why=entry.why) if entry.why else say("")
    about = say("- {text:80}", text=entry.text)
    day = "" if entry.extra.get(UNDATED) else f"{entry.at:%Y-%m-%d}"
    known = ", ".join(filter(None, (entry.feature, day)))
    where = say(" ({known:80})", known=known) if known else say("")
    return say("{about}{where}{why}", about=about, where=where, why=why)


def _format_failure(entry: MemoryEntry) -> Rendered:
    why = say(" -> {why:60}", why=entry.why) if entry.why else say("")
    feature = say(" ({id:60})", id=entry.feature) if entry.feature else say("")
    return say("- {text:60}{why}{feature}", text=entry.text, why=why, feature=feature)


def _format_rule(entry: MemoryEntry) -> Rendered:
    title = _find_title(entry)
    if title:
        return say("- {title:80}: {text:120}", title=title, text=entry.text)
    why = say(": {why:60}", why=entry.reason) if entry.reason else say("")
    return say("- {text:100}{why}", text=entry.text, why=why)


def _find_title(entry: MemoryEntry) -> str:
    """Return the title that another system gave a rule, unless that only repeats its text."""
    kept = [each for each in entry.extra.values() if isinstance(each, dict)]
    titles = [each["title"] for each in kept if isinstance(each.get("title"), str)]
    said = " ".join(entry.text.split())
    first = (" ".join(each.split()) for each in titles)
    return next((each for each in first if each and not said.startswith(each.rstrip("…."))), "")


def _format_work_state(standing: WorkState) -> Iterator[Rendered]:
    if standing.checkpoint:
        yield say("Last checkpoint: {text:200}", text=standing.checkpoint)
    if standing.branch:
        yield say("Branch: {name:200}", name=standing.branch)
    if standing.repository:
        yield say("Repository: {name:200}", name=standing.repository)
    if standing.next_steps:
        yield say("Next steps: {text:200}", text="; ".join(_drop_full_stops(standing.next_steps)))


def _drop_full_stops(steps: Sequence[str]) -> list[str]:
    """Return the steps as parts of one line; only the last may end a sentence."""
    return [*(each.removesuffix(".") for each in steps[:-1]), *steps[-1:]]


# --- the page as a file in the project ---


def find_page_path(project: Project, setting: str) -> Path | None:
    """Return the file of the briefing; None if the setting names none."""
    if not setting.strip():
        return None
    path = project.worktree / setting
    if leads_out(path):
        raise StoreRefused(
            f"{path} points outside the project through a link, so leftoff does not use it",
            hint="Remove the link, or name another file with `leftoff config set briefing_file`.",
        )
    return path


def is_somebodys_page(path: Path) -> bool:
    """Return whether a file holds text that leftoff did not write."""
    if not disk.is_regular(path):
        return False
    page = disk.read_from(path, 0, limit=_MOST_BYTES)
    return page != b"" and not is_generated(page)


def write_page(path: Path, text: str) -> bool:
    """Write the briefing to a file atomically; return whether it changed."""
    if is_current_page(path, text):
        return False
    mode = path.stat().st_mode if disk.is_regular(path) else None
    disk.make_folder(path.parent)
    disk.replace(path, text.encode(), temps=path.parent)
    if mode is not None:
        # The user may have let others read it.
        path.chmod(mode & 0o777)
    return True


def is_current_page(path: Path, text: str) -> bool:
    """Return whether a file holds this briefing; a new time alone does not count."""
    return disk.is_regular(path) and _drop_time(path.read_bytes()) == _drop_time(text.encode())


def _drop_time(page: bytes) -> list[bytes]:
    return [line for line in page.splitlines() if not line.startswith(b"Last updated: ")]


def quote_page(text: str, path: Path, *, budget: int, width: int | None = None) -> Rendered:
    """Quote the briefing in a file; if room is short, every section loses its last lines."""
    head = say("From the file {path:200}:", path=path)
    limits = [
        limit_tokens(min(budget, MOST_TOKENS) - estimate(f"{head}\n")),
        limit_lines(MOST_LINES - 1),
    ]
    if width is not None:
        limits.append(limit_width(width - measure_width(f"{head}\n")))
    sections = _split_page(text.strip().splitlines())
    if len(sections) == 1:
        kept = fit_first([block(line) for line in text.strip().splitlines()], limits)
    else:
        kept = fit(sections, limits)
    return join([head, *kept]) if any(kept) else say("")


def _split_page(lines: Sequence[str]) -> list[Section]:
    """Return the sections of somebody's page; lines that belong to an item stay with it."""
    groups: list[tuple[str, list[str]]] = [("", [])]
    for line in lines[:_MOST_QUOTED]:
        items = groups[-1][1]
        if line.startswith("## "):
            groups.append((line, []))
        elif line.startswith((" ", "\t")) and items:
            items[-1] += f"\n{line}"
        elif line.strip():
            items.append(line)
    return [
        # The first line of each section beats the second of any other.
        Section(block(heading), [Item(block(each), -_STEP * at) for at, each in enumerate(items)])
        for heading, items in groups
    ]
