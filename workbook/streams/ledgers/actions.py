"""Judges the counts of ad actions, and whether every message is accounted for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import pandas as pd

from workbook.streams.events.ad_actions import ActionType, Fate
from workbook.streams.ledgers.findings import Findings

KEY, LETTER = ["ad", "day", "type", "source"], ["partition", "offset", "reason"]
LOST, TWICE, UNACCOUNTED, LETTERS = "lost", "counted twice", "unaccounted", "letters lost"
VIEWERS, OTHER = "viewers wrong", "of another record"


@dataclass(frozen=True, kw_only=True)
class ActionsVerdict(Findings):
    """Each anomaly with its rows; the column ``events`` says of how many events each row is.

    ``lost`` and ``counted twice`` (a row per key): ad, day, type, source, expected, found.
    ``unaccounted`` (a row per fate): fate, expected, found. ``letters lost`` (a row per reason,
    only where letters were judged): reason, expected, found. ``viewers wrong`` (a row per ad and
    day, only where viewers were judged): ad, day, expected, found.
    """

    meanings: ClassVar = {
        LOST: "an accepted action that isn't in the count of its ad, day, type and source",
        TWICE: "more in such a count than there are accepted actions",
        UNACCOUNTED: "a message too many or too few with its fate",
        LETTERS: "a message rejected or too old without a dead letter that gives its reason, or a "
        "dead letter for another message",
        VIEWERS: "a viewer too many or too few of an ad on a day",
    }

    faults: ClassVar = tuple(meanings)

    messages: int

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of events of each anomaly."""
        return {name: int(rows["events"].sum()) for name, rows in self.found.items()}

    @property
    def headline(self) -> str:
        """Return the number of each anomaly, in a line."""
        return f"{super().headline}; {self.messages:,} messages"


def judge(
    expected: pd.DataFrame,
    counts: pd.DataFrame,
    accounting: Mapping[str, int],
    letters: pd.DataFrame | None = None,
    viewers: pd.DataFrame | None = None,
) -> ActionsVerdict:
    """Compare counts (ad, day, type, source, count) with the messages of ``expected``.

    ``expected`` has a row per message, as ``AdActionStream.expected``; ``accounting`` the number of
    messages by fate. ``letters`` are the dead letters (a row each, with reason, and with the
    partition and offset of the rejected record, so that a letter sent twice counts once; where
    ``expected`` has an offset, too, it must be of that record); None judges none. ``viewers`` (ad,
    day, estimate) are judged as exact numbers, so for ads with few viewers; None judges none.
    """
    accepted = expected[expected["fate"] == Fate.ACCEPTED.value]
    found = counts.reindex(columns=[*KEY, "count"]).groupby(KEY)["count"].sum()
    keys = _by_key(accepted.groupby(KEY).size(), found)
    told = pd.Series(accounting, dtype="int64").rename_axis("fate")
    fates = _by_key(expected["fate"].value_counts(), told)
    anomalies = {
        LOST: keys[keys["events"] > 0],
        TWICE: keys.assign(events=-keys["events"])[keys["events"] < 0],
        UNACCOUNTED: fates.assign(events=fates["events"].abs())[fates["events"] != 0],
    }
    if letters is not None:
        its = letters.drop_duplicates(LETTER)
        if "offset" in expected:
            first = expected.groupby("event_id")["reason"].transform("first")
            again = expected.assign(reason=first)  # what is too old may get a letter each time
            due, may, given = (pd.MultiIndex.from_frame(f[LETTER]) for f in (expected, again, its))
            named = its.assign(reason=its["reason"].where(given.isin(due), OTHER))
            its = named[given.isin(due) | ~given.isin(may)]
        reasons = _by_key(expected["reason"].value_counts(), its["reason"].value_counts())
        wrong = (reasons["events"] > 0) | (reasons["reason"] == OTHER)
        anomalies[LETTERS] = reasons.assign(events=reasons["events"].abs())[wrong]
    if viewers is not None:
        day = ["ad", "day"]
        views = accepted[accepted["type"] == ActionType.VIEW.value]
        found = viewers.reindex(columns=[*day, "estimate"]).groupby(day)["estimate"].sum()
        days = _by_key(views.groupby(day)["user"].nunique(), found)
        anomalies[VIEWERS] = days.assign(events=days["events"].abs())[days["events"] != 0]
    notes = [] if letters is not None else ["Dead letters were not judged: none were given."]
    return ActionsVerdict(found=anomalies, notes=notes, messages=len(expected))


def _by_key(expected: pd.Series, found: pd.Series) -> pd.DataFrame:
    """Return a row for each key of two counts; ``events`` are missing, or if negative too many."""
    both = expected.rename("expected").to_frame().join(found.rename("found"), how="outer")
    both = both.fillna(0).astype("int64").reset_index()
    return both.assign(events=both["expected"] - both["found"])
