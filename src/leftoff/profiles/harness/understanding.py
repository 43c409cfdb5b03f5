"""Read and write `codebaseUnderstanding`: what a session learnt about areas of the code.

The layout has one text for each area. A checkpoint has one text, so each area is a line of it, and
what belongs to no area is under `leftOff`.
"""

import re

from leftoff.profiles.harness.spellings import words_of
from leftoff.profiles.json_codec import Plain

LEFT_OFF = "leftOff"
# A text with more of them is prose in which colons mean something else.
_MOST_AREAS = 4
_AREA = re.compile(r"([A-Za-z_][\w./-]{0,40}): (\S.*)")


def join_areas(found: object) -> str:
    """Return the understanding as one text, with a line for each area."""
    if isinstance(found, dict):
        said = {area: words_of(value) for area, value in found.items()}
        first = [said.pop(LEFT_OFF)] if said.get(LEFT_OFF) else []
        return "\n".join([*first, *(f"{area}: {text}" for area, text in said.items() if text)])
    if isinstance(found, list):
        return "\n".join(filter(None, map(words_of, found)))
    return words_of(found)


def split_areas(text: str) -> Plain:
    """Return the areas that a text names, if it can be joined again from them."""
    text = text.strip()
    found = [_AREA.fullmatch(line) for line in text.splitlines()]
    areas = {each[1]: each[2] for each in found if each}
    rest = "\n".join(line for line, each in zip(text.splitlines(), found, strict=True) if not each)
    split = {**({LEFT_OFF: rest} if rest else {}), **areas}
    is_same = len(areas) <= _MOST_AREAS and join_areas(split) == text
    return split if is_same else {LEFT_OFF: text} if text else {}


def merge_areas(standing: object, left_off: str, notes: list[str]) -> object:
    """Return the understanding after a save; areas that the save does not mention stay."""
    noted = {
        area: text
        for note in notes
        if "\n" not in note
        for area, text in split_areas(note).items()
        if area != LEFT_OFF
    }
    if standing is not None and not noted and join_areas(standing) == left_off.strip():
        return standing
    areas = standing if isinstance(standing, dict) else {}
    news = split_areas(left_off)
    if not news and not isinstance(standing, dict | None):
        return standing
    known = {key: value for key, value in areas.items() if key != LEFT_OFF}
    # Its own words first, as they are the newest.
    first = {LEFT_OFF: news[LEFT_OFF]} if LEFT_OFF in news else {}
    merged = {**first, **known, **news}
    for area, text in [*noted.items()][:_MOST_AREAS]:
        merged.setdefault(area, text)
    return merged
