"""The `leftoff schema` command: print the JSON Schema of a checkpoint."""

from leftoff.checkpoint import json_schema
from leftoff.cli.app import App, command


@command()
def schema(app: App) -> None:
    """Print the JSON Schema of a checkpoint."""
    app.out.json(json_schema())
