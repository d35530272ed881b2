"""``workbook generate``: a whole stream into a topic."""

from __future__ import annotations

import time
from argparse import Namespace

from workbook.commands.console import Line
from workbook.errors import NoSuchStream
from workbook.generators.clicks import ClickStream
from workbook.sources.checks import require_topic
from workbook.sources.producer import Sent
from workbook.sources.producer import generate as send
from workbook.stack.broker import kafka
from workbook.topics import Topic


def generate(options: Namespace) -> None:
    """Send the stream that the options describe, and say how fast it went."""
    wanted = (
        "seed rate partitions late_share late_by_ms duplicate_share bad_share gap_every_s gap_s"
    )
    stream = ClickStream(**{name: getattr(options, name) for name in wanted.split()})
    broker, count = kafka("generate"), round(options.rate * options.seconds)
    topic = Topic(options.topic or options.stream, options.partitions)
    broker.create(topic)
    found = require_topic(broker.client_config(), topic.name)
    if found != options.partitions:
        raise NoSuchStream(
            f"Topic {topic.name} exists and has {found} partitions, and topics are never resized. "
            f"Use --partitions {found}, or another --topic."
        )
    stream = stream.ending_by(int(time.time() * 1000), count, options.speed)

    line = Line()

    def show(sent: Sent) -> None:
        line.show(f"{sent.events:,} of {count:,} events, {sent.rate:,.0f} messages/s")

    sent = send(
        broker.client_config(), topic.name, stream, count, speed=options.speed, progress=show
    )
    line.show(
        f"{sent.events:,} events in {sent.messages:,} messages sent to {topic.name} ", last=True
    )
    print(f"in {sent.seconds:.1f} s: {sent.rate:,.0f} messages/s")
