"""Show a session's task, how full its context is, and when it was last saved, on one line.

Claude Code runs it after every message, so it loads little more than json: settle has already
written what it shows to a small file. In return, the status line stores the live context use, which
hooks do not get. Each session has two files in one folder: the status line reads `.saved` and
writes `.use`.
"""

import json
import os

from leftoff.text.plural import age
from leftoff.user_state import state_folder

_CELLS = 5
_LONGEST_NAME = 40
_LONGEST_ID = 128
_LARGEST = 64 * 1024
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.")


def show(data: bytes, *, now: float) -> str:
    """Return the line for Claude Code's input, and store the context use; never fail."""
    try:
        payload = json.loads(data)
        state = state_folder()
        folder = payload["workspace"]["current_dir"] if "workspace" in payload else payload["cwd"]
        if _is_off(state, folder):
            return ""
        session_id = payload["session_id"]
        tokens, window = _use(payload.get("context_window") or {})
        if tokens and window:
            _keep(state, session_id, tokens=tokens, window=window, at=now)
        return render(
            _find_percent(payload, tokens, window), _read_last_save(state, session_id), now=now
        )
    except Exception:  # noqa: BLE001 - a status line that fails shows its failure to the user
        return ""


def _is_off(state: str, folder: str) -> bool:
    """Return whether leftoff is off in a folder; `hooks.replies` would load more modules."""
    depth = len([part for part in folder.split("/") if part]) + 1
    marks = (f"{state}/ready/{depth}{folder}/off", f"{state}/replies{folder}/off")
    return any(os.path.isfile(mark) for mark in marks)  # noqa: PTH113 - pathlib is slow to load


def render(percent: float | None, saved: tuple[str, float], *, now: float) -> str:
    """Format the line: the name, a gauge, the age of the last save."""
    name, saved_at = saved
    parts = [name] if name else []
    if percent is not None:
        filled = max(0, min(_CELLS, round(percent * _CELLS / 100)))
        parts.append(f"{'▓' * filled}{'░' * (_CELLS - filled)} {percent:.0f} %")
    parts += ["·"] if parts else []
    return " ".join([*parts, f"saved {age(now - saved_at)}" if saved_at else "not saved"])


def write_last_save(state: str, session_id: str, name: str, saved_at: float) -> None:
    """Store what the line shows about a session: its task, and when it was saved."""
    shown = "".join(each if each.isprintable() else " " for each in name)
    shown = " ".join(shown.split())
    if len(shown) > _LONGEST_NAME:
        shown = f"{shown[: _LONGEST_NAME - 1].rstrip()}…"
    _write(state, session_id, "saved", {"name": shown, "saved_at": saved_at})


def update_last_save(state: str, session_id: str, name: str, saved_at: float) -> None:
    """Show a save right away, if the session is running.

    Settle may not have written `.saved` yet. If the status line has written `.use`, it is in use.
    """
    if any(_read(state, session_id, kind) for kind in ("saved", "use")):
        write_last_save(state, session_id, name, saved_at)


def live_use(state: str, session_id: str) -> tuple[int, int, float] | None:
    """Return tokens, window and time of the last context use that the line received."""
    use = _read(state, session_id, "use")
    try:
        return int(use["tokens"]), int(use["window"]), float(use["at"])
    except (KeyError, TypeError, ValueError):
        return None


def forget(state: str, session_id: str) -> None:
    """Remove the files of a session that has ended."""
    for kind in ("use", "saved"):
        try:
            os.unlink(_find_path(state, session_id, kind))  # noqa: PTH108 - see above
        except (OSError, ValueError):
            continue


def _use(window: dict[str, object]) -> tuple[int, int]:
    """Add up the context as the hooks do: all input tokens, cached or not."""
    usage = window.get("current_usage")
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    counts = [usage.get(name) for name in names] if isinstance(usage, dict) else []
    size = window.get("context_window_size")
    tokens = sum(count for count in counts if isinstance(count, int))
    return tokens, size if isinstance(size, int) else 0


def _find_percent(payload: dict[str, dict[str, object]], tokens: int, window: int) -> float | None:
    if tokens and window:
        return 100 * tokens / window
    rounded = (payload.get("context_window") or {}).get("used_percentage")
    return float(rounded) if isinstance(rounded, int | float) else None


def _read_last_save(state: str, session_id: str) -> tuple[str, float]:
    saved = _read(state, session_id, "saved")
    try:
        return str(saved["name"]), float(saved["saved_at"])
    except (KeyError, TypeError, ValueError):
        return "", 0.0


def _keep(state: str, session_id: str, *, tokens: int, window: int, at: float) -> None:
    known = live_use(state, session_id)
    if known is None or known[:2] != (tokens, window):
        _write(state, session_id, "use", {"tokens": tokens, "window": window, "at": at})


def _read(state: str, session_id: str, kind: str) -> dict[str, str | float]:
    try:
        # A FIFO in its place must not block us.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(_find_path(state, session_id, kind), flags)
        with open(descriptor, "rb") as file:  # noqa: PTH123 - see above
            found = json.loads(file.read(_LARGEST))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(state: str, session_id: str, kind: str, values: dict[str, str | float]) -> None:
    """Replace a file; not synced, because it is soon written again."""
    try:
        path = _find_path(state, session_id, kind)
        for folder in (state, f"{state}/usage"):
            os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103 - see above
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        descriptor = os.open(f"{path}.{os.getpid()}", flags, 0o600)
        try:
            os.write(descriptor, json.dumps(values).encode())
        finally:
            os.close(descriptor)
        os.replace(f"{path}.{os.getpid()}", path)  # noqa: PTH105 - see above
    except (OSError, ValueError):
        return


def _find_path(state: str, session_id: str, kind: str) -> str:
    if not 0 < len(session_id) <= _LONGEST_ID or not _PLAIN.issuperset(session_id):
        raise ValueError(session_id)
    if os.path.islink(f"{state}/usage"):  # noqa: PTH114 - see above
        raise ValueError("The folder is a link to another one.")
    return f"{state}/usage/{session_id}.{kind}"
