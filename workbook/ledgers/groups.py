"""Judges a table of groups by what they have committed, and by the admin client's answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import pandas as pd

from workbook.ledgers.findings import Findings

PLACE = ["group", "topic", "partition"]

MEANINGS = {
    "missing": "a group has committed here, but the table does not say so",
    "stale": "the table has another offset than the group's last commit",
    "unexpected": "in the table, but nobody has committed it, or its group is deleted",
    "nameless": "a group that had members stands in the table as unknown",
    "differing": "the admin client has another answer than the table",
}


@dataclass(frozen=True)
class GroupsVerdict(Findings):
    """Each anomaly with the very rows, as a DataFrame; empty where all is well. All are faults.

    Columns: group, topic, partition, ``committed`` or ``admin`` (an offset), ``observed`` (that in
    the table); of ``nameless``: group. ``expected`` and ``observed`` count partitions.
    """

    meanings: ClassVar = MEANINGS
    faults: ClassVar = tuple(MEANINGS)

    expected: int
    observed: int
    missing: pd.DataFrame
    stale: pd.DataFrame
    unexpected: pd.DataFrame
    nameless: pd.DataFrame
    differing: pd.DataFrame
    notes: list[str] = field(default_factory=list)

    @property
    def headline(self) -> str:
        """Return the number of each anomaly in words."""
        return ", ".join(f"{count:,} {name}" for name, count in self.counts.items())

    def _headline(self) -> str:
        held = f"{self.expected:,} partitions committed, {self.observed:,} in the table"
        return f"{super()._headline()}: {held}"


def judge(expected: pd.DataFrame, observed: pd.DataFrame, admin: pd.DataFrame) -> GroupsVerdict:
    """Compare ``observed`` with what was committed, and with what the admin client answers.

    All have group, topic, partition, offset; ``expected`` and ``observed`` also ``described``
    (bool: whether a description of the group is known).
    """
    both = _beside(expected, "committed", observed)
    asked = _beside(admin, "admin", observed)
    known = set(observed.loc[observed["described"].astype(bool), "group"])
    described = sorted(set(expected.loc[expected["described"].astype(bool), "group"]))
    return GroupsVerdict(
        len(expected),
        len(observed),
        missing=both[both["observed"].isna()],
        stale=both[both["observed"].notna() & both["committed"].notna() & _differ(both)],
        unexpected=both[both["committed"].isna()],
        nameless=pd.DataFrame({"group": [name for name in described if name not in known]}),
        differing=asked[_differ(asked)],
    )


def _beside(left: pd.DataFrame, name: str, observed: pd.DataFrame) -> pd.DataFrame:
    mine = left[[*PLACE, "offset"]].rename(columns={"offset": name})
    theirs = observed[[*PLACE, "offset"]].rename(columns={"offset": "observed"})
    return mine.merge(theirs, on=PLACE, how="outer").astype({name: "Int64", "observed": "Int64"})


def _differ(rows: pd.DataFrame) -> pd.Series:
    first, second = (rows[name].fillna(-1) for name in rows.columns[-2:])
    return first != second
