"""What a crash has cost: by second in words, and the very events, judged by the ledger."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from html import escape

import pandas as pd

from workbook.faults.plan import PROMISES, where
from workbook.ledgers.events import Ledger
from workbook.ledgers.findings import SHOWN

BY_HAND, NEVER = "by hand", "never"
KILL, RESTART = "the kill", "the start again"
FINDINGS = ("lost", "duplicated", "both", "neither")


@dataclass(frozen=True)
class Outcome:
    """One crash, judged; ``point`` may also be "by hand" or "never", then ``passes`` is 0.

    ``seconds`` has a row per second of the input: second, expected (page views), emitted (the
    count of every emission in its order, as text), last (0 where there is none), lost, duplicated,
    meaning. ``lost`` has a row per event (event_id, timestamp in ms, second) that is missing for
    a reader who keeps the last value of each key; ``duplicated`` a row per event counted once more
    by a reader who adds up, with the offset of that emission. ``recovery`` is the time from
    ``since`` ("the kill" or "the start again") to the first metric after it in seconds; None where
    there was none.
    """

    variant: str
    point: str
    seed: int
    passes: int
    seconds: pd.DataFrame = field(repr=False)
    lost: pd.DataFrame = field(repr=False)
    duplicated: pd.DataFrame = field(repr=False)
    recovery: float | None = None
    since: str = KILL

    @property
    def promised(self) -> tuple[str, ...]:
        """What this variant rules out: none, one or both of lost and duplicated."""
        return PROMISES.get(self.variant, ())

    @property
    def kept(self) -> bool:
        """The variant did what it promises; true also of one that promises nothing."""
        return not any(len(getattr(self, name)) for name in self.promised)

    @property
    def found(self) -> str:
        """What the crash did to the page views: lost, duplicated, both or neither."""
        names = [name for name in ("lost", "duplicated") if len(getattr(self, name))]
        return {0: "neither", 1: "".join(names), 2: "both"}[len(names)]

    def against(self, prediction: object) -> str:
        """Compare a prediction (lost, duplicated, both, neither; ... for none) with the outcome."""
        if prediction is ...:
            return f"You predicted nothing. The ledger found: {self.found}."
        if prediction not in FINDINGS:
            return f"A prediction is one of {', '.join(FINDINGS)}. The ledger found: {self.found}."
        if prediction == self.found:
            return f"✓ As you predicted: {self.found}."
        return f"✗ You predicted: {prediction}. The ledger found: {self.found}."

    def __str__(self) -> str:
        lines = [self._headline()]
        if len(self._told):
            lines += ["", self._told.to_string(index=False), ""]
        lines += self._sentences()
        for name in ("lost", "duplicated"):
            events = getattr(self, name)
            if len(events):
                lines += ["", _first(name, events), _shown(events).to_string(index=False)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        told = "".join(f"<p>{escape(sentence)}</p>" for sentence in self._sentences())
        events = "".join(
            f"<details><summary>{_first(name, events)}</summary>"
            f"{_shown(events).to_html(index=False)}</details>"
            for name in ("lost", "duplicated")
            if len(events := getattr(self, name))
        )
        return f"<p><b>{escape(self._headline())}</b></p>{self._table()}{told}{events}"

    def _table(self) -> str:
        """Render the wrong seconds, in cells that wrap: the last column is a sentence."""
        if self._told.empty:
            return ""
        style = "style='text-align:left; white-space:normal'"
        names = "".join(f"<th {style}>{name}</th>" for name in self._told)
        rows = "".join(
            "<tr>" + "".join(f"<td {style}>{escape(str(value))}</td>" for value in row) + "</tr>"
            for row in self._told.itertuples(index=False)
        )
        return f"<table style='margin-left:0'><tr>{names}</tr>{rows}</table>"

    @property
    def _told(self) -> pd.DataFrame:
        """The seconds of which there is something to tell."""
        wrong = self.seconds[self.seconds["meaning"] != "right"]
        return _clock(wrong[["second", "expected", "emitted", "last", "meaning"]])

    def _headline(self) -> str:
        # The mark is for the promise: duplicated events are no fault where only "lost" is promised.
        mark = ("✓" if self.kept else "✗") if self.promised else "·"
        return (
            f"{mark} {len(self.lost):,} lost, {len(self.duplicated):,} duplicated of "
            f"{self.seconds['expected'].sum():,} page views: {self.variant}, {self._killed()}"
        )

    def _killed(self) -> str:
        if self.point == NEVER:
            return "not killed"
        if not self.passes:
            return f"killed {self.point}"
        return f"killed at {self.point}, pass {self.passes:,} ({where(self.variant, self.point)})"

    def _sentences(self) -> list[str]:
        promise = " or ".join(self.promised)
        if not promise:
            promised = "This variant promises nothing."
        else:
            promised = f"Promised: nothing {promise}. " + ("✓ kept" if self.kept else "✗ broken")
        told = [self._others(), promised]
        if self.point == NEVER:
            return told
        if self.recovery is None:
            return [*told, "No metric came after the kill."]
        return [*told, f"From {self.since} to the next metric: {self.recovery:.1f} s."]

    def _others(self) -> str:
        right, total = len(self.seconds) - len(self._told), len(self.seconds)
        if right < total:
            return f"The other {right} of {total} seconds were told once, and right."
        lucky = self.point != NEVER and not self.promised
        luck = ": by luck, for nothing is promised" if lucky else ""
        return f"All {total} seconds were told once, and right{luck}."


def _first(name: str, events: pd.DataFrame) -> str:
    return f"{name}: the first {min(SHOWN, len(events))} of {len(events):,} events"


def _shown(events: pd.DataFrame) -> pd.DataFrame:
    return _clock(events.head(SHOWN))


def _clock(frame: pd.DataFrame) -> pd.DataFrame:
    """Replace the ten digits of a second by the time of day."""
    times = [time.strftime("%H:%M:%S", time.gmtime(second)) for second in frame["second"]]
    return frame.assign(second=times).rename(columns={"second": "second (UTC)"})


def judge(expected: pd.DataFrame, metrics: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return ``seconds``, ``lost`` and ``duplicated`` of an ``Outcome``.

    ``expected`` has the page views that count: event_id, timestamp (ms), second. ``metrics`` are
    those of ``read_metrics``, in their order; seconds in which nothing is expected are left out.
    """
    told = metrics[metrics["second"].isin(expected["second"])]
    ledger = Ledger(expected[["event_id", "timestamp", "second"]])
    kept = told.drop_duplicates("second", keep="last")
    lost = ledger.judge(_events(kept)).lost[["event_id", "timestamp", "second"]]
    duplicated = ledger.judge(_events(told)).duplicated[["event_id", "second", "offset"]]
    counts = told.groupby("second")["views"].agg(list)
    frame = pd.DataFrame({"expected": expected.groupby("second").size()})
    for name, events in (("lost", lost), ("duplicated", duplicated)):
        frame[name] = events.groupby("second").size().reindex(frame.index, fill_value=0)
    rows = [
        (second, row.expected, counts.get(second, []), row.lost, row.duplicated)
        for second, row in zip(frame.index, frame.itertuples(), strict=True)
    ]
    return {"seconds": _seconds(rows), "lost": lost, "duplicated": duplicated}


def _seconds(rows: list[tuple[int, int, list[int], int, int]]) -> pd.DataFrame:
    columns = ["second", "expected", "emitted", "last", "lost", "duplicated", "meaning"]
    told = [
        (
            second, expected, ", ".join(map(str, emitted)) or "–", emitted[-1] if emitted else 0,
            lost, duplicated, meaning(expected, emitted, lost, duplicated),
        )
        for second, expected, emitted, lost, duplicated in rows
    ]  # fmt: skip
    return pd.DataFrame(told, columns=columns)


def _events(metrics: pd.DataFrame) -> pd.DataFrame:
    """Return a row per event of each emission: event_id, second, offset."""
    events = metrics[["second", "offset", "event_ids"]].explode("event_ids")
    events = events.dropna(subset="event_ids").rename(columns={"event_ids": "event_id"})
    return events.astype("int64")[["event_id", "second", "offset"]]


def meaning(expected: int, emitted: list[int], lost: int, duplicated: int) -> str:
    """Describe what became of a second."""
    if not emitted:
        return "never told: all lost"
    if emitted == [expected] and not lost:
        return "right"
    if not lost:
        return f"the last value is right; who adds up counts {duplicated} twice"
    if len(emitted) == 1:
        return f"told in part: {lost} lost"
    words = f"a part replaced what was told before: {lost} lost"
    return words + (
        f"; who adds up counts {duplicated} twice" if duplicated else "; the parts add up"
    )
