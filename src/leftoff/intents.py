"""Intents: plain sentences that mean one of our commands, as people type them to an agent.

Only a whole message counts, in English, German, Spanish, French or Chinese. Accents, case,
punctuation and politeness play no part. A bare `continue` means the work at hand, so it is a
command only at the start of a session that has something to come back to.
"""

import functools
import re
import unicodedata
from collections.abc import Collection
from typing import Literal

import msgspec

from leftoff.names import kebab

Kind = Literal["save", "resume", "list", "clear", "prompts", "undo", "status"]

_COMMANDS: dict[Kind, tuple[str, ...]] = {
    "save": ("leftoff", "save"),
    "resume": ("leftoff", "resume"),
    "list": ("leftoff", "list"),
    "clear": ("leftoff", "clear"),
    "prompts": ("leftoff", "prompts", "list"),
    "undo": ("leftoff", "undo"),
    "status": ("leftoff", "status"),
}
_LONGEST = 200
_MOST_WORDS = 6


class Intent(msgspec.Struct, frozen=True, kw_only=True):
    """The command that a sentence means."""

    kind: Kind
    name: str | None = None
    is_for_all: bool = False

    @property
    def command(self) -> list[str]:
        """The words of the command line."""
        words = [*_COMMANDS[self.kind], *([self.name] if self.name else [])]
        return [*words, "--all"] if self.is_for_all else words


def find(
    text: str, *, names: Collection[str] = (), can_resume: bool = False, at_start: bool = False
) -> Intent | None:
    """Tell which command a message means, if it is nothing but that.

    `names` are the checkpoints there are; `can_resume` says whether there is one to come back to.
    """
    plain = _plain(text)
    if not plain:
        return None
    if plain in _BARE:
        return Intent(kind="resume") if at_start and can_resume else None
    for kind, pattern in _rules():
        found = pattern.fullmatch(plain)
        if found is not None and (intent := _intent(kind, found, names)) is not None:
            return intent
    return None


def passes_always(prompt: str) -> bool:
    """Say whether a prompt must pass however full the context is: it is the way out."""
    if _PURGE.match(prompt):
        return False
    if _WAYS_OUT.match(prompt):
        return True
    intent = find(prompt)
    return intent is not None and intent.kind == "save"


_WAYS_OUT = re.compile(r"\s*/(?:checkpoint|compact|clear|help|leftoff:\S+)(?:\s|$)")
_PURGE = re.compile(r"\s*/checkpoint\s+--(?!restore(?:\s|$))")


def _intent(kind: Kind, found: re.Match[str], names: Collection[str]) -> Intent | None:
    groups = found.groupdict()
    if "all" in groups:
        return Intent(kind=kind, is_for_all=True)
    given = groups.get("name") or groups.get("known")
    if given is None:
        return Intent(kind=kind)
    name = kebab(given)
    if not name or name.count("-") >= _MOST_WORDS:
        return None
    if groups.get("known") and name not in names and not _LOOKS_NAMED.fullmatch(given):
        # `continue with the tests` is about the tests, not about a checkpoint.
        return None
    return Intent(kind=kind, name=name)


_LOOKS_NAMED = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)+")
_EDGES = re.compile(r"^[\W_]+|[\W_]+$")
_POLITE = re.compile(
    r"^(?:please|pls|ok(?:ay)?|hey|hi|hello|bitte|por favor|s'il (?:te|vous) plait|请|"
    r"(?:can|could|would) you(?: please)?|kannst du(?: bitte)?|puedes|peux-tu)\b[,:!\s]*|"
    r"[,\s]*\b(?:please|pls|bitte|por favor|s'il (?:te|vous) plait|now|jetzt|ahora|maintenant)$|"
    r"^请|吧$"
)


def _plain(text: str) -> str:
    """Reduce a message to what it says: no accents, case, punctuation around it, or politeness."""
    if len(text) > _LONGEST:
        return ""
    split = unicodedata.normalize("NFKD", text.replace("’", "'")).casefold()
    plain = "".join(each for each in split if not unicodedata.combining(each))
    plain = _EDGES.sub("", " ".join(unicodedata.normalize("NFC", plain).split()))
    for _ in range(3):
        plain = _EDGES.sub("", _POLITE.sub("", plain))
    return plain


_BARE = frozenset(
    {
        *"continue resume restore proceed weiter weitermachen fortsetzen".split(),
        *"continua continuar sigue seguir reanudar continuer reprendre reprends".split(),
        *"继续 接着 接着做 恢复".split(),
        "go on",
        "carry on",
        "keep going",
        "mach weiter",
        "mache weiter",
    }
)

# In the phrases below NAME is any name, KNOWN one that is a checkpoint's or looks like it, ALL a
# word that means every checkpoint; POINT and POINTS are the words for checkpoints.
_PARTS = {
    "NAME": r"[\"'`]?(?P<name>\w[\w ./-]*?)[\"'`]?",
    "KNOWN": r"[\"'`]?(?P<known>\w[\w ./-]*?)[\"'`]?",
    "ALL": r"(?P<all>all(?: of)?(?: the| my| our)?|the|my|our|alle(?: meine)?|todos(?: los| mis)?"
    r"|tous(?: les| mes)?|所有的?|全部的?)",
    "POINTS": r"(?:checkpoints|sicherungspunkte|puntos de control|points de controle)",
    "POINT": r"(?:checkpoint|sicherungspunkt|punto de control|point de controle)",
    "STATE": r"(?:progress|place|session|state|work|context|checkpoint)",
    "STAND": r"(?:fortschritt|stand|arbeitsstand|zwischenstand|sitzung|checkpoint)",
    "ESTADO": r"(?:progreso|avance|estado|sesion|trabajo|checkpoint|punto de control)",
    "ETAT": r"(?:progression|avancement|session|travail|etat|checkpoint|point de controle)",
    "进度": r"(?:进度|工作|会话|状态|检查点)",
}
# The first phrase that is the whole message counts. Accents are gone by then.
_PHRASES: dict[Kind, list[str]] = {
    "save": [
        (
            r"(?:save|checkpoint)(?: (?:my|the|this|our|current|a))* STATE"
            r"(?: (?:as|named|called|under) NAME)?"
        ),
        r"save(?: a| the)? checkpoint NAME",
        r"(?:save|checkpoint)(?: this| it)? (?:as|under) NAME",
        r"checkpoint(?: this)?|(?:make|create|take|write) a checkpoint",
        (
            r"(?:speichere?|sichere?)(?: (?:meinen|den|unseren|die|meine|einen))? STAND"
            r"(?: (?:als|unter|namens) NAME)?"
        ),
        r"(?:den |meinen )?STAND(?: (?:als|unter) NAME)? (?:speichern|sichern)",
        r"(?:speichern?|speichere|sichere)(?: es| das)? (?:als|unter) NAME",
        r"guardar?(?: (?:mi|el|la|un))? ESTADO(?: como NAME)?",
        r"guardar?(?:lo)? como NAME",
        (
            r"(?:sauvegarder?|sauvegardez|enregistrer?|enregistrez)(?: (?:ma|mon|la|le|un))?"
            r"(?: l'| )ETAT(?: (?:sous|comme|en tant que) NAME)?"
        ),
        r"(?:sauvegarder?|enregistrer?) (?:sous|comme) NAME",
        r"(?:保存|存)(?:一下)?(?:我|当前|目前)?的?进度(?:(?:为|成|到) ?NAME)?",
        r"(?:另存为|保存为|保存成) ?NAME",
        r"存档|存个档",
    ],
    "resume": [
        (
            r"(?:resume|continue|restore|load)(?: (?:my|the|our|last|previous))* "
            r"(?:work|working|session|progress|checkpoint|state)"
        ),
        r"resume from(?: the)?(?: last)? checkpoint",
        (
            r"(?:(?:pick (?:it )?up|continue|resume|start|carry on|go on) (?:from )?)?"
            r"where (?:we|i|you) (?:left off|stopped|were)"
        ),
        r"where (?:were we|was i|did (?:we|i|you) (?:stop|leave off))",
        r"what (?:were we|was i) (?:doing|working on)(?: last)?",
        r"wo (?:waren wir|war ich|haben wir aufgehort|habe ich aufgehort)",
        r"wo (?:sind wir|bin ich) stehen ?geblieben",
        r"(?:mach |machen wir )?weiter,? wo wir aufgehort haben",
        r"(?:die |meine )?(?:arbeit|sitzung|session) (?:fortsetzen|wieder ?aufnehmen)",
        r"setze? (?:die |meine )?(?:arbeit|sitzung) fort",
        r"(?:letzten )?checkpoint (?:laden|fortsetzen|wiederherstellen)",
        r"donde (?:nos quedamos|lo dejamos|me quede|lo deje|estabamos|paramos)",
        r"(?:continuar?|retomar?|reanudar?|sigue|seguir)(?: con)? (?:el|mi|la) (?:trabajo|sesion)",
        r"(?:continuar?|retomar?|sigue|seguir) (?:desde )?donde (?:lo dejamos|nos quedamos)",
        r"restaurar?(?: el)? POINT",
        r"ou (?:en etions-nous|en etait-on|en etais-je|on en etait)",
        r"ou (?:s'est-on arretes?|nous sommes-nous arretes|est-ce qu'on s'est arretes?)",
        r"(?:reprendre|reprends|continuer?) (?:le|mon|la|ma) (?:travail|session)",
        r"(?:reprends|reprendre|continue) (?:la )?ou (?:on s'est arretes?|on en etait)",
        r"restaurer?(?: le)? POINT",
        r"(?:继续|恢复|接着)(?:做)?(?:上次|之前|我)?的?(?:进度|任务)",
        r"(?:我们|我)?(?:上次|之前|刚才)?(?:做|停|进行|说)(?:到|在)了?(?:哪里|哪儿|哪)了?",
        r"从上次(?:停下|中断|结束|离开)的地方(?:继续|开始)",
        r"(?:resume|continue|restore|load)(?: the)? POINT NAME",
        r"(?:加载|恢复|继续)检查点 ?NAME",
        r"(?:resume|continue|restore|(?:mach )?weiter mit|continuar? con|reprends|reprendre) KNOWN",
        r"继续 ?KNOWN",
    ],
    "clear": [
        r"(?:clear|delete|remove|drop|forget|erase|wipe) ALL(?: saved)? checkpoints",
        r"(?:losche?|entferne?|borrar?|eliminar?|limpiar?) ALL POINTS",
        r"(?:effacer?|effacez|supprimer?|supprimez) ALL POINTS",
        r"ALL POINTS (?:loschen|entfernen)",
        r"(?:清除|删除|清空)ALL(?:检查点|存档|checkpoints?)",
        r"(?:clear|delete|remove|drop|forget)(?: the)? POINT NAME",
        r"(?:losche?|entferne?|borrar?|eliminar?|effacer?|supprimer?)(?: den| el| le)? POINT NAME",
        r"POINT NAME (?:loschen|entfernen)",
        r"(?:清除|删除)检查点 ?NAME",
    ],
    "list": [
        r"(?:list|show)(?: (?:me|all|of|the|my|our|saved|open))* checkpoints|checkpoints",
        r"(?:which|what) checkpoints (?:are there|do (?:i|we) have|exist)",
        r"(?:zeige?|liste)(?: (?:mir|alle|die|meine))* POINTS(?: auf| an)?",
        r"welche POINTS (?:gibt es|habe ich)",
        r"(?:listar?|muestra|mostrar|ver)(?: (?:todos|los|mis))* POINTS",
        r"que POINTS hay",
        r"(?:lister?|montrer?|afficher?)(?:-moi)?(?: (?:tous|les|mes))* POINTS",
        r"quels POINTS y a-t-il",
        r"(?:列出|显示|查看|看看)(?:所有|我|全部)?的?(?:检查点|存档)|有哪些检查点",
    ],
    "prompts": [
        r"(?:show|list)(?: (?:me|the|my|all))* (?:pending|waiting|blocked|unanswered) prompts",
        r"(?:which|what) prompts (?:are (?:waiting|pending)|were (?:blocked|kept|lost))",
    ],
    "undo": [
        r"undo (?:the )?(?:last )?(?:clear|delete|resume)",
        r"bring (?:the |my )?checkpoints? back|bring back (?:the |my )?checkpoints?",
    ],
    "status": [r"(?:leftoff|checkpoint) status"],
}


@functools.cache
def _rules() -> list[tuple[Kind, re.Pattern[str]]]:
    # Made when first needed: most prompts are known by their first letter.
    parts = re.compile("|".join(sorted(_PARTS, key=len, reverse=True)))
    return [
        (kind, re.compile(parts.sub(lambda found: _PARTS[found[0]], phrase)))
        for kind, phrases in _PHRASES.items()
        for phrase in phrases
    ]
