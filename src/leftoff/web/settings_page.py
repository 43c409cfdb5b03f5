"""The settings in force, where each comes from, and the command that changes it."""

from typing import Any

import msgspec
from starlette.requests import Request

from leftoff import config
from leftoff.web.site import Site


class SettingRow(msgspec.Struct, frozen=True, kw_only=True):
    """A setting with its command."""

    key: str
    value: str
    source: str
    meaning: str
    command: str


def show(request: Request, site: Site) -> dict[str, Any]:
    """List every setting."""
    home = site.find_project(request.query_params.get("project"))
    with site.open(home) as work:
        loaded = work.configuration
    rows = [_describe(each) for each in loaded.values]
    changed = [each for each in rows if each.source != "default"]
    rest = [each for each in rows if each.source == "default"]
    return {
        "home": home,
        "groups": {"Changed": changed, "Defaults": rest},
        "problems": loaded.problems,
        "projects": site.list_projects(),
    }


def _describe(value: config.Value) -> SettingRow:
    return SettingRow(
        key=value.key,
        value=config.format_value(value.value),
        source=value.source,
        meaning=config.HELP[value.key],
        command=f"leftoff config set {value.key} VALUE",
    )
