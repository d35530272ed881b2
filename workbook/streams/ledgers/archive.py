"""Judges an archive of ad actions: each message is in it once, with its own facts."""

from dataclasses import dataclass
from typing import ClassVar

import pandas as pd

from workbook.streams.events.ad_actions import MAX_AGE_MS, Fate, day_of
from workbook.streams.ledgers.findings import Findings, compare

PLACE = ["partition", "offset"]
OF_ALL = ["arrival", "reason", "day"]
OF_READABLE = ["too_old", "event_id", "ad", "type", "source", "user", "time"]


@dataclass(frozen=True, kw_only=True)
class ArchiveVerdict(Findings):
    """Each anomaly with its messages: those ``lost`` as expected, the others as found."""

    meanings: ClassVar = {
        "lost": "a message that isn't in the archive",
        "twice": "a message that is in the archive once more",
        "wrong": "a message with a wrong fact or a wrong hash, or one that was never sent",
    }
    faults: ClassVar = tuple(meanings)


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
    )
    first = found.drop_duplicates(PLACE)
    of_all = compare(right, first, PLACE, OF_ALL)
    of_readable = compare(right[~rejected], first, PLACE, OF_READABLE)
    pairs = right.merge(first, on=PLACE)[["value", "hash"]].drop_duplicates()
    mixed = pairs[pairs.duplicated("value", keep=False) | pairs.duplicated("hash", keep=False)]
    wrong = pd.concat([of_all.changed, of_readable.changed, of_all.extra])[PLACE]
    wrong = pd.concat([wrong, first.loc[first["hash"].isin(mixed["hash"]), PLACE]])
    return ArchiveVerdict(
        found={
            "lost": of_all.lost[list(expected.columns)],
            "twice": found[found.duplicated(PLACE)],
            "wrong": first.merge(wrong.drop_duplicates(), on=PLACE),
        }
    )
