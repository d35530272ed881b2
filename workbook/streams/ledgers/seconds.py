"""Judges a metrics topic second by second by the page views that must be counted."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from html import escape

import numpy as np
import pandas as pd

from workbook.streams.ledgers.events import Ledger
from workbook.streams.ledgers.findings import SHOWN

WRONG = "wrong numbers"
"""What a reader has where a metric is miscounted, whatever else happened."""


@dataclass(frozen=True)
class SecondsVerdict:
    """The page views that readers miss or count twice, and the metrics that are wrong.

    ``seconds`` has a row per second of the input: second, expected (page views), emitted (the
    count of every emission in its order, as text), last (0 where there is none), lost, duplicated,
    miscounted, meaning. ``miscounted`` has a row per metric (second, views, offset) whose views are
    not the number of its events, or whose events aren't all of its second. ``lost`` has a row
    per event (event_id, timestamp in ms, second) that is missing for a reader that keeps the last
    value of each key; ``duplicated`` a row per event counted once more by a reader that adds up,
    with the offset of that emission; ``missing`` a row per event that is missing for this one too.
    """

    seconds: pd.DataFrame = field(repr=False)
    lost: pd.DataFrame = field(repr=False)
    duplicated: pd.DataFrame = field(repr=False)
    miscounted: pd.DataFrame = field(repr=False)
    missing: pd.DataFrame = field(repr=False, default_factory=pd.DataFrame)

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of lost and duplicated events, and of miscounted metrics."""
        return {name: len(getattr(self, name)) for name in ("lost", "duplicated", "miscounted")}

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
        lines = [wrong.to_string(index=False), ""] if len(wrong) else []
        lines.append(self._others() + self._readers())
        for name in self.counts:
            events = getattr(self, name)
            if len(events):
                lines += ["", _first(name, events), _shown(events).to_string(index=False)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        events = "".join(
            f"<details><summary>{_first(name, events)}</summary>"
            f"{_shown(events).to_html(index=False)}</details>"
            for name in self.counts
            if len(events := getattr(self, name))
        )
        return f"{self._table()}<p>{self._others()}{self._readers()}</p>{events}"

    def _table(self) -> str:
        """Render the wrong seconds, in cells that wrap: the last column is a sentence."""
        if self._wrong.empty:
            return ""
        style = "style='text-align:left; white-space:normal'"
        names = "".join(f"<th {style}>{name}</th>" for name in self._wrong)
        rows = "".join(
            "<tr>" + "".join(f"<td {style}>{escape(str(value))}</td>" for value in row) + "</tr>"
            for row in self._wrong.itertuples(index=False)
        )
        return f"<table style='margin-left:0'><tr>{names}</tr>{rows}</table>"

    @property
    def _wrong(self) -> pd.DataFrame:
        """Return the seconds that weren't emitted exactly once with the right count."""
        wrong = self.seconds[self.seconds["meaning"] != "right"]
        return _clock(wrong[["second", "expected", "emitted", "last", "meaning"]])

    def _others(self) -> str:
        right, total = len(self.seconds) - len(self._wrong), len(self.seconds)
        which = f"The other {right} of {total}" if right < total else f"All {total}"
        return f"{which} seconds were emitted once, and right."

    def _readers(self) -> str:
        """Describe what each of the two readers has, where something is wrong."""
        if self._wrong.empty:
            return ""
        last, summed = len(self.lost), len(self.missing)
        return (
            f" A reader that keeps the last value: {last:,} lost. One that adds up: "
            f"{summed:,} lost, {len(self.duplicated):,} duplicated."
        )


def _first(name: str, events: pd.DataFrame) -> str:
    return f"{name}: the first {min(SHOWN, len(events))} of {len(events):,} events"


def _shown(events: pd.DataFrame) -> pd.DataFrame:
    return _clock(events.head(SHOWN))


def _clock(frame: pd.DataFrame) -> pd.DataFrame:
    """Replace the ten digits of a second by the time of day."""
    times = [time.strftime("%H:%M:%S", time.gmtime(second)) for second in frame["second"]]
    return frame.assign(second=times).rename(columns={"second": "second (UTC)"})


def judge(expected: pd.DataFrame, metrics: pd.DataFrame) -> SecondsVerdict:
    """Compare the metrics with the page views that count: event_id, timestamp (ms), second.

    ``metrics`` are those of ``read_metrics``, in their order. Later seconds than the last expected
    one aren't judged: there is the click that completes that second.
    """
    judged = metrics[metrics["second"] <= expected["second"].max()]
    ledger = Ledger(expected[["event_id", "timestamp", "second"]])
    kept = judged.drop_duplicates("second", keep="last")
    lost = ledger.judge(_events(kept)).lost[["event_id", "timestamp", "second"]]
    summed = ledger.judge(_events(judged))
    duplicated = summed.duplicated[["event_id", "second", "offset"]]
    counts = judged.groupby("second")["views"].agg(list)
    miscounted = _miscounted(expected, judged)
    seconds = sorted({*expected["second"], *judged["second"]})
    sizes = expected.groupby("second").size().reindex(seconds, fill_value=0)
    frame = pd.DataFrame({"expected": sizes})
    findings = {"lost": lost, "duplicated": duplicated, "miscounted": miscounted}
    for name, events in findings.items():
        frame[name] = events.groupby("second").size().reindex(frame.index, fill_value=0)
    rows = [
        (row.Index, row.expected, counts.get(row.Index, []), *row[2:]) for row in frame.itertuples()
    ]
    return SecondsVerdict(_seconds(rows), **findings, missing=summed.lost)


def _miscounted(expected: pd.DataFrame, metrics: pd.DataFrame) -> pd.DataFrame:
    """Return the metrics that don't count events of their own second, each as one view."""
    own = expected.groupby("second")["event_id"].agg(set)
    right = [
        views == len(ids) and own.get(second, set()).issuperset(ids)
        for second, views, ids in metrics[["second", "views", "event_ids"]].itertuples(index=False)
    ]
    wrong = metrics[~np.array(right, dtype=bool)]
    return wrong[["second", "views", "offset"]].reset_index(drop=True)


def _seconds(rows: list[tuple[int, int, list[int], int, int, int]]) -> pd.DataFrame:
    columns = ["second", "expected", "emitted", "last", "lost", "duplicated", "miscounted"]
    found = [
        (
            second, expected, ", ".join(map(str, emitted)) or "–", emitted[-1] if emitted else 0,
            lost, duplicated, miscounted,
            meaning(expected, emitted, lost, duplicated, miscounted),
        )
        for second, expected, emitted, lost, duplicated, miscounted in rows
    ]  # fmt: skip
    return pd.DataFrame(found, columns=[*columns, "meaning"])


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
