"""Wire Gemini CLI: its settings, in which the user can also disable hooks."""

from collections.abc import Iterator
from typing import Any

from leftoff.agents.gemini.gemini_hook_table import TABLE
from leftoff.errors import LeftoffError
from leftoff.wiring import foreign_files
from leftoff.wiring.findings import DoctorFinding, World, warning
from leftoff.wiring.group_wiring import GroupWiring
from leftoff.wiring.hook_groups import HookGroups
from leftoff.wiring.install_places import Places


class GeminiWiring(GroupWiring):
    """Wires Gemini CLI."""

    def __init__(self) -> None:
        super().__init__(TABLE, HookGroups(TABLE), what="Gemini CLI's settings")

    def is_active(self, places: Places) -> bool:
        """Return whether the hooks are wired and not disabled."""
        return self.is_wired(places) and not self._find_switch(places)

    def explain(self, places: Places) -> list[str]:
        """Say that hooks are disabled."""
        reason = self._find_switch(places)
        return [f"{reason}: hooks will not run until you change that."] if reason else []

    def inspect(self, world: World) -> Iterator[DoctorFinding]:
        """Check the file, and whether the user has disabled the hooks."""
        yield from super().inspect(world)
        if self.is_wired(world.places) and (reason := self._find_switch(world.places)):
            yield warning(
                TABLE.agent,
                reason,
                why="Gemini CLI does not run leftoff's hooks.",
                do="Start `gemini` and run `/hooks enable-all`, or edit the settings.",
            )

    def _find_switch(self, places: Places) -> str:
        """Return what disables the hooks; empty if nothing does."""
        path = self.find_file(places)
        try:
            values: Any = self._parse(foreign_files.read(path), path).values
        except (LeftoffError, OSError):
            return ""
        switches = values.get("hooksConfig") if isinstance(values, dict) else None
        if not isinstance(switches, dict):
            return ""
        if switches.get("enabled") is False:
            return f"hooksConfig.enabled is false in {path}"
        disabled = switches.get("disabled")
        if isinstance(disabled, list) and TABLE.more["name"] in disabled:
            return f"hooksConfig.disabled names leftoff in {path}"
        return ""
