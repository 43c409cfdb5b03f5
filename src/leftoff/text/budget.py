"""Count tokens, and fit sections of text into a budget by the weight of their items.

Items are tried from the heaviest to the lightest, and each one that still fits is kept whole. A
larger budget therefore drops an item only for a heavier one. An item brings along what it needs to
make sense: the heading of its section, and the item that it is a part of.
"""

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import msgspec

from leftoff.text.fence import Rendered, join, say

# The sum of fractions depends slightly on the order in which they are added.
_ROUNDING = 1e-6


class Item(msgspec.Struct, frozen=True):
    """A text that is kept whole or left out; light items are left out first."""

    text: Rendered
    weight: float
    parts: "Sequence[Item]" = ()
    """Items below it that make no sense without it."""
    lead: Rendered = say("")
    """How the text ends if parts follow, such as a colon."""
    short: Rendered = say("")
    """What to show if the text does not fit."""
    count: int = 1
    """How many things it names."""


class Section(msgspec.Struct, frozen=True):
    """Items under a heading, which is shown only with one of them."""

    heading: Rendered
    items: Sequence[Item]
    cut: Callable[[int], Rendered] | None = None
    """Renders a last line that says how many things were left out; None adds no line."""


class Limit(msgspec.Struct, frozen=True):
    """How much of something all lines may use together."""

    most: float
    measure: Callable[[str], float]


def limit_tokens(most: float) -> Limit:
    """Limit the tokens that a text costs."""
    return Limit(most - _ROUNDING, price)


def limit_lines(most: int) -> Limit:
    """Limit the number of lines of a text."""
    return Limit(most, lambda text: text.count("\n"))


def limit_width(most: int) -> Limit:
    """Limit the length of a text as a JSON string, without its quotes."""
    return Limit(most, measure_width)


def measure_width(text: str) -> int:
    """Return the length of a text as a JSON string, without its quotes."""
    return len(msgspec.json.encode(str(text)).decode()) - 2


def fit(sections: Sequence[Section], limits: Sequence[Limit]) -> list[Rendered]:
    """Return the part of each section that fits; empty if nothing does."""
    room = _Room(limits)
    groups = [_Group(section) for section in sections]
    nodes = [node for group in groups for node in group.nodes]
    # The sort is stable: of equal weights, the first in the text is tried first.
    for node in sorted(nodes, key=lambda each: -each.weight):
        node.try_to_keep(room)
    return [group.render() for group in groups]


def fit_first(lines: Sequence[Rendered], limits: Sequence[Limit]) -> list[Rendered]:
    """Return as many lines as fit, from the first one on and without a gap."""
    room = _Room(limits)
    for number, line in enumerate(lines):
        if not room.take(f"{line}\n"):
            return [*lines[:number]]
    return [*lines]


class _Room:
    """What is left of each limit."""

    def __init__(self, limits: Sequence[Limit]) -> None:
        self._limits = limits
        self._left = [limit.most for limit in limits]

    def take(self, added: str, removed: str = "") -> bool:
        """Use room for lines in place of others; return whether there is enough."""
        left = [
            most - limit.measure(added) + (limit.measure(removed) if removed else 0)
            for limit, most in zip(self._limits, self._left, strict=True)
        ]
        if any(most < 0 for most in left):
            return False
        self._left = left
        return True


class _Node:
    """An item while its section is being fitted."""

    def __init__(self, item: Item, head: "_Node | None", group: "_Group") -> None:
        self.item = item
        self.head = head
        self.group = group
        # A part is never tried before its head.
        self.weight: float = item.weight if head is None else min(item.weight, head.weight)
        self.kept = say("")
        self.parts = [_Node(part, self, group) for part in item.parts if part.text]

    @property
    def text(self) -> Rendered:
        """The text of the item itself, as it will be shown."""
        leads = any(part.kept for part in self.parts)
        return join([self.kept, self.item.lead], "") if leads else self.kept

    def try_to_keep(self, room: _Room) -> None:
        """Keep the item if it fits together with everything it needs."""
        if self.head is not None and not self.head.kept:
            return
        for text in (self.item.text, self.item.short):
            if text and room.take(*self._exchange(f"{text}\n")):
                self.kept = text
                return

    def _exchange(self, line: str) -> tuple[str, str]:
        """Return the lines to add, and those to remove, if the item is kept."""
        if self.head is None:
            return self.group.exchange(line)
        head, lead = self.head.kept, self.head.item.lead
        if not lead or self.head.text != head:
            return line, ""
        return f"{head}{lead}\n{line}", f"{head}\n"

    def walk(self) -> "Iterator[_Node]":
        yield self
        for part in self.parts:
            yield from part.walk()


class _Group:
    """A section while it is being fitted."""

    def __init__(self, section: Section) -> None:
        self._section = section
        self._tops = [_Node(item, None, self) for item in section.items if item.text]
        self.nodes = [node for top in self._tops for node in top.walk()]

    def exchange(self, line: str) -> tuple[str, str]:
        """Return the lines to add, and those to remove, if one more item is kept."""
        missing = sum(not top.kept for top in self._tops)
        # While some are missing, there must be room for the line that says how many.
        cut = f"{self._cut(self._tops)}\n" if self._section.cut else ""
        if missing == len(self._tops):
            heading = f"{self._section.heading}\n" if self._section.heading else ""
            return f"{heading}{line}{cut if missing > 1 else ''}", ""
        return line, cut if missing == 1 else ""

    def render(self) -> Rendered:
        kept = [node.text for node in self.nodes if node.kept]
        if not kept:
            return say("")
        missing = [top for top in self._tops if not top.kept]
        return join([self._section.heading, *kept, self._cut(missing)])

    def _cut(self, missing: "Sequence[_Node]") -> Rendered:
        if self._section.cut is None or not missing:
            return say("")
        return self._section.cut(sum(top.item.count for top in missing))


# --- counting tokens ---
#
# Claude 4.7 and later need the most tokens of all models we measured: one for about 2.3 characters
# of a briefing, the others one for 3.0 to 3.7. So the estimate counts as they do: it divides every
# word and every run of marks into pieces that cost one token each. The tables contain the pieces
# that sessions use most. What they do not contain is divided further, at worst into single
# characters, so a missing piece makes the estimate higher, never lower.
#
# Letters of other scripts have only an average price. docs/budget.md lists what was measured, and
# for which texts the estimate is an upper bound.


# Words that are one token.
_WHOLE = frozenset(
    """
    A a about above access account across action active add added address After after again
    against align All all already also always An an and another any API api app append
    application are args around array as async at author available await B b back background
    base based be because been before being below better between block body border both box
    break build building built But but by C c call called can case center change char check
    child class client close co code color column com command common component components config
    console const container content context control core could count create created current D d
    data database date db de def default define description design details development device
    did different display div django do document does don done during E e each either else email
    en end env err error even event events every example except export external F f False false
    features field File file files final find first following font For for force form format
    found free From from full func function future g General get git github given global go got
    green group H h has have head header help here home host How how href html http https I i id
    If if image img import In in include included including index info information init input
    install int into io is It it item items its j java job join js json just k key known l label
    language large last later least left len length let level li library License license like
    line link links List list load local location log login long look M m made main make many
    map match max may md me means message method might model models module more most move must
    my n name named names native need net never New new next No no node non None none not note
    now null number o object of off old On on once one only open option options or order org
    original os other our out output over override own P p package page param params part
    password path per place please port position post print private process product production
    program project property public published push py python q query question R r range re react
    read README real received record red references region register related release render
    report req request require required res research response result results return review right
    root row run running S s same save script search second section security See see select self
    send server service session set several share short should show side since single size small
    so software some something source span special split src start started state static status
    step still store str String string style success such support system T t table take target
    task td template test text than That that The the their them then There there These these
    they This this those through time title To to token too top total True true try two type
    types U u under union up update url us use used User user username users using util v value
    values var version very via view void w want was way We we web website well were What what
    When when where which while why width will window with within without word words work
    working works would write written www X x y You you your z
    """.split()
)
# How other words begin, go on and end.
_FIRST = frozenset(
    """
    A a ab abs ac acc act ad add addit adm adv ag al all am an anal ann answ AP ap app appl
    appro ar arch archit arg art as ass at att au aud aut auth autom av B b ba bab back bas bat
    be beg beh ben bi bin bl bo br bran bre bri bro brow bu buil by C c ca cal call cap cat ch
    chang char charac chec cho cl cla class clos CO co cod col coll com comm committ comp compl
    complet comput con conc cond conf config conn cons const cont contain contin conv cop cor
    corre coun count cr cre create cred cs cur curr cust custom D d da dat dav de deb dec def
    defin del dep der des det determ dev develop di direct dis disc dist do doc docum dom down
    dr du E e ear eas ech ed edit eff el em emb emp en enc end eng ent environ equ err es esc
    est et ev ever ex exam exec execut exist exp exper expl ext F f fa fail fe fil fin find fl
    fo fol foll for form fr fram funct G g ge gener get gl glob go gr gra gre gro gu H h hand
    happ har he head hel high hom I i ic id ident im imp impl import impro IN In in inc includ
    ind init ins inst install int integ inter intern inv is iss it J j K k ke kn L l lab lat lay
    le lear leg lib lic lik lim lin list liter lo loc local log long loo M m ma mac mach mak man
    manag mar mark mat me mem mer mess MET met meth mig min miss mo mod mon ms mult N n na need
    new no norm not np num O o ob obj off om on op open oper opt or organ orig ot out over ow P
    p pa pack par part pass pat per perform perm pers ph pl plac plan plat play PO po polic pos
    poss pr pre prec previ prim print pro probl process produ prof prog program proj prom proper
    prot prov provid publ pur Q q qu que quest R r ra RE re read real rec red ref reg regist rel
    rele rem remov ren rep repl requ res resp respon rest ret retur rev ro rout run S s sa saf
    sc sch scre se sear sec seg sel sem separ ser set sett sh show sign sil sim simil sk sl sn
    sol sp spec spring ST St st sta stand star start stat ste stor str stre stru struct su sub
    subm success summ sup sur sv swit sy sym syst T t ta tak targ techn tel tem templ ter test
    TH th them thro tim to tod tou tr tra trans transl tri tru tur tw tx typ U u un und underst
    unt up upd UR ur US us use ut V v val valid vari ver vers vict vis W w wa war we web wh wind
    wor work writ X x Y y z
    """.split()
)
_INNER = frozenset(
    """
    AB ab able AC ac ach ack act AD ad af ag age ail ain air ak AL al all am ame AN an anc and
    ang ann ant Ap ap app AR Ar ar ard arg art AS as asc ash ass ast AT at ata ate ateg ath
    ation att au av aw ay bo By cc ce Ch ch ck Cl cl Col Com Con con Cont ct dd der dit du ear
    eb EC ec ect ed edi ef eg eh ej EL el ell em ement emp EN en enc end ens ent eP ep epend equ
    ER Er er erc erg erm ers ert ES es esc esp ess est ET et ett ev ew Ex ex ext fer ff fl For
    for form fram ft gg gin gu he her ial ializ ib IC ic ick ict id ie ient if ific ig igh ign
    IL il ild ile ill Im im IN In in ind ine ing int io ion ip ir ire IS is isp iss ist IT it
    ith itt ity iv ix iz kn ks kt ld le led let li ll lo lt lu Man min Mod nc nd ne ni nt Ob ob
    oc ock OD od og oint ok ol oll om omm omp ON on ond ong ont oo ook oot op OR or ord orm ort
    os osit oss ost ot oth ou oun our ov ow own oz Par par per ph pl plo pon por port pos pp pr
    Pro pro pt put qu ra rac rad ran RE Re re red reg Res res ress ri rib ribut ring rip RO ro
    rom ron rop ru ruct ry Sc sc se ser Serv Sh sh sk sl sp ss St st sw te ter tern Th th tic To
    tt tur ub ud ue ug UL ul ular ull ult um un und up UR ur ure urs us ush ust ut Val ve vent
    ver vers vi wor yb yc yg yl yn yp yS ys yst yt
    """.split()
)
_LAST = frozenset(
    """
    A a ab ability able ables ac ace ach ache ached ack act ad ada ade ader ading ads ag age
    ager ages ags ai ail ails ain ained ains air ait ak al ale ality all ally als am ame ample
    ams an ance and ands ang ano ans ant ants ap ape ar ard ards are ared ark ars art ary as ase
    ases ash ask ason ass ast at ata ate ated ately ates ath ather ating ation ations ative ator
    ators ats ature ault ause ave ax ay ays B b ba back C c ca ce ced ception ces ch ched ches
    ching ci ck ct ction D d Data ded den der ders ding ds E e ea ead ean ear ec ect ected
    ection ections ects ED ed ee ees ef el ell ello els ely em ema ement ements ems en ename
    ence ences ency end ended ending ends ening ens ension ent ented ential ently ents ep ept ER
    er ere ered ering ern ero Error ers ert ery ES es ess ession est ested ests ET et ete ether
    ets ety ev ever ew ework ex ext ey F f face ference ff form ft ful G g ge ged ger ges ging
    ground H h ha her I i ia ial ially ials ian ias ib ible ic ical ically ication ice ices ick
    ics ict ID Id id ide ided ider ides ie ied ield ields ient ier ies if ific ification ified
    ify ig ight ights ign il ile ility ill ills ils ily im ime in ind ine ined ines ING ing ings
    ini ining ins int ints io ION ion ional ions ior ip ir ire ires is ise ises ish ished ision
    ission ist ists it ite ited ith ities ition its ity ium ive ived ively ives ix ization ize
    ized j ject K k ke ked ken ker ket ki king ks L l le led ler les less li line ling ll ller
    load ls ly M m ma ME me ment ments ming ML ml ms N n Name name ND ned ner ni ning ns O o ob
    ock od ode ods of og ok ol old ole om ome ON on one ong ons ook ool ools op ope ops or ora
    ore ored ores ories ors ort ory os ose ository ost ot ote ount our ource ources ous ously
    out ove over ow own ows ox P p ped per ph ping ple ples ply port ported ports ps ption put q
    R r ra ract ration ray re read ready ream red ree ref ren ress ression ret ri ries right
    ring ript ro ross ry S s se self ser ses set side son ss ST State String T t ta te ted ten
    ter ters Text th ths ties ting to ts ture ty Type U u ual ually ub ude ue ues ug ui ul ular
    ule ules ull ully ult ults um ume ument un up ups ure ured ures us used ust ut ute ution ux
    V v val ve ved ven ver ves view ving W w ward ware ws X x Y y ying ync ype ys ything z ze
    """.split()
)
# Sessions use two dashes, the bullet, the ellipsis, an arrow and a line like other marks. Patterns
# with such characters take ten times longer to compile, so control characters stand in for them.
_STAND_INS = str.maketrans(
    "\u2013\u2014\u2022\u2026\u2192\u2500\x80\x81\x82\x83\x84\x85",
    "\x80\x81\x82\x83\x84\x85" + 6 * "\u2bff",
)
_SIDES = ((" ", ""), ("", " "), (" ", " "))
# Runs of marks that are one token; "~" is a space beside them, which then costs nothing.
_MARKS = frozenset(
    piece.replace("~", " ")
    for piece in r'''
    !~ "" ") "). "); ")~ ", "," ",~ ". ": ":~ "; "> "~ #### ###### ######## ############
    ################ ###~ ##~ #~ ${ %~ &~ '' ') '); ')~ ', ',~ ': ':~ '; '~ (" (' (( () ()) ());
    (). (); ()~ ([ ({ (~ )) )); ), ),~ ). ).~ ): ):~ ); );~ )~ ** **** ****** ********
    ************ **~ *~ ++ ,~ -- --- ---- ------ -> -~ ." ."~ .,~ .. ... .... ...... ........
    ............ ................ ...~ ../ ./ ._ .~ // /// //// //~ :// :: :~ ;~ </ <~ =" =' ==
    === ==== ====== ======== ============ ================ ==~ ={ =~ >< ></ >~ ???? ?~ [" [' ](
    ]) ], ],~ ]. ]; ][ ]~ __ ____ ______ ________ `` `~ |~ }) }); }, }; }~ ~! ~!=~ ~" ~""" ~"~
    ~# ~#~ ~$ ~% ~%~ ~& ~&&~ ~&~ ~( ~()~ ~) ~); ~* ~** ~*/ ~*~ ~+ ~+=~ ~+~ ~,~ ~- ~-- ~-~ ~. ~.~
    ~/ ~// ~//~ ~/> ~/~ ~: ~:=~ ~:~ ~< ~</ ~<~ ~= ~===~ ~==~ ~=>~ ~=~ ~> ~>~ ~@ ~[ ~[] ~\ ~_ ~__
    ~` ~{ ~{~ ~| ~||~ ~|~ ~} ~}) ~}); ~}, ~}; ~}~
    '''.split()
) | {
    *(f"{before}{mark}{after}" for mark in "\x80\x81\x82\x83" for before, after in _SIDES),
    " \x84",
    " \x84 ",
    4 * "\x85",
}
_LONGEST_PIECE = max(map(len, _FIRST | _INNER | _LAST))
_LONGEST_MARKS = max(map(len, _MARKS))
_LONGEST_BLANKS = 16
# A text that is put between others can cost one token more on each side.
_EDGES = 2

_WORD = re.compile(r"[A-Za-z]+")
# Gemini counts every digit, the others every three.
_DIGIT = re.compile(r"[0-9]")
# With the spaces beside it: the one between two runs belongs to both.
_MARK_RUN = re.compile("( ?[!-/:-@[-`{-~\x80-\x85]+)(?=( ?))")
# A single space costs nothing between words and marks.
_BLANKS = re.compile("\n+|\t+| {2,}|(?<![!-/:-~\x80-\x85]) | (?![!-/:-~\x80-\x85])")
# Between two symbols, it costs one token for each.
_BETWEEN_SYMBOLS = re.compile("(?<=[^\x00-\x85]) (?=[^\x00-\x85])")
# An apostrophe and these letters are one token, not two.
_CONTRACTION = re.compile(r"(?<=[A-Za-z])'(?:s|t|re|ve)(?!\w)")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f]")

# First and last character of each script, in order, and the price of a character. A regular
# expression for each script would take longer to compile than the rest of a session start.
_SCRIPTS: tuple[tuple[str, str, float], ...] = (
    ("\x86", "\xbf", 2.2),
    ("\xc0", "\u024f", 2.2),
    ("\u0370", "\u03ff", 1.38),
    ("\u0400", "\u052f", 0.64),
    ("\u0590", "\u05ff", 1.38),
    ("\u0600", "\u06ff", 1.25),
    ("\u0900", "\u0dff", 2.15),
    ("\u0e00", "\u0e7f", 1.88),
    ("\u1e00", "\u1eff", 2.4),
    ("\u2000", "\u2017", 3.0),
    ("\u2018", "\u201d", 2.0),
    ("\u201e", "\u24ff", 3.0),
    ("\u2500", "\u259f", 2.0),
    ("\u25a0", "\u2bff", 3.0),
    ("\u3000", "\u303f", 2.1),
    ("\u3040", "\u30ff", 0.83),
    ("\u3400", "\u9fff", 1.63),
    ("\uac00", "\ud7a3", 1.39),
    ("\ufe00", "\ufe0f", 3.0),
    ("\uff00", "\uff1f", 2.5),
    ("\uff20", "\uffef", 3.0),
)
_FIRSTS = [first for first, _, _ in _SCRIPTS]
# What the bytes of a character cost if no piece contains it.
_DEAREST = 4.0
_RARE = 3.0
# How long the frequent Korean syllables are in EUC-KR, which spells out the others.
_EUC_BYTES = 2


def estimate(text: str) -> int:
    """Estimate from above how many tokens a text costs."""
    return math.ceil(_EDGES + price(text)) if text else 0


def price(text: str) -> float:
    """Return what whole lines add to the estimate of a longer text."""
    text = text if text.isascii() else text.translate(_STAND_INS)
    words = Counter(_WORD.findall(text))
    marks = Counter(_MARK_RUN.findall(text))
    total: float = sum(_count_word_pieces(word) * times for word, times in words.items())
    total += sum(_count_mark_pieces(*run) * times for run, times in marks.items())
    total += sum(-(-len(run) // _LONGEST_BLANKS) for run in _BLANKS.findall(text))
    total += len(_CONTROL.findall(text)) - len(_CONTRACTION.findall(text))
    total += len(_DIGIT.findall(text))
    return total if text.isascii() else total + _price_scripts(text)


@lru_cache(maxsize=4096)
def _count_word_pieces(word: str) -> int:
    if word in _WHOLE:
        return 1
    lower = word.lower()
    if lower[1:] == word[1:] and lower != word:
        # The capital costs one token more, unless the table has the word with it.
        return 1 + _count_word_pieces(lower)
    # Without a piece for its beginning or end, a word costs one token more there.
    start = _find_longest(_FIRST, word, 0, _LONGEST_PIECE)
    pieces = 2
    # A longer slice would make the cost of a very long word grow with its square.
    while start < len(word) and word[start : start + _LONGEST_PIECE + 1] not in _LAST:
        start = max(_find_longest(_INNER, word, start, _LONGEST_PIECE), start + 1)
        pieces += 1
    return pieces


@lru_cache(maxsize=1024)
def _count_mark_pieces(marks: str, after: str) -> int:
    run = marks + after
    start = pieces = 0
    while start < len(run):
        start = max(_find_longest(_MARKS, run, start, _LONGEST_MARKS), start + 1)
        pieces += 1
    return pieces


def _find_longest(pieces: frozenset[str], text: str, start: int, longest: int) -> int:
    """Return where the longest piece that begins here ends, or `start` if there is none."""
    for end in range(min(len(text), start + longest), start, -1):
        if text[start:end] in pieces:
            return end
    return start


def _price_scripts(text: str) -> float:
    counts = Counter(text)
    total = sum(
        _price_character(character) * times
        for character, times in counts.items()
        if character > "\x85"
    )
    return total + len(_BETWEEN_SYMBOLS.findall(text))


def _price_character(character: str) -> float:
    _, last, price = _SCRIPTS[bisect_right(_FIRSTS, character) - 1]
    if character > last:
        return _DEAREST
    return _RARE if character >= "\u3400" and _is_rare(character) else price


def _is_rare(character: str) -> bool:
    """Return whether an ideograph or a Korean syllable is not among the frequent ones."""
    if "\uac00" <= character <= "\ud7a3":
        return len(character.encode("euc_kr", "ignore")) != _EUC_BYTES
    if character > "\u9fff":
        return False
    # Both encodings put the frequent characters first: level 1 of GB 2312 and of Big5.
    simplified = character.encode("gb2312", "ignore")[:1]
    traditional = character.encode("big5", "ignore")[:1]
    return not (b"\xb0" <= simplified <= b"\xd7" or b"\xa4" <= traditional <= b"\xc6")
