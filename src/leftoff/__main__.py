"""The program `leftoff`."""

import sys
import time


def main() -> None:
    """Run the command line; the version and the status line are told without loading it."""
    if sys.argv[1:] == ["--version"]:
        from leftoff import __version__  # noqa: PLC0415 - the rest would cost ten times as much

        sys.stdout.write(f"leftoff {__version__}\n")
        return
    if sys.argv[1:] == ["statusline"] and sys.stdin is not None and not sys.stdin.isatty():
        from leftoff import statusline  # noqa: PLC0415 - it runs after every message

        line = statusline.show(sys.stdin.buffer.read(), now=time.time())
        sys.stdout.buffer.write(f"{line}\n".encode() if line else b"")
        return
    from leftoff.cli import run  # noqa: PLC0415 - same

    sys.exit(run())


if __name__ == "__main__":
    main()
