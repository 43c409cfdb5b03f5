"""The letterbox where there is no sh: the same steps as letterbox.sh, with builtin modules only.

Started as `python -I -S letterbox.py AGENT EVENT`. Nothing but builtins is imported: anything else
would cost more than the whole hook.
"""

import sys

try:
    import posix as system
except ImportError:  # Windows
    import nt as system  # type: ignore[no-redef]

_NAMES = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "prompt",
    "Stop": "stop",
    "StopFailure": "failure",
    "PreCompact": "pre-compact",
    "SessionEnd": "session-end",
    "PreToolUse": "pre-tool",
    "PostToolUse": "post-tool",
    "Notification": "idle",
}
_CHUNK = 1 << 16
_TRIES = 10


def main(agent: str, event: str) -> None:
    """Keep the event, print the reply that waits, wake settle."""
    environment = {_text(key): _text(value) for key, value in system.environ.items()}
    state = _state(environment)
    if state is None:
        return
    replies = f"{state}/replies{system.getcwd()}"
    disabled = environment.get("LEFTOFF_DISABLED_HOOKS", "").replace(",", " ").split()
    if _exists(f"{replies}/off") or _NAMES.get(event, event) in disabled:
        return
    python = _first_line(f"{state}/python") or sys.executable
    if event == "SessionStart":
        _run([python, "-I", "-m", "leftoff.hooks.start", agent])
        return
    session = environment.get("CLAUDE_CODE_SESSION_ID", "")
    if not session and _is_any(replies, f"{agent}.{event}."):
        session = _session()
        own = f"{replies}/{agent}.{event}.{session}"
        session = session if _exists(own) or _exists(f"{own}.ask") else ""
    reply = f"{replies}/{agent}.{event}.{session or 'any'}"
    if _exists(f"{reply}.ask"):
        _run([python, "-I", "-m", "leftoff.hooks.answer", agent, event, f"{reply}.ask"])
        return
    _keep(f"{state}/spool", f"{agent}.{event}.{system.getpid()}")
    if line := _first_line(reply):
        system.write(1, line.encode() + b"\n")
    if not _is_running(_first_line(f"{state}/settling")):
        _start([python, "-I", "-m", "leftoff.hooks.settle", state])


def _is_any(folder: str, prefix: str) -> bool:
    try:
        return any(name.startswith(prefix) for name in system.listdir(folder))
    except OSError:
        return False


def _session() -> str:
    """Look the session up in what was sent, which then waits to be read as if it never was."""
    data = b""
    while chunk := system.read(0, _CHUNK):
        data += chunk
    source, target = system.pipe()
    if not system.fork():
        system.close(source)
        while data:
            data = data[system.write(target, data) :]
        system._exit(0)  # noqa: SLF001 - as at the end
    system.dup2(source, 0)
    system.close(target)
    _, found, rest = data[:4096].partition(b'"session_id":')
    session = rest.partition(b'"')[2].partition(b'"')[0].decode("ascii", "replace")
    is_plain = all(each.isalnum() or each in "_.@+=-" for each in session)
    return session if found and is_plain else ""


def _text(value: str | bytes) -> str:
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value


def _state(environment: dict[str, str]) -> str | None:
    home = environment.get("HOME", "")
    base = environment.get("XDG_STATE_HOME") or f"{home}/.local/state"
    state = environment.get("LEFTOFF_HOME") or f"{base}/leftoff"
    if state.startswith("~/"):
        state = f"{home}{state[1:]}"
    is_known = home or environment.get("XDG_STATE_HOME") or environment.get("LEFTOFF_HOME")
    return state if is_known and state.startswith("/") else None


def _exists(path: str) -> bool:
    try:
        system.stat(path)
    except OSError:
        return False
    return True


def _first_line(path: str) -> str:
    try:
        descriptor = system.open(path, system.O_RDONLY)
    except OSError:
        return ""
    try:
        return system.read(descriptor, _CHUNK).split(b"\n", 1)[0].decode("utf-8", "replace")
    finally:
        system.close(descriptor)


def _keep(spool: str, name: str) -> None:
    for n in range(_TRIES):
        path = f"{spool}/{name}.{n}"
        try:
            descriptor = system.open(path, system.O_WRONLY | system.O_CREAT | system.O_EXCL, 0o600)
        except OSError:
            _make_folders(spool)
            continue
        _copy(0, descriptor)
        system.close(descriptor)
        return


def _copy(source: int, target: int) -> None:
    try:
        while chunk := system.read(source, _CHUNK):
            system.write(target, chunk)
    except OSError:
        return


def _make_folders(path: str) -> None:
    for end in (i for i, c in enumerate(path + "/") if c == "/" and i):
        try:
            system.mkdir(path[:end], 0o700)
        except OSError:
            continue


def _is_running(pid: str) -> bool:
    if not pid.isdigit():
        return False
    try:
        system.kill(int(pid), 0)
    except OSError:
        return False
    return True


def _run(arguments: list[str]) -> None:
    """Let another program answer; whatever it complains and however it ends, we do not."""
    child = system.fork()
    if child:
        system.waitpid(child, 0)
    else:
        _become(arguments, silent=(2,))


def _start(arguments: list[str]) -> None:
    """Start a program that outlives us and everybody's terminal."""
    if not system.fork():
        system.setsid()
        _become(arguments, silent=(0, 1, 2))


def _become(arguments: list[str], *, silent: tuple[int, ...]) -> None:
    try:
        null = system.open("/dev/null", system.O_RDWR)
        for stream in silent:
            system.dup2(null, stream)
        system.execv(arguments[0], arguments)
    finally:
        system._exit(0)  # noqa: SLF001 - the one way to end a fork without the parent's clean-up


if __name__ == "__main__":
    try:
        main(*sys.argv[1:3])
    finally:
        system._exit(0)  # noqa: SLF001 - a hook never fails, and skips the interpreter's clean-up
