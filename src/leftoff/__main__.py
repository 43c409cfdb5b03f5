"""Run the command `leftoff`."""

import sys
import time

from leftoff import __version__


def main() -> None:
    """Run the command line, and exit cleanly if it is interrupted while loading."""
    try:
        code = _run()
    except KeyboardInterrupt:
        from leftoff.errors import EXIT_INTERRUPTED  # noqa: PLC0415 - 9 ms, see _run

        sys.stderr.write("Interrupted; nothing was changed.\n")
        code = EXIT_INTERRUPTED
    if code:
        sys.exit(code)


def _run() -> int:
    """Run a command; print the version and the status line without loading the rest."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        sys.stdout.write(f"leftoff {__version__}\n")
        return 0
    if sys.argv[1:] == ["statusline"] and sys.stdin is not None and not sys.stdin.isatty():
        from leftoff import statusline  # noqa: PLC0415 - 7 ms, for the status line alone

        line = statusline.show(sys.stdin.buffer.read(), now=time.time())
        sys.stdout.buffer.write(f"{line}\n".encode() if line else b"")
        return 0
    from leftoff.cli import run  # noqa: PLC0415 - 32 ms, which the status line saves

    return run()


if __name__ == "__main__":
    main()
