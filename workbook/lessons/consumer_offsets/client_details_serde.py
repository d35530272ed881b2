"""Chapter 30: A serde for client details."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator

import msgspec

from workbook.classroom.core import Problem
from workbook.classroom.drawn import smallest_first
from workbook.classroom.judging import Case
from workbook.events.client_details import Assignment, ClientDetails, ClientMember
from workbook.lessons.consumer_offsets.client_details_serde_check import check_serde


def details_serde() -> tuple[Callable[[ClientDetails], bytes], Callable[[bytes], ClientDetails]]:
    def serialise(details: ClientDetails) -> bytes:
        return json.dumps(msgspec.to_builtins(details)).encode()

    def deserialise(data: bytes) -> ClientDetails:
        return msgspec.convert(json.loads(data), ClientDetails)

    return serialise, deserialise


def _member(
    number: int = 1,
    client: str = "till",
    instance: str | None = None,
    assigned: tuple[Assignment, ...] = (Assignment("clicks", (0, 1)),),
    times: tuple[int, int] = (45_000, 300_000),
    topics: tuple[str, ...] = (),
) -> ClientMember:
    topics = topics or tuple(each.topic for each in assigned) or ("clicks",)
    return ClientMember(f"id-{number}", client, "/10.0.0.7", instance, *times, topics, assigned)


def _group(*members: ClientMember, generation: int = 7) -> ClientDetails:
    assignor = "range" if members else None
    return ClientDetails("shop", "classic", generation, assignor, members)


example = _group(_member(client="café-1"))

_TWO_TOPICS = (Assignment("clicks", (0, 2)), Assignment("größen", (1,)))


def _case(details: ClientDetails, says: str) -> Case:
    return Case((details,), details, says)


_CASES = [
    _case(example, "One member, whose client id has an `é`. What comes back must equal it."),
    _case(_group(), "This group has no members, and its assignor is `None`."),
    _case(_group(_member(1), _member(2, "other")), "This group has two members, in this order."),
    _case(_group(_member(2), _member(1)), "The members keep their order, whatever they're called."),
    _case(
        _group(_member(assigned=_TWO_TOPICS)),
        "This member reads two topics: all topics and partitions must come back.",
    ),
    _case(_group(_member(assigned=())), "This member has no partition yet."),
    _case(
        _group(_member(1, instance="till-1"), _member(2), _member(3, instance="")),
        "One instance id is a text, one is `None`, and one is empty: those are three things.",
    ),
    _case(
        _group(_member(client='a,b|c:d;"e"\n\tf')),
        "A client id may hold any character, also your separators.",
    ),
    _case(_group(_member(client="None")), "This client is called `None`. It's a text."),
    _case(
        _group(_member(), generation=2**31 + 5),
        "The generation needs more than 31 bits.",
    ),
    _case(
        _group(_member(), generation=2**63 - 1),
        "The generation is the largest number of 64 bits.",
    ),
    _case(_group(_member(times=(-1, -1))), "The time-outs are -1: they aren't known."),
    _case(
        _group(_member(topics=tuple("zqcxbkay"))),
        "A member's topics keep their order, which isn't that of the alphabet.",
    ),
    _case(
        ClientDetails("shop", "consumer", 3, None, (_member(),)),
        "A group of the new protocol: it has members, and no assignor of theirs.",
    ),
    _case(_group(*map(_member, range(300))), "This group has 300 members."),
]


def _drawn_cases() -> Iterator[Case]:
    draw = random.Random(30)
    for size in range(16):
        members = []
        for number in range(size // 4):
            client = "".join(draw.choices("ab-é日 ,|", k=size))
            parts = tuple(draw.sample(range(400), size // 2))
            instance = draw.choice((None, "", "i-1"))
            assigned = (Assignment("clicks", parts), Assignment("orders", parts[:1]))
            members.append(_member(number, client, instance, assigned))
        yield _case(_group(*members), "This group was drawn by chance.")


client_details_serde = Problem(
    name="A serde for client details",
    task="Spark keeps what you give it as bytes. Write the pair that turns a `ClientDetails` into "
    "bytes and back, and return both: `serialise(details)` gives `bytes`, and `deserialise(data)` "
    "gives an equal `ClientDetails`, with its `ClientMember`s and their `Assignment`s (tuples, "
    "all of them). The two run in different processes.\n\n"
    "The format is yours. It must stand any text and `None`, and numbers of 64 bits; the same "
    "details give the same bytes, at any time and in any process. Handed bytes that `serialise` "
    "didn't write, or only a part of them, `deserialise` raises an error (any), rather than "
    "inventing a group; and whatever it's handed, it runs none of it.\n\n"
    "`msgspec.to_builtins(details)` makes dictionaries of it; `msgspec.convert` goes the "
    "other way.",
    stub="def details_serde():\n"
    "    def serialise(details):\n"
    "        ...  # your code\n\n"
    "    def deserialise(data):\n"
    "        ...\n\n"
    "    return serialise, deserialise\n",
    diagnose=check_serde(_CASES, smallest_first(_drawn_cases())),
    hints=(
        "JSON is a format that stands any text, `None` and large numbers. What does `json.dumps` "
        "give, and what is asked for?",
        "JSON has no tuples and no classes. So something must build the three classes again, by "
        "hand from the inside out, or by `msgspec.convert`, which also checks that all is there.",
        "`json.dumps(msgspec.to_builtins(details)).encode()` one way, and "
        "`msgspec.convert(json.loads(data), ClientDetails)` the other.",
    ),
    reference=details_serde,
    discussion="The original wrote both by hand, too: Kafka Streams wants a serde for each store. "
    "Names in every record cost bytes, and buy years: a field can be added, and old bytes are "
    "still read if it has a default.\n\n"
    "That the same details give the same bytes lets a store leave out what hasn't changed, by "
    "comparing. A time in the bytes ends that, also where you don't see it: `gzip` writes one.",
)
