"""Judges what was observed by what was generated, event id by event id."""

import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from workbook.streams.events.reasons import Reason
from workbook.streams.ledgers.findings import Findings, require_columns

OF_A_GOOD_ONE = "though the event is good"

MEANINGS = {
    "lost": "expected, but observed less often than that, or never",
    "too_late": "expected and not observed, but its dead letter gives too late as reason",
    "duplicated": "observed again after it had been observed as often as expected",
    "unexpected": "observed, but never generated, or generated to be rejected",
    "misrouted": "rejected more often, or less often, for a reason than it was generated for it",
    "late": "event time further behind the highest one seen on its partition than allowed",
    "out_of_order": "event time below the highest one seen before on its partition",
}


@dataclass(frozen=True, kw_only=True)
class Verdict(Findings):
    """Each anomaly with the very events.

    ``lost`` (a row per event): event_id, timestamp and what else the ledger knows, sent, observed.
    ``duplicated``, ``unexpected`` (a row per surplus observation): the observed columns and
    position, the row number in the history, from 0.
    ``too_late`` (a row per event): as lost.
    ``misrouted`` (a row per reason): reason, expected, observed.
    ``late``, ``out_of_order`` (a row per observation): as duplicated, and behind_ms.

    ``lost``, ``duplicated``, ``unexpected`` and ``misrouted`` are faults of a pipeline. The others
    describe what arrived and do not make a verdict unclean.
    """

    meanings: ClassVar = MEANINGS
    faults: ClassVar = ("lost", "duplicated", "unexpected", "misrouted")

    expected: int
    observed: int

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of each anomaly; an event counts as often as it's missing."""
        missing = {name: self.found[name] for name in ("lost", "too_late")}
        return super().counts | {
            name: int((rows["sent"] - rows["observed"]).sum()) for name, rows in missing.items()
        }

    def _headline(self) -> str:
        return f"{super()._headline()}: {self.expected:,} expected, {self.observed:,} observed"


class Ledger:
    """Every event that was generated, and the judge of what was observed of them.

    ``expected`` has a row per message sent: event_id and timestamp (ms), and optionally reason
    (why it must be rejected; null or absent means it must count) and anything else. With ``once``
    (the default) an event counts once however often it was sent; without it, as often as sent:
    the first judges a count, the second a copy. An observation is late when its event time is
    more than ``lateness_ms`` below the highest seen before on its partition.
    Raises ValueError when a column is missing.
    """

    def __init__(
        self, expected: pd.DataFrame, *, once: bool = True, lateness_ms: int = 10_000
    ) -> None:
        require_columns(expected, ["event_id", "timestamp"], "what the ledger expects")
        good = expected["reason"].isna() if "reason" in expected else np.full(len(expected), True)
        self.rejected = expected[~good]
        self.events = expected[good].drop_duplicates("event_id").reset_index(drop=True)
        self.lateness_ms = lateness_ms
        self._ids = pd.Index(self.events["event_id"])
        places = self._ids.get_indexer(expected.loc[good, "event_id"])
        sent = np.bincount(places, minlength=len(self.events))
        self._due = np.minimum(sent, 1) if once else sent

    def judge(self, observed: pd.DataFrame, rejected: pd.DataFrame | None = None) -> Verdict:
        """Judge a history: one row per observation, in the order in which it was observed.

        ``observed`` has event_id and optionally timestamp (ms; else the expected one is taken),
        partition (else all count as one) and what else you want to see in the verdict.
        ``rejected`` are the dead letters, one row each, with reason, and with value where one of
        them came too late; None judges none of them. So with ``once`` the events expected are those
        observed, those too late and those lost.
        Raises ValueError when a column is missing.
        """
        require_columns(observed, ["event_id"], "what was observed")
        seen = observed.reset_index(drop=True)
        seen.insert(0, "position", np.arange(len(seen)))
        places = self._ids.get_indexer(seen["event_id"])
        known = places >= 0
        times = np.bincount(places[known], minlength=len(self.events))
        out_of_order = self._out_of_order(seen, places)
        missing, letters = self._missing(times), _too_late(rejected)
        excused = missing["event_id"].isin(letters)
        found = {
            "lost": missing[~excused],
            "too_late": missing[excused],
            "duplicated": self._duplicated(seen, places, times),
            "unexpected": seen[~known],
            "misrouted": self._misrouted(rejected),
            "late": out_of_order[out_of_order["behind_ms"] > self.lateness_ms],
            "out_of_order": out_of_order,
        }
        notes = [] if rejected is not None else ["Dead letters were not judged: none were given."]
        return Verdict(found=found, notes=notes, expected=int(self._due.sum()), observed=len(seen))

    def _missing(self, times: np.ndarray) -> pd.DataFrame:
        missing = times < self._due
        events = self.events[missing]
        return events.assign(sent=self._due[missing], observed=times[missing])

    def _duplicated(
        self, seen: pd.DataFrame, places: np.ndarray, times: np.ndarray
    ) -> pd.DataFrame:
        # Only the few events seen too often are numbered: five million rows are slow to group.
        too_often = np.append(times > self._due, False)  # the last is for place -1: unknown
        suspects = seen[too_often[places]]
        nth = suspects.groupby("event_id").cumcount().to_numpy()
        return suspects[nth >= self._due[places[suspects.index]]]

    def _out_of_order(self, seen: pd.DataFrame, places: np.ndarray) -> pd.DataFrame:
        timed = seen if "timestamp" in seen else self._with_timestamps(seen, places)
        by = timed["partition"] if "partition" in timed else np.zeros(len(timed), dtype=np.int8)
        highest = timed["timestamp"].groupby(by).cummax()
        behind = highest - timed["timestamp"]
        return timed[behind > 0].assign(behind_ms=behind[behind > 0])

    def _with_timestamps(self, seen: pd.DataFrame, places: np.ndarray) -> pd.DataFrame:
        known = places >= 0  # of an event that was never generated nobody knows the time
        return seen[known].assign(timestamp=self.events["timestamp"].to_numpy()[places[known]])

    def _misrouted(self, rejected: pd.DataFrame | None) -> pd.DataFrame:
        if rejected is None:
            return pd.DataFrame(columns=["reason", "expected", "observed"])
        require_columns(rejected, ["reason"], "the dead letters")
        due = self.rejected["reason"] if len(self.rejected) else pd.Series(dtype=object)
        on_time = rejected[rejected["reason"] != Reason.TOO_LATE.value]
        good = on_time.get("value", pd.Series(dtype=object)).map(_event_id).isin(self._ids)
        seen = on_time["reason"].mask(good.reindex(on_time.index, fill_value=False), OF_A_GOOD_ONE)
        counts = pd.DataFrame({"expected": due.value_counts(), "observed": seen.value_counts()})
        counts = counts.fillna(0).astype(int).rename_axis("reason").reset_index()
        return counts[counts["expected"] != counts["observed"]].reset_index(drop=True)


def _too_late(rejected: pd.DataFrame | None) -> set[int]:
    """Return the ids of the events that came too late, from their dead letters."""
    if rejected is None:
        return set()
    late = rejected[rejected["reason"] == Reason.TOO_LATE.value]
    if len(late):
        require_columns(late, ["value"], "a dead letter of a late event")
    found = (_event_id(value) for value in late.get("value", ()))
    return {event_id for event_id in found if event_id is not None}


def _event_id(value: bytes | None) -> int | None:
    """Return the id in a click's JSON; None where the bytes are gone or have been cut."""
    try:
        return int(json.loads(value or b"")["event_id"])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
