"""Parse the words of a git call into options, their values and arguments."""

from collections.abc import Sequence

import msgspec

# Options before the subcommand that take the next word.
_GLOBAL = frozenset(
    {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix"}
)
_FOLDERS = frozenset({"-C", "--git-dir", "--work-tree"})
# Letters and names of options that take the next word, by subcommand.
_VALUED = {
    "push": ("o", {"--push-option", "--repo", "--receive-pack", "--exec"}),
    "clean": ("e", {"--exclude"}),
    "branch": ("u", {"--set-upstream-to", "--contains", "--no-contains", "--points-at", "--sort"}),
    "checkout": ("bB", {"--orphan", "--conflict"}),
    "switch": ("cC", {"--create", "--force-create", "--orphan", "--conflict"}),
}
_SHORTEST = 4


class GitCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call of git, or of another program with the same option syntax."""

    name: str = ""
    letters: frozenset[str] = frozenset()
    """One-letter options, including those written together."""
    names: frozenset[str] = frozenset()
    """Long options, without their values."""
    values: tuple[tuple[str, str], ...] = ()
    words: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    """What follows `--`."""
    has_paths: bool = False
    folders: tuple[str, ...] = ()
    """The folders given with `-C`, `--git-dir` or `--work-tree`."""
    has_alias: bool = False
    """Whether the call itself defines an alias."""

    @classmethod
    def from_words(cls, words: Sequence[str], folders: Sequence[str] = ()) -> "GitCall":
        """Parse the words of a call, which starts with the subcommand."""
        name, rest = words[0], list(words[1:])
        end = rest.index("--") if "--" in rest else len(rest)
        options = _Options(*_VALUED.get(name, ("", set())))
        for word in rest[:end]:
            options.take(word)
        return cls(
            name=name,
            letters=frozenset(options.letters),
            names=frozenset(options.names),
            values=tuple(options.values),
            words=tuple(options.words),
            paths=tuple(rest[end + 1 :]),
            has_paths=end < len(rest),
            folders=tuple(folders),
        )

    def has(self, letters: str, name: str) -> bool:
        """Return whether an option is given, by a letter or its name, which may be shortened."""
        is_cut = (
            len(each) >= _SHORTEST and name.startswith(each)
            for each in self.names
            # Three options of git start with --force, so git accepts no shortened form.
            if name != "--force"
        )
        return bool(self.letters.intersection(letters)) or name in self.names or any(is_cut)

    def value(self, letter: str, name: str = "") -> str:
        """Return the value of an option; empty if it has none."""
        wanted = {letter, name} - {""}
        return next((value for key, value in self.values if key in wanted), "")


def parse_git_call(words: Sequence[str]) -> GitCall:
    """Parse the words after `git`; its global options come before the subcommand."""
    rest, folders, has_alias = list(words), [], False
    while rest and rest[0].startswith("-"):
        name, equals, value = rest[0].partition("=")
        if name in _FOLDERS:
            folders += [value] if equals else rest[1:2]
        has_alias |= rest[0] == "-c" and rest[1:2] != [] and rest[1].startswith("alias.")
        rest = rest[2:] if rest[0] in _GLOBAL else rest[1:]
    call = GitCall.from_words(rest, folders) if rest else GitCall()
    return msgspec.structs.replace(call, has_alias=has_alias) if has_alias else call


class _Options:
    def __init__(self, valued_letters: str, valued_names: set[str]) -> None:
        self._valued_letters = valued_letters
        self._valued_names = valued_names
        self._awaiting = ""
        self.letters: set[str] = set()
        self.names: set[str] = set()
        self.values: list[tuple[str, str]] = []
        self.words: list[str] = []

    def take(self, word: str) -> None:
        if self._awaiting:
            self.values.append((self._awaiting, word))
            self._awaiting = ""
        elif word.startswith("--"):
            name, equals, value = word.partition("=")
            self.names.add(name)
            if equals:
                self.values.append((name, value))
            elif name in self._valued_names:
                self._awaiting = name
        elif word.startswith("-") and len(word) > 1:
            self._take_letters(word[1:])
        else:
            self.words.append(word)

    def _take_letters(self, letters: str) -> None:
        for place, letter in enumerate(letters):
            self.letters.add(letter)
            if letter in self._valued_letters:
                rest = letters[place + 1 :]
                self.values += [(letter, rest)] if rest else []
                self._awaiting = "" if rest else letter
                return
