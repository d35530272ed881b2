"""The merge of two streams under kill -9, between its state, its topic and its checkpoint."""

import time
from typing import Any

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
from workbook.topics import Topic

MESSAGES, ORDERS = 3000, 600
BEHIND_MS = 200_000
"""The input ends so long ago: then heartbeats that complete all visits aren't ahead of anybody."""

FAULTS = ("lost", "unexpected", "foreign", "changed", "misrouted", "disordered", "misjudged")

POINTS = on_spark("before-compute", "mid-batch", "before-checkpoint", AFTER_COMMIT)


class EventTimeMergeCrashes(TopicCrashes):
    """3,000 tracking messages of 600 visits and 600 orders, in two partitions each.

    3 % of them are bad, 5 % of the orders belong to no visit, and 2 % come twice. They span five
    minutes, so that visits are opened and emitted all the time; heartbeats at the end complete the
    last.
    """

    words = ("--max-per-batch", "400", "--timeout", "60 seconds")
    partitions = 2
    variants = (
        Variant(
            "spark",
            "Spark, its checkpoint, and a topic of merged visits",
            POINTS,
            promises=(*FAULTS, LETTERS, "fragments", "apart"),
        ),
        Variant(
            "from-the-sink",
            "Spark, its checkpoint lost by each kill: a start reads its offsets in the topic",
            POINTS,
            promises=(*(name for name in FAULTS if name != "misjudged"), LETTERS, "fragments"),
            forgets=True,
        ),
        Variant(
            "clamped",
            "Spark, its checkpoint, and a source that stops the topic that leads",
            POINTS,
            promises=(*FAULTS, LETTERS, "fragments", "apart"),
            words=("--max-lead", "10 seconds"),
        ),
    )

    def beside(self, source: str) -> dict[str, Topic]:
        return {"--orders": Topic(f"{source}.orders", self.partitions)}

    def fill(self, config: dict[str, Any], topic: str, seed: int, *, clean: bool = False) -> Filled:
        """Send both streams; a row per message, as ``MergeLedger`` wants them."""
        import pandas as pd

        from workbook.kafka.producer import DeliveringProducer
        from workbook.streams.events.visits import Heartbeat
        from workbook.streams.generators.visits import Kind, VisitStream
        from workbook.streams.stream_producer import generate

        now = int(time.time() * 1000)
        bad = 0.0 if clean else 0.03
        shared = {"seed": seed, "partitions": self.partitions, "visit_s": 30.0, "bad_share": bad}
        tracking = VisitStream(rate=10.0, duplicate_share=0.02, **shared)  # type: ignore[arg-type]
        orders = VisitStream(
            kind=Kind.ORDERS, rate=2.0, tracking_rate=10.0, orphan_share=0.05, **shared  # type: ignore[arg-type]
        )  # fmt: skip
        beside = self.beside(topic)["--orders"].name
        facts = []
        for name, stream, count in ((topic, tracking, MESSAGES), (beside, orders, ORDERS)):
            placed = stream.ending_by(now - BEHIND_MS, count)
            generate(config, name, placed, count)
            sent = placed.block(0, count).select(["event_id", "partition"]).to_pandas()
            sent["offset"] = sent.groupby("partition").cumcount()  # heartbeats are in between
            offsets = sent.dropna().drop_duplicates("event_id").set_index("event_id")["offset"]
            its = placed.expected(0, count).assign(topic=name)
            facts.append(its.join(offsets, on="event_id"))
            with DeliveringProducer(config, name) as producer:
                beat = Heartbeat(now).to_json()
                for partition in range(self.partitions):
                    producer.produce(beat, None, partition, timestamp=now)
        return Filled(MESSAGES, pd.concat(facts, ignore_index=True))

    def judge(self, filled: Filled, outputs: Outputs) -> Verdict:
        """Judge what the topic and the dead letters hold."""
        from workbook.streams.events.reasons import Reason
        from workbook.streams.ledgers.merges import MergeLedger, read_merged, read_no_visits

        found = outputs.dead_letters()
        merged = read_merged(outputs.config, outputs.options.out)
        lone = read_no_visits(outputs.config, outputs.options.dead_letters)
        visits = MergeLedger(filled.expected).judge(merged, lone)
        return Judged(
            visits.counts,
            {"visits": visits},
            rejected=letters(filled.expected),
            letters=letters(found[found["reason"] != str(Reason.NO_VISIT)]),
        )
