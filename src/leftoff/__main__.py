"""Run the command `leftoff`."""

import os
from _signal import (  # type: ignore[import-not-found] # `signal` takes 1 ms to load
    SIG_IGN,
    SIGINT,
    default_int_handler,
    getsignal,
    signal,
)

_EXIT_INTERRUPTED = 130


def _leave(*_: object) -> None:
    """End a command that is still loading, without a traceback.

    An exception would have to pass C code that defines classes, and msgspec's can crash then.
    """
    os.write(2, b"Interrupted; nothing was changed.\n")
    os._exit(_EXIT_INTERRUPTED)


# A program that ignores Ctrl-C, such as nohup, lets its children ignore it too.
if getsignal(SIGINT) is default_int_handler:
    signal(SIGINT, _leave)

import atexit  # noqa: E402 - an interrupt may come before
import gc  # noqa: E402 - same
import sys  # noqa: E402 - same
import time  # noqa: E402 - same

from leftoff import DISTRIBUTION, __version__  # noqa: E402 - same


def main() -> None:
    """Run the command line, and exit cleanly if it is interrupted."""
    try:
        code = _run()
    except KeyboardInterrupt:
        signal(SIGINT, SIG_IGN)
        sys.stderr.write("Interrupted; nothing was changed.\n")
        code = _EXIT_INTERRUPTED
    if code:
        sys.exit(code)


def _run() -> int:
    """Run a command; print the version and the status line without loading the rest."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        sys.stdout.write(f"leftoff {__version__} ({DISTRIBUTION})\n")
        return 0
    if sys.argv[1:] == ["statusline"] and sys.stdin is not None and not sys.stdin.isatty():
        from leftoff import statusline  # noqa: PLC0415 - 7 ms, for the status line alone

        line = statusline.show(sys.stdin.buffer.read(), now=time.time())
        sys.stdout.buffer.write(f"{line}\n".encode() if line else b"")
        return 0
    if sys.argv[1:] == ["prompt-segment"]:
        from leftoff import prompt_segment  # noqa: PLC0415 - 2 ms, for the shell prompt alone

        segment = prompt_segment.show(now=time.time())
        if segment is not None:
            sys.stdout.buffer.write(f"{segment}\n".encode() if segment else b"")
            return 0
    # On a terminal, the command explains itself first.
    if sys.argv[1:] == ["mcp"] and not (sys.stdin and sys.stdin.isatty()):
        from leftoff.mcp import methods  # noqa: PLC0415 - 11 ms, for the MCP server alone

        if getsignal(SIGINT) is _leave:
            signal(SIGINT, default_int_handler)
        return methods.serve()
    # What is loaded lives until the end. To look for garbage in it takes 6 % of a listing's time.
    gc.disable()
    _import_click()
    from leftoff.cli import run  # noqa: PLC0415 - 22 ms, which the status line saves

    code = run()
    _end(code)
    return code


def _import_click() -> None:
    """Import click and msgspec without what only help needs: 10 to 20 % of a listing's time."""
    from leftoff.load_on_use import import_msgspec, import_without  # noqa: PLC0415 - 0.5 ms, same

    import_msgspec()
    import_without("click", "inspect", cleandoc=_clean_text)


def _clean_text(text: str) -> str:
    """Remove the indentation of a help text; most are one line."""
    if "\n" not in text:
        return text.strip()
    import inspect  # noqa: PLC0415 - 3 ms, and only long help texts need it

    return inspect.cleandoc(text)


def _end(code: int) -> None:
    """End the process without freeing what was loaded, which takes 5 % of a listing's time.

    It returns if Python has more to do at its end than to run exit functions and to flush.
    """
    run_exit_functions = getattr(atexit, "_run_exitfuncs", None)
    threading = sys.modules.get("threading")
    if run_exit_functions is None or (threading and threading.active_count() > 1):
        return
    # The work is done, so an interrupt has nothing left to stop.
    signal(SIGINT, SIG_IGN)
    run_exit_functions()
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        # Python knows what to do about it.
        return
    os._exit(code)


if __name__ == "__main__":
    main()
