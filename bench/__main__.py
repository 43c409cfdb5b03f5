"""Run all measurements, or the named parts: `python -m bench [PART]...`."""

import sys
from collections.abc import Callable

from bench import (
    capture,
    hooks,
    mcp_server,
    memory,
    profiles,
    prompt,
    redact,
    ship,
    snapshots,
    store,
    web_page,
)
from bench.harness import Figure, table

PARTS: dict[str, Callable[[], list[Figure]]] = {
    "capture": capture.figures,
    "redact": redact.figures,
    "hooks": hooks.figures,
    "store": store.figures,
    "ship": ship.figures,
    "snapshots": snapshots.figures,
    "profiles": profiles.figures,
    "memory": memory.figures,
    "mcp": mcp_server.figures,
    "prompt": prompt.figures,
    "web": web_page.figures,
}


def main(names: list[str]) -> int:
    """Print one table per part, and fail if a limit is missed."""
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        print(f"Unknown part {unknown[0]!r}. Parts: {', '.join(PARTS)}.")
        return 2
    missed = 0
    for name in names or PARTS:
        figures = PARTS[name]()
        print(table(name, figures), flush=True)
        missed += sum(figure.is_over for figure in figures)
    print(f"Missed limits: {missed}." if missed else "All limits are met.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
