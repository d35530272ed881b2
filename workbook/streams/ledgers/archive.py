"""Judges an archive of ad actions: each message is in it once, with its own facts."""

from dataclasses import dataclass, field
from typing import ClassVar

import pandas as pd

from workbook.streams.events.ad_actions import MAX_AGE_MS, Fate, day_of
from workbook.streams.ledgers.findings import Findings

PLACE = ["partition", "offset"]
OF_ALL = ["arrival", "reason", "day"]
OF_READABLE = ["too_old", "event_id", "ad", "type", "source", "user", "time"]


@dataclass(frozen=True)
class ArchiveVerdict(Findings):
    """Each anomaly with its messages: those ``lost`` as expected, the others as found."""

    meanings: ClassVar = {
        "lost": "a message that isn't in the archive",
        "twice": "a message that is in the archive once more",
        "wrong": "a message with a wrong fact or a wrong hash, or one that was never sent",
    }
    faults: ClassVar = tuple(meanings)

    lost: pd.DataFrame
    twice: pd.DataFrame
    wrong: pd.DataFrame
    notes: list[str] = field(default_factory=list)

    @property
    def headline(self) -> str:
        """Return the number of each anomaly, in a line."""
        return ", ".join(f"{count:,} {name}" for name, count in self.counts.items())


def judge(expected: pd.DataFrame, found: pd.DataFrame) -> ArchiveVerdict:
    """Compare the rows of ``pipelines.archive`` with the messages of ``expected``.

    ``expected`` has a row per message, as ``AdActionStream.expected``, with its ``value`` (bytes)
    and the ``offset`` at which it is. Of a rejected message, only arrival, reason and day count.
    """
    rejected = expected["fate"] == Fate.REJECTED.value
    right = expected.assign(
        reason=expected["reason"].where(rejected, None),
        day=expected["day"].where(~rejected, expected["arrival"].map(day_of)),
        too_old=expected["arrival"] - expected["time"] > MAX_AGE_MS,
        readable=~rejected,
    )
    first = found.drop_duplicates(PLACE)
    both = right.merge(first, how="left", on=PLACE, suffixes=("", "_found"), indicator="where")
    lost = both["where"] != "both"
    wrong = pd.Series(False, both.index)
    for name in (*OF_ALL, *OF_READABLE):
        its, other = both[name], both[f"{name}_found"]
        same = (its == other) | (its.isna() & other.isna())
        wrong |= ~same & (both["readable"] | (name in OF_ALL))
    pairs = both[~lost][["value", "hash"]].drop_duplicates()
    mixed = pairs[pairs.duplicated("value", keep=False) | pairs.duplicated("hash", keep=False)]
    wrong |= both["hash"].isin(mixed["hash"])
    known = pd.MultiIndex.from_frame(expected[PLACE])
    foreign = first[~pd.MultiIndex.from_frame(first[PLACE]).isin(known)]
    return ArchiveVerdict(
        lost=both.loc[lost, list(expected.columns)],
        twice=found[found.duplicated(PLACE)],
        wrong=pd.concat([both[wrong & ~lost], foreign]),
    )
