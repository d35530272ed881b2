"""Judges a table of groups by what they have committed, and by the admin client's answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import pandas as pd

from workbook.streams.ledgers.findings import Findings, compare

PLACE = ["group", "topic", "partition"]

MEANINGS = {
    "missing": "a group has committed here, but the table does not say so",
    "stale": "the table has another offset than the group's last commit",
    "unexpected": "in the table, but nobody has committed it, or its group is deleted",
    "nameless": "a group that had members is unknown in the table",
    "differing": "the admin client has another answer than the table",
    "unpublished": "a group's newest record in the topic isn't its row in the table",
    "outdated": "a group's row in its newest window isn't its row in the table",
}

Rows = Mapping[str, Mapping[str, Any]]
"""A row by its group."""


@dataclass(frozen=True, kw_only=True)
class GroupsVerdict(Findings):
    """Each anomaly with the very rows. All are faults.

    Columns: group, topic, partition, ``offset`` (committed, or the admin client's) and
    ``offset_found`` (the table's); of ``nameless``: group; of the last two: as ``differing_rows``.
    ``expected`` and ``observed`` count partitions.
    """

    meanings: ClassVar = MEANINGS
    faults: ClassVar = tuple(MEANINGS)

    expected: int
    observed: int

    @property
    def headline(self) -> str:
        return f"{self.expected:,} partitions committed, {self.observed:,} in the table"


def judge(expected: pd.DataFrame, observed: pd.DataFrame, admin: Any) -> GroupsVerdict:
    """Compare ``observed`` with what was committed, and with what the admin client answers.

    All have group, topic, partition, offset (``admin`` may be such tuples); ``expected`` and
    ``observed`` also ``described`` (bool: whether a description of the group is known).
    """
    columns = [*PLACE, "offset"]
    lost, extra, changed, _ = compare(expected[columns], observed[columns], PLACE, ["offset"])
    apart = compare(pd.DataFrame(admin, columns=columns), observed[columns], PLACE, ["offset"])
    known = set(observed.loc[observed["described"].astype(bool), "group"])
    described = sorted(set(expected.loc[expected["described"].astype(bool), "group"]))
    found = {
        "missing": lost,
        "stale": changed,
        "unexpected": extra,
        "nameless": pd.DataFrame({"group": [name for name in described if name not in known]}),
        "differing": pd.concat([apart.lost, apart.extra, apart.changed]),
        "unpublished": pd.DataFrame(),
        "outdated": pd.DataFrame(),
    }
    return GroupsVerdict(found=found, expected=len(expected), observed=len(observed))


def differing_rows(table: Rows, copy: Rows) -> pd.DataFrame:
    """Find the groups whose row in a copy isn't the one in the table.

    Columns: group; ``table`` and ``copy``, as dictionaries of what differs, None without a row.
    """
    apart = [group for group in sorted({*table, *copy}) if table.get(group) != copy.get(group)]
    rows = [(group, *_apart(table.get(group), copy.get(group))) for group in apart]
    return pd.DataFrame(rows, columns=["group", "table", "copy"])


def _apart(
    left: Mapping[str, Any] | None, right: Mapping[str, Any] | None
) -> tuple[Mapping[str, Any] | None, Mapping[str, Any] | None]:
    """Keep of two rows what they don't share."""
    if left is None or right is None:
        return left, right
    names = [name for name in {**left, **right} if left.get(name) != right.get(name)]
    return {name: left.get(name) for name in names}, {name: right.get(name) for name in names}
