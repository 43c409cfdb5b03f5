"""Choose which files each list of a briefing names, and say what state they are in."""

from leftoff.checkpoint import Checkpoint


def list_focus(checkpoint: Checkpoint) -> list[str]:
    """Return the files needed next, without the plan, which has its own line."""
    plan = checkpoint.plan.path if checkpoint.plan else None
    return [path for path in checkpoint.focus_files if path != plan]


def list_modified(checkpoint: Checkpoint) -> list[str]:
    """Return the modified files that are not needed next."""
    shown = set(checkpoint.focus_files)
    return [path for path in checkpoint.files_modified if path not in shown]


def list_seen(checkpoint: Checkpoint) -> list[str]:
    """Return the files that were only read."""
    shown = {*checkpoint.focus_files, *checkpoint.files_modified}
    return [path for path in checkpoint.seen_files if path not in shown]


def list_named(checkpoint: Checkpoint) -> list[str]:
    """Return the other files that somebody named, with their roles."""
    shown = {*checkpoint.focus_files, *checkpoint.files_modified}
    return [
        f"{file.path} ({file.role})" if file.role else file.path
        for file in checkpoint.files
        if file.path not in shown and file.role not in {"modified", "plan"}
    ]


def describe_file(path: str, checkpoint: Checkpoint) -> str:
    """Return a file with its state: whether the session edited it, and whether git has that."""
    states = ["edited"] if path in checkpoint.files_modified else []
    if path in checkpoint.dirty:
        states.append("uncommitted")
    return f"{path} ({', '.join(states)})" if states else path
