"""Split a shell command line into the commands it would run, without running any.

It understands quotes, chains, groups, substitutions, redirections and here-documents, and looks
inside commands that run another one: `env`, `sudo`, `timeout`, `xargs`, `find -exec`, `sh -c`,
`eval`, `trap`. Anything else stays a word. Text that is only printed or passed on does not count as
a command.
"""

import re
from collections.abc import Iterator

import msgspec

_DEEPEST = 20
_BLANKS = " \t\r"
_ENDS = ";&|\n()"
_REDIRECTS = "<>"
_SUBSTITUTED = "$()"
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_KEYWORDS = frozenset({"if", "then", "elif", "else", "while", "until", "do", "!", "{", "}"})
SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish"})
# Programs that run the text after `-c` as a shell does.
_RUNS_TEXT = SHELLS | {"su", "script"}
_FIND_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
# Programs that run the command after them, with their one-letter options that take a value.
_RUNNERS = {
    "builtin": "",
    "busybox": "",
    "command": "",
    "doas": "uC",
    "env": "uCS",
    "exec": "a",
    "flock": "wE",
    "ionice": "cn",
    "nice": "n",
    "nohup": "",
    "parallel": "jIN",
    "setsid": "",
    "stdbuf": "ioe",
    "sudo": "ugpCTUhrtR",
    "time": "fo",
    "timeout": "sk",
    "watch": "n",
    "xargs": "InPdLsEa",
}
_WORDS_BEFORE = {"timeout": 1, "flock": 1}


class ShellCommand(msgspec.Struct, frozen=True):
    """One command: its words without quotes, the here-documents it reads, and its redirections."""

    words: tuple[str, ...]
    documents: tuple[str, ...] = ()
    overwritten: tuple[str, ...] = ()
    """The files that `>` empties before it runs."""

    @property
    def program(self) -> str:
        """The name of the program, without its folder."""
        name = self.words[0].replace("\\", "/").rsplit("/", 1)[-1]
        return name.removesuffix(".exe")


def commands(text: str, depth: int = 0) -> Iterator[ShellCommand]:
    """Yield every command that a line would run, including nested ones."""
    if depth > _DEEPEST:
        return
    for command in _Lexer(text, depth).read():
        found = [*_unwrap_command(command, depth)]
        if command.overwritten:
            # `> file` alone is a command, too.
            first = found[0] if found else ShellCommand((":",))
            found[:1] = [_add_overwritten(first, command.overwritten)]
        yield from found


def _add_overwritten(command: ShellCommand, names: tuple[str, ...]) -> ShellCommand:
    return msgspec.structs.replace(command, overwritten=(*command.overwritten, *names))


def _unwrap_command(command: ShellCommand, depth: int) -> Iterator[ShellCommand]:
    """Skip keywords, assignments and programs that run the command after them."""
    words = command.words
    while words and (words[0] in _KEYWORDS or _ASSIGNMENT.match(words[0])):
        words = words[1:]
    if not words:
        return
    bare = ShellCommand(words, command.documents)
    inner = [*_list_texts(bare)]
    if inner:
        for text in inner:
            yield from commands(text, depth + 1)
    elif bare.program in _RUNNERS and depth < _DEEPEST:
        yield from _unwrap_command(ShellCommand(_drop_runner(bare), command.documents), depth + 1)
    else:
        yield bare
        for found in _list_execs(words) if bare.program == "find" and depth < _DEEPEST else ():
            yield from _unwrap_command(ShellCommand(found), depth + 1)


def _list_texts(command: ShellCommand) -> Iterator[str]:
    """Yield the texts that a command runs as a shell would."""
    words = command.words
    if command.program == "eval":
        yield " ".join(words[1:])
    elif command.program == "trap":
        yield from words[1:2]
    elif command.program == "env" and "-S" in words[:-1]:
        yield " ".join(words[words.index("-S") + 1 :])
    elif command.program in _RUNS_TEXT:
        yield from _list_scripts(command)


def _list_execs(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the commands that `find` runs for the files it finds."""
    for place, word in enumerate(words):
        if word in _FIND_RUNS:
            rest = words[place + 1 :]
            end = next((at for at, each in enumerate(rest) if each in {";", "+"}), len(rest))
            yield rest[:end]


def _drop_runner(command: ShellCommand) -> tuple[str, ...]:
    rest, takes_word = command.words[1:], _RUNNERS[command.program]
    while rest and rest[0].startswith("-") and rest[0] != "--":
        # `-u name` takes the next word, `-uname` and `--user=name` do not.
        takes_next = rest[0][1:2] != "-" and rest[0][-1] in takes_word and len(rest[0]) == 2
        rest = rest[2:] if takes_next else rest[1:]
    if rest[:1] == ("--",):
        rest = rest[1:]
    return rest[_WORDS_BEFORE.get(command.program, 0) :]


def _list_scripts(command: ShellCommand) -> tuple[str, ...]:
    """Return the scripts that a shell would run: after `-c`, or in its here-documents."""
    for place, word in enumerate(command.words[1:], 1):
        if word.startswith("-") and not word.startswith("--") and "c" in word:
            return command.words[place + 1 : place + 2]
        if not word.startswith(("-", "+")):
            return ()
    return command.documents


class _Awaited(msgspec.Struct, frozen=True):
    """A here-document that starts on the next line, and the number of its command."""

    mark: str
    is_indented: bool
    number: int = 0


class _Lexer:
    """Reads a text once from left to right, to its end or to its closing bracket."""

    def __init__(self, text: str, depth: int, *, at: int = 0, is_inner: bool = False) -> None:
        self.at = at
        self._text = text
        self._depth = depth
        self._open = 1 if is_inner else 0
        self._is_inner = is_inner
        self._found: list[ShellCommand] = []
        self._words: list[str] = []
        self._own: list[_Awaited] = []
        self._awaited: list[_Awaited] = []
        self._drops_next = False
        self._overwrites_next = False
        self._overwritten: list[str] = []

    def read(self) -> list[ShellCommand]:
        """Return the commands in the order in which they end."""
        while self.at < len(self._text) and (self._open or not self._is_inner):
            self._step(self._text[self.at])
        self._end()
        return self._found

    def _step(self, char: str) -> None:
        if char in _BLANKS:
            self.at += 1
        elif self._text.startswith("\\\n", self.at):
            self.at += 2
        elif char == "#":
            self._until_mark("\n")
        elif char in _REDIRECTS or self._text.startswith("&>", self.at):
            self._redirect()
        elif char in _ENDS:
            self.at += 1
            self._open += {"(": 1, ")": -1}.get(char, 0)
            self._end()
            if char == "\n":
                self._read_documents()
        else:
            self._take(self._word())

    def _take(self, word: str) -> None:
        next_char = self._text[self.at : self.at + 1]
        if self._drops_next or (word.isdigit() and next_char and next_char in _REDIRECTS):
            if self._drops_next and self._overwrites_next and not word.isdigit():
                self._overwritten.append(word)
            self._drops_next = False
        else:
            self._words.append(word)

    def _end(self) -> None:
        self._drops_next = False
        number = len(self._found)
        self._awaited += (msgspec.structs.replace(each, number=number) for each in self._own)
        if self._words or self._own or self._overwritten:
            overwritten = tuple(self._overwritten)
            self._found.append(ShellCommand(tuple(self._words), overwritten=overwritten))
        self._words, self._own, self._overwritten = [], [], []

    def _redirect(self) -> None:
        start = self.at
        while self.at < len(self._text) and self._text[self.at] in "<>&|":
            self.at += 1
        sign = self._text[start : self.at]
        if sign == "<<":
            self._await_document()
        elif not self._text.startswith("(", self.at):
            self._drops_next = True
            self._overwrites_next = sign in {">", ">|", "&>", ">&"}

    def _await_document(self) -> None:
        is_indented = self._text.startswith("-", self.at)
        self.at += is_indented
        while self._text[self.at : self.at + 1] in (" ", "\t"):
            self.at += 1
        self._own.append(_Awaited(self._word(), is_indented))

    def _read_documents(self) -> None:
        for awaited in self._awaited:
            command = self._found[awaited.number]
            documents = (*command.documents, self._document(awaited))
            self._found[awaited.number] = msgspec.structs.replace(command, documents=documents)
        self._awaited = []

    def _document(self, awaited: _Awaited) -> str:
        lines: list[str] = []
        while self.at < len(self._text):
            line = self._until_mark("\n")
            self.at += 1
            if (line.lstrip("\t") if awaited.is_indented else line) == awaited.mark:
                break
            lines.append(line)
        return "\n".join(lines)

    def _word(self) -> str:
        parts: list[str] = []
        while self.at < len(self._text):
            char = self._text[self.at]
            if char in _BLANKS or char in _ENDS or char in _REDIRECTS:
                break
            parts.append(self._part(char))
        return "".join(parts)

    def _part(self, char: str) -> str:
        if char == "'":
            return self._read_quoted("'")
        if char == '"':
            return self._double_quoted()
        if char == "\\":
            self.at += 2
            return self._text[self.at - 1 : self.at].strip("\n")
        if self._text.startswith(("$'", '$"'), self.at):
            self.at += 1
            return self._part(self._text[self.at])
        return self._plain(char)

    def _plain(self, char: str) -> str:
        """Read a part that means the same inside and outside double quotes."""
        if self._text.startswith("${", self.at):
            return f"{self._read_quoted('}')}}}"
        if char == "`" or (self._text.startswith("$(", self.at) and self._depth < _DEEPEST):
            return self._substitution(char)
        self.at += 1
        return char

    def _read_quoted(self, mark: str) -> str:
        """Return the text up to the next such mark, and move past it."""
        start = self.at
        self.at += 1
        self._until_mark(mark)
        self.at += 1
        return self._text[start + (mark != "}") : self.at - 1]

    def _until_mark(self, mark: str) -> str:
        start, end = self.at, self._text.find(mark, self.at)
        self.at = len(self._text) if end < 0 else end
        return self._text[start : self.at]

    def _double_quoted(self) -> str:
        self.at += 1
        parts: list[str] = []
        while self.at < len(self._text) and (char := self._text[self.at]) != '"':
            if char == "\\" and self._text[self.at + 1 : self.at + 2] in tuple('$`"\\\n'):
                parts.append(self._text[self.at + 1])
                self.at += 2
            else:
                parts.append(self._plain(char))
        self.at += 1
        return "".join(parts)

    def _substitution(self, char: str) -> str:
        if char == "`":
            inner = _Lexer(self._read_quoted("`"), self._depth + 1)
            found = inner.read()
        else:
            inner = _Lexer(self._text, self._depth + 1, at=self.at + 2, is_inner=True)
            found = inner.read()
            self.at = inner.at
        # A `cd` inside a substitution does not affect the commands after it.
        self._found += (each for each in found if each.words[:1] != ("cd",))
        return "$PWD" if [each.words for each in found] == [("pwd",)] else _SUBSTITUTED
