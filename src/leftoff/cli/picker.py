"""A full-screen list to choose a thread from: type to filter, with a preview of each.

It knows nothing about stores: rows, previews and actions come from the caller. prompt_toolkit takes
100 ms to load, so a command imports this module only when it opens a picker.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import msgspec
from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.data_structures import Size
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout.containers import AnyContainer, DynamicContainer, HSplit, VSplit, Window
from prompt_toolkit.layout.controls import BufferControl, FormattedTextControl
from prompt_toolkit.layout.layout import Layout
from prompt_toolkit.layout.processors import BeforeInput
from prompt_toolkit.output import ColorDepth, create_output

from leftoff.cli.fuzzy import rank_matches
from leftoff.cli.look import Look, ThreadRow, cut, draw_rule, isolate, join_facts, wrap_to


class PickerItem(msgspec.Struct, frozen=True):
    """A thread to choose, and what the list shows of it."""

    key: str
    row: ThreadRow


class PickerAction(NamedTuple):
    """What a key does with the selected thread; `run` returns what to say about it."""

    key: str
    word: str
    run: Callable[[PickerItem], str]
    is_offered: Callable[[], bool] = lambda: True
    """Whether the last line names the key."""


class PickerPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What to choose from, how to preview it, and which keys do what."""

    question: str
    verb: str
    """What Enter does."""
    load: Callable[[], list[PickerItem]]
    """Reads the list; called again after each action."""
    preview: Callable[[PickerItem, Look], list[str]]
    diff: Callable[[PickerItem, Look], list[str]]
    actions: Sequence[PickerAction] = ()


class PickerResult(NamedTuple):
    """The chosen thread, or None if the user left; and what was said about actions."""

    item: PickerItem | None
    messages: list[str]


_DIFF_KEY = "c-f"
_BESIDE = 100
_LEAST_ROWS = 14
_ROWS_PER_ITEM = 2
# Wait until the selection rests before reading a preview, so that a held arrow key stays smooth.
_REST_SECONDS = 0.04
_ESCAPE_SECONDS = 0.1


def pick(plan: PickerPlan, look: Look) -> PickerResult:
    """Let the user choose a thread."""
    return _Picker(plan, look).run()


class _Picker:
    def __init__(self, plan: PickerPlan, look: Look) -> None:
        self.plan, self.look = plan, look
        self.output = create_output()
        self.items = plan.load()
        self.found = [*range(len(self.items))]
        self.at = 0
        self.top = 0
        self.scroll = 0
        self.has_diff = False
        self.messages: list[str] = []
        self.message = ""
        self.previews: dict[tuple[str, bool, int], list[str]] = {}
        self.buffer = Buffer(multiline=False, on_text_changed=lambda _: self._filter())
        depth = None if look.has_color else ColorDepth.DEPTH_1_BIT
        self.app: Application[PickerItem | None] = Application(
            layout=self._lay_out(),
            key_bindings=self._bind_keys(),
            output=self.output,
            full_screen=True,
            color_depth=depth,
        )
        self.app.ttimeoutlen = _ESCAPE_SECONDS

    def run(self) -> PickerResult:
        self._read_preview()
        return PickerResult(self.app.run(), self.messages)

    # --- what is selected ---

    @property
    def selected(self) -> PickerItem | None:
        return self.items[self.found[self.at]] if self.found else None

    def _filter(self) -> None:
        rows = [each.row for each in self.items]
        texts = [f"{row.name} {row.task} {row.branch} {row.agent}" for row in rows]
        self.found = rank_matches(self.buffer.text, texts)
        self._select(0)

    def _select(self, at: int) -> None:
        self.at = max(0, min(at, len(self.found) - 1))
        self.scroll, self.message = 0, ""
        if self.app.loop is not None:
            self.app.loop.call_later(_REST_SECONDS, self._refresh_preview, self.selected)

    # --- previews ---

    def _refresh_preview(self, item: PickerItem | None) -> None:
        # The selection may have moved on by now.
        if item is self.selected:
            self._read_preview()
            self.app.invalidate()

    def _read_preview(self) -> None:
        if self.selected is not None and self._preview_key(self.selected) not in self.previews:
            source = self.plan.diff if self.has_diff else self.plan.preview
            shown = source(self.selected, self.look.narrow(self._preview_size().columns))
            self.previews[self._preview_key(self.selected)] = shown

    def _preview_key(self, item: PickerItem) -> tuple[str, bool, int]:
        return item.key, self.has_diff, self._preview_size().columns

    # --- what keys do ---

    def _bind_keys(self) -> KeyBindings:
        keys = KeyBindings()
        for names, step in ((("up", "c-p"), -1), (("down", "c-n", "tab"), 1)):
            for name in names:
                keys.add(name)(lambda _, step=step: self._select(self.at + step))
        for name, step in (("pageup", -1), ("pagedown", 1)):
            keys.add(name)(lambda _, step=step: self._scroll_preview(step))
        for name in ("c-c", "c-d"):
            keys.add(name)(lambda event: event.app.exit(result=None))
        keys.add("escape", eager=True)(self._escape)
        keys.add("enter")(lambda event: self.selected and event.app.exit(result=self.selected))
        keys.add(_DIFF_KEY)(lambda _: self._toggle_diff())
        for action in self.plan.actions:
            keys.add(action.key)(lambda _, action=action: self._act(action))
        return keys

    def _escape(self, event: KeyPressEvent) -> None:
        """Clear the filter; without one, leave."""
        if self.buffer.text:
            self.buffer.text = ""
        else:
            event.app.exit(result=None)

    def _scroll_preview(self, pages: int) -> None:
        step = max(1, self._preview_size().rows - 1)
        last = max(0, len(self._preview_lines()) - step)
        self.scroll = max(0, min(self.scroll + pages * step, last))

    def _toggle_diff(self) -> None:
        self.has_diff, self.scroll = not self.has_diff, 0
        self._read_preview()

    def _act(self, action: PickerAction) -> None:
        if self.selected is None:
            return
        at = self.at
        message = action.run(self.selected)
        self.messages.append(message)
        self.items = self.plan.load()
        self.previews.clear()
        self._filter()
        self._select(at)
        self.message = message

    # --- the screen ---

    def _lay_out(self) -> Layout:
        typed = BufferControl(self.buffer, input_processors=[BeforeInput("> ")])
        rows: list[AnyContainer] = [
            self._window(lambda: [self._headline()], 1),
            Window(typed, height=1),
            self._window(lambda: [self._draw_rule()], 1),
            DynamicContainer(self._lay_out_body),
            self._window(lambda: [self._footer()], 1),
        ]
        return Layout(HSplit(rows), focused_element=typed)

    def _lay_out_body(self) -> AnyContainer:
        size, below = self._list_size(), self._window(self._preview_part)
        if self._is_beside():
            bar = Window(width=1, char="│", style="fg:ansibrightblack")
            gap = Window(width=1)
            return VSplit([self._window(self._list_lines, width=size.columns), bar, gap, below])
        if not self._preview_size().rows:
            return self._window(self._list_lines)
        rule = self._window(lambda: [self._draw_rule()], 1)
        return HSplit([self._window(self._list_lines, size.rows), rule, below])

    def _window(
        self,
        lines: Callable[[], Sequence[str]],
        height: int | None = None,
        width: int | None = None,
    ) -> Window:
        shown = FormattedTextControl(lambda: ANSI("\n".join(lines())), show_cursor=False)
        return Window(shown, height=height, width=width)

    def _is_beside(self) -> bool:
        return self.output.get_size().columns >= _BESIDE

    def _list_size(self) -> Size:
        size = self.output.get_size()
        rows = size.rows - 4
        if self._is_beside():
            return Size(rows=rows, columns=min(size.columns * 2 // 5, 64))
        if size.rows < _LEAST_ROWS:
            return Size(rows=rows, columns=size.columns)
        wanted = max(_ROWS_PER_ITEM, len(self.found) * _ROWS_PER_ITEM)
        return Size(rows=min(wanted, rows * 2 // 5 // 2 * 2), columns=size.columns)

    def _preview_size(self) -> Size:
        size, used = self.output.get_size(), self._list_size()
        if self._is_beside():
            return Size(rows=used.rows, columns=size.columns - used.columns - 2)
        return Size(rows=max(0, size.rows - 5 - used.rows), columns=size.columns)

    def _whole_look(self) -> Look:
        return self.look.narrow(self.output.get_size().columns)

    def _draw_rule(self) -> str:
        look = self._whole_look()
        return draw_rule(look, longest=look.columns)

    def _headline(self) -> str:
        count = f"{len(self.found)} of {len(self.items)}"
        return f"{self.look.paint('title', self.plan.question)}  {self.look.paint('quiet', count)}"

    def _footer(self) -> str:
        if self.message:
            return self.look.paint("good", cut(self.message, self._whole_look().columns))
        actions = [(each.key, each.word) for each in self.plan.actions if each.is_offered()]
        # A key that does the same as Enter is not shown.
        keys = [each for each in [*actions, (_DIFF_KEY, "diff")] if each[1] != self.plan.verb]
        columns = self._whole_look().columns
        words = _fit_keys(self.plan.verb, keys, columns)
        return self.look.paint("quiet", cut("  ".join(words), columns))

    def _list_lines(self) -> list[str]:
        if not self.found:
            return [self.look.paint("quiet", "  No thread matches.")]
        size = self._list_size()
        fitting = max(1, size.rows // _ROWS_PER_ITEM)
        self.top = min(max(self.top, self.at - fitting + 1), self.at)
        shown = range(self.top, min(self.top + fitting, len(self.found)))
        return [line for at in shown for line in self._layout_item(at, size.columns)]

    def _layout_item(self, at: int, columns: int) -> Iterator[str]:
        row, is_selected = self.items[self.found[at]].row, at == self.at
        mark = self.look.paint("next", "> ") if is_selected else "  "
        task = wrap_to(row.task or "-", columns - 3, 1)[0]
        yield mark + (self.look.paint("title", task) if is_selected else task)
        facts = [row.name, row.age, row.state, row.branch, row.agent, row.place]
        yield f"  {join_facts(_fit_facts(facts, columns - 3), self.look)}"

    def _preview_part(self) -> list[str]:
        lines = self._preview_lines()
        return lines[self.scroll : self.scroll + max(1, self._preview_size().rows)]

    def _preview_lines(self) -> list[str]:
        if self.selected is None:
            return []
        key = self._preview_key(self.selected)
        # The user has resized the terminal.
        if key not in self.previews and any(each[:2] == key[:2] for each in self.previews):
            self._read_preview()
        return self.previews.get(key, [])


def _fit_keys(verb: str, keys: Sequence[tuple[str, str]], columns: int) -> list[str]:
    """Name as many keys as fit on one line; the first and the last are always among them."""
    named = [f"{key.replace('c-', '^').upper()} {word}" for key, word in keys]
    while named and len("  ".join([f"Enter {verb}", *named, "Esc leave"])) > columns:
        named.pop()
    return [f"Enter {verb}", *named, "Esc leave"]


def _fit_facts(facts: Sequence[str], columns: int) -> list[str]:
    """Keep as many facts as fit on one line; the name is cut if it must be."""
    kept: list[str] = []
    for fact in filter(None, facts):
        room = columns - sum(map(len, kept)) - 3 * len(kept)
        if kept and len(fact) > room:
            break
        kept.append(isolate(cut(fact, room)))
    return kept
