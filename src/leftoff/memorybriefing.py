"""The memory briefing: what a project knows, on one page, for whoever starts to work on it.

Active features, the last decisions, approaches to avoid with the reason, learned rules, where the
work stands. Rendering is a pure function of values: the same in, the same out, so that the page can
be kept in a file and changes only when something is new. Lines go by weight when room is short.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from leftoff import git, memory, trees
from leftoff.errors import StoreRefused
from leftoff.fence import Rendered, block, join, say
from leftoff.memory import Entry, Kind
from leftoff.projects import Project
from leftoff.repository import find_repository, slug
from leftoff.restore import is_here
from leftoff.store import LISTED, Store, disk
from leftoff.store import Entry as CheckpointEntry
from leftoff.tokens import estimate, price

if TYPE_CHECKING:
    from leftoff.features import Feature, Fix

MOST_LINES = 120
MOST_TOKENS = 1_500
_FILES_NAMED = 3
_MOST_LOOKED_AT = 200
# So the first of each kind come before the third of any.
_STEP = 10
_HEAD = "# Session Briefing\nLast updated: "
_NONE = "- none"
_UNREADABLE = "- The features cannot be read; `leftoff feature list` shows why."
_NO_ROOM = "- no room here; `leftoff memory` lists all"


class Caps(msgspec.Struct, frozen=True, kw_only=True):
    """How many of each are told."""

    features: int = 10
    decisions: int = 5
    failures: int = 10
    rules: int = 20


FULL = Caps()
AT_START = Caps(failures=3, rules=5)


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """Where the work stands."""

    checkpoint: str = ""
    saved_at: datetime | None = None
    branch: str = ""
    repository: str = ""
    next_steps: tuple[str, ...] = ()


class Material(msgspec.Struct, frozen=True, kw_only=True):
    """All that a briefing is made of; entries newest first."""

    features: "Sequence[Feature | Fix]" = ()
    trouble: str = ""
    """Why there may be features that are not told."""
    decisions: Sequence[Entry] = ()
    failures: Sequence[Entry] = ()
    rules: Sequence[Entry] = ()
    standing: Standing | None = None

    @property
    def tells_anything(self) -> bool:
        """Whether there is more to tell than where the work stands."""
        return bool(self.features or self.decisions or self.failures or self.rules)


class _Section(msgspec.Struct, frozen=True, kw_only=True):
    heading: Rendered
    lines: list[Rendered]
    weight: float
    """What its first line is worth; each further one is worth less."""

    @property
    def frame(self) -> Rendered:
        """What stands before its lines."""
        return say("\n{heading}\n", heading=self.heading)


def gather(store: Store, *, caps: Caps = FULL, with_standing: bool = True) -> Material:
    """Collect what a briefing tells of a project."""
    limits: Mapping[Kind, int] = {
        "decision": caps.decisions,
        "failure": caps.failures,
        "rule": caps.rules,
    }
    found = memory.overview(store, limits)
    unfinished, trouble = _unfinished(store)
    return Material(
        features=unfinished[: caps.features],
        trouble=trouble,
        decisions=found["decision"],
        failures=found["failure"],
        rules=found["rule"],
        standing=_standing(store) if with_standing else None,
    )


def _unfinished(store: Store) -> "tuple[list[Feature | Fix], str]":
    """Return what is to be done, and what keeps it from being known."""
    root = store.project.store
    if not any((root / name).exists() for name in ("features.json", "features.jsonl")):
        return [], ""
    from leftoff import features  # noqa: PLC0415 - few projects keep any

    try:
        return features.load(store).pressing, ""
    except StoreRefused:
        return [], _UNREADABLE


def _standing(store: Store) -> Standing:
    project = store.project
    branch = git.current_branch(project.worktree) if project.is_git else None
    newest = _newest(store, branch)
    here = Standing(branch=branch or "", repository=_slug(project))
    if newest is None:
        return here
    told = ": ".join(text for text in (newest.name, newest.task) if text)
    steps = (newest.next_action,) if newest.next_action else ()
    return msgspec.structs.replace(
        here, checkpoint=told, saved_at=newest.saved_at, next_steps=steps
    )


def _slug(project: Project) -> str:
    """Name the repository as its remote does, without running git."""
    try:
        found = find_repository(project.worktree) if project.is_git else None
    except OSError:
        return ""
    return (slug(found) or "") if found else ""


def _newest(store: Store, branch: str | None) -> CheckpointEntry | None:
    """Find the newest checkpoint of this worktree, or else of this branch: others are not ours."""
    found = store.index().heads([*LISTED], _MOST_LOOKED_AT)
    ours = [each for each in found if is_here(each.worktree, each.branch, store.project)]
    return next(iter(ours or [each for each in found if branch and each.branch == branch]), None)


def page(store: Store) -> Rendered:
    """Make the whole page that tells a new session where the project stands."""
    return render(gather(store))


def render(
    material: Material, *, budget: int = MOST_TOKENS, caps: Caps = FULL, with_empty: bool = True
) -> Rendered:
    """Render the briefing as Markdown, within the budget and 120 lines."""
    head = say(_HEAD + "{at}\n", at=_updated(material))
    sections = [*_sections(material, caps)]
    told = range(len(sections)) if with_empty else []
    room = min(budget, MOST_TOKENS) - estimate(head)
    room -= math.ceil(sum(price(f"{sections[number].frame}{_NO_ROOM}\n") for number in told))
    kept = _within(sections, room, MOST_LINES - 3 * len(sections), opened=told)
    shown = [
        say("{frame}{body}\n", frame=section.frame, body=_body(section, kept.get(number, [])))
        for number, section in enumerate(sections)
        if with_empty or kept.get(number)
    ]
    return join([head, *shown], "")


def _body(section: _Section, places: Sequence[int]) -> Rendered:
    lines = [section.lines[place] for place in sorted(places)]
    return join(lines or [say(_NO_ROOM if section.lines else _NONE)])


def file_of(project: Project, setting: str) -> Path | None:
    """Tell where the briefing is kept as a file, if the setting says so."""
    if not setting.strip():
        return None
    path = project.worktree / setting
    if trees.leads_out(path):
        raise StoreRefused(
            f"{path} leads out of the project through a link, so it is left alone",
            hint="Remove the link, or name another file with `leftoff config set briefing_file`.",
        )
    return path


def is_somebodys(path: Path) -> bool:
    """Say whether a file holds somebody's own words in place of a page that was made."""
    head = _HEAD.encode()
    return disk.is_regular(path) and disk.read_from(path, 0, limit=len(head)) not in {head, b""}


def keep(path: Path, text: str) -> bool:
    """Write the briefing to a file, all at once; say whether it holds anything new."""
    data = text.encode()
    is_there = disk.is_regular(path)
    if is_there and path.read_bytes() == data:
        return False
    mode = path.stat().st_mode if is_there else None
    disk.make_folder(path.parent)
    disk.replace(path, data, temps=path.parent)
    if mode is not None:
        # Somebody may have let others read it.
        path.chmod(mode & 0o777)
    return True


def from_file(text: str, path: Path, *, budget: int) -> Rendered:
    """Quote a briefing as it was written to a file, as far as the budget goes."""
    head = say("From the file {path:200}:", path=path)
    kept: list[Rendered] = []
    room: float = min(budget, MOST_TOKENS) - estimate(f"{head}\n")
    for line in text.strip().splitlines()[:MOST_LINES]:
        quoted = block(line)
        room -= price(f"{quoted}\n")
        if room < 0:
            break
        kept.append(quoted)
    return join([head, *kept]) if any(kept) else say("")


def _updated(material: Material) -> str:
    entries = [*material.decisions, *material.failures, *material.rules]
    moments = [entry.at for entry in entries]
    moments += [each.updated_at for each in material.features if each.updated_at is not None]
    if material.standing is not None and material.standing.saved_at is not None:
        moments.append(material.standing.saved_at)
    return f"{max(moments).astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if moments else "-"


def _sections(material: Material, caps: Caps) -> Iterator[_Section]:
    features = list(_features(material.features[: caps.features]))
    if material.trouble:
        features.append(say(_UNREADABLE))
    yield _Section(heading=say("## Active Features"), lines=features, weight=70)
    decisions = [_decision(each) for each in material.decisions[: caps.decisions]]
    yield _Section(heading=say("## Recent Decisions (last 5)"), lines=decisions, weight=80)
    avoided = [_avoided(each) for each in material.failures[: caps.failures]]
    yield _Section(heading=say("## Approaches to AVOID"), lines=avoided, weight=90)
    rules = [_rule(each) for each in material.rules[: caps.rules]]
    yield _Section(heading=say("## Learned Rules"), lines=rules, weight=85)
    if material.standing is not None:
        lines = list(_stands(material.standing))
        yield _Section(heading=say("## Current Status"), lines=lines, weight=95)


def _features(features: "Iterable[Feature | Fix]") -> Iterator[Rendered]:
    """Yield a feature in one to three lines that stay together."""
    for each in features:
        head = say(
            "- {id:40}: {name:80} [{status:20}]", id=each.id, name=each.name, status=each.status
        )
        about = say("")
        if each.description.strip():
            about = say("  About: {text:100}", text=each.description)
        count = len(each.scenarios)
        told = [
            say("Acceptance: {count} scenarios", count=count) if count else say(""),
            say("Files:{paths}", paths=_files(each.related_files)),
        ]
        facts = join(told if each.related_files else told[:1], " | ")
        yield join([head, about, say("  {facts}", facts=facts) if facts else say("")])


def _files(paths: Sequence[str]) -> Rendered:
    named = join([say(" {path:60}", path=path) for path in paths[:_FILES_NAMED]], ",")
    rest = len(paths) - _FILES_NAMED
    return say("{named} and {rest} more", named=named, rest=rest) if rest > 0 else named


def _decision(entry: Entry) -> Rendered:
    day = f"{entry.at:%Y-%m-%d}"
    if entry.feature:
        return say(
            "- {text:80} ({feature:60}, {day})", text=entry.text, feature=entry.feature, day=day
        )
    return say("- {text:80} ({day})", text=entry.text, day=day)


def _avoided(entry: Entry) -> Rendered:
    why = say(" -> {why:60}", why=entry.why) if entry.why else say("")
    feature = say(" ({id:60})", id=entry.feature) if entry.feature else say("")
    return say("- {text:60}{why}{feature}", text=entry.text, why=why, feature=feature)


def _rule(entry: Entry) -> Rendered:
    why = say(": {why:60}", why=entry.why) if entry.why else say("")
    return say("- {text:100}{why}", text=entry.text, why=why)


def _stands(standing: Standing) -> Iterator[Rendered]:
    if standing.checkpoint:
        yield say("Last checkpoint: {text:200}", text=standing.checkpoint)
    if standing.branch:
        yield say("Branch: {name:200}", name=standing.branch)
    if standing.repository:
        yield say("Repository: {name:200}", name=standing.repository)
    if standing.next_steps:
        yield say("Next steps: {text:200}", text="; ".join(standing.next_steps))


def _within(
    sections: Sequence[_Section], budget: float, lines: int, *, opened: Iterable[int]
) -> dict[int, list[int]]:
    """Choose what fits, the weightiest first; a heading is paid for with its first line."""
    places = [
        (section.weight - _STEP * place, number, place)
        for number, section in enumerate(sections)
        for place in range(len(section.lines))
    ]
    kept: dict[int, list[int]] = {}
    paid = {*opened}
    for _, number, place in sorted(places, key=lambda each: (-each[0], each[1], each[2])):
        line = sections[number].lines[place]
        frame = "" if number in paid else sections[number].frame
        cost, height = price(f"{frame}{line}\n"), line.count("\n") + 1
        if cost <= budget and height <= lines:
            budget, lines = budget - cost, lines - height
            kept.setdefault(number, []).append(place)
            paid.add(number)
    return kept
