"""``workbook generate``: a whole stream into a topic."""

import os
import re
import time
from argparse import Namespace
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from workbook.cli.console import INTERRUPTED, Ending, Line, end_like_ctrl_c, typed, waiting_for
from workbook.errors import NoSuchStream
from workbook.kafka.require import require_compacted, require_topic
from workbook.stack.addresses import kafka, registry
from workbook.stack.client import status
from workbook.streams.stream_producer import Sent
from workbook.streams.stream_producer import generate as send
from workbook.systems import STREAMS
from workbook.topics import Topic, compacted

if TYPE_CHECKING:
    from workbook.streams.generators.streams import PacedStream

COMMON = ("seed", "rate", "partitions", "duplicate_share", "bad_share")


def generate(options: Namespace) -> int:
    """Send the stream that the options describe, and say how fast it went; 130 if cut short.

    Raises NoSuchStream for options that describe no stream, and for a topic with another number of
    partitions; WorkbookError for a table's stream into a topic that isn't compacted.
    """
    end_like_ctrl_c()
    stream = stream_of(options)
    with waiting_for("Looking for Kafka"):
        broker = kafka("generate")
    count = round(options.rate * options.seconds)
    name = options.topic
    kind = STREAMS[options.stream]
    table = kind.compacted
    broker.create((compacted if table else Topic)(name, options.partitions))
    if table:
        require_compacted(broker.client_config(), name)
    found = require_topic(broker.client_config(), name)
    if found != options.partitions:
        raise NoSuchStream(
            f"Topic {name} exists with {found} {'partition' if found == 1 else 'partitions'}, and "
            "topics are never resized. "
            f"Use --partitions {found}, or another --topic."
        )
    if kind.registers:
        with waiting_for("Looking for the schema registry"):
            stream = stream_of(options, kind.prepare(name, registry("generate")))
    stream = stream.ending_by(int(time.time() * 1000), count, options.speed)

    line, ending = Line(), Ending()

    def show(sent: Sent) -> None:  # without a speed: much of it still waits for the broker
        line.show(f"{sent.events:,} of {count:,} events")

    sent = send(
        *(broker.client_config(), name, stream, count),
        speed=options.speed,
        progress=show,
        until=ending.has_come,
    )
    whole = "" if sent.events == count else f" of {count:,}"
    text = f"{sent.events:,}{whole} events in {sent.messages:,} messages sent to {name}"
    line.show(f"{text} in {sent.seconds:.1f} s: {sent.rate:,.0f} messages/s", last=True)
    lab = status() if broker.ours else None
    if lab and not lab["pinned"] and all(user["pid"] == os.getpid() for user in lab["users"]):
        print(f"No lab is open, so {name} ends now. To keep such a topic, first run: {typed()} up")
    return INTERRUPTED if whole else 0


def stream_of(options: Namespace, more: Mapping[str, Any] | None = None) -> "PacedStream":
    """Return the stream that the options and ``more`` describe, or raise NoSuchStream."""
    kind = STREAMS[options.stream]
    names = (*COMMON, *(option.dest for option in kind.options))
    given = {name: getattr(options, name, None) for name in names}
    chosen = {name: value for name, value in given.items() if value is not None}
    try:
        return kind.make(**chosen, **(more or {}))
    except NoSuchStream as error:
        raise NoSuchStream(_as_typed(str(error), names)) from None


def _as_typed(text: str, names: Iterable[str]) -> str:
    """Name options as they stand on the command line: ``--bad-share`` for ``bad_share``."""
    return re.sub(rf"\b({'|'.join(names)})\b", lambda m: f"--{m[1].replace('_', '-')}", text)
