"""The merge in columns: a partition's open visits as a table, a micro-batch as another.

The idea is OTTO's, who built it on Spark before Spark had event time: "Stateful stream processing
with Spark", their session of two topics. In Polars a batch costs a few joins, and not a call per
message.
"""

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from platform import node
from typing import Any
from zlib import crc32

import polars as pl

from workbook.streams.events.visits import CLOCK, MERGED, STARTS
from workbook.tables.segments import Keyed, Segments
from workbook.tables.state import BUCKET, State

TRACKING = pl.Struct({"event_id": pl.Int64, "timestamp": pl.Int64, "page": pl.String})
ORDER = pl.Struct(
    {"event_id": pl.Int64, "timestamp": pl.Int64, "order_id": pl.String, "cents": pl.Int64}
)
_SIDES = {"tracking": TRACKING, "orders": ORDER}

TABLES = {
    "open": Keyed(("ssid",), expires="due", least=("from_0", "from_1")),
    "emitted": Keyed(("ssid",), expires="until"),
    "clock": Keyed(),
}
"""Open visits, each with the smallest offset of its messages in the first and the second topic;
emitted ssids; the newest event time of each topic, and sums."""

SUMS = ("messages", "open", "emitted", "fragments", "no_visit")
"""Messages taken, visits open now, visits emitted, those of them that are further parts, and orders
whose visit never came. A message that arrives twice counts twice."""
_NEXT = ("next_0", "next_1")
_CAME = ("came_0", "came_1")
_RUN = ("run", "began")
_CLOCK = dict.fromkeys(("newest_0", "newest_1", *_NEXT, *_CAME, *_RUN, *SUMS), pl.Int64)


@dataclass(frozen=True, slots=True)
class Limits:
    """When a visit is complete, in ms of event time.

    ``timeout`` after its newest message, or ``max_age`` after its oldest one, so that a visitor who
    never pauses is emitted too. For ``horizon`` after the time of its emission its ssid is kept.
    """

    timeout: int = 120_000
    max_age: int = 3_600_000
    horizon: int = 3_600_000


@dataclass(frozen=True)
class Idle:
    """When a topic without new records holds nobody back: ``timeout`` ms after its last good one.

    ``now`` is a monotonic clock (ms), read when a micro-batch is computed. No topic is idle before
    this ``run`` of the query has watched it for the timeout on this machine.
    """

    timeout: int
    run: int = field(default_factory=lambda: secrets.randbits(62))
    now: Callable[[], int] = lambda: time.monotonic_ns() // 1_000_000

    def past(self, came: int | None, began: int) -> bool:
        """Return whether a topic is idle whose last record came at ``came``, None if none has."""
        return self.now() - max(came or 0, began) > self.timeout


def squeeze(rows: pl.DataFrame) -> pl.DataFrame:
    """Keep of what a task has read: good messages, and the newest heartbeat of each partition."""
    good = rows.filter(pl.col("reason").is_null()).drop("reason")
    beats = good.filter(pl.col("type") == "heartbeat").sort("timestamp")
    last = beats.unique(["topic", "partition"], keep="last")
    messages = good.filter(pl.col("type") != "heartbeat")
    return pl.concat([messages, last]).with_columns(pl.col("partition").alias(BUCKET))


def merge(
    state: State,
    batch: pl.DataFrame,
    *,
    limits: Limits,
    topics: Sequence[str],
    idle: Idle | None = None,
) -> pl.DataFrame:
    """Merge a micro-batch of one partition, and emit what both topics' clock completes.

    In: the columns ``READS`` of ``VISITS.parse``, as ``squeeze`` leaves them. Out: a row per
    complete visit (``kind`` merged: ssid, timestamp, fragment, tracking, orders), sorted by
    timestamp, and one of kind clock: ``timestamp`` (null while a topic has given nothing) and
    ``SUMS``. All have ``STARTS``: a start there without this state sees all of what was open, and
    of the batch.
    A topic that is ``idle`` doesn't count. When it goes on, it does again: the clock never goes
    back, and stands until the topic has come so far; what it brings till then is late.
    """
    table = state["clock"].all()
    known = {} if table is None else table.row(0, named=True)
    starts = _starts(known, state["open"], batch, topics)
    clock = _clock(known, batch, topics, idle)
    now = _known(max, state["open"].floor, _time(clock, idle))
    messages = batch.filter(pl.col("type") != "heartbeat")
    came = _visits(messages, topics)
    before = _before(state, came)
    visits = _combined([came, before], limits)
    done = visits.clear()
    if now is None:
        state["open"].write(visits)
    else:
        at_once = visits.filter(pl.col("due") < now)
        state["open"].write(visits.filter(pl.col("due") >= now), gone=at_once)
        expired = state["open"].expire(now)
        done = at_once if expired is None else pl.concat([at_once, expired.select(done.columns)])
        state["emitted"].expire(now)
        until = pl.lit(now + limits.horizon, pl.Int64).alias("until")
        state["emitted"].write(done.select("ssid", pl.col("fragment") + 1, until))
    clock["messages"] += len(messages)
    lone = len(done.filter((pl.col("fragment") == 0) & (pl.col("tracking").list.len() == 0)))
    clock["no_visit"] += lone
    clock["emitted"] += len(done) - lone
    clock["fragments"] += len(done.filter(pl.col("fragment") > 0))
    clock["open"] += len(visits) - int(before["is_open"].sum()) - len(done)
    state["clock"].replace(pl.DataFrame([clock], schema=_CLOCK))
    return _emitted(done, clock, now, int(batch["partition"][0]), starts)


# --- the clock --------------------------------------------------------------------------------


def _clock(
    known: dict[str, Any], batch: pl.DataFrame, topics: Sequence[str], idle: Idle | None
) -> dict[str, Any]:
    """Return the clock's row, moved by the new messages."""
    clock: dict[str, Any] = {**dict.fromkeys(_CLOCK), **dict.fromkeys(SUMS, 0), **known}
    here = idle and idle.run ^ crc32(node().encode())  # another machine has another clock
    if idle is not None and clock["run"] != here:
        clock |= {**dict.fromkeys(_CAME), "run": here, "began": idle.now()}
    for number, topic in enumerate(topics):
        of_topic = batch.filter(pl.col("topic") == topic)
        clock[f"newest_{number}"] = _known(
            max, clock[f"newest_{number}"], of_topic["timestamp"].max()
        )
        after = (of_topic["offset"] + 1).max()
        clock[f"next_{number}"] = _known(max, clock[f"next_{number}"], after)
        if idle is not None and len(of_topic):
            clock[_CAME[number]] = idle.now()
    return clock


def _starts(
    known: dict[str, Any], visits: Segments, batch: pl.DataFrame, topics: Sequence[str]
) -> dict[str, int | None]:
    """Return ``STARTS``, None where nothing of the topic has come yet.

    With nothing open and nothing in the batch it's the offset after the last good record.
    """
    starts = {}
    for start, after, topic in zip(STARTS, _NEXT, topics, strict=True):
        first = batch.filter(pl.col("topic") == topic)["offset"].min()
        starts[start] = _known(min, visits.least(start), known.get(after), first)
    return starts


def _known(of: Callable[[Any], Any], *values: Any) -> Any:
    """Return the largest or smallest of the values that are known; None without any."""
    return of([value for value in values if value is not None], default=None)  # type: ignore[call-arg]


def _time(clock: dict[str, Any], idle: Idle | None) -> int | None:
    counting = [n for n in (0, 1) if idle is None or not idle.past(clock[_CAME[n]], clock["began"])]
    times = [clock[f"newest_{number}"] for number in counting]
    return None if None in times else min(times, default=None)


# --- visits -----------------------------------------------------------------------------------


def _visits(messages: pl.DataFrame, topics: Sequence[str]) -> pl.DataFrame:
    """Return messages by ssid: lists of both kinds, their oldest and newest event time."""
    types = {"tracking": "tracking", "orders": "order"}
    sides = [
        pl.struct(*kind.to_schema()).filter(pl.col("type") == types[side]).alias(side)
        for side, kind in _SIDES.items()
    ]
    firsts = [
        pl.col("offset").filter(pl.col("topic") == topic).min().alias(f"from_{number}")
        for number, topic in enumerate(topics)
    ]
    return messages.group_by("ssid").agg(
        *sides,
        pl.col("timestamp").min().alias("oldest"),
        pl.col("timestamp").max().alias("newest"),
        *firsts,
    )


def _before(state: State, came: pl.DataFrame) -> pl.DataFrame:
    """Return what is open of the ssids that came, or, of emitted ones, their next fragment."""
    ssids = came.select("ssid")
    nothing = came.clear().with_columns(fragment=pl.lit(0, pl.Int64))
    still, gone = state["open"].of(ssids), state["emitted"].of(ssids)
    parts = [nothing if still is None else still.select(nothing.columns)]
    if gone is not None:
        parts.append(gone.select("ssid", "fragment").join(parts[0], on="ssid", how="anti"))
    marked = [part.with_columns(is_open=pl.lit(part is parts[0])) for part in parts]
    return pl.concat(marked, how="diagonal")


def _combined(parts: Sequence[pl.DataFrame], limits: Limits) -> pl.DataFrame:
    """Unite parts of visits: each message once, by event time."""
    both = pl.concat([part.drop("is_open", strict=False) for part in parts], how="diagonal")
    facts = both.group_by("ssid").agg(
        pl.col("oldest", "from_0", "from_1").min(),
        pl.col("newest").max(),
        pl.col("fragment").max().fill_null(0),
    )
    sides = [_united(both, side, kind) for side, kind in _SIDES.items()]
    whole = facts.join(sides[0], on="ssid", how="left").join(sides[1], on="ssid", how="left")
    due = pl.min_horizontal(pl.col("newest") + limits.timeout, pl.col("oldest") + limits.max_age)
    none = [pl.col(side).fill_null(pl.lit([], pl.List(kind))) for side, kind in _SIDES.items()]
    return whole.with_columns(*none, due.alias("due"))


def _united(parts: pl.DataFrame, side: str, kind: pl.Struct) -> pl.DataFrame:
    """Return a list of each visit's messages of one kind."""
    fields = list(kind.to_schema())
    each = parts.select("ssid", side).explode(side).drop_nulls(side).unnest(side)
    each = each.unique().sort("timestamp", *fields)
    return each.group_by("ssid", maintain_order=True).agg(pl.struct(fields).alias(side))


# --- the output ----------------------------------------------------------------------------


def _emitted(
    done: pl.DataFrame,
    clock: dict[str, Any],
    now: int | None,
    partition: int,
    starts: dict[str, int | None],
) -> pl.DataFrame:
    visits = done.sort("newest", "ssid").select(
        pl.lit(MERGED).alias("kind"),
        "ssid",
        pl.col("newest").alias("timestamp"),
        "fragment",
        *_SIDES,
    )
    sums = {name: clock[name] for name in (*SUMS, "newest_0", "newest_1")}
    stands = pl.DataFrame([{"kind": CLOCK, "timestamp": now, **sums}], schema_overrides=_OUT)
    both = pl.concat([visits, stands], how="diagonal")
    offsets = [pl.lit(offset, pl.Int64).alias(name) for name, offset in starts.items()]
    return both.with_columns(pl.lit(partition, pl.Int32).alias("partition"), *offsets)


_OUT = {"timestamp": pl.Int64, **_CLOCK}
