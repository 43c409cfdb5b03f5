"""Copy text to the clipboard through the terminal (OSC 52), which also works over ssh."""

import base64

from leftoff.errors import LeftoffError


def copy_text(text: str) -> None:
    """Send a text to the clipboard of the terminal that this process runs on."""
    encoded = base64.b64encode(text.encode("utf-8", "replace")).decode()
    # Standard output may be a pipe, as in `leftoff resume --copy | head`.
    try:
        with open("/dev/tty", "w", encoding="ascii") as terminal:  # noqa: PTH123 - a device
            terminal.write(f"\x1b]52;c;{encoded}\x07")
    except OSError as error:
        raise LeftoffError(
            "There is no terminal with a clipboard.",
            hint="Run the command on a terminal, or redirect its output to a file.",
        ) from error
