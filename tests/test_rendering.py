"""Text reaches a model or a terminal only through the fence."""

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import leftoff
from leftoff.agents.dialects import DIALECTS
from leftoff.agents.hook_events import Reply
from leftoff.hooks import (
    advice,
    after_compaction,
    answer,
    answer_compaction,
    context_policy,
    context_usage,
    start,
)
from leftoff.hooks.offers import StartReply
from leftoff.knowledge import features
from leftoff.text import fence
from leftoff.text.fence import Rendered
from leftoff.threads import briefing, memory_briefing

ROOT = Path(leftoff.__file__).parent
SOURCES = {str(path.relative_to(ROOT)): path for path in ROOT.rglob("*.py")}
# Keys of what hooks print: code that writes one makes a reply.
REPLY_KEYS = {
    "additionalContext", "systemMessage", "permissionDecisionReason", "hookSpecificOutput",
}  # fmt: skip
ALLOWED_WRITERS = {
    "hooks/start.py",  # a reply
    "hooks/answer.py",  # a reply
    "__main__.py",  # the version, the status line
    "cli/snapshot_command.py",  # `snapshot patch`: what git wrote, byte for byte
    "cli/show.py",  # `show --raw` into a pipe: the file, byte for byte
    "cli/__init__.py",  # flushes
    "cli/app.py",
}


def as_written(source: str) -> str:
    """Return an expression as this Python writes it; quotes differ between versions."""
    return ast.unparse(ast.parse(source, mode="eval"))


ALLOWED_ECHOES = {
    # A step of our own, with the carriage return that lets the next line overwrite it.
    as_written("""f"{'....' if name else '':<6}{name:<{_NAME_WIDTH}}\\r" """.strip()),
    # The help page, all of which is ours.
    "help_page",
}
UNKNOWN = ast.Constant(value=None)


@pytest.fixture(scope="module", autouse=True)
def _forget() -> Iterator[None]:
    """Let go of the trees at the end: all of them are a hundred megabytes."""
    yield
    for function in (parse, nodes, calls):
        function.cache_clear()


@cache
def parse(name: str) -> ast.Module:
    return ast.parse(SOURCES[name].read_text(encoding="utf-8"), name)


@cache
def nodes(name: str) -> list[ast.AST]:
    return [*ast.walk(parse(name))]


@cache
def calls(name: str) -> list[ast.Call]:
    return [node for node in nodes(name) if isinstance(node, ast.Call)]


def called(call: ast.Call) -> str:
    """Return the last name of what is called."""
    return dotted(call.func).rpartition(".")[2]


def dotted(value: ast.expr) -> str:
    """Return a name with its module, as it stands in the source."""
    if isinstance(value, ast.Attribute):
        return f"{dotted(value.value)}.{value.attr}"
    return value.id if isinstance(value, ast.Name) else ""


def fence_calls(name: str, function: str) -> list[ast.Call]:
    ways = {function, f"fence.{function}"}
    return [call for call in calls(name) if dotted(call.func) in ways]


def constants(tree: ast.AST) -> dict[str, list[ast.expr]]:
    """Return what each name is set to, anywhere in a module."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                found.setdefault(getattr(target, "id", ""), []).append(node.value)
        elif isinstance(node, ast.arg):
            found.setdefault(node.arg, []).append(UNKNOWN)
    return found


def is_ours(value: ast.expr, known: dict[str, list[ast.expr]]) -> bool:
    """Say whether a text is written out in the source, with nothing from outside in it."""
    if isinstance(value, ast.Constant):
        return isinstance(value.value, str)
    if isinstance(value, ast.IfExp):
        return is_ours(value.body, known) and is_ours(value.orelse, known)
    if isinstance(value, ast.BinOp):
        return is_ours(value.left, known) and is_ours(value.right, known)
    if isinstance(value, ast.Name):
        return all(is_ours(each, known) for each in known.get(value.id, [UNKNOWN]))
    if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
        module = f"cli/{value.value.id}.py"
        known_there = constants(parse(module)) if module in SOURCES else {}
        there = known_there.get(value.attr, [UNKNOWN])
        return value.attr.isupper() and all(is_ours(each, {}) for each in there)
    return False


def written_keys(name: str) -> set[object]:
    """Return the keys of dicts that a module writes."""
    found: set[object] = set()
    for node in nodes(name):
        if isinstance(node, ast.Dict):
            found |= {each.value for each in node.keys if isinstance(each, ast.Constant)}
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            found |= {node.slice.value} if isinstance(node.slice, ast.Constant) else set()
    return found


def test_only_the_fence_makes_rendered_text() -> None:
    made = {
        name
        for name in SOURCES
        for call in calls(name)
        if called(call) == "Rendered"
        or (called(call) == "cast" and "Rendered" in ast.dump(call.args[0]))
    }

    assert made == {"text/fence.py"}


def test_what_we_say_is_written_out_in_the_source() -> None:
    unclear = []
    for name in set(SOURCES) - {"text/fence.py"}:
        known = constants(parse(name))
        templates = [call.args[0] for call in fence_calls(name, "say")]
        joints = [each for call in fence_calls(name, "join") for each in call.args[1:2]]
        unclear += [
            f"{name}: {ast.unparse(each)}"
            for each in [*templates, *joints]
            if not is_ours(each, known)
        ]

    assert unclear == []


def test_only_dialects_make_replies() -> None:
    makers = {
        name
        for name in SOURCES
        if written_keys(name) & REPLY_KEYS or any(called(call) == "Reply" for call in calls(name))
    }

    allowed = {"agents/hook_events.py", *(name for name in SOURCES if name.endswith("_dialect.py"))}
    assert makers <= allowed


def test_only_known_modules_write_to_the_standard_output() -> None:
    writers = {
        name
        for name in SOURCES
        for node in nodes(name)
        if (isinstance(node, ast.Call) and called(node) == "print")
        or (isinstance(node, ast.Attribute) and dotted(node) == "sys.stdout")
    }

    assert writers == ALLOWED_WRITERS


@pytest.mark.parametrize("name", ["hooks/start.py", "hooks/answer.py"])
def test_hooks_print_nothing_but_the_reply(name: str) -> None:
    written = [call.args[0] for call in calls(name) if called(call) == "write"]
    names = {node.id for each in written for node in ast.walk(each) if isinstance(node, ast.Name)}

    assert written
    assert names == {"reply"}


def is_printable(value: ast.expr, known: dict[str, list[ast.expr]]) -> bool:
    if ast.unparse(value) in ALLOWED_ECHOES:
        return True
    if isinstance(value, ast.Call):
        return called(value) == "printable"
    if isinstance(value, ast.Name) and value.id in known:
        return all(is_printable(each, known) for each in known[value.id])
    return is_ours(value, known)


def test_whatever_is_shown_on_a_terminal_is_made_printable() -> None:
    raw = []
    for name in SOURCES:
        known = constants(parse(name))
        shown = [
            call.args[0]
            for call in calls(name)
            if call.args
            and dotted(call.func) in {"click.echo", "click.secho", "click.prompt", "click.confirm"}
        ]
        raw += [f"{name}: {ast.unparse(each)}" for each in shown if not is_printable(each, known)]

    assert [each for each in raw if not each.startswith("cli/app.py")] == []


def test_all_that_makes_a_reply_takes_or_gives_rendered_text() -> None:
    for dialect in DIALECTS.values():
        for function, names in (
            (dialect.context_reply, ("text",)),
            (dialect.block_reply, ("reason",)),
            (dialect.deny_reply, ("reason",)),
        ):
            types = inspect.get_annotations(function)
            assert [types[name] for name in names] == [Rendered]
            assert types["return"] is Reply
        assert inspect.get_annotations(dialect.context_reply)["notice"] == Rendered | None
    for maker in (start, answer, answer_compaction, context_policy):
        assert inspect.get_annotations(maker.answer)["return"] is Reply
    for giver in (
        briefing.render, briefing.question, memory_briefing.page, memory_briefing.render,
        memory_briefing.quote_page, after_compaction.format_recovery, context_usage.format_advice,
        features.describe_ways_to_continue, features.helper_text, fence.enclose_text, fence.cut,
    ):  # fmt: skip
        assert inspect.get_annotations(giver)["return"] is Rendered
    assert inspect.get_annotations(advice.warn_of_repeats)["return"] == list[Rendered]
    assert StartReply.__annotations__ == {
        "text": Rendered,
        "notice": Rendered,
        "offered": str,
    }


@pytest.mark.parametrize(
    ("source", "is_clear"),
    [
        ("say('a {b}', b=c)", True),
        ("X = 'a'\nsay(X if y else 'b')", True),
        ("say(f'a {b}')", False),
        ("def f(heading): return say(heading)", False),
        ("x = g()\nsay(x)", False),
        ("say('a' + b.name)", False),
    ],
)
def test_the_scan_finds_what_it_looks_for(source: str, *, is_clear: bool) -> None:
    tree = ast.parse(source)
    call = next(
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and called(node) == "say"
    )

    assert is_ours(call.args[0], constants(tree)) is is_clear
