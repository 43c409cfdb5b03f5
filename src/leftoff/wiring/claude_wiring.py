"""Wire Claude Code: its settings, in which the user can also disable all hooks."""

from collections.abc import Iterator

from leftoff.wiring import foreign_files, inspect_settings
from leftoff.wiring.findings import DoctorFinding, World
from leftoff.wiring.group_wiring import GroupWiring
from leftoff.wiring.install_places import Places


class ClaudeWiring(GroupWiring):
    """Wires Claude Code."""

    def is_active(self, places: Places) -> bool:
        """Return whether the hooks are wired and not disabled."""
        return self.is_wired(places) and not self._is_disabled(places)

    def _is_disabled(self, places: Places) -> bool:
        path = self.find_file(places)
        values = self._parse(foreign_files.read(path), path).values
        return isinstance(values, dict) and values.get("disableAllHooks") is True

    def explain(self, places: Places) -> list[str]:
        """Say that hooks are disabled, or that a project's settings are for this machine only."""
        path = self.find_file(places)
        notes = []
        if self._is_disabled(places):
            notes.append(
                f"disableAllHooks is set in {path}: hooks will not run until you unset it."
            )
        if places.project is not None:
            notes.append(
                f"The command in {path} contains a path on this machine; do not commit it."
            )
        return notes

    def inspect(self, world: World) -> Iterator[DoctorFinding]:
        """Check all files in which Claude Code looks for hooks."""
        yield from inspect_settings.check_settings(world, inspect_settings.read_wiring(world))
