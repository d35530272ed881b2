"""Chapter 32: Compare two windows."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from workbook.classroom.core import Problem
from workbook.classroom.drawn import one_after_another, smallest_first
from workbook.classroom.judging import Case, by_cases
from workbook.classroom.parameters import in_order_of
from workbook.lessons.windowed_store.compare_windows_mistakes import MISTAKES
from workbook.lessons.windowed_store.compare_windows_parts import shape, wrong_part

Rows = Sequence[dict[str, Any]]


def changed(before: Rows, after: Rows) -> dict[str, Any]:
    was = {row["group"]: row for row in before}
    now = {row["group"]: row for row in after}
    empty = {group for group, row in now.items() if row["members"] == 0}
    left = {g for g in empty if g not in was or was[g]["members"] != 0}
    rates = {}
    for group in was.keys() & now.keys():
        former = was[group]["committed"]
        for part, (offset, at) in now[group]["committed"].items():
            began, since = former.get(part, (offset, at))
            if at > since:
                rates[group, *part] = (offset - began) * 1000 / (at - since)
    came, silent = now.keys() - was.keys() - left, was.keys() - now.keys()
    return {"came": came, "left": left, "silent": silent, "rates": rates}


def _row(group: str, members: int | None, **committed: tuple[int, int]) -> dict[str, Any]:
    """Return a row; ``orders_1=(40, 2000)`` is an offset and its time, of partition 1."""
    parts = {(name[:-2], int(name[-1])): said for name, said in committed.items()}
    return {"group": group, "members": members, "committed": parts}


def _case(before: Rows, after: Rows) -> Case:
    return Case((list(before), list(after)), changed(before, after), _A_DICTIONARY)


_A_DICTIONARY = "Return a dictionary with the four keys, also where a window is empty."


_MOVES = ((0, 0), (5, 0), (0, 500), (3, 2000), (45, 4000), (-10, 1000), (7, -500))
"""How far a commit moves, and after how many ms; the last one is older than the former."""


def _drawn_cases() -> Iterator[Case]:
    draw = random.Random(3200)
    for size in range(24):
        groups = [f"g{number}" for number in range(1 + size // 4)]
        former: dict[tuple[str, str], tuple[int, int]] = {}
        windows = []
        for window in (0, 1):
            rows = []
            for group in (group for group in groups if draw.random() < 0.8):
                committed = {}
                for part in draw.sample(("a_0", "a_1", "b_0"), draw.randrange(4)):
                    offset, at = former.get((group, part), (draw.randrange(900), 4000))
                    moved = draw.choice(
                        ((0, 0), (5, 0), (0, 500), (3, 2000), (45, 4000), (-10, 1000), (7, -500))
                    )
                    committed[part] = (offset + moved[0], at + moved[1] * window)
                    former[group, part] = committed[part]
                rows.append(_row(group, draw.choice((None, 0, 1, 2)), **committed))
            windows.append(rows)
        before, after = windows
        yield _case(before, after)


_TILL = _row("till", 2, orders_0=(100, 1000), orders_1=(40, 2000))
_LATER = _row("till", 2, orders_0=(160, 7000), orders_1=(52, 6000))
_MAIL = _row("mail", 1, orders_0=(7, 3000))
_MAIL_GONE = _row("mail", 0, orders_0=(9, 8000))
_OFFICE = _row("office", None, orders_0=(30, 4000))
_EMPTY = _row("mail", 0, orders_0=(7, 3000))
_CASES = [
    _case([_TILL], [_LATER]),
    _case([_TILL, _MAIL], [_LATER]),  # mail is silent
    _case([_EMPTY], []),  # silent, though it was empty already
    # Half a second between two commits, though windows are longer than that.
    _case([_row("till", 1, orders_0=(7, 4900))], [_row("till", 1, orders_0=(9, 5400))]),
    _case([], [_TILL]),
    _case([_TILL], []),
    _case([_TILL], [_row("till", 1, orders_0=(160, 7000))]),  # one of two members has left
    _case([_MAIL], [_MAIL_GONE]),
    _case([], [_MAIL_GONE]),  # silent in the former window, and left in this one
    _case([_EMPTY], [_MAIL_GONE]),  # it had left before, and somebody has set its offset
    _case([_EMPTY], [_row("mail", 1, orders_0=(9, 7000))]),  # members have come back
    _case([_OFFICE], [_row("office", None, orders_0=(38, 8000))]),
    _case([], [_OFFICE]),
    _case([_OFFICE], [_row("office", 0, orders_0=(30, 4000))]),
    # Partition 1 has no new commit, and partition 2 no old one.
    _case(
        [_TILL], [_row("till", 3, orders_0=(160, 7000), orders_1=(40, 2000), orders_2=(5, 7000))]
    ),
    # Two topics have a partition 0.
    _case(
        [_row("till", 1, orders_0=(100, 1000), refunds_0=(8, 1000))],
        [_row("till", 1, orders_0=(140, 5000), refunds_0=(10, 5000))],
    ),
    # Set back by 80, and committed again without a step.
    _case([_TILL], [_row("till", 2, orders_0=(20, 5000), orders_1=(40, 6000))]),
    # Commits that lie before the former ones, as when a broker's clock was set back.
    _case([_LATER], [_row("till", 2, orders_0=(190, 1000), orders_1=(12, 2000))]),
    # Two commits in the same millisecond: the later one isn't newer.
    _case([_TILL], [_row("till", 2, orders_0=(104, 1000), orders_1=(52, 6000))]),
    _case([], []),
]


def _form(value: Any, before: Rows, after: Rows) -> str:
    return shape(value) or wrong_part(value, changed(before, after), before, after)


compare_windows = Problem(
    name="Compare two windows",
    task="`before` and `after` are lists of rows, one per group that changed in that window, with "
    "what was true at the window's end: `group`; `members`, their number (`None` where no record "
    "describes the group); and `committed`, a dictionary from (topic, partition) to (offset, time "
    "of the commit in ms). Return a dictionary:\n\n"
    "- `'left'`: the set of groups whose row in `after` has 0 members, unless their row in "
    "`before` had 0 as well;\n"
    "- `'came'`: those with a row in `after` only, and that didn't leave;\n"
    "- `'silent'`: those with a row in `before` only;\n"
    "- `'rates'`: a dictionary from (group, topic, partition) to records per second, from the one "
    "commit to the other. A partition without a commit in one of the windows, or without a newer "
    "one in `after`, has no rate.\n\n"
    "From `('orders', 0): (100, 1000)` to `('orders', 0): (160, 7000)` it's `10.0`.",
    stub="def changed(before, after):\n    ...  # your code\n",
    diagnose=in_order_of(
        changed,
        one_after_another(
            by_cases(_CASES, MISTAKES, form=_form),
            by_cases(smallest_first(_drawn_cases()), form=_form),
        ),
    ),
    hints=(
        "First make a dictionary of each list, by group. What three kinds of groups are there, "
        "and in which of them can a group have left?",
        "The keys of dictionaries can be subtracted like sets. For rates, look at the partitions "
        "that both rows have.",
        "`left` is `{g for g in now if now[g]['members'] == 0 and (g not in was or "
        "was[g]['members'] != 0)}`. A rate is `(offset - began) * 1000 / (at - since)`.",
    ),
    reference=changed,
    discussion="A window holds changes, so a group without a row is as it was: idle, or merely "
    "between two commits. A group that was killed is silent as well, until its session times out; "
    "then the broker writes that it has no members, and that is a change.\n\n"
    "`came` isn't certain either: the group may only have been silent in `before`. "
    "`fetch(group, 0, now)` shows its former windows, as far as they're kept.\n\n"
    "The time between the two commits divides, not the length of a window: in windows of 5 s two "
    "commits may be 0.1 s apart, or 9.9.",
)
