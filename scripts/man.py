"""Write the man pages to man/man1: `make man`. They are made from the help of the commands."""

from pathlib import Path

from leftoff.cli.man_pages import write_pages

FOLDER = Path(__file__).resolve().parents[1] / "man" / "man1"


def main() -> None:
    """Replace all pages."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    pages = write_pages()
    for path in FOLDER.glob("*.1"):
        if path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    print(f"Wrote {len(pages)} pages to {FOLDER}")


if __name__ == "__main__":
    main()
