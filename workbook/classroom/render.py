"""Render a card: its parts as HTML in a notebook and as text in a terminal, and values as text.

Values, arguments and errors of an answer become short text, and showing them never raises.
"""

import html
import inspect
import linecache
import pprint
import re
import textwrap
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from workbook.classroom.sandbox import bounded, guarded
from workbook.views.tables import marked, sendable, table

Rows = tuple[tuple[str, ...], ...]


class State(Enum):
    """Name what a card says, with its symbol and the colour of its edge; the word stands too."""

    TASK = ("Task", "▸", "#1976d2")
    NOT_ATTEMPTED = ("Not attempted", "○", "#757575")
    NOT_YET = ("Not yet", "✗", "#d84315")
    SOLVED_BEFORE = ("Solved before", "✓", "#2e7d32")
    CORRECT = ("Correct", "✓", "#2e7d32")
    SKIPPED = ("Skipped", "▸", "#757575")
    UNANSWERED = ("Not chosen yet", "▸", "#1976d2")
    AS_PREDICTED = ("As you predicted", "✓", "#2e7d32")
    SURPRISE = ("A surprise", "≠", "#d84315")
    HINT = ("Hint", "?", "#1976d2")
    SOLUTION = ("Solution", "▸", "#1976d2")

    def __init__(self, word: str, symbol: str, colour: str) -> None:
        self.word, self.symbol, self.colour = word, symbol, colour


FOLDED = {
    State.SOLUTION: "Show it",
    State.UNANSWERED: "Show what the run says all the same",
}
"""Cards whose parts are shown on demand."""


@dataclass(frozen=True)
class Part:
    """One labelled piece of a card: prose, code (kept as it is), or a table with a header row."""

    label: str
    text: str = ""
    code: bool = False
    table: Rows = ()


@dataclass(frozen=True, repr=False)
class Card:
    """Show in a cell a state, the exercise's name, and parts. Falls back to text by itself."""

    state: State
    name: str
    parts: tuple[Part, ...] = ()

    @property
    def correct(self) -> bool:
        """Return True if the answer passed."""
        return self.state is State.CORRECT

    def part(self, label: str) -> str:
        """Return the text of the part with this label, or an empty string."""
        return next((p.text for p in self.parts if p.label == label), "")

    def __repr__(self) -> str:
        head = f"{self.state.symbol} {self.state.word}: {self.name}"
        return sendable("\n".join([head, *(_part_as_text(p) for p in self.parts)]))

    def _repr_html_(self) -> str:
        head = f"<strong>{self.state.symbol} {self.state.word}</strong>: {html.escape(self.name)}"
        body = "".join(_part_as_html(p) for p in self.parts)
        if self.state in FOLDED:
            body = f"<details><summary>{FOLDED[self.state]}</summary>{body}</details>"
        style = f"border-left:4px solid {self.state.colour};padding:0.2em 0.8em;margin:0.4em 0"
        return sendable(f'<div style="{style}"><div>{head}</div>{body}</div>')


def _part_as_text(part: Part) -> str:
    text = _table_as_text(part.table) if part.table else part.text
    if not part.label:
        return textwrap.indent(text, "  ")
    if part.table or part.code or "\n" in text:
        return f"  {part.label}:\n{textwrap.indent(text, '    ')}"
    return f"  {part.label}: {text}"


def _part_as_html(part: Part) -> str:
    label = f"<div><em>{html.escape(part.label)}</em></div>" if part.label else ""
    if part.table:
        rows = [dict(zip(part.table[0], row, strict=True)) for row in part.table[1:]]
        return f"<div>{table(rows, part.label)}</div>"
    if part.code:
        style = "white-space:pre-wrap;overflow-wrap:anywhere;margin:0.2em 0"
        return f'<div>{label}<pre style="{style}">{html.escape(part.text)}</pre></div>'
    paragraphs = (_paragraph(p) for p in part.text.split("\n\n"))
    return f"<div>{label}{''.join(paragraphs)}</div>"


def _paragraph(text: str) -> str:
    """Render as code where all of its lines are indented, else as prose with `code` in it."""
    if all(line.startswith("    ") for line in text.split("\n")):
        return f"<pre>{html.escape(textwrap.dedent(text))}</pre>"
    return f"<p>{marked(text)}</p>".replace("\n", "<br>")


def _table_as_text(rows: Rows) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [" | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in rows]
    return "\n".join([lines[0].rstrip(), "-+-".join("-" * w for w in widths), *lines[1:]])


# --- values as text ---------------------------------------------------------------------------

LONGEST = 2_000
"""How many characters of what was printed a card shows."""

WIDTH = 88
MOST_LINES = 10
"""How many lines of a value a card shows, and twice as many of an argument."""


def show(value: Any, most_lines: int = MOST_LINES) -> str:
    """Format a value as text, cut where long."""
    value = bounded(value)
    return _cut(_formatted(value), most_lines, _count(value))


def show_both(value: Any, expected: Any) -> tuple[str, str]:
    """Format a value and the expected one; both begin near the first line that differs."""
    mine, asked = _formatted(value).split("\n"), _formatted(expected).split("\n")
    alike = next((n for n, (m, a) in enumerate(zip(mine, asked, strict=False)) if m != a), 0)
    if alike < MOST_LINES:
        return show(value), show(expected)
    head = f"… {alike - 1} lines as expected\n"
    texts = ("\n".join(lines[alike - 1 :]) for lines in (mine, asked))
    mine_cut, asked_cut = (head + _cut(text, MOST_LINES, "") for text in texts)
    return mine_cut, asked_cut


def _formatted(value: Any) -> str:
    return _said(lambda: pprint.pformat(bounded(value), width=WIDTH, sort_dicts=False), value)


def in_full(value: Any) -> str:
    """Format a value with all that belongs to it, except its address in memory."""
    return _said(lambda: repr(bounded(value)), value)


def _said(text: Callable[[], str], value: Any) -> str:
    said = guarded(text)
    if said.error is not None or said.timed_out:
        return f"<a {type(value).__name__} that cannot be shown>"
    return _without_address(said.value)


def type_name(value: Any) -> str:
    """Return the name of a value's type, with its library if it has one: ``pandas.DataFrame``."""
    kind = type(value)
    library = str(kind.__module__).partition(".")[0]
    return kind.__name__ if library in ("builtins", "__main__") else f"{library}.{kind.__name__}"


def arguments(answer: Any, args: tuple[Any, ...]) -> str:
    """Format the arguments, under the learner's own parameter names where they are known."""
    most = 2 * MOST_LINES
    try:
        named = inspect.signature(answer).bind(*args).arguments
    except (TypeError, ValueError):
        return "\n".join(show(a, most) for a in args)
    return "\n".join(
        f"{name} = " + show(a, most).replace("\n", "\n" + " " * (len(name) + 3))
        for name, a in named.items()
    )


def error_line(error: BaseException | None) -> str:
    """Return an error's type and the first line of its message."""
    said = guarded(str, error).value
    lines = said.strip().splitlines() if isinstance(said, str) else []
    return type_name(error) + (f": {_without_address(lines[0][:300])}" if lines else "")


def place(error: BaseException | None, answer: Any) -> str:
    """Return the line of the answer's own cell (or file) where an error came from, or ''.

    It is the innermost one there: what a library did further in is not the learner's to read.
    """
    code = getattr(inspect.unwrap(answer), "__code__", None)
    if error is None or code is None:
        return ""
    own = code.co_filename  # a notebook's cell has one of its own, see ``linecache``
    frames = traceback.walk_tb(error.__traceback__)
    numbers = [line for frame, line in frames if frame.f_code.co_filename == own and line]
    if not numbers:
        return ""
    line = linecache.getline(own, numbers[-1]).strip()[:300]
    return f"line {numbers[-1]}: {line}".removesuffix(": ")


def _cut(text: str, most_lines: int, count: str) -> str:
    """Return the first lines of a text, and how much there is; a long line counts as several."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if most_lines < 1:
            return "\n".join([*lines[:number], f"… {count}".rstrip()])
        if len(line) > most_lines * WIDTH:
            return "\n".join([*lines[:number], f"{line[: most_lines * WIDTH]} … {count}".rstrip()])
        most_lines -= max(1, -(-len(line) // WIDTH))
    return text


def _count(value: Any) -> str:
    """Return how much a value holds, in brackets; '' where that cannot be counted."""
    if isinstance(value, (str, bytes, bytearray)):
        return f"({len(value):,} {'characters' if isinstance(value, str) else 'bytes'})"
    return f"({len(value):,} elements)" if isinstance(value, (list, tuple, dict, set)) else ""


def _without_address(text: str) -> str:
    return re.sub(r" at 0x[0-9a-f]+", "", text)
