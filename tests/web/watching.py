"""How the tests start a browser, and what they watch for in it."""

from playwright.sync_api import Page

# Debian's browser, as a program without a screen, that asks nobody for anything.
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
# Generous: it is only ever used up when something is wrong.
PATIENCE_MS = 90_000


class Watched:
    """A page that notes everything that must not happen."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.troubles: list[str] = []
        page.on("pageerror", lambda error: self.troubles.append(f"error: {error}"))
        page.on("dialog", lambda dialog: self.troubles.append(f"dialog: {dialog.message}"))
        page.on("console", lambda message: self._note(message.type, message.text))
        page.on("requestfailed", lambda request: self._note_failure(request.url))

    def _note(self, kind: str, text: str) -> None:
        if kind in {"error", "warning"}:
            self.troubles.append(f"{kind}: {text}")

    def _note_failure(self, address: str) -> None:
        # Leaving a page ends its stream, and whatever it was still fetching.
        if not address.startswith(("http://127.0.0.1", "http://localhost")):
            self.troubles.append(f"request: {address}")
