"""The table of share holders under kill -9, between its state, its topic and its store."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from workbook.crashlab.crashes.base import (
    AFTER_COMMIT,
    LETTERS,
    Filled,
    Judged,
    Outputs,
    TopicCrashes,
    Variant,
    Verdict,
    letters,
    on_spark,
)

if TYPE_CHECKING:
    from workbook.streams.ledgers.tables import TableVerdict

EVENTS = 2000
COLUMNS = ["client", "positions", "tickers"]


def holders_verdict(
    store: TableVerdict, topic: TableVerdict, rejected: frozenset[Any], found: frozenset[Any]
) -> Judged:
    """Judge the store and the topic of the table, each compared with a recomputation."""
    ledgers = {"store": store, "topic": topic}
    wrong = {f"wrong in the {name}": sum(its.counts.values()) for name, its in ledgers.items()}
    return Judged(wrong, ledgers, rejected, found)


class ShareHolderCrashes(TopicCrashes):
    """2,000 records of 120 positions of 30 clients in two partitions, 5 % tombstones, 3 % bad ones.

    Store and result topic are compared with a recomputation, and rejected records with the dead
    letters.
    """

    words = ("--max-per-batch", "200")
    partitions = 2
    variants = (
        Variant(
            "spark",
            "Spark, its checkpoint, a store and a compacted topic",
            on_spark(
                *("before-compute", "mid-batch", "before-topic", "before-store"),
                *("before-checkpoint", AFTER_COMMIT),
            ),
            promises=("wrong in the store", "wrong in the topic", LETTERS),
        ),
    )

    def fill(self, config: dict[str, Any], topic: str, seed: int, *, clean: bool = False) -> Filled:
        """Send a changelog; a row per record, as ``TableLedger`` wants them."""
        from workbook.streams.generators.positions import PositionStream
        from workbook.streams.stream_producer import generate

        bad = 0.0 if clean else 0.03
        stream = PositionStream(
            seed=seed, partitions=self.partitions, positions=120, clients=30, bad_share=bad
        ).ending_by(int(time.time() * 1000), EVENTS)
        generate(config, topic, stream, EVENTS)
        expected = stream.expected(0, EVENTS).assign(topic=topic)
        return Filled(EVENTS, expected.assign(offset=expected.groupby("partition").cumcount()))

    def judge(self, filled: Filled, outputs: Outputs) -> Verdict:
        """Judge what store, topic and dead letters hold."""
        import pandas as pd

        from workbook.kafka.readers import latest_rows
        from workbook.sinks.store import Store
        from workbook.streams.ledgers.tables import TableLedger

        ledger = TableLedger(filled.expected)
        store = Store(outputs.checkpoint / "store.db", "client").all()
        topic = latest_rows(outputs.results()).values()
        return holders_verdict(
            ledger.judge(pd.DataFrame(store, columns=COLUMNS)),
            ledger.judge(pd.DataFrame(topic, columns=COLUMNS)),
            rejected=letters(filled.expected),
            found=letters(outputs.dead_letters()),
        )
