"""One update of a table: the old row goes (-1), the new one comes (+1), and a group's result."""

from collections.abc import Sequence
from dataclasses import dataclass

from workbook.views.boxes import Arrow, Box, Line, Rows
from workbook.views.picture import ARROW, MINUS, Picture, number, said, signed
from workbook.views.rewind import Rewind

CAPTION = "One update: the row that leaves a group, the one that enters, the group before and after"
NOTHING = "nothing"
LAST = 24
"""Updates of a long list that get a step; the words say which."""


@dataclass(frozen=True)
class Change:
    """A row that leaves a group (``sign`` -1) or comes into it (+1), and the group's result.

    ``before`` and ``after`` are the result in words, '' where the group isn't there.
    """

    group: str
    sign: int
    before: str
    after: str


@dataclass(frozen=True)
class Update:
    """A record of a table: its key, the row before and after (None: no row), and its changes."""

    key: str
    old: str | None
    new: str | None
    changes: Sequence[Change] = ()


def table_change(update: Update) -> Picture:
    """Draw one update: a row for the old and the new row, each with its change of a group."""
    left = list(update.changes)
    lines = [_line("old row", update.old, [c for c in left if c.sign < 0])]
    lines.append(_line("new row", update.new, [c for c in left if c.sign > 0]))
    words = said(rows(update))
    if [change.sign for change in left] == [-1, 1]:
        words += f" After {MINUS}1 and before +1, {update.key} is in no group."
    return Picture(Rows(lines), CAPTION, words, rows(update))


def table_changes(updates: Sequence[Update]) -> Rewind:
    """Return a picture for each of the last 24 updates, to step through."""
    count = len(updates)
    shown = range(max(0, count - LAST), count)
    steps = [(f"{place + 1} of {count:,}: {updates[place].key}", place) for place in shown]
    return Rewind(lambda place: table_change(updates[place]), steps, at=0, says="Update:")


def _line(name: str, row: str | None, changes: Sequence[Change]) -> Line:
    parts: list[Box | Arrow] = [Box(row or "no row", look="" if row else "none")]
    for change in changes:
        parts += [
            Arrow(signed(change.sign), f"in {change.group}", change.sign < 0),
            Box(_result(change.before), f"{change.group} before", look=_look(change.before)),
            Arrow(),
            Box(_result(change.after), f"{change.group} after", look=_look(change.after)),
        ]
    if not changes:
        parts.append(Arrow("no change"))
    return name, parts


def _look(result: str) -> str:
    return "" if result else "none"


def rows(update: Update) -> list[dict[str, str]]:
    """Return a row for each change; one for an update without any."""
    head = {"key": update.key, "old row": update.old or "no row", "new row": update.new or "no row"}
    if not update.changes:
        return [head | {"change": "none", "group": "", "before": "", "after": ""}]
    return [
        head
        | {
            "change": signed(change.sign),
            "group": change.group,
            "before": _result(change.before),
            "after": _result(change.after),
        }
        for change in update.changes
    ]


def _result(result: str) -> str:
    return result or NOTHING


# --- groups, change by change ---------------------------------------------------------------

GROUP_CAPTION = (
    "The groups, change by change: where does a result shrink, and where is a group deleted?"
)
GROUPS, CHANGES = 8, 5
"""Groups that are drawn, those that changed last, and changes of each."""


@dataclass(frozen=True)
class Step:
    """A change of a group: a row of ``key`` came (+1) or went (-1); ``after`` is its result.

    ``after`` is None where the group is deleted.
    """

    group: str
    sign: int
    key: str
    after: str | None


def group_steps(steps: Sequence[Step]) -> Picture:
    """Draw the latest changes of the groups that changed last, each group on its own line.

    ``steps`` are in the order in which they were emitted; only the order within a group counts.
    """
    of_group: dict[str, list[Step]] = {}
    for step in steps:
        its = of_group.pop(step.group, [])
        its.append(step)
        of_group[step.group] = its  # the group that changed last comes last
    lines: list[Line] = []
    lists = []
    for group in sorted(list(of_group)[-GROUPS:]):
        its = of_group[group]
        first = max(0, len(its) - CHANGES)
        before = its[first - 1].after if first else None
        parts: list[Box | Arrow] = [_box(before) if first else Box("not there", look="none")]
        for place, step in enumerate(its[first:], first + 1):
            parts.append(Arrow(signed(step.sign), step.key, step.sign < 0))
            parts.append(_box(step.after, "now" if place == len(its) else ""))
            lists.append({
                "group": group,
                "change": place,
                "row": f"{signed(step.sign)} {step.key}",
                "result": f"{before or 'not there'} {ARROW} {step.after or 'deleted'}",
            })  # fmt: skip
            before = step.after
        lines.append((group, parts))
    words = f"{number(len(steps), 'change')} in {number(len(of_group), 'group')}."
    if len(lists) < len(steps):
        words += f" Drawn: the last {CHANGES} changes of the {len(lines)} groups changed last."
    return Picture(Rows(lines), GROUP_CAPTION, words, lists)


def _box(result: str | None, kind: str = "") -> Box:
    return Box(result, kind, look=kind) if result else Box("✗ deleted", kind, look="gone")
