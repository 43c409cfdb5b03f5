"""The words with which agents say that there is nothing to say."""

import re

NOTHING = (
    "none|n/?a|nothing|unknown|null|nil|tbd|to be determined|aucune?s?|aucun échec|néant|rien|"
    "keine?s?|nichts|ningun[oa]|ningún|nada|nenhum[ao]?|nessun[oa]?|niente|geen|нет|немає|brak|yok|"
    "không|无|無|暂无|没有|なし|特になし|없음"
)
"""What an agent writes where there is nothing, as a pattern."""
_LATER = (
    "yet|so far|this session|known|currently|at the moment|right now|for now|at this time|"
    "identified|reported"
)
_NOTHING = re.compile(
    rf"[^\w(*`\\]*[(*_`]*(?:{NOTHING})(?: (?:{_LATER}))*[)*_`.。!]*", re.IGNORECASE
)


def says_nothing(text: str) -> bool:
    """Return whether a text only says that there is nothing, in whatever form."""
    return _NOTHING.fullmatch(text.strip()) is not None
