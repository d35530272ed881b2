"""Renders the card of an exercise as HTML in a notebook and as plain text in a terminal."""

import html
import textwrap
from dataclasses import dataclass
from enum import Enum

from workbook.views.tables import marked

Rows = tuple[tuple[str, ...], ...]


class State(Enum):
    """What a card says, with its symbol and the colour of its edge; the word always stands too."""

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
    """What a cell shows: a state, the exercise's name, and parts. Falls back to text by itself."""

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
        return "\n".join([head, *(_part_as_text(p) for p in self.parts)])

    def _repr_html_(self) -> str:
        head = f"<strong>{self.state.symbol} {self.state.word}</strong>: {html.escape(self.name)}"
        body = "".join(_part_as_html(p) for p in self.parts)
        if self.state in FOLDED:
            body = f"<details><summary>{FOLDED[self.state]}</summary>{body}</details>"
        style = f"border-left:4px solid {self.state.colour};padding:0.2em 0.8em;margin:0.4em 0"
        return f'<div style="{style}"><div>{head}</div>{body}</div>'


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
        return f"<div>{label}{_table_as_html(part.table)}</div>"
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


def _table_as_text(table: Rows) -> str:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [" | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in table]
    return "\n".join([lines[0].rstrip(), "-+-".join("-" * w for w in widths), *lines[1:]])


def _table_as_html(table: Rows) -> str:
    head = "".join(f'<th scope="col">{html.escape(cell)}</th>' for cell in table[0])
    lines = ("".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in table[1:])
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
