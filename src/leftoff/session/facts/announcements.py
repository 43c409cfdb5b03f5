"""Turn what an agent announced into an instruction: "I'll run the tests" into "Run the tests"."""

import re

from leftoff.lazy_patterns import lazy
from leftoff.session.facts.sentences import (
    LABEL,
    is_bare,
    needs_context,
    refers_back,
    split_sentences,
)

# "Let me know …" is said to the user, and announces nothing.
_I_WILL = (
    r"(?:i will|i'll|i am going to|i'm going to|i'm about to|i (?:now |also )?want to|i should|"
    r"(?:i )?(?:still |now |also )?(?:need|have) to|let me|let's|let us|we'll|we will|we need to|"
    r"we should|we're going to|next,? i(?: would|'d)(?: like to)?|"
    r"the (?:fix|solution|(?:next|last) step|plan|goal) is to)"
    r"(?::(?: [-*]| \d[.)])?)? (?!know\b|remind\b)"
)
# Words before an announcement that say nothing about it: "OK, so now I'll …".
_FILLER = (
    r"(?:ok(?:ay)?|good(?: question| point| catch)?|great|perfect|right|alright|excellent|nice|yes|"
    r"sure|done|so|and|but|now|next(?: up)?|then|first|finally|also|instead|actually)(?:[,!:]| -)?"
)
_ADVERBS = (
    r"(?:(?:now|next|then|first|also|just|quickly|simply|go ahead and|start by|begin by|proceed to|"
    r"try to|continue to) )*"
)
_ACTION = r"(?P<action>[a-z][\w-]*(?:[ .,:;!].*)?)"
_ANNOUNCED = lazy(rf"(?:{_FILLER} )*{_I_WILL}{_ADVERBS}{_ACTION}", re.IGNORECASE | re.DOTALL)
# "Once the build is green, I'll …": the condition belongs to the order.
_AFTER = lazy(
    r"(?P<when>(?:once|when|after|before|as soon as|now that|to|while|if(?! you\b)) [^,;]{3,120}), "
    rf"{_I_WILL}{_ADVERBS}{_ACTION}",
    re.IGNORECASE | re.DOTALL,
)
# "That fails on Windows, so let me guard it.": the reason stays before the order.
_BECAUSE = lazy(
    rf"(?P<why>(?!if\b|unless\b|or\b).{{3,240}}?)(?P<link>,? (?:so|and|but)|;|,| -|:)"
    rf"(?: now| next)? {_I_WILL}{_ADVERBS}{_ACTION}",
    re.IGNORECASE | re.DOTALL,
)
# "I'm adding a guard now." and "Fixing it by hand." go on.
_DOING = lazy(
    rf"(?:{_FILLER} )*(?:i'm (?:now |also |still )*(?P<mine>[a-z]+ing)|(?P<bare>(?:add|apply|build|"
    r"check|clean|commit|creat|debug|edit|fix|implement|inspect|investigat|look|merg|mov|push|read|"
    r"remov|renam|replac|revert|rewrit|runn|search|test|trac|updat|verify|watch|writ)ing))\b"
    r"(?P<rest> .*)",
    re.IGNORECASE | re.DOTALL,
)
_STATES = lazy(r"(?:is|are|was|were|shows?|showed|fails?|failed|passed|works?|worked|would)\b")
# "Set the flag, revert the rest." is an order already.
_ORDER = lazy(
    rf"(?:{_FILLER} )*(?P<action>(?:add|apply|build|check|clean up|commit|create|delete|drop|edit|"
    r"extract|fix|implement|inspect|investigate|make|merge|move|push|read|rebase|refactor|remove|"
    r"rename|replace|rerun|revert|rewrite|run|search|set|simplify|split|stage|switch|update|verify|"
    r"write) (?!of\b|is\b|was\b).*)",
    re.IGNORECASE | re.DOTALL,
)
# "I add the test first." is said of what follows; a verb that could be in the past is not safe.
_PRESENT = lazy(
    rf"(?:{_FILLER} )*i (?:now |first |then )?(?P<action>(?!(?:now|first|then|am|was|have|had|did|"
    r"do|can|could|would|should|might|may|must|will|think|thought|see|saw|found|find|know|knew|understand|"
    r"understood|believe|guess|made|got|get|ran|wrote|put|set|cut|hit|let|read|left|lost|kept|built|"
    r"sent|took|gave|said|went|came|began|chose|drew|froze|need|want|like|love|hope|agree|disagree|also|just|"
    r"already|only|still|never|really|even|haven't|hadn't|didn't|don't|couldn't|can't|won't|wasn't)\b"
    r"|\w+ed\b)[a-z]+ .*)",
    re.IGNORECASE | re.DOTALL,
)
# The agent itself calls it the next step.
_LABELLED = lazy(
    rf"{LABEL} ?\W*(?:\d[.)] )?(?P<action>\w.*)",
    re.IGNORECASE | re.DOTALL,
)
_THING = lazy(r"(?:the|an?) ", re.IGNORECASE)
# "Now the README, rewritten for the new build:" names what is next without a verb.
_NAMED = lazy(
    r"(?:now|next|then)(?: up)?[,:]? (?:on to )?(?P<what>(?:the|for the|`).*):", re.IGNORECASE
)
# "The tests come next." and "Next is the changelog."
_COMES = lazy(
    r"(?P<what>(?:the|an?|`)[^,;]*?) (?:comes?|is|are) next[.!]?"
    r"|next (?:comes?|is|are) (?P<after>(?:the|an?|`).*)",
    re.IGNORECASE,
)
_AGAIN = lazy(rf"(?P<link>,? (?:and then|and|then|so)|;|,) {_I_WILL}{_ADVERBS}", re.IGNORECASE)
# Verbs that give no order, and pronouns that could not be resolved in one.
_NO_ORDER = lazy(
    r"(?:be|have|need|not|never|see|assume|admit|apologi[sz]e|understand|think|guess|say|note)\b"
    r"|.*\b(?:I|I'm|I've|I'd|I'll|me|my|mine|myself|you)\b(?!/)",
    re.DOTALL,
)
# "I wrote style.css.": what "it" means in the order after that.
_MADE = lazy(
    r"(?:[iI](?:['\u2019]ve| have)? )?(?:now |just )?(?i:wrote|written|added|created|updated|"
    r"edited|changed|drafted|saved) (?P<what>`[^`]+`|[\w/-]*\.?[\w/-]+\.\w+|[A-Z][A-Z_-]+)[.!]?",
)
_IT = lazy(r"\bit\b")
_PLAIN_MARKS = str.maketrans("\u2019\u2013\u2014", "'--")


def find_order(text: str) -> str:
    """Return the announcements in a text as orders; "" if it has none that can be turned."""
    parts = split_sentences(text)
    orders = [to_order(part) for part in parts]
    first = next((n for n, order in enumerate(orders) if order), None)
    if first is None:
        return ""
    start = orders[first]
    if first and refers_back(start) and needs_context(parts[first]) and " " in parts[first - 1]:
        # "Fix it." needs what was said before.
        before = parts[first - 1].rstrip(" :")
        made = _MADE.fullmatch(before)
        end = "" if before.endswith((".", "!", "?", "…")) else "."
        start = _IT.sub(made["what"], start, count=1) if made else f"{before}{end} {start}"
    rest = (
        order or part
        for part, order in zip(parts[first + 1 :], orders[first + 1 :], strict=True)
        # "Let me fix this." repeats what was just announced.
        if not (order and is_bare(order) and refers_back(order))
    )
    return " ".join([start, *rest])


def to_order(sentence: str) -> str:
    """Turn an announcement into an order; return "" where that is not safe."""
    plain = sentence.strip().translate(_PLAIN_MARKS)
    return next(filter(None, (turn(plain) for turn in _TURNS)), "")


def _turn_announcement(plain: str) -> str:
    found = _ANNOUNCED.fullmatch(plain) or _AFTER.fullmatch(plain) or _BECAUSE.fullmatch(plain)
    action = _clean(found["action"]) if found else ""
    if found is None or not action:
        return ""
    groups = found.groupdict()
    if when := groups.get("when"):
        return _finish(f"{when}, {action}")
    if why := groups.get("why"):
        return _finish(f"{why}{groups['link']} {action}")
    return _finish(action)


def _turn_doing(plain: str) -> str:
    found = _DOING.fullmatch(plain)
    rest = _clean(found["rest"].strip()) if found else ""
    if found is None or not rest or _STATES.match(rest):
        return ""
    return _finish(f"continue {(found['mine'] or found['bare']).lower()} {rest}")


def _turn_label(plain: str) -> str:
    found = _LABELLED.fullmatch(plain)
    action = _clean(found["action"]) if found else ""
    if not action:
        return ""
    # A thing is not an instruction: "Next: a test for it."
    return to_order(action) or _finish(_with(action) if _THING.match(action) else action)


def _turn_name(plain: str) -> str:
    found = _NAMED.fullmatch(plain)
    if found:
        return _finish(_with(found["what"]))
    comes = _COMES.fullmatch(plain)
    return _finish(_with(comes["what"] or comes["after"])) if comes else ""


def _with(thing: str) -> str:
    return f"continue with {thing[:1].lower()}{thing[1:]}"


def _turn_order(plain: str) -> str:
    found = _ORDER.fullmatch(plain) or _PRESENT.fullmatch(plain)
    order = _clean(found["action"]) if found else ""
    return _finish(order) if order else ""


_TURNS = (_turn_announcement, _turn_doing, _turn_label, _turn_name, _turn_order)


def _clean(action: str) -> str:
    """Remove the "I'll" of later clauses; return "" if it cannot be an order."""
    action = _AGAIN.sub(r"\g<link> ", action)
    return "" if _NO_ORDER.match(action) else action


def _finish(order: str) -> str:
    """Make it a sentence. A colon at its end introduced the call itself."""
    order = order.strip().rstrip(" :")
    end = "" if order.endswith((".", "!", "?", "…")) else "."
    return f"{order[:1].upper()}{order[1:]}{end}"
