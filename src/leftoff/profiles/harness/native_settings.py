"""Read claude-harness's `config.json`: which checks to run, how to learn from corrections."""

from pathlib import Path

from leftoff.profiles.harness.loose_json import parse
from leftoff.profiles.harness.spellings import flag_of, words_of
from leftoff.profiles.json_codec import Plain, object_of, text_of
from leftoff.profiles.regular_files import read_regular

_CHECKS = ("build", "tests", "test", "lint", "typecheck", "acceptance")
_COMMANDS = ("command", "cmd", "run")
_CONFIDENCES = ("low", "medium", "high")


def read_settings(path: Path) -> Plain:
    """Return the settings of leftoff that the file contains; others are not ours."""
    found = read_regular(path)
    try:
        config = object_of(parse(found[0])) if found else {}
    except ValueError:
        return {}
    reflection = object_of(config.get("reflection"))
    values: Plain = {"verify": _list_checks(object_of(config.get("verification"))) or None}
    values["reflect"] = flag_of(reflection.get("enabled"))
    confidence = words_of(reflection.get("minConfidenceForAuto")).strip().lower()
    values["reflect_at"] = confidence if confidence in _CONFIDENCES else None
    if flag_of(reflection.get("autoApproveHighConfidence")) is False:
        values["reflect_at"] = "never"
    return {key: value for key, value in values.items() if value is not None}


def _list_checks(verification: Plain) -> list[str]:
    """Return the commands, in the order in which a person would run them."""
    values = [verification.get(key) for key in (*_CHECKS, "custom")]
    # Each may be one command, an object with a command, or a list of either.
    listed = (each for value in values for each in (value if isinstance(value, list) else [value]))
    return [*dict.fromkeys(filter(None, map(_find_command, listed)))]


def _find_command(value: object) -> str:
    plain = value if isinstance(value, dict) else {"command": value}
    found = (text_of(plain.get(key)).strip() for key in _COMMANDS)
    return next((each for each in found if each), "")
