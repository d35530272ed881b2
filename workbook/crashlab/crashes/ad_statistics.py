"""Ad statistics under kill -9: the aggregator, also without its checkpoint, and the replicator."""

from __future__ import annotations

import json
import time
from argparse import Namespace
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha1
from pathlib import Path
from typing import TYPE_CHECKING, Any, LiteralString

from workbook.crashlab.crashes.base import (
    AFTER_COMMIT,
    Crashes,
    Filled,
    Outputs,
    TopicCrashes,
    Variant,
    Verdict,
    on_spark,
)
from workbook.streams.events.ad_actions import OSLO

if TYPE_CHECKING:
    from psycopg import Connection

    from workbook.streams.generators.ad_actions import AdActionStream

SUBJECT = "ad_actions.crash-value"

ACTIONS, RATE = 1_600, 1
"""The actions that wait, and how many arrive in a second: more than twice the horizon."""

LAST = 10
"""The number of micro-batches of 160 actions."""

_TODAY = datetime.now(OSLO).date()
DAYS = (_TODAY - timedelta(4), _TODAY)
"""Those of the actions."""

_POINTS = on_spark(
    *("before-compute", "mid-batch", "before-database", "before-commit", "before-topic"),
    *("before-checkpoint", AFTER_COMMIT),
)

_PROMISES = ("lost", "counted twice", "unaccounted", "letters lost", "viewers wrong")

FOREIGN, BARE = "never sent", "without key or arrival"


def _stream(seed: int) -> AdActionStream:
    """Return the actions, which arrived in the past; many are repeated, and some are too old."""
    from workbook.stack.addresses import registry
    from workbook.streams.generators.ad_actions import AdActionStream, prepare

    return AdActionStream(
        ids=prepare(SUBJECT.removesuffix("-value"), registry("crash"))["ids"], seed=seed, rate=RATE,
        ads=50, duplicate_share=0.1, bad_share=0.02, too_old_share=0.01,
        start_ms=(int(time.time()) - ACTIONS // RATE - 60) * 1000,
    )  # fmt: skip


class AdStatisticsCrashes(Crashes):
    """1,600 actions of 27 minutes in a long-lived topic, 160 to a micro-batch."""

    words = ("--max-per-batch", "160")
    variants = (
        Variant(
            "spark",
            "Spark, its checkpoint, and PostgreSQL with a fence",
            _POINTS,
            promises=_PROMISES,
        ),
        Variant(
            "no-checkpoint",
            "each start finds no checkpoint: the fence says where to begin",
            tuple(p for p in _POINTS if p.name != AFTER_COMMIT),
            promises=_PROMISES,
            forgets=True,
        ),
        Variant(
            "replay",
            "a replay of five days that were counted wrongly; micro-batch 10 is the last",
            (
                *on_spark("before-compute", "mid-batch", "before-database"),
                *on_spark("before-commit", "before-checkpoint", first=LAST, last=LAST),
            ),
            promises=("lost", "counted twice", "viewers wrong"),
            words=("--from", str(DAYS[0]), "--to", str(DAYS[1])),
        ),
    )

    def out(self, name: str, folder: Path) -> tuple[str, ...]:
        """Count into a schema of its own."""
        return ("--out", name, "--schema", name.replace("-", "_"), "--subject", SUBJECT)

    def written(self, outputs: Outputs) -> list[float]:
        query = "SELECT extract(epoch FROM written)::float8 AS at FROM batches"
        rows = _ask(outputs.options, query)
        return [row["at"] for row in rows]

    def fill(self, config: dict[str, Any], topic: str, seed: int, *, clean: bool = False) -> Filled:
        """Send the actions as the replicator would, one after the other."""
        from workbook.streams.stream_producer import send_replicated

        stream = _stream(seed)
        block = stream.block(0, ACTIONS)
        values, arrivals = block["value"].to_pylist(), block["arrival"].to_pylist()
        send_replicated(config, topic, zip(values, arrivals, strict=True))
        return Filled(ACTIONS, stream.expected(0, ACTIONS).assign(value=values))

    def prepare(self, variant: Variant, filled: Filled, outputs: Outputs) -> None:
        """For a replay: leave a live query's fence and counts, which are wrong on its days."""
        from workbook.kafka.offsets import partition_offsets
        from workbook.kafka.require import topic_ids
        from workbook.sinks.counts_table import KEY, TABLES
        from workbook.sinks.viewers import sketch_of

        if variant.name != "replay":
            return
        options, source = outputs.options, outputs.options.source
        ends = {o.partition: o.end for o in partition_offsets(outputs.config, source)}
        topic = topic_ids(outputs.config, [source])[source]
        fence = ("ad_statistics", topic, json.dumps(ends))
        accepted = filled.expected[filled.expected["fate"] == "accepted"]
        wrong = accepted["day"].between(*DAYS)
        views = accepted[(accepted["type"] == "view") & ~wrong].groupby(["ad", "day"])["user"]
        counts = [
            (*key, 0, len(rows) + wrong[rows.index].any()) for key, rows in accepted.groupby([*KEY])
        ]
        sketches = [(*key, 0, sketch_of(users), users.nunique()) for key, users in views]
        made = _connected(options, "CREATE SCHEMA {}")
        with made as connection, connection.cursor() as cursor:
            cursor.execute(TABLES.read_text())
            cursor.executemany(
                "INSERT INTO counts_by_generation VALUES (%s, %s, %s, %s, %s, %s)", counts
            )
            cursor.executemany(
                "INSERT INTO viewers_by_generation VALUES (%s, %s, %s, %s, %s)", sketches
            )
            cursor.execute(
                "INSERT INTO fence (pipeline, topic, offsets) VALUES (%s, %s, %s)", fence
            )

    def judge(self, filled: Filled, outputs: Outputs) -> Verdict:
        """Judge totals, fates and viewers by the ledger, and the dead letters by their reasons."""
        import pandas as pd

        from workbook.streams.ledgers.actions import judge

        options = outputs.options
        counts = pd.DataFrame(_ask(options, "SELECT * FROM counts"))
        viewers = pd.DataFrame(_ask(options, "SELECT ad, day, estimate FROM viewers"))
        live = "SELECT fate, sum(count)::bigint AS n FROM fates WHERE pipeline = 'ad_statistics'"
        fates = _ask(options, f"{live} GROUP BY fate")
        accounts = {row["fate"]: row["n"] for row in fates}
        # They were sent to a single partition, one after the other.
        expected = filled.expected.assign(offset=filled.expected["number"])
        return judge(expected, counts, accounts, outputs.dead_letters(), viewers)

    def delete(self, options: Namespace) -> None:
        """Drop the schema of the run."""
        with _connected(options, "DROP SCHEMA IF EXISTS {} CASCADE"):
            pass


class ReplicateCrashes(TopicCrashes):
    """1,600 actions in a short-lived topic, 300 to a micro-batch; each copy is judged."""

    words = ("--max-per-batch", "300")
    variants = (
        Variant(
            "spark",
            "Spark and its checkpoint",
            (*on_spark("mid-write", first=1, last=1), *on_spark(AFTER_COMMIT, first=1, last=5)),
            promises=("lost", FOREIGN, BARE, "repeated too late"),
        ),
    )

    def fill(self, config: dict[str, Any], topic: str, seed: int, *, clean: bool = False) -> Filled:
        """Send the actions, with their arrival as timestamp."""
        from workbook.streams.stream_producer import generate

        stream = _stream(seed)
        generate(config, topic, stream, ACTIONS)
        return Filled(ACTIONS, stream.expected(0, ACTIONS).assign(value=_values(stream)))

    def judge(self, filled: Filled, outputs: Outputs) -> Verdict:
        """Judge the copies: none lost, and none repeated when the aggregator has forgotten it."""
        from workbook.pipelines.ad_statistics import KEPT
        from workbook.streams.events.ad_actions import ARRIVAL

        sent = Counter(zip(filled.expected["value"], filled.expected["arrival"], strict=True))
        found, late, bare = Counter[tuple[bytes | None, int]](), 0, 0
        last: dict[tuple[bytes | None, int], tuple[int, int]] = {}
        for message in outputs.results():
            arrival = int(dict(message.headers() or []).get(ARRIVAL) or -1)
            record, place = (
                (message.value(), arrival),
                (message.partition() or 0, message.offset() or 0),
            )
            key = sha1(message.value() or b"").digest() if message.value() is not None else None
            bare += message.key() != key or arrival < 0
            late += record in last and place[1] - last[record][1] > KEPT
            last[record] = place
            found[record] += 1
        lost, foreign = sum((sent - found).values()), sum(found[one] for one in found.keys() - sent)
        repeated = sum((found - sent).values()) - foreign
        wrong = {"lost": lost, FOREIGN: foreign, BARE: bare, "repeated too late": late}
        return Copies(wrong, repeated)


@dataclass(frozen=True)
class Copies:
    """What is wrong with the copies, and the number of records that were copied more than once."""

    counts: dict[str, int]
    repeated: int

    @property
    def headline(self) -> str:
        """Say what is wrong, and how often records were repeated."""
        wrong = ", ".join(f"{number} {what}" for what, number in self.counts.items())
        return f"{wrong}; {self.repeated} copied again, which the aggregator drops"

    def _repr_html_(self) -> str:
        return self.headline


def _values(stream: AdActionStream) -> list[bytes | None]:
    values: list[bytes | None] = stream.block(0, ACTIONS)["value"].to_pylist()
    return values


def _ask(options: Namespace, query: str) -> list[dict[str, Any]]:
    from psycopg.rows import dict_row

    with _connected(options) as connection:
        return connection.cursor(row_factory=dict_row).execute(query).fetchall()


def _connected(options: Namespace, *first: LiteralString) -> Connection[Any]:
    """Connect with the run's schema; it's ``{}`` in what is executed first."""
    from psycopg import connect, sql

    from workbook.stack.addresses import database

    connection = connect(database("crash"))
    for each in (*first, "SET search_path TO {}"):
        connection.execute(sql.SQL(each).format(sql.Identifier(options.schema)))
    return connection
