"""The strip: records side by side as cells of a grid, with brackets, arrows and words around them.

The browser lays it out, so no text is cut and none covers another one.
"""

import html
from collections.abc import Mapping
from enum import Enum

from workbook.views.colours import BLUE, GREY, INK, ORANGE, PAPER, RED

HATCH = f"repeating-linear-gradient(135deg, transparent 0 5px, {ORANGE}99 5px 6px)"
LETTERS, WORD = 16, 6
"""A longer text in a cell is shortened, its title has all of it; a longer word may be broken."""


class Look(Enum):
    """How a record looks: each differs in its lines, not in its colour alone."""

    PLAIN = f"border:1.5px solid {INK}; border-radius:3px"
    HATCHED = f"border:1.5px solid {ORANGE}; background:{HATCH}"
    CROSSED = f"border:1.5px dashed {RED}"
    DOUBLE = f"border:4px double {BLUE}"
    DASHED = f"border:1.5px dashed {INK}"
    FAINT = f"border:1px dashed {GREY}"
    THIN = f"border:1px solid {GREY}"
    ROUND = f"border:2px solid {INK}; border-radius:12px"

    @property
    def colour(self) -> str:
        """Return the colour of its lines."""
        return {"HATCHED": ORANGE, "CROSSED": RED, "DOUBLE": BLUE}.get(self.name, INK)


class Strip:
    """Rows over the same ``columns``, between their names on the left and room on the right.

    Columns count from 0; the border before one is where an arrow to it points.
    """

    def __init__(self, columns: int, widest: int = 42) -> None:
        self._columns, self._widest = columns, widest
        self.row = 0
        self._items: list[str] = []

    def next(self, name: str = "", *, bold: bool = True) -> None:
        """Begin a row below the others."""
        self.row += 1
        style = f"text-align:right; padding-right:8px; align-self:center{_bold(bold)}"
        self._put(f"{self.row} / 1", style, html.escape(name))

    def cell(
        self, column: int, text: str, look: Look = Look.PLAIN, *, title: str = "",
        bold: bool = False,
    ) -> None:  # fmt: skip
        """Draw a record's box; ``title`` is for who points at it."""
        short = html.escape(text if len(text) <= LETTERS else f"{text[: LETTERS - 1]}…")
        inside = f'<span style="background:{PAPER}; padding:0 2px">{short}</span>'
        if look is Look.CROSSED:
            inside += f'<small style="color:{RED}">✗</small>'
        style = f"{look.value}; padding:4px 1px; font-size:11px; min-width:24px{_bold(bold)}"
        style += "; display:grid; place-content:center; text-align:center; min-height:1.4em"
        if max(map(len, text.split()), default=0) > WORD:
            style += "; overflow-wrap:anywhere"
        self._put(self._area(column, column + 1), style, inside, title)

    def text(
        self, column: int, words: str, *, bold: bool = False, align: str = "center",
        colour: str = INK,
    ) -> None:  # fmt: skip
        """Write words at a column."""
        style = f"text-align:{align}; align-self:center; padding:0 4px; color:{colour}{_bold(bold)}"
        style += "; white-space:nowrap"
        self._put(self._area(column, column + 1), style, html.escape(words))

    def bracket(
        self, first: int, end: int, words: str, colour: str = INK, *, below: bool = False
    ) -> None:
        """Draw a bracket over columns with words above it or, with ``below``, below it."""
        open_at = "top" if below else "bottom"
        shape = f"height:4px; border:2px solid {colour}; border-{open_at}:0; margin-bottom:2px"
        parts = [f'<div style="{shape}"></div>', _lines(words)]
        style = f"text-align:center; align-self:{'start' if below else 'end'}; padding:0 2px"
        self._put(self._area(first, end), style, "".join(parts if below else parts[::-1]))

    def arrow(self, column: int, words: str, top: int, colour: str = BLUE) -> None:
        """Draw an arrow from a row of its own up to row ``top``, before a column."""
        self.next()
        self._line(column, top, colour, "2px solid")
        head = "justify-self:start; margin-left:-0.5em; line-height:0.8; font-size:11px"
        self._put(f"{top} / {column + 2}", f"{head}; color:{colour}", "▲")
        self._beside(column, words)

    def cut(self, column: int, words: str, top: int) -> None:
        """Draw where a program was killed: a line through everything from row ``top`` on."""
        self.next()
        self._line(column, top, RED, "4px dashed")
        self._beside(column, f"✂ {words}", bold=True)

    def note(self, words: str) -> None:
        """Write a line below the others."""
        self.next()
        self._put(f"{self.row} / 2 / {self.row + 1} / -1", "padding-top:4px", html.escape(words))

    def legend(self, looks: Mapping[str, Look], *signs: str) -> None:
        """Explain looks and signs in a line below the others."""
        self.next()
        style = "display:inline-block; width:18px; height:10px; margin:0 6px 0 0"
        said = [
            f'<i style="{style}; {look.value}"></i>{html.escape(words)}'
            for words, look in looks.items()
        ]
        parts = [f'<span style="margin-right:22px">{each}</span>' for each in (*said, *signs)]
        self._put(f"{self.row} / 2 / {self.row + 1} / -1", "padding-top:6px", "".join(parts))

    def svg(self, words: str) -> str:
        """Return it as HTML; ``words`` are for who can't see it."""
        columns = f"auto repeat({self._columns}, minmax(min-content, {self._widest}px)) auto"
        style = f"display:grid; grid-template-columns:{columns}; gap:2px; font-size:12px"
        style += f"; line-height:1.35; color:{INK}; justify-content:start"
        label = html.escape(words)
        return f'<div role="img" aria-label="{label}" style="{style}">{"".join(self._items)}</div>'

    def _area(self, first: int, end: int) -> str:
        return f"{self.row} / {first + 2} / {self.row + 1} / {end + 2}"

    def _put(self, area: str, style: str, inside: str, title: str = "") -> None:
        shown = f' title="{html.escape(title)}"' if title else ""
        self._items.append(f'<div style="grid-area:{area}; {style}"{shown}>{inside}</div>')

    def _line(self, column: int, top: int, colour: str, stroke: str) -> None:
        area = f"{top} / {column + 2} / {self.row + 1} / {column + 3}"
        self._put(area, f"width:0; margin-left:-2px; border-left:{stroke} {colour}", "")

    def _beside(self, column: int, words: str, *, bold: bool = False) -> None:
        """Write words beside a line: on the side where there's more room."""
        before = column > self._columns * 0.8
        first, end = (1, column + 2) if before else (column + 2, -1)
        style = f"justify-self:{'end' if before else 'start'}; margin:0 8px; background:{PAPER}"
        style += f"; position:relative; z-index:1; white-space:nowrap{_bold(bold)}"
        self._put(f"{self.row} / {first} / {self.row + 1} / {end}", style, html.escape(words))


def _bold(bold: bool) -> str:
    return "; font-weight:600" if bold else ""


def _lines(words: str) -> str:
    """Break words behind a colon; what follows it is the point."""
    head, colon, point = words.rpartition(": ")
    if not colon:
        return f"<div>{html.escape(words)}</div>"
    return f"<div>{html.escape(head)}:<br><b>{html.escape(point)}</b></div>"
