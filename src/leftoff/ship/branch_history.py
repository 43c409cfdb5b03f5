"""What the commits and saves of a branch say, so that a pull request describes all of it."""

import re
from collections.abc import Sequence

import msgspec

from leftoff.checkpoint import Checkpoint, Decision
from leftoff.git.write import Repo
from leftoff.profiles import STATE_FOLDERS, TIDY_SUBJECT
from leftoff.store import CheckpointEntry, Store

# These bound the work on a branch with thousands of commits or saves.
_MOST_COMMITS = 200
_MOST_SAVES = 200
_BULLET = re.compile(r"[ \t]*(?:[-*+]|\d+[.)])[ \t]+(\S.*)")
# Lines at the end of a message that are for programs.
_TRAILER = re.compile(
    r"(?:(?:fixes|closes|resolves|refs?|related to|see) #\d+\b.*|"
    r"(?:[a-z]+-by|change-id|[a-z]+-[a-z]+-id): .*)",
    re.IGNORECASE,
)
_BREAKING = re.compile(r"\W*breaking(?:[ -]changes?)?\W*:\W*(.*)", re.IGNORECASE)
_BREAKING_SUBJECT = re.compile(r"\w+(?:\([^)\s]+\))?!: (\S.*)")


class BranchHistory(msgspec.Struct, frozen=True, kw_only=True):
    """The messages of a branch's commits, oldest first, and what its saves said."""

    messages: Sequence[str] = ()
    decisions: Sequence[Decision] = ()
    breaking: Sequence[str] = ()
    """The breaking changes that saves mention."""
    done: Sequence[str] = ()
    """What saves said about the work: the task, and what was done."""
    shipped_texts: Sequence[str] = ()
    """What was said about work that is shipped already."""

    @property
    def subjects(self) -> set[str]:
        """The first line of each message."""
        return {each.partition("\n")[0] for each in self.messages}

    @property
    def points(self) -> list[str]:
        """Everything that a message says below its subject, without repetitions."""
        return [*dict.fromkeys(each for text in self.messages for each in list_points(text))]


def list_points(message: str) -> list[str]:
    """Return what a message says below its subject: items of lists and paragraphs, one line each.

    Breaking changes and lines for programs are left out.
    """
    return [each for each in _list_parts(message) if not _BREAKING.match(each)]


def list_breaking(message: str) -> list[str]:
    """Return the breaking changes that a message mentions."""
    subject = _BREAKING_SUBJECT.match(message)
    found = [subject[1]] if subject else []
    parts = _list_parts(f"\n{message}" if subject is None else message)
    for number, part in enumerate(parts):
        if mark := _BREAKING.match(part):
            # A heading of its own announces what follows.
            found += [mark[1]] if mark[1] else parts[number + 1 :]
    return [*dict.fromkeys(found)]


def _list_parts(message: str) -> list[str]:
    """Return the lines below a subject, with those joined that belong together."""
    parts: list[str] = []
    is_open = False
    for line in message.partition("\n")[2].split("\n"):
        item = _BULLET.fullmatch(line)
        text = " ".join((item[1] if item else line.lstrip("# ")).split())
        if not text or _TRAILER.fullmatch(text):
            is_open = False
        elif item or not is_open or _BREAKING.match(line) or line.startswith("#"):
            parts.append(text)
            is_open = not line.startswith("#")
        else:
            parts[-1] += f" {text}"
    return parts


def read_messages(repo: Repo, branch: str) -> list[str]:
    """Return the messages of the commits that only this branch has, oldest first.

    Commits that only record state are left out.
    """
    remote = repo.push_remote(branch)
    base = repo.find_base(remote.name if remote else None, branch)
    found = repo.messages(base, limit=_MOST_COMMITS)
    return [each for each in found if not each.startswith(TIDY_SUBJECT)]


def read_saves(store: Store, branch: str) -> BranchHistory:
    """Return what all saves on a branch stated, oldest first."""
    entries = [each for each in store.index().newest(_MOST_SAVES) if _is_on(each, branch)]
    saves = [store.load(entry) for entry in reversed(entries)]
    decisions = {each.what: each for saved in saves for each in saved.decisions}
    return BranchHistory(
        decisions=[*decisions.values()],
        breaking=[*dict.fromkeys(each for saved in saves for each in _list_breaking(saved))],
        done=[*dict.fromkeys(each for saved in saves for each in _list_stated(saved))],
    )


def _list_stated(saved: Checkpoint) -> list[str]:
    """Return the stated task and what is done; headings, such as the days of a task, are not."""
    # The task of a save may still lie ahead; that of a ship with changes is in them.
    is_shipped = saved.trigger == "ship" and any(
        not path.startswith(STATE_FOLDERS) for path in saved.dirty
    )
    task = [saved.summary or ""] if is_shipped and "summary" in saved.stated else []
    done = [each for each in saved.done if "done" in saved.stated and not each.startswith("#")]
    lines = (" ".join(each.split()) for each in (*task, *done) if not _BREAKING.match(each))
    return [each for each in lines if each]


def _is_on(entry: CheckpointEntry, branch: str) -> bool:
    return entry.branch == branch and entry.problem is None


def _list_breaking(saved: Checkpoint) -> list[str]:
    """Return the breaking changes that somebody mentions in a checkpoint."""
    texts = [*saved.done, *saved.notes, *(each.what for each in saved.decisions)]
    texts += [*(saved.summary or "").splitlines(), *(saved.left_off or "").splitlines()]
    found = (_BREAKING.fullmatch(" ".join(each.split())) for each in texts)
    return [each[1] for each in found if each and each[1]]
