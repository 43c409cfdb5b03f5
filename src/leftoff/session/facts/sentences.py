"""Split text into sentences and list items, and find what an agent said it would do."""

import itertools
import re

from leftoff.agents.loose_values import cut
from leftoff.lazy_patterns import lazy

_LINE_END = lazy(r"\n+")
# The agent itself calls what follows the next step.
LABEL = r"\W*(?:next(?: action| steps?)?|(?:still )?to ?do|left to do)\W*:"
_LABEL = lazy(LABEL, re.IGNORECASE)
_SENTENCE_END = lazy(
    r"(?<=[.!?。！？])(?<!\b[A-Za-z]\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)(?<!\betc\.)"
    # The number of a list item belongs to the item.
    r"(?<!\b\d\.)(?<!\b\d\d\.)(?<!\.\.\.)\s+"
    # Chinese and Japanese have no space between sentences.
    r"|(?<=[。！？])(?=\w)"
    # A label begins a sentence, also after a number: "… failed with exit code 3. Next: …"
    rf"|(?<=[.!?])\s+(?=(?i:{LABEL}))"
)
# A list item, a heading or a table row stays whole.
_WHOLE = lazy(r"\s*(?:[-*•]\s|(?:\*\*)?\(?(?:\d{1,3}[.)]|[A-Ea-e]\))\s|#|\|)")
_BREAK = lazy(r"\n|(?<=[.!?。！？])\s")
_EMPTY = lazy(r"(?:\W+|`{3,}\w*|\d+[.)])$")
# "I'm adding a guard now."
_DOING = r"i['’]m (?:now |also )?(?!assum|wonder|think|see|guess|miss|hav|us|keep|leav|treat)\w+ing"
_NEXT_WORDS = lazy(
    rf"\b{_DOING}\b|"
    r"\b(?:next|now|let me|let['’]s|i['’]ll|i will|i need to|i['’]m going to|remaining|then|todo|"
    r"still (?:need|have)|should i|shall i|would you|do you want|want me to|"
    r"if you(?:['’]d)? (?:want|like))\b",
    re.IGNORECASE,
)
_PROMISE = lazy(
    rf"\b{_DOING}\b|"
    r"\b(?:let me(?! know)|i['’]ll|i will|i['’]m going to|now (?:i|let)|next,? i|i need to|"
    r"let['’]s|i still (?:need|have) to)\b"
    rf"|^{LABEL}"
    # "The tests come next." and "Next is the changelog."
    r"|(?<!\bwhat )\b(?:comes?|is|are) next[.!]?$|^next (?:comes?|is|are)\b"
    r"|接下来|下一步|让我|我(?:将|会|来|先|这就)"
    # "I change the type": nobody else is named as the one who does it.
    r"|^[^は。]*[をにへ][^は。、]{1,40}(?:ます|ましょう)。?$|겠습니다"
    r"|\b(?:als nächstes|ich werde|jetzt \w+ ich|ich \w+ (?:nun|jetzt|gleich))\b|^ensuite\b"
    r"|\bje vais\b|^a continuación\b|\bvoy a\b",
    re.IGNORECASE,
)
# What introduces a list of work that is left.
_LEFT = lazy(
    r"\W*(?:next(?: steps?| up)?|remaining(?: (?:work|steps?|tasks?|items?))?|"
    r"(?:still )?(?:to ?do|open|missing)|left(?: to do)?|still left|"
    r"what(?:['’]s| is) (?:left|next|missing))\W*",
    re.IGNORECASE,
)
_ITEM_MARK = lazy(r"(?:[-*•]|(?:\*\*)?\(?(?:\d{1,3}[.)]|[A-Ea-e]\)))\s+(?:\[ \]\s+)?")
_NUMBERED = lazy(r"(?:\*\*)?\(?(\d{1,3})[.)]\s+(?:\[ \]\s+)?(.+?)[.:;,]?$")
# "Shall I go on with 1?", not "Shall I fix the 2 tests?"
_PICKED = lazy(
    r"\b(?:with|do|fix|to|on|and|or|take|tackle|implement|items?|steps?|points?|options?|numbers?)"
    r" #?(\d{1,3})(?=\s*(?:[?,)]|(?:and|or|first|now|next|then)\b))",
    re.IGNORECASE,
)
_TICKED = lazy(r"\S+\s+\[[xX]\]")
_APPEAL = lazy(r"(?:please|tell me|let me know|send me|give me|paste|choose|pick)\b", re.IGNORECASE)
_REFERS = lazy(
    r"\b(?:it|them|both|(?:do|fix|about|address|handle|check|verify|implement|apply|make|change|add"
    r"|write|build|commit|push|merge|revert|start|try|go with|proceed with)"
    r" (?:this|that|these|those))\b",
    re.IGNORECASE,
)
_LONGEST_REFERENCE = 80
_CODE_BLOCK = lazy(r"^[ \t]*```.*?(?:^[ \t]*```[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_CODE_SPAN = lazy(r"`[^`\n]+`")
# A heading of a word or two says nothing without the text below it.
_BARE_HEADING = lazy(r"#+\s+\S+(?:\s+\S+)?$|\w+:$|[A-Z]\w+$")
SENTENCES_KEPT = 40
_LAST_SENTENCES = 8
_BARE_WORDS = 3
_NEXT_CHARS = 400
_ITEM_CHARS = 80


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text; list items and headings stay whole."""
    parts: list[str] = []
    for line in _LINE_END.split(text):
        parts += [line.strip()] if _WHOLE.match(line) else _split_line(line)
    return [part for part in parts if part and not _EMPTY.match(part)]


def split_statements(text: str) -> list[str]:
    """Return the sentences of a text without headings that say nothing on their own."""
    found = split_sentences(text)
    parts = [
        part
        for part, after in itertools.pairwise([*found, ""])
        # The heading of a list says what the list is about.
        if not _BARE_HEADING.match(part) or starts_item(after)
    ]
    return parts[:SENTENCES_KEPT] or [text]


def _split_line(line: str) -> list[str]:
    """Split a line after each sentence; a command in backticks stays whole."""
    if "`" not in line:
        return [part.strip() for part in _SENTENCE_END.split(line)]
    masked = _CODE_SPAN.sub(lambda span: "x" * len(span[0]), line)
    ends = [0, *(end.end() for end in _SENTENCE_END.finditer(masked)), len(line)]
    return [line[start:end].strip() for start, end in itertools.pairwise(ends)]


def next_and_closing_words(text: str) -> tuple[str, str]:
    """Return what the agent last said it would do or asked, and how its message ended."""
    said = _split_prose(text)
    last = said[-_LAST_SENTENCES:]
    meaningful = [n for n, s in enumerate(last) if _announces(s) or s.endswith(("?", "？"))]
    if last and last[-1].endswith(":") and len(last) - 1 not in meaningful:
        # "The fix is to drop the cache:" is what the agent was about to do.
        meaningful = [len(last) - 1]
    # "I will." says nothing beside a sentence that says what.
    whole = [n for n in meaningful if not is_bare(last[n]) or last[n].endswith("?")]
    picked = (whole or meaningful)[-2:]
    # A sentence that ends with a colon introduces the next one.
    announced = {n + 1 for n in picked if last[n].endswith(":") and n + 1 < len(last)}
    # "Let me fix it." says little without the sentence before it.
    meant = {n - 1 for n in picked[:1] if n and needs_context(last[n])}
    chosen = [last[n] for n in sorted({*picked, *announced, *meant})]
    return _cut(_join(chosen)), _cut(_find_closing(said))


def _announces(sentence: str) -> bool:
    return bool(_NEXT_WORDS.search(sentence) or _PROMISE.search(sentence))


def _join(sentences: list[str]) -> str:
    """Join sentences; one after a list item begins a new line, as it is not part of the item."""
    words = "".join(sentences[:1])
    for one, following in itertools.pairwise(sentences):
        ends_list = _WHOLE.match(one) and not _WHOLE.match(following)
        words += f"\n{following}" if ends_list else f" {following}"
    return words


def _split_prose(text: str) -> list[str]:
    """Return the sentences of a message; code blocks do not count as said."""
    return split_sentences(_CODE_BLOCK.sub("", text) if "```" in text else text)


def closes_with(text: str, words: str) -> bool:
    """Return whether a message ends with these words, and not with a list or code after them."""
    return bool(words) and text.rstrip().rstrip("*_` ").endswith(words.rstrip("*_` …"))


def _find_closing(sentences: list[str]) -> str:
    """Return the last sentence that makes sense without a list, table or code beside it."""
    prose = [s for s in reversed(sentences) if not _WHOLE.match(s)]
    whole = [s for s in prose if not s.endswith(":")]
    # "Done." says nothing, unless it is all that was said.
    meaningful = [s for s in (*whole, *reversed(prose)) if not is_bare(s)]
    is_one_word = bool(whole) and not any(" " in s for s in whole)
    if is_one_word and (listed := _find_listed(sentences)):
        return listed
    return next(iter((*meaningful, *whole, *sentences)), "").rstrip(": ")


def _find_listed(sentences: list[str]) -> str:
    """Return the first list of a message with its heading, on one line."""
    for n, (heading, first) in enumerate(itertools.pairwise(sentences)):
        if heading.endswith(":") and starts_item(first):
            items = itertools.takewhile(starts_item, sentences[n + 1 :])
            return f"{heading} {'; '.join(item.rstrip('.;') for item in items)}."
    return ""


def is_bare(text: str) -> bool:
    """Return whether a text is too short to say anything alone."""
    return len(text.split()) <= _BARE_WORDS


def last_proposal(text: str) -> str:
    """Return the question or offer that a message ends with, or its last sentence."""
    words, closing = next_and_closing_words(text)
    return words or closing


def find_question(text: str) -> str:
    """Return the question that a message ends with, if it asks one."""
    last = _split_prose(text)[-_LAST_SENTENCES:]
    return next((_cut(each) for each in reversed(last) if each.endswith("?")), "")


_ASKS_WHAT = frozenset("which what where who how".split())
# What such a question consists of if it is about nothing in particular.
_MEANS_NOTHING = frozenset(
    "one ones do does did you i we me my your it that this these those the a an to with on at from "
    "for of in is are can could shall should would will want wants like mean refer referring help "
    "next first now please exactly continue go keep going carry pick up left off resume work start "
    "task thing part file step".split()
)


def asks_nothing_particular(question: str) -> bool:
    """Return whether a question names nothing that it is about: "Which file do you mean?"."""
    words = {*re.findall(r"\w+", question.casefold())}
    return bool(words & _ASKS_WHAT) and words <= _ASKS_WHAT | _MEANS_NOTHING


def list_items_before(text: str, question: str) -> list[str]:
    """Return the items of the list right before a question; "Shall I do these?" is about them."""
    parts = _split_prose(text)
    end = parts.index(question) if question in parts else 0
    return _list_items_until(parts, end)


def resolve_numbers(text: str, question: str) -> str:
    """Add to the numbers in a question what they are in the list before: "1 (the parser)"."""
    if len(question) > _LONGEST_REFERENCE:
        return question
    parts = _split_prose(text)
    end = parts.index(question) if question in parts else 0
    while end and not _NUMBERED.match(parts[end - 1]):
        end -= 1
    items = [_NUMBERED.match(each) for each in _list_items_until(parts, end)]
    named = {each[1]: keep_start(each[2].replace("**", ""), _ITEM_CHARS) for each in items if each}
    return _PICKED.sub(
        lambda found: f"{found[0]} ({named[found[1]]})" if found[1] in named else found[0], question
    )


def list_work_left(text: str) -> list[str]:
    """Return the items of the list of next steps that a message ends with."""
    parts = _split_prose(text)
    items = _list_items_until(parts, len(parts))
    heading = parts[-len(items) - 1] if items and len(items) < len(parts) else ""
    if not _LEFT.fullmatch(heading):
        return []
    return [_ITEM_MARK.sub("", item, count=1) for item in items if not _TICKED.match(item)]


def _list_items_until(parts: list[str], end: int) -> list[str]:
    start = end
    while start and _ITEM_MARK.match(parts[start - 1]):
        start -= 1
    return parts[start:end]


def find_appeal(text: str) -> str:
    """Return the sentence in which a message asks the user for something, without a question."""
    last = _split_prose(text)[-_LAST_SENTENCES:]
    return next((_cut(each) for each in reversed(last) if _APPEAL.match(each)), "")


def promises_more(text: str) -> bool:
    """Return whether a message ends by saying what the agent does next."""
    last = _split_prose(text)[-2:]
    if not last or last[-1].endswith("?"):
        return False
    # What a colon introduced may follow as a block of code.
    is_unfinished = last[-1].endswith(":") and not text.rstrip().endswith("```")
    return is_unfinished or any(map(_PROMISE.search, last)) or bool(list_work_left(text))


_PROPOSAL = lazy(
    r"\b(?:i(?:['’]d| would)|i (?:propose|suggest|recommend)|we (?:could|can|should)"
    r"|my (?:proposal|suggestion|recommendation)"
    r"|the (?:\w+ )?(?:fix|solution|way) (?:is|would be))\b",
    re.IGNORECASE,
)


def proposes(text: str) -> bool:
    """Return whether a message ends with an announcement, a question or a proposal."""
    last = _split_prose(text)[-2:] if text else []
    is_proposed = any(map(_PROPOSAL.search, last))
    return bool(text) and (is_proposed or promises_more(text) or bool(find_question(text)))


# "Nothing else to do." and "Everything is committed."
_FINISHED = lazy(
    r"\b(?:(?:nothing|no (?:work|tasks?|steps?)) (?:else |more |is |remains? )*"
    r"(?:to do|left|remain\w*|open)|nothing (?:else|remains)"
    r"|(?:all|everything)(?:['’]s| is| are)? (?:\w+ )?"
    r"(?:done|finished|complete|committed|wrapped up)|that(?:['’]s| is) (?:all|everything|it))\b"
    r"|\balles (?:ist )?(?:erledigt|fertig)|\btout est (?:fait|fini|terminé)"
    r"|\btodo (?:está )?(?:hecho|listo)|全部(?:都)?(?:完成|做完)|(?:すべて|全て)完了",
    re.IGNORECASE,
)
# "Once everything is done, …" does not say so.
_FINISHED_LATER = lazy(
    r"\b(?:once|when|until|after|if|not|n['’]t|except|but|apart from|unless|before)\b",
    re.IGNORECASE,
)


def says_all_is_done(text: str) -> bool:
    """Return whether a message ends by saying that nothing is left to do."""
    last = _split_prose(text)[-2:]
    said = [each for each in last if _FINISHED.search(each) and not _FINISHED_LATER.search(each)]
    return bool(said) and not proposes(text)


# "2 tests in test_a.py fail." reports a failure; "The failing test is fixed." does not.
_FAILS = lazy(
    r"\b(?:fail(?:s|ed|ing)?|crash(?:es|ed)?|(?:is|are) (?:still |now )?(?:broken|red)"
    r"|(?:[1-9]\d*|one|two|three|four|five|several|some) (?:\w+ )?(?:failures?|errors?)"
    r"|(?:does|do|did)(?:n['’]t| not) (?:pass|compile|build|work)|not passing)\b",
    re.IGNORECASE,
)
_FAILS_NO_MORE = lazy(
    r"\b(?:(?:no|0|zero|without) (?:\w+ ){0,2}(?:fail\w*|errors?)|fix(?:e[sd]|ing)?|gone|"
    r"resolve[sd]?|handle[sd]?|unrelated|pre-?existing|expected|intended|instead|flaky|no longer|"
    r"used to|previously|before|earlier|would|could|if|when|on purpose|"
    r"all (?:\w+ )?pass\w*|(?:now|all) (?:green|pass\w*))\b",
    re.IGNORECASE,
)
_PASSES = lazy(r"\b(?:pass(?:es|ed|ing)?|green|succeeds?|fixed)\b", re.IGNORECASE)
_CHECKED = lazy(
    r"\b(?:tests?|specs?|suite|build|lint|checks?|pytest|jest|compil\w+|type ?check\w*|CI"
    r"|assert\w*)\b|\btest_\w+|\w_test\b",
    re.IGNORECASE,
)


def find_reported_failure(text: str) -> str:
    """Return the sentence near the end of a message that says which check fails now; "" if none."""
    # An item of a list may describe a test that expects a failure.
    last = [each for each in _split_prose(text) if not _WHOLE.match(each)][-_LAST_SENTENCES:]
    for sentence in reversed(last):
        if _CHECKED.search(sentence) and _FAILS.search(sentence):
            return "" if _FAILS_NO_MORE.search(sentence) else _cut(sentence)
        if _PASSES.search(sentence):
            return ""
    return ""


_CLAIMS_PASS = lazy(
    r"\b(?:pass(?:es|ed|ing)?|green|succeed(?:s|ed)?|fixed|gone|clean|compiles|builds"
    r"|(?:no|0|zero|without) (?:\w+ ){0,2}(?:fail\w*|errors?))\b",
    re.IGNORECASE,
)
_CLAIMS_DELIVERY = lazy(
    r"\b(?:committed|pushed|merged|published|released|rebased)\b", re.IGNORECASE
)
# "Once the tests pass, I'll push" claims nothing.
_CLAIMS_NOTHING = lazy(
    r"\b(?:not|\w+n['’]t|once|until|if|when|unless|should|would|will|could|may|might|must|"
    r"to (?:make|get)|so that|make sure|never|nothing|yet to|needs? to)\b",
    re.IGNORECASE,
)
_EXCUSES = lazy(
    r"\b(?:unrelated|pre-?existing|expected|intended|flaky|on purpose|deliberately|"
    r"known (?:issue|failure|bug)|not (?:caused|related|from)|(?:also|same) on (?:main|master)|"
    r"environment|sandbox|not installed|not available|unavailable|offline|network)\b",
    re.IGNORECASE,
)
_WAS_BROKEN = lazy(
    r"\b(?:broken|fail\w*|red) (?:already )?before\b|\balready (?:broken|fail\w*|red)\b",
    re.IGNORECASE,
)


def find_claim(text: str, *, of_delivery: bool) -> str:
    """Return the sentence in which a message claims that a check passes, or that it delivered."""
    claims = _CLAIMS_DELIVERY if of_delivery else _CLAIMS_PASS
    last = _split_prose(text)[-_LAST_SENTENCES:]
    for sentence in reversed(last):
        if claims.search(sentence) and not _CLAIMS_NOTHING.search(sentence):
            return _cut(sentence)
    return ""


def excuses_failure(text: str) -> bool:
    """Return whether a message says why a failure need not be repaired."""
    last = " ".join(_split_prose(text)[-_LAST_SENTENCES:])
    return _EXCUSES.search(last) is not None or (
        _WAS_BROKEN.search(last) is not None and not find_claim(text, of_delivery=False)
    )


def says_it_fails(text: str) -> bool:
    """Return whether the end of a message says that something fails: "It fails."."""
    last = [each for each in _split_prose(text) if not _WHOLE.match(each)][-2:]
    return any(_FAILS.search(each) and not _FAILS_NO_MORE.search(each) for each in last)


def starts_item(text: str) -> bool:
    """Return whether a line is an item of a list."""
    return _ITEM_MARK.match(text) is not None


def refers_back(text: str) -> bool:
    """Return whether a short sentence makes sense only with the one before it."""
    return len(text) <= _LONGEST_REFERENCE and _REFERS.search(text) is not None


def needs_context(sentence: str) -> bool:
    """Return whether an announcement says little alone, as does "Next: fix it."."""
    label = _LABEL.match(sentence)
    stands_alone = label is not None and not is_bare(sentence[label.end() :])
    return refers_back(sentence) and not stands_alone


def keep_start(text: str, chars: int) -> str:
    """Return the first sentences of a text that fit, each whole; if few do, words with a mark."""
    if len(text) <= chars:
        return text
    kept = cut(text, chars - 2)
    ends = [found.start() for found in (*_LINE_END.finditer(kept), *_SENTENCE_END.finditer(kept))]
    end = max(ends, default=0)
    return kept[:end].rstrip() if end >= chars // 2 else f"{kept.rstrip()} …"


def keep_end(text: str, chars: int) -> str:
    """Return the last sentences of a text that fit, each whole."""
    if len(text) <= chars:
        return text
    start = len(text) - chars
    found = _BREAK.search(text, start)
    kept = text[found.end() :] if found else text[start:].partition(" ")[2]
    # The rest of a block of code says nothing without its beginning.
    kept = (kept.partition("```")[2] if kept.count("```") % 2 else kept).strip()
    heading = _find_heading(text[: text.rfind(kept)]) if starts_item(kept) else ""
    return f"{heading}\n{kept}" if heading else kept


def _find_heading(text: str) -> str:
    """Return the line above the items of a list that a text ends with."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    while lines and starts_item(lines[-1]):
        lines.pop()
    return lines[-1] if lines and len(lines[-1]) <= _NEXT_CHARS else ""


def _cut(text: str) -> str:
    return text if len(text) <= _NEXT_CHARS else f"{cut(text, _NEXT_CHARS).rstrip()} …"
