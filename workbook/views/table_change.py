"""A table's updates and the groups that they change: each update, and each group's results."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from workbook.views.picture import ARROW, MINUS, Picture, number, said, signed
from workbook.views.pipeline import Arrow, Box, Line, Rows
from workbook.views.rewind import Rewind

CAPTION = "One update: the row that leaves a group, the one that enters, the group before and after"
NOTHING, NO_ROW = "nothing", "no row"
LAST = 24
"""Updates of a long list that get a step; the words say which."""

FIRST = ("client", "amount", "ticker")
"""The values of a row that are written first."""

Row = Mapping[str, Any] | None

Emitted = tuple[str, Row, Row, Sequence[tuple[Any, int, Row]]]
"""A key, its row before and after (None: no row), and the changes that this update emitted: the
group, -1 for a row that leaves it or +1 for one that enters, and the row."""


def table_changes(updates: Iterable[Emitted]) -> Rewind:
    """Return a picture for each of the last 24 updates, to step through; a group is its rows."""
    tables, groups = list[list[dict[str, str]]](), dict[str, dict[str, str]]()
    for key, old, new, emitted in updates:
        head = {"key": key, "old row": in_words(old), "new row": in_words(new)}
        rows = []
        for group, sign, row in emitted:
            held = groups.setdefault(str(group), {})
            before = _held(held)
            if sign > 0:
                held[key] = _amount(row)
            else:
                held.pop(key, None)
            change = {"change": signed(sign), "group": str(group)}
            rows.append({**head, **change, "before": before, "after": _held(held)})
        tables.append(rows or [{**head, "change": "none", "group": "", "before": "", "after": ""}])
    shown = range(max(0, len(tables) - LAST), len(tables))
    steps = [(f"{n + 1} of {len(tables):,}: {tables[n][0]['key']}", n) for n in shown]
    return Rewind(lambda place: table_change(tables[place]), steps, at=0, says="Update:")


def table_change(rows: Sequence[Mapping[str, str]]) -> Picture:
    """Draw one update from its table: the old and the new row, each with its change of a group."""
    lines = [_line(name, rows, of) for name, of in (("old row", MINUS), ("new row", "+"))]
    words = said(rows)
    if [row["change"][0] for row in rows] == [MINUS, "+"]:
        words += f" After {MINUS}1 and before +1, {rows[0]['key']} is in no group."
    return Picture(Rows(lines), CAPTION, words, rows)


def _line(name: str, rows: Sequence[Mapping[str, str]], of: str) -> Line:
    text = rows[0][name]
    parts: list[Box | Arrow] = [Box(text, look="none" if text == NO_ROW else "")]
    for row in rows:
        if row["change"].startswith(of):
            parts += [
                Arrow(row["change"], f"in {row['group']}", of == MINUS),
                Box(row["before"], f"{row['group']} before", look=_look(row["before"])),
                Arrow(),
                Box(row["after"], f"{row['group']} after", look=_look(row["after"])),
            ]
    return name, parts if len(parts) > 1 else [*parts, Arrow("no change")]


def _look(result: str) -> str:
    return "none" if result == NOTHING else ""


def in_words(row: object) -> str:
    """Write a row as its values: "Ada 10 AAPL NASDAQ"."""
    if not isinstance(row, Mapping):
        return NO_ROW if row is None else str(row)
    names = [*(name for name in FIRST if name in row), *(n for n in row if n not in FIRST)]
    return " ".join(str(row[name]) for name in names)


def _held(rows: Mapping[str, str]) -> str:
    return ", ".join(f"{key}: {rows[key]}" for key in sorted(rows)) or NOTHING


def _amount(row: Row) -> str:
    """Write what a group has of a row: "20 AAPL"."""
    if isinstance(row, Mapping) and {"amount", "ticker"} <= row.keys():
        return f"{row['amount']} {row['ticker']}"
    return in_words(row)


# --- groups, change by change ---------------------------------------------------------------

GROUP_CAPTION = (
    "The groups, change by change: where does a result shrink, and where is a group deleted?"
)
GROUPS, CHANGES = 8, 5
"""Groups that are drawn, those that changed last, and changes of each."""


def group_steps(rows: Sequence[Any]) -> Picture:
    """Draw the latest changes of the groups that changed last, each group on its own line.

    ``rows`` are those of a query with ``per_update``: client, change ("add" or not), position,
    tickers, deleted. Only the order within a group counts.
    """
    of_group: dict[str, list[tuple[str, str | None]]] = {}
    every = list(rows)  # a copy: the query adds to it meanwhile
    for row in every:
        its = of_group.pop(str(row["client"]), [])
        its.append((
            f"{signed(1 if row['change'] == 'add' else -1)} {row['position']}",
            None if row["deleted"] else _counts(row["tickers"]),
        ))  # fmt: skip
        of_group[str(row["client"])] = its  # the group that changed last comes last
    lines: list[Line] = []
    lists = []
    for group in sorted(list(of_group)[-GROUPS:]):
        its = of_group[group]
        first = max(0, len(its) - CHANGES)
        before = its[first - 1][1] if first else None
        parts: list[Box | Arrow] = [_box(before) if first else Box("not there", look="none")]
        for place, (change, after) in enumerate(its[first:], first + 1):
            sign, _, key = change.partition(" ")
            parts.append(Arrow(sign, key, sign[0] == MINUS))
            parts.append(_box(after, "now" if place == len(its) else ""))
            result = f"{before or 'not there'} {ARROW} {after or 'deleted'}"
            lists.append({"group": group, "change": place, "row": change, "result": result})
            before = after
        lines.append((group, parts))
    words = f"{number(len(every), 'change')} in {number(len(of_group), 'group')}."
    if len(lists) < len(every):
        words += f" Drawn: the last {CHANGES} changes of the {len(lines)} groups changed last."
    return Picture(Rows(lines), GROUP_CAPTION, words, lists)


def _counts(tickers: Mapping[str, int] | None) -> str:
    counts = dict(tickers or {})
    return ", ".join(f"{ticker} ×{counts[ticker]}" for ticker in sorted(counts)) or "none"


def _box(result: str | None, kind: str = "") -> Box:
    return Box(result, kind, look=kind) if result else Box("✗ deleted", kind, look="gone")
