"""Page views per second: `run page_views --out`, Kafka Streams, and Spark's own window.

The window has one clock, the others have one for each partition. At the end of each of the 8
partitions, a click that isn't a page view closes all seconds: no result waits for more records.
"""

import secrets
import time
from collections import Counter
from typing import Any

from harness import SPARK, Answer, Check, Comparison, Program, floor
from peers import kafka_streams
from peers.kafka_streams import TUNED, Peer

from workbook.kafka.broker import Broker
from workbook.kafka.producer import DeliveringProducer
from workbook.kafka.readers import read_dead_letters, read_messages
from workbook.streams.events.clicks import Click, ClickType
from workbook.streams.events.metrics import Metric
from workbook.streams.generators.clicks import ClickStream
from workbook.streams.stream_producer import generate
from workbook.topics import Topic, new_topic

FULL, PARTITIONS, BLOCK, BEHIND_MS = 5_000_000, 8, 500_000, 60_000


class Expected:
    """What the stream predicts: page views by second, and bad records by reason."""

    def __init__(self, stream: ClickStream, events: int) -> None:
        self.views, self.reasons = Counter[int](), Counter[str]()
        self.messages = PARTITIONS  # the closing clicks
        for first in range(0, events, BLOCK):
            rows = stream.expected(first, min(first + BLOCK, events))
            page = (rows.click_type == ClickType.PAGE) & rows.reason.isna()
            self.views.update((rows.timestamp[page] // 1000).value_counts().to_dict())
            self.reasons.update(rows.reason.dropna())
            self.messages += len(rows)


def comparison(broker: Broker, events: int, peers: bool) -> Comparison:
    topic, now = new_topic("clicks", "bench", PARTITIONS), int(time.time() * 1000)
    broker.create(topic)
    shares: dict[str, Any] = {"bad_share": 0.001, "duplicate_share": 0.01, "late_share": 0.01}
    stream = ClickStream(rate=20_000, partitions=PARTITIONS, **shares)
    stream = stream.ending_by(now - BEHIND_MS, events)
    right, config = Expected(stream, events), broker.client_config()
    generate(config, topic.name, stream, events)
    with DeliveringProducer(config, topic.name) as producer:
        for partition in range(PARTITIONS):
            click = Click(events + partition, ClickType.ACTION, "order", now, "Firefox")
            producer.produce(click.to_json(), None, partition, timestamp=now)

    def views(out: str) -> Counter[int]:
        """The last count of each second, as a reader of the topic sees it."""
        found = (Metric.from_record(m.key(), m.value()) for m in read_messages(config, out))
        return Counter({metric.second: metric.views for metric in found})

    def ours(_: int) -> tuple[str, Check]:
        out, letters = (f"{topic.name}.{secrets.token_hex(4)}" for _ in range(2))
        words = f"run page_views --in {topic.name} --out {out} --dead-letters {letters} "

        def check(_: Answer) -> None:
            assert views(out) == right.views
            assert Counter(read_dead_letters(config, letters).reason) == right.reasons
            broker.delete([out, letters])

        # Late clicks are 30 seconds behind at most, their repetitions a bit more.
        return f"{words} --lateness 31s --every 0.1", check

    def window(_: int) -> tuple[str, Check]:
        out = Topic(f"{topic.name}.{secrets.token_hex(4)}")
        broker.create(out)

        def check(_: Answer) -> None:
            found = views(out.name)  # `from_json` takes some of the bad records for good ones
            assert right.views <= found
            assert (found - right.views).total() <= right.reasons.total()
            broker.delete([out.name])

        return f"window {topic.name} {out.name}", check

    def target() -> tuple[dict[str, str], Check]:
        out, letters = (Topic(f"{topic.name}.{secrets.token_hex(4)}") for _ in range(2))
        broker.create(out, letters)

        def check(_: Answer) -> None:
            assert views(out.name) == right.views
            assert len(read_messages(config, letters.name)) == right.reasons.total()
            broker.delete([out.name, letters.name])

        return {"target": out.name, "letters": letters.name}, check

    settings = {"source": topic.name, "lateness": "31000"}
    peer = Peer(broker, "PageViews", settings, right.messages, target)
    kinds = {"tuned": (TUNED, "at least once; after a crash it may count twice")}
    spark = Program("Spark's own window", SPARK, window, "at least once; one clock", "peer")
    others = [*kafka_streams.programs(peer, kinds), spark] if peers else []
    mine = Program("`run page_views`", SPARK, ours, "at least once; counts once")
    return Comparison("page views", right.messages, [floor(topic), *others, mine])
