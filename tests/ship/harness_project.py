"""A project of claude-harness as its users have it: native files written by a language model."""

import json
from pathlib import Path
from typing import Any

from cli.runs import Cli
from ship.shop import Shop

SESSION = "5f0c1a9e-session"


def adopt(shop: Shop, cli: Cli) -> Path:
    """Adopt the profile, and return the folder of the layout."""
    del shop
    cli.ok("config", "set", "profile", "harness", "--project")
    return Path.cwd() / ".claude-harness"


def write(path: Path, value: object) -> None:
    """Write a native file, as another program does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2), encoding="utf-8")


def read(path: Path) -> Any:
    """Read a native file."""
    return json.loads(path.read_text(encoding="utf-8"))


def feature(number: int, name: str, **values: Any) -> dict[str, Any]:
    """Return a feature as the layout has it."""
    item = {"id": f"feature-{number:03d}", "name": name, "status": "in_progress", "passes": False}
    return {**item, **values}


def fix(number: int, name: str, **values: Any) -> dict[str, Any]:
    """Return a fix of the first feature."""
    link = {"featureId": "feature-001", "featureName": "Export orders", "issueNumber": 3}
    item = {"id": f"fix-feature-001-{number}", "name": name, "linkedTo": link, "type": "bugfix"}
    return {**item, "status": "in_progress", **values}


def loop(item: str, **values: Any) -> dict[str, Any]:
    """Return the state of a loop."""
    return {
        "version": 9, "feature": item, "featureName": "Export orders", "type": "feature",
        "linkedTo": None, "status": "in_progress", "attempt": 2, "maxAttempts": 15,
        "startedAt": "2026-11-15T08:00:00Z", "lastAttemptAt": "2026-11-15T09:00:00Z",
        "verification": {}, "history": [], "lastCheckpoint": None, "escalationRequested": False,
        "tasks": {"enabled": False, "chain": [], "current": None, "completed": []}, **values,
    }  # fmt: skip


def plan(home: Path, *features: dict[str, Any], fixes: tuple[dict[str, Any], ...] = ()) -> None:
    """Write the features and fixes of the project."""
    document = {"version": 3, "features": [*features], "fixes": [*fixes]}
    write(home / "features" / "active.json", document)


def save(cli: Cli, **values: Any) -> None:
    """Save what a session says about its work, as an agent does."""
    usual = {
        "summary": "Stream the CSV export",
        "done": ["Streamed the rows in app.py", "Added the route"],
        "blockers": ["The staging database is down"],
        "next_action": "Test an export of 0 orders",
        "todos": [{"text": "Document the route", "status": "pending"}],
        "left_off": "The writer works.\nrouting: routes register through createRoute()",
        "decisions": [
            {
                "what": "Stream rows; never buffer the file",
                "why": "tenants with a million rows",
                "alternatives": ["temporary file"],
                "impact": "app.py",
            }
        ],
        "files": [{"path": "app.py", "role": "modified - streaming writer"}],
    }
    text = json.dumps({**usual, **values})
    cli.ok("save", "csv", "--from-json", "-", "--overwrite", stdin=text)
