"""Find and read everything that any version of claude-harness wrote."""

from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from leftoff.knowledge.features import Feature, Fix, Loop
from leftoff.profiles.harness import (
    agent_files,
    checkpoints,
    feature_files,
    legacy,
    loop_files,
    memories,
)
from leftoff.profiles.harness.checkpoints import CONTEXT, PROGRESS, SESSIONS
from leftoff.profiles.harness.documents import as_object
from leftoff.profiles.harness.documents import read as read_json
from leftoff.profiles.harness.facts import SHELVES
from leftoff.profiles.harness.layers import LAYERS
from leftoff.profiles.json_codec import Plain, object_of, without
from leftoff.profiles.profile import More

_OLD_ACTIVE, _OLD_ARCHIVE = "feature-list.json", "feature-archive.json"
_SHARED = (
    feature_files.ACTIVE,
    feature_files.ARCHIVE,
    agent_files.AGENTS,
    agent_files.OLD_AGENTS,
    *(each.path for each in (*LAYERS, *SHELVES)),
)
# Where each file has its list, for a file that is only that list.
_LISTS = {
    feature_files.ACTIVE: "features",
    feature_files.ARCHIVE: "archived",
    agent_files.AGENTS: "agentResults",
    agent_files.OLD_AGENTS: "agentResults",
    **{each.path: each.key for each in LAYERS},
}


def is_here(folder: Path) -> bool:
    """Return whether the folder contains anything of this layout, in any version."""
    known = (PROGRESS, SESSIONS, "features", "memory", "agents", "loops")
    old = (
        *legacy.list_active_files(folder),
        *legacy.list_agent_files(folder),
        folder.parent / PROGRESS,
    )
    return any((folder / name).exists() for name in known) or any(each.is_file() for each in old)


def folders(folder: Path) -> list[Path]:
    """Return the folder and all files in it that others may change."""
    sessions = [*folder.glob(f"{SESSIONS}/*/{CONTEXT}"), *loop_files.list_loop_files(folder)]
    # Features first: loops and memory refer to them.
    shared = [folder / path for path in _SHARED]
    markdown = legacy.list_okf_files(folder)
    return [folder, folder / SESSIONS, *shared, folder / PROGRESS, *sessions, *markdown]


def list_natives(folder: Path) -> Iterator[Path]:
    """Yield the progress file and the working contexts of sessions."""
    # Files are recorded by their path from the folder, even one that used to be beside it.
    old = (folder / checkpoints.OLD_CONTEXT, folder / ".." / PROGRESS)
    first = [path for path in old if path.is_file()]
    sessions = sorted(folder.glob(f"{SESSIONS}/*/{CONTEXT}"))
    last = [folder / PROGRESS] if (folder / PROGRESS).is_file() else []
    for path in [*first, *sessions, *last]:
        # The installer writes a page about itself, which is not work.
        if not (path in {*first, *last} and checkpoints.is_unused(path)):
            yield path


def read_more(folder: Path, *, only: Collection[str] | None = None) -> More:
    """Read features, memory, loops and the state of agents, from some files or from all."""
    problems: list[str] = []
    wanted = [path for path in _SHARED if only is None or path in only]
    documents = {
        path: _read_object(folder / path, problems, _LISTS.get(path, "")) for path in wanted
    }
    active, queued = memories.read(documents)
    for path in legacy.list_okf_files(folder):
        if only is None or str(path.relative_to(folder)) in only:
            found = legacy.read_okf_entry(path)
            if found is None:
                problems.append(f"{path.name} was skipped: It contains no entry.")
            else:
                (active if found[1] else queued).append(found[0])
    if only is None:
        documents = _with_older(folder, documents, problems)
    agents = documents.get(agent_files.AGENTS) or documents.get(agent_files.OLD_AGENTS)
    return More(
        memories=active,
        queued=queued,
        features=_read_features(folder, documents),
        features_at=_find_time(folder),
        loops=_read_loops(folder, only, problems),
        orchestration=agent_files.read(agents) if agents else None,
        documents=_list_rests(documents) if only is None else {},
        problems=problems,
    )


def _list_rests(documents: Mapping[str, Plain]) -> dict[str, Plain]:
    """Return what the files contain besides features, memory and the state of agents."""
    lists = {each.path: [each.find_key(documents[each.path])] for each in LAYERS}
    facts = {
        each.path: [section.partition(".")[0] for section in each.sections] for each in SHELVES
    }
    features = {
        feature_files.ACTIVE: ["features", "fixes"],
        feature_files.ARCHIVE: ["archived", "archivedFixes"],
    }
    rests = {
        path: without(documents[path], *keys, "lastUpdated")
        for path, keys in {**lists, **facts, **features}.items()
    }
    rests[agent_files.AGENTS] = agent_files.find_rest(documents[agent_files.AGENTS])
    return {path: rest for path, rest in rests.items() if without(rest, "version")}


def read_changed(folder: Path, names: Collection[str]) -> More:
    """Read the features and memory in some files."""
    return read_more(folder, only=names)


def _with_older(
    folder: Path, documents: Mapping[str, Plain], problems: list[str]
) -> dict[str, Plain]:
    """Add what older versions stored elsewhere, unless the newer files mention it."""
    active = _read_first(legacy.list_active_files(folder), problems)
    archive = _read_first(legacy.list_archive_files(folder), problems)
    agents = documents[agent_files.AGENTS] or _read_first(legacy.list_agent_files(folder), problems)
    return {**documents, agent_files.AGENTS: agents, _OLD_ACTIVE: active, _OLD_ARCHIVE: archive}


def _read_first(paths: list[Path], problems: list[str]) -> Plain:
    return next((found for path in paths if (found := _read_object(path, problems))), {})


def _read_object(path: Path, problems: list[str], key: str = "features") -> Plain:
    # The oldest lists of features are bare arrays.
    return as_object(read_json(path, problems), key) or {}


def _read_features(folder: Path, documents: Mapping[str, Plain]) -> list[Feature | Fix]:
    found: list[Feature | Fix] = []
    for document in (documents.get(feature_files.ACTIVE, {}), documents.get(_OLD_ACTIVE, {})):
        found += feature_files.read_features(document.get("features"))
        found += feature_files.read_fixes(document.get("fixes"))
    for document in (documents.get(feature_files.ARCHIVE, {}), documents.get(_OLD_ARCHIVE, {})):
        archived: list[Feature | Fix] = [
            *feature_files.read_features(document.get("archived")),
            *feature_files.read_fixes(document.get("archivedFixes")),
        ]
        found += [feature_files.archive(each, _find_time(folder)) for each in archived]
    # If two files have the same item, the first one counts: the newer file, and the active one.
    return list({each.id: each for each in reversed(found)}.values())[::-1]


def _find_time(folder: Path) -> datetime | None:
    paths = [
        folder / feature_files.ACTIVE,
        folder / feature_files.ARCHIVE,
        *legacy.list_active_files(folder),
    ]
    stamps = [path.stat().st_mtime for path in paths if path.is_file()]
    return datetime.fromtimestamp(max(stamps), UTC) if stamps else None


def _read_loops(folder: Path, only: Collection[str] | None, problems: list[str]) -> dict[str, Loop]:
    found: dict[str, Loop] = {}
    for path in loop_files.list_loop_files(folder):
        if only is None or str(path.relative_to(folder)) in only:
            plain = object_of(read_json(path, problems))
            if plain:
                found.setdefault(loop_files.session_of(path), loop_files.read_loop(plain))
    mark = loop_files.read_interrupted(
        object_of(read_json(folder / loop_files.INTERRUPTED, problems))
    )
    return loop_files.with_mark(found, mark) if mark else found
