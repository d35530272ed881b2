"""Decides by four rules, from the recent samples of a query, whether somebody must look at it.

A rule is a function of samples and of nothing else, so a test needs neither a query nor a clock.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from workbook.streams.events.fields import MAX_AHEAD_MS
from workbook.streams.events.reasons import Reason

WINDOW_S = 60.0
"""Rules look at the samples of this number of seconds."""

SHARE, FEW = 0.01, 100
"""Too many are rejected above this share; a share of fewer records says nothing."""

GROWTH = 0.1
"""A lag grows if it took more than this share of the records that arrived."""

LATE = frozenset({Reason.TOO_LATE, Reason.TOO_OLD})
"""The reasons of dead letters that are good records: they are late, and not rejected."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What was known of a query at a ``time`` (s).

    ``read`` and ``rejected`` (by reason) count records since the query's start. ``lag`` is None
    while it's unknown. ``clock`` is the event time (ms) up to which results are complete: 0 before
    there is such a time, None if the query completes nothing by event time.
    """

    time: float
    read: int = 0
    rejected: Mapping[str, int] = field(default_factory=dict)
    lag: int | None = None
    clock: int | None = None

    @property
    def bad(self) -> dict[str, int]:
        """Return the rejected records by reason, without the late ones."""
        return {why: count for why, count in self.rejected.items() if why not in LATE}


def lag_grows(samples: Sequence[Sample]) -> str:
    """Say so if the least lag of each third of a minute is greater than that of the one before.

    A micro-batch lets the lag rise until it ends, so only the least values tell of a trend, and
    only if a micro-batch has ended in each third; or if none has in all of the minute.
    """
    minute = _minute(samples)
    parts: list[list[Sample]] = [[], [], []]
    for sample in minute:
        if sample.lag is not None:
            parts[min(int((sample.time - minute[0].time) / WINDOW_S * 3), 2)].append(sample)
    if not all(parts) or minute[0].lag is None or minute[-1].lag is None:
        return ""
    if minute[0].read == minute[-1].read:
        return _reads_nothing(minute[-1].lag - minute[0].lag)
    if any(part[0].read == part[-1].read for part in parts):
        return ""
    first, second, third = (min(s.lag for s in part if s.lag is not None) for part in parts)
    arrived = minute[-1].read + minute[-1].lag - minute[0].read - minute[0].lag
    if not first < second < third or third - first <= GROWTH * arrived:
        return ""
    return (
        f"The lag has grown for a minute, from {first:,} to {third:,} records: more records arrive "
        "than the query reads. Give Spark more cores, or raise --max-per-batch; if a producer only "
        "catches up, wait until it has."
    )


def _reads_nothing(arrived: int) -> str:
    if arrived <= 0:
        return ""
    return (
        f"For a minute the query has read nothing, while {arrived:,} records arrived. Look whether "
        "a micro-batch takes so long (the phases say so); a merge with --max-lead also waits for "
        "the topic that is behind, which must send heartbeats, or needs --idle-timeout."
    )


def clock_stands(samples: Sequence[Sample]) -> str:
    """Say so if records were read in both halves of a minute, and the clock didn't move."""
    minute = _minute(samples)
    if not minute or minute[0].clock is None or len({sample.clock for sample in minute}) > 1:
        return ""
    middle = next(s for s in minute if s.time >= (minute[0].time + minute[-1].time) / 2)
    if not minute[0].read < middle.read < minute[-1].read:
        return ""
    at, read = datetime.fromtimestamp(minute[0].clock / 1000, UTC), minute[-1].read - minute[0].read
    stands = f"has stood still at {at:%Y-%m-%d %H:%M:%S} UTC" if minute[0].clock else "is missing"
    return (
        f"The clock {stands} for a minute, while {read:,} records were read: no later result is "
        "completed. Find the partition whose newest event "
        "time stands still, and look at its producer; without events it must send heartbeats."
    )


def too_many_rejects(samples: Sequence[Sample]) -> str:
    """Say so if more than one per cent of the last minute's records were rejected."""
    first = next(s for s in samples if s.time >= samples[-1].time - WINDOW_S)
    last = samples[-1]
    read = last.read - first.read
    bad = {why: n - first.bad.get(why, 0) for why, n in last.bad.items()}
    count = sum(bad.values())
    if read < FEW or count <= SHARE * read:
        return ""
    most = max(bad, key=lambda why: bad[why])
    ours = ", or set this machine's clock if it is behind" if most == Reason.AHEAD else ""
    return (
        f"{count / read:.1%} of the last {read:,} records were rejected, most of them for "
        f"{most!r}. Read the topic of dead letters, where each record has its reason and its "
        f"place; then repair the producer that sends them{ours}."
    )


def clock_is_ahead(samples: Sequence[Sample]) -> str:
    """Apply if results are complete up to a time that no accepted event can have yet."""
    last = samples[-1]
    ahead = (last.clock or 0) / 1000 - last.time
    if ahead <= MAX_AHEAD_MS / 1000:
        return ""
    at = datetime.fromtimestamp(last.time + ahead, UTC)
    return (
        f"Results are complete up to {at:%Y-%m-%d %H:%M:%S} UTC, {ahead:,.0f} s ahead of this "
        "machine's clock, and each event before that time is late. If the clock is behind, set it; "
        "if it was ahead, use a new folder for --checkpoint (and a new topic for --out)."
    )


RULES: Mapping[str, Callable[[Sequence[Sample]], str]] = {
    "lag grows": lag_grows,
    "clock stands still": clock_stands,
    "too many rejects": too_many_rejects,
    "clock is ahead": clock_is_ahead,
}
"""By name: each returns what is wrong and what to do next, "" if nothing is."""


def alerts(samples: Sequence[Sample]) -> dict[str, str]:
    """Return the sentences of the rules that apply, by the rule's name."""
    said = {name: rule(samples) for name, rule in RULES.items()}
    return {name: sentence for name, sentence in said.items() if sentence}


def _minute(samples: Sequence[Sample]) -> list[Sample]:
    """Return the samples of the last minute, from one at its beginning on; [] before there is."""
    since = samples[-1].time - WINDOW_S if samples else 0
    before = [sample for sample in samples if sample.time <= since]
    return [*before[-1:], *(s for s in samples if s.time > since)] if before else []
