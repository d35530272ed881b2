"""Judges a metrics topic second by second by the page views that must be counted."""

import time
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pandas as pd

from workbook.streams.ledgers.findings import Findings

WRONG = "wrong numbers"
"""What a reader has where a metric is miscounted, whatever else happened."""


@dataclass(frozen=True, kw_only=True)
class SecondsVerdict(Findings):
    """The page views that readers miss or count twice, and the metrics that are wrong.

    ``seconds`` has a row per second of the input: second, expected (page views), emitted (the
    count of every emission in its order, as text), last (0 where there is none), lost, duplicated,
    miscounted, meaning. ``miscounted`` has a row per metric (second, views, offset) whose views are
    not the number of its events, or whose events aren't all of its second. ``lost`` has a row
    per event (event_id, timestamp in ms, second) that is missing for a reader that keeps the last
    value of each key; ``duplicated`` a row per event counted once more by a reader that adds up,
    with the offset of that emission; ``missing`` a row per event that is missing for this one too.
    """

    meanings: ClassVar = {
        "lost": "page views missing for a reader that keeps the last value of each second",
        "duplicated": "page views counted once more by a reader that adds up",
        "miscounted": "metrics that don't say how many events of their second they count",
    }
    faults: ClassVar = tuple(meanings)

    seconds: pd.DataFrame = field(repr=False)
    missing: pd.DataFrame = field(repr=False, default_factory=pd.DataFrame)

    @property
    def keeps_last(self) -> str:
        """Return what a reader that keeps the last value has: all right, lost or wrong numbers."""
        if len(self.miscounted):
            return WRONG
        return "lost" if len(self.lost) else "all right"

    @property
    def adds_up(self) -> str:
        """Return what a reader that adds up has: all right, lost, duplicated, both or wrong."""
        if len(self.miscounted):
            return WRONG
        found = {"lost": self.missing, "duplicated": self.duplicated}
        names = [name for name, events in found.items() if len(events)]
        return {0: "all right", 1: "".join(names), 2: "both"}[len(names)]

    @property
    def headline(self) -> str:
        """Return the counts in words."""
        lost, duplicated, wrong = self.counts.values()
        of = f"of {self.seconds['expected'].sum():,} page views"
        more = f"; {wrong:,} metrics miscounted" if wrong else ""
        return f"{lost:,} lost, {duplicated:,} duplicated {of}{more}"

    def __str__(self) -> str:
        wrong = self._wrong
        table = f"{wrong.to_string(index=False)}\n\n" if len(wrong) else ""
        return table + super().__str__()

    def _repr_html_(self) -> str:
        cell = "<td style='text-align:left; white-space:normal'>"  # the last one is a sentence
        wrong = self._wrong.to_html(index=False, justify="left").replace("<td>", cell)
        return (wrong if len(self._wrong) else "") + super()._repr_html_()

    @property
    def _wrong(self) -> pd.DataFrame:
        """Return the seconds that weren't emitted once and right, with the time of day."""
        wrong = self.seconds[self.seconds["meaning"] != "right"]
        times = [time.strftime("%H:%M:%S", time.gmtime(second)) for second in wrong["second"]]
        columns = ["second", "expected", "emitted", "last", "meaning"]
        return wrong[columns].assign(second=times).rename(columns={"second": "second (UTC)"})

    def _title(self) -> str:
        right, total = len(self.seconds) - len(self._wrong), len(self.seconds)
        which = f"The other {right} of {total}" if right < total else f"All {total}"
        adds = f" A reader that adds up: {len(self.missing):,} lost." if right < total else ""
        return f"{which} seconds were emitted once, and right.{adds}"


def judge(expected: pd.DataFrame, metrics: pd.DataFrame) -> SecondsVerdict:
    """Compare the metrics with the page views that count: event_id, timestamp (ms), second.

    ``metrics`` are those of ``read_metrics``, in their order. Later seconds than the last expected
    one aren't judged: there is the click that completes that second.
    """
    judged = metrics[metrics["second"] <= expected["second"].max()]
    due = expected[["event_id", "timestamp", "second"]]
    kept, seen = _events(judged.drop_duplicates("second", keep="last")), _events(judged)
    known = seen[seen["event_id"].isin(due["event_id"])]
    found = {
        "lost": due[~due["event_id"].isin(kept["event_id"])],
        "duplicated": known[known.duplicated("event_id")],
        "miscounted": _miscounted(expected, judged),
    }
    counts = judged.groupby("second")["views"].agg(list)
    seconds = sorted({*expected["second"], *judged["second"]})
    frame = pd.DataFrame({"expected": expected.groupby("second").size()}).reindex(seconds)
    told = [counts.get(second, []) for second in seconds]
    frame["emitted"] = [", ".join(map(str, views)) or "–" for views in told]
    frame["last"] = [views[-1] if views else 0 for views in told]
    for name, events in found.items():
        frame[name] = events.groupby("second").size()
    frame = frame.fillna(0).astype(dict.fromkeys(("expected", *found), int))
    numbers = frame[["expected", *found]].itertuples(index=False)
    frame["meaning"] = [
        meaning(due, views, *rest) for views, (due, *rest) in zip(told, numbers, strict=True)
    ]
    frame = frame.rename_axis("second").reset_index()
    missing = due[~due["event_id"].isin(seen["event_id"])]
    return SecondsVerdict(found=found, seconds=frame, missing=missing)


def _miscounted(expected: pd.DataFrame, metrics: pd.DataFrame) -> pd.DataFrame:
    """Return the metrics that don't count events of their own second, each as one view."""
    own = expected.groupby("second")["event_id"].agg(set)
    right = [
        views == len(ids) and own.get(second, set()).issuperset(ids)
        for second, views, ids in metrics[["second", "views", "event_ids"]].itertuples(index=False)
    ]
    wrong = metrics[~np.array(right, dtype=bool)]
    return wrong[["second", "views", "offset"]].reset_index(drop=True)


def _events(metrics: pd.DataFrame) -> pd.DataFrame:
    """Return a row per event of each emission: event_id, second, offset."""
    events = metrics[["second", "offset", "event_ids"]].explode("event_ids")
    events = events.dropna(subset="event_ids").rename(columns={"event_ids": "event_id"})
    return events.astype("int64")[["event_id", "second", "offset"]]


def meaning(expected: int, emitted: list[int], lost: int, duplicated: int, miscounted: int) -> str:
    """Describe what became of a second."""
    if miscounted:
        return f"{miscounted} of its metrics miscounted: not as many page views, or not its own"
    if not emitted:
        return "never emitted: all lost"
    if emitted == [expected] and not lost:
        return "right"
    if not lost:
        return f"the last value is right; a reader that adds up counts {duplicated} twice"
    if len(emitted) == 1:
        return f"emitted in part: {lost} lost"
    words = f"a part replaced what was emitted before: {lost} lost"
    return words + (
        f"; a reader that adds up counts {duplicated} twice" if duplicated else "; the parts add up"
    )
