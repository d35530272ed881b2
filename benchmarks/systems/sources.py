"""The clamped and the assigned source beside Spark's own: what they read, into a count.

Two topics of 4 partitions hold events of the same times, so that none leads and waits.
"""

import time
from functools import partial

from harness import SPARK, Answer, Check, Comparison, Program, floor

from workbook.kafka.broker import Broker
from workbook.streams.generators.visits import Kind, VisitStream
from workbook.streams.stream_producer import generate
from workbook.topics import Topic, new_topic

FULL, PARTITIONS = 4_000_000, 4


def comparison(broker: Broker, messages: int, peers: bool) -> Comparison:
    tracking = new_topic("tracking", "bench", PARTITIONS)
    topics = [tracking, Topic(f"{tracking.name}.orders", PARTITIONS)]
    broker.create(*topics)
    now, half, records = int(time.time() * 1000), messages // 2, 0
    for topic, kind in zip(topics, (Kind.TRACKING, Kind.ORDERS), strict=True):
        stream = VisitStream(kind=kind, rate=5000.0, partitions=PARTITIONS).ending_by(now, half)
        records += generate(broker.client_config(), topic.name, stream, half).messages

    def begin(source: str, _: int) -> tuple[str, Check]:
        def check(answer: Answer) -> None:
            assert answer["records"] == records, answer

        return f"source {source} {' '.join(topic.name for topic in topics)}", check

    spark = Program("Spark's own source", SPARK, partial(begin, "kafka"), role="peer")
    own = [
        Program(f"{name} source", SPARK, partial(begin, f"kafka-{name}"))
        for name in ("clamped", "assigned")
    ]
    return Comparison("sources", records, [floor(*topics), *([spark] if peers else []), *own])
