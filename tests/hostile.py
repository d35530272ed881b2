"""The records of ``data/hostile.jsonl``, and a topic that has each of them between good ones."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from brokers import produce

from workbook.crashtest.dirt import raw
from workbook.streams.events.ad_actions import AdAction, encode, head
from workbook.streams.events.clicks import Click, ClickType
from workbook.streams.events.positions import Position
from workbook.streams.events.visits import TrackingMessage

LINES = (Path(__file__).parents[1] / "data" / "hostile.jsonl").read_text().splitlines()
TIME, SCHEMA = 1_767_225_600_000, 7
"""What stands in the file for the time of a test, and for the id of the newest schema."""

BEYOND = {"message.timestamp.after.max.ms": str(2**63 - 1)}
"""What a topic needs for records whose own timestamp is far ahead."""

LEGAL = ("counted", "ignored")
Pair = tuple[bytes | None, bytes | None]


@dataclass(frozen=True)
class Hostile:
    """A record; ``timestamp`` (ms) is its own, 0 for now; ``reason`` is one of LEGAL if it's legal.

    One that's ``counted`` is an event like any other; one that's ``ignored`` is none.
    """

    kind: str
    name: str
    key: bytes | None
    value: bytes | None
    timestamp: int
    headers: list[tuple[str, bytes | None]]
    reason: str


def records(
    event: str, at: int = TIME, schema: int = SCHEMA, beyond: bool = False
) -> list[Hostile]:
    """The hostile records for a reader of "click", "visit", "position" or "action".

    Event times are ``at`` (ms), and ``schema`` is the id of ``VERSIONS[1]``. Those with an own
    timestamp far ahead are left out unless they can be sent (``BEYOND``).
    """
    same = {
        str(TIME).encode(): str(at).encode(),
        _long(TIME): _long(at),
        head(SCHEMA): head(schema),
    }
    found = []
    for line in map(json.loads, LINES):
        reason, own = line["reason"], line.get("timestamp", 0)
        if line["for"] not in (event, "any") or (own > TIME * 100 and not beyond):
            continue
        value = raw(line["value"])
        for old, new in same.items() if value and len(value) < 2_000_000 else ():
            value = value.replace(old, new)
        found.append(Hostile(
            line["kind"], line["name"], raw(line["key"]), value, own,
            [(name, raw(text)) for name, text in line.get("headers", ())],
            reason if isinstance(reason, str) else reason[event],
        ))  # fmt: skip
    return found


def good(event: str, number: int, at: int = TIME, schema: int = SCHEMA) -> Pair:
    """Key and value of a good record; all have another id, and the event time ``at``."""
    name = f"good-{number}"
    if event == "click":
        return name.encode(), Click(number, ClickType.PAGE, f"/{name}", at, "b").to_json()
    if event == "visit":
        return name.encode(), TrackingMessage(number, name, at, "/").to_json()
    if event == "position":
        return name.encode(), Position(name, "AAPL", 1, "NASDAQ").to_json()
    action = AdAction(number, "good", "view", number, False, "search", "b", at)
    return name.encode(), encode(action, 1, schema)


def send(
    config: Mapping[str, Any],
    topic: str,
    event: str,
    hostile: list[Hostile],
    make: Callable[[int], Pair] | None = None,
) -> tuple[int, dict[int, str]]:
    """Send good records to partition 0 of an empty topic, and a hostile one between any two.

    ``make`` returns a good one by its number; without it, they are ``good`` and of now. Returns how
    many records are to be counted (good ones, and hostile ones that are legal), and the reason of
    each other one by its offset.
    """
    now = int(time.time()) * 1000
    make = make or (lambda number: good(event, number, now))
    goods = (Hostile("", "", *make(n), 0, [], "counted") for n in range(len(hostile)))
    last = Hostile("", "", *make(len(hostile)), 0, [], "counted")
    sent = [*chain.from_iterable(zip(goods, hostile, strict=True)), last]
    produce(config, topic, *((r.value, r.key, 0, r.timestamp, r.headers) for r in sent))
    reasons = {n: each.reason for n, each in enumerate(sent) if each.reason not in LEGAL}
    return sum(each.reason == "counted" for each in sent), reasons


def _long(number: int) -> bytes:
    """A number as Avro writes it."""
    return encode(AdAction(0, None, "", 0, False, "", "", number), 0, 0)[-6:]
