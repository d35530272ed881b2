"""What a crash has cost: by second in words, and the very events, judged by the ledger."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

import pandas as pd

from workbook.faults.plan import PROMISES, where
from workbook.ledger import SHOWN, Ledger

BY_HAND, NEVER = "by hand", "never"
FINDINGS = ("lost", "doubled", "both", "neither")


@dataclass(frozen=True)
class Outcome:
    """One crash, judged; ``point`` may also be "by hand" or "never", then ``passes`` is 0.

    ``seconds`` has a row per second of the input: second, expected (page views), emitted (the
    count of every emission in its order, as text), last (0 where there is none), lost, doubled,
    meaning. ``lost`` has a row per event (event_id, timestamp in ms, second) that is missing for
    a reader who keeps the last value of each key; ``doubled`` a row per event counted once more
    by a reader who adds up, with the offset of that emission. ``recovery`` is the time from the
    kill to the first metric after it in seconds; None where there was none.
    """

    version: str
    point: str
    seed: int
    passes: int
    seconds: pd.DataFrame = field(repr=False)
    lost: pd.DataFrame = field(repr=False)
    doubled: pd.DataFrame = field(repr=False)
    recovery: float | None = None

    @property
    def promised(self) -> tuple[str, ...]:
        """What this version promises not to let happen: none, one or both of lost and doubled."""
        return PROMISES.get(self.version, ())

    @property
    def kept(self) -> bool:
        """The version did what it promises; true also of one that promises nothing."""
        return not any(len(getattr(self, name)) for name in self.promised)

    @property
    def found(self) -> str:
        """What the crash did to the page views: lost, doubled, both or neither."""
        names = [name for name in ("lost", "doubled") if len(getattr(self, name))]
        return {0: "neither", 1: "".join(names), 2: "both"}[len(names)]

    def against(self, prediction: object) -> str:
        """A prediction (lost, doubled, both, neither; or ... for none) beside what was found."""
        if prediction is ...:
            return f"You predicted nothing. The ledger found: {self.found}."
        if prediction not in FINDINGS:
            return f"A prediction is one of {', '.join(FINDINGS)}. The ledger found: {self.found}."
        if prediction == self.found:
            return f"✓ As you predicted: {self.found}."
        return f"✗ You predicted: {prediction}. The ledger found: {self.found}."

    def __str__(self) -> str:
        lines = [self._headline(), *self._sentences()]
        if len(self._told):
            lines += ["", self._told.to_string(index=False)]
        lines.append(self._others())
        for name in ("lost", "doubled"):
            events = getattr(self, name)
            if len(events):
                lines += ["", _first(name, events), events.head(SHOWN).to_string(index=False)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        style = "style='text-align:left; white-space:nowrap'"
        names = "".join(f"<th>{name}</th>" for name in self._told)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(str(value))}</td>" for value in row) + "</tr>"
            for row in self._told.itertuples(index=False)
        )
        last = f"<tr><td colspan='7' {style}><i>{escape(self._others())}</i></td></tr>"
        told = "".join(f"<p>{escape(sentence)}</p>" for sentence in self._sentences())
        events = "".join(
            f"<details><summary>{_first(name, events)}</summary>"
            f"{events.head(SHOWN).to_html(index=False)}</details>"
            for name in ("lost", "doubled")
            if len(events := getattr(self, name))
        )
        caption = f"<caption {style}>{escape(self._headline())}</caption>"
        head = f"<tr>{names}</tr>" if rows else ""
        return f"<table>{caption}{head}{rows}{last}</table>{told}{events}"

    @property
    def _told(self) -> pd.DataFrame:
        """The seconds of which there is something to tell."""
        return self.seconds[self.seconds["emitted"] != self.seconds["expected"].astype(str)]

    def _headline(self) -> str:
        word = "✓" if self.found == "neither" else "✗"
        told = self.point  # by hand, or never
        if self.passes:
            told = f"at {told}, pass {self.passes:,} ({where(self.version, told)})"
        return (
            f"{word} {self.version}, killed {told}: {len(self.lost):,} lost, "
            f"{len(self.doubled):,} doubled of {self.seconds['expected'].sum():,} page views"
        )

    def _sentences(self) -> list[str]:
        promise = " or ".join(self.promised)
        if not promise:
            promised = "This version promises nothing."
        else:
            promised = f"Promised: nothing {promise}. " + ("✓ kept" if self.kept else "✗ broken")
        if self.point == NEVER:
            return [promised]
        if self.recovery is None:
            return [promised, "No metric came after the kill."]
        return [promised, f"From the kill to the next metric: {self.recovery:.1f} s."]

    def _others(self) -> str:
        right, total = len(self.seconds) - len(self._told), len(self.seconds)
        which = f"All {total}" if right == total else f"The other {right} of {total}"
        return f"{which} seconds: emitted once, and right."


def _first(name: str, events: pd.DataFrame) -> str:
    return f"{name}: the first {min(SHOWN, len(events))} of {len(events):,} events"


def judge(expected: pd.DataFrame, metrics: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """``seconds``, ``lost`` and ``doubled`` of an ``Outcome``.

    ``expected`` has the page views that count: event_id, timestamp (ms), second. ``metrics`` are
    those of ``read_metrics``, in their order; seconds in which nothing is expected are left out.
    """
    told = metrics[metrics["second"].isin(expected["second"])]
    ledger = Ledger(expected[["event_id", "timestamp", "second"]])
    kept = told.drop_duplicates("second", keep="last")
    lost = ledger.judge(_events(kept)).lost[["event_id", "timestamp", "second"]]
    doubled = ledger.judge(_events(told)).duplicated[["event_id", "second", "offset"]]
    counts = told.groupby("second")["views"].agg(list)
    frame = pd.DataFrame({"expected": expected.groupby("second").size()})
    for name, events in (("lost", lost), ("doubled", doubled)):
        frame[name] = events.groupby("second").size().reindex(frame.index, fill_value=0)
    rows = [
        (second, row.expected, counts.get(second, []), row.lost, row.doubled)
        for second, row in zip(frame.index, frame.itertuples(), strict=True)
    ]
    return {"seconds": _seconds(rows), "lost": lost, "doubled": doubled}


def _seconds(rows: list[tuple[int, int, list[int], int, int]]) -> pd.DataFrame:
    columns = ["second", "expected", "emitted", "last", "lost", "doubled", "meaning"]
    told = [
        (
            second, expected, ", ".join(map(str, emitted)) or "–", emitted[-1] if emitted else 0,
            lost, doubled, meaning(expected, emitted, lost, doubled),
        )
        for second, expected, emitted, lost, doubled in rows
    ]  # fmt: skip
    return pd.DataFrame(told, columns=columns)


def _events(metrics: pd.DataFrame) -> pd.DataFrame:
    """A row per event of each emission: event_id, second, offset."""
    events = metrics[["second", "offset", "event_ids"]].explode("event_ids")
    events = events.dropna(subset="event_ids").rename(columns={"event_ids": "event_id"})
    return events.astype("int64")[["event_id", "second", "offset"]]


def meaning(expected: int, emitted: list[int], lost: int, doubled: int) -> str:
    """What became of a second, in words."""
    if not emitted:
        return "never told: all lost"
    if emitted == [expected] and not lost:
        return "right"
    if not lost:
        return f"the last value is right; who adds up counts {doubled} twice"
    if len(emitted) == 1:
        return f"told in part: {lost} lost"
    words = f"a part replaced what was told before: {lost} lost"
    return words + (f"; who adds up counts {doubled} twice" if doubled else "; the parts add up")
