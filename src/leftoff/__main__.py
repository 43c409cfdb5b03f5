"""The program `leftoff`."""

import sys


def main() -> None:
    """Run the command line; the version is told without loading it."""
    if sys.argv[1:] == ["--version"]:
        from leftoff import __version__  # noqa: PLC0415 - the rest would cost ten times as much

        sys.stdout.write(f"leftoff {__version__}\n")
        return
    from leftoff.cli import run  # noqa: PLC0415 - same

    sys.exit(run())


if __name__ == "__main__":
    main()
