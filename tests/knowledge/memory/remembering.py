"""Helpers that add memory entries in tests, and read what is stored."""

from pathlib import Path

from leftoff.knowledge import memory
from leftoff.knowledge.memory import EntryDraft, Kind, MemoryEntry
from leftoff.projects.project import Project
from leftoff.store import Store


def remember(store: Store, *texts: str, kind: Kind = "decision") -> list[MemoryEntry]:
    return memory.add(store, [EntryDraft(kind=kind, text=text) for text in texts])


def texts(store: Store, kind: Kind = "decision") -> list[str]:
    return [entry.text for entry in memory.entries(store, kinds=[kind])]


def log_of(store: Store) -> Path:
    return store.project.store / "memory.jsonl"


def files_of(project: Project) -> list[Path]:
    return [path for path in project.store.rglob("*") if path.is_file()]
