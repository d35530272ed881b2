"""Wrong answers to "A serde for client details": pairs that write and read."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec

from workbook.classroom.mistakes import Mistake, Mistakes, same_idea
from workbook.events.client_details import Assignment, ClientDetails, ClientMember

Details = dict[str, Any]


def _written(details: ClientDetails, ensure_ascii: bool = True, errors: str = "strict") -> bytes:
    text = json.dumps(msgspec.to_builtins(details), ensure_ascii=ensure_ascii)
    return text.encode("ascii", errors)


def _in_floats(data: bytes) -> Any:
    return json.loads(data, parse_int=lambda digits: int(float(digits)))


def _read(data: bytes) -> ClientDetails:
    return msgspec.convert(json.loads(data), ClientDetails)


def _pair(
    serialise: Callable[[ClientDetails], Any] = _written,
    deserialise: Callable[[bytes], Any] = _read,
) -> Callable[[], Any]:
    return lambda: (serialise, deserialise)


def _changed(change: Callable[[Details], None]) -> Callable[[], Any]:
    """Return a pair whose bytes lack something, or have something else in its place."""

    def serialise(details: ClientDetails) -> bytes:
        plain = json.loads(_written(details))
        change(plain)
        return json.dumps(plain).encode()

    return _pair(serialise)


def _each_member(change: Callable[[Details], None]) -> Callable[[], Any]:
    def change_all(plain: Details) -> None:
        for member in plain["members"]:
            change(member)

    return _changed(change_all)


def _rebuilt(
    sequence: Callable[[Any], Any] = tuple,
    assignment: Callable[..., Any] = Assignment,
    member: Callable[..., Any] = ClientMember,
    **only: Any,
) -> Callable[[], Any]:
    """Return a pair that builds the classes again, with one of its steps done in another way."""

    def build(found: Details) -> ClientDetails:
        members = [
            member(
                **{
                    **each,
                    "topics": only.get("topics", sequence)(each["topics"]),
                    "assigned": only.get("assigned", sequence)(
                        assignment(topic=a["topic"], partitions=sequence(a["partitions"]))
                        for a in each["assigned"]
                    ),
                }
            )
            for each in found["members"]
        ]
        kept = only.get("members", sequence)(members)
        return ClientDetails(**{**found, "members": kept})

    return _pair(deserialise=lambda data: build(json.loads(data)))


def _in_ascii(errors: str) -> Callable[[Details], None]:
    def change(member: Details) -> None:
        member["client_id"] = member["client_id"].encode("ascii", errors).decode()

    return change


_DICTIONARIES = (
    "Dictionaries stand in what comes back where `ClientMember`s or `Assignment`s stood: the "
    "classes must be built again, from the inside out."
)
_LISTS = "Lists stand in what comes back where tuples stood: JSON has no tuples."

MISTAKES = Mistakes()
"""The answers of learners, as models; the first that gives the same names the cause."""

MISTAKES += [
    Mistake(
        _pair(deserialise=json.loads),
        "A dictionary comes back. A `ClientDetails` is asked for.",
    ),
    *same_idea(
        _pair(deserialise=lambda data: ClientDetails(**json.loads(data))),
        _pair(
            deserialise=lambda data: ClientDetails(
                **{**(found := json.loads(data)), "members": tuple(found["members"])}
            )
        ),
        _rebuilt(assignment=dict),
        _rebuilt(member=dict),
        _pair(
            deserialise=lambda data: ClientDetails(
                **{
                    **(found := json.loads(data)),
                    "members": tuple(ClientMember(**each) for each in found["members"]),
                }
            )
        ),
        cause=_DICTIONARIES,
    ),
    *same_idea(
        _rebuilt(sequence=list),
        _rebuilt(members=list),
        _rebuilt(topics=list),
        _rebuilt(assigned=list),
        cause=_LISTS,
    ),
    *same_idea(
        _changed(lambda plain: plain.update(members=[])),
        cause="The members are lost. They're the most of it.",
    ),
    *same_idea(
        _changed(lambda plain: plain.update(members=plain["members"][:1])),
        _changed(lambda plain: plain.update(members=plain["members"][-1:])),
        cause="Only one member comes back. A group may have many.",
    ),
    *same_idea(
        _changed(lambda plain: plain["members"].sort(key=lambda member: member["member_id"])),
        _changed(lambda plain: plain["members"].reverse()),
        cause="The members come back in another order.",
    ),
    *same_idea(
        _each_member(lambda member: member.update(assigned=[])),
        _each_member(lambda member: member.update(assigned=member["assigned"][:1])),
        _each_member(lambda member: member.update(topics=member["topics"][:1])),
        cause="Of what a member reads, a part is lost: it may have several topics, or none yet.",
    ),
    *same_idea(
        _each_member(lambda member: member.update(instance_id=member["instance_id"] or "")),
        cause="A `None` comes back as an empty text. A member without an instance id isn't a "
        "static one whose id is empty.",
    ),
    *same_idea(
        _each_member(lambda member: member.update(instance_id=member["instance_id"] or None)),
        _each_member(lambda member: member.update(instance_id=None)),
        cause="An instance id comes back as `None`, though it was a text.",
    ),
    *same_idea(
        _each_member(lambda member: member.update(instance_id=str(member["instance_id"]))),
        cause="A `None` comes back as the text `None`. `str` makes a text of everything.",
    ),
    *same_idea(
        _changed(lambda plain: plain.update(assignor=plain["assignor"] or "")),
        _changed(lambda plain: plain.update(assignor=str(plain["assignor"]))),
        cause="A group without an assignor comes back with one: `None` must stay `None`.",
    ),
    *same_idea(
        _changed(lambda plain: plain.update(generation=plain["generation"] & 0x7FFFFFFF)),
        _changed(lambda plain: plain.update(generation=plain["generation"] % 2**16)),
        cause="A large number comes back as a smaller one: it must stand 64 bits.",
    ),
    *same_idea(
        _changed(lambda plain: plain.update(generation=int(float(plain["generation"])))),
        _pair(deserialise=lambda data: msgspec.convert(_in_floats(data), ClientDetails)),
        cause="A large number comes back rounded: it was a float on its way, which keeps 53 bits.",
    ),
    *same_idea(
        _each_member(lambda member: member.update(session_timeout=abs(member["session_timeout"]))),
        _each_member(
            lambda member: member.update(
                session_timeout=abs(member["session_timeout"]),
                rebalance_timeout=abs(member["rebalance_timeout"]),
            )
        ),
        _each_member(
            lambda member: member.update(
                session_timeout=max(member["session_timeout"], 0),
                rebalance_timeout=max(member["rebalance_timeout"], 0),
            )
        ),
        cause="A negative number loses its sign. A time-out of -1 is one that isn't known.",
    ),
    *same_idea(
        _each_member(lambda member: member["topics"].sort()),
        _each_member(lambda member: member["topics"].reverse()),
        cause="A member's topics come back in another order. A set has none, and to sort is to "
        "change it.",
    ),
    *same_idea(
        _each_member(_in_ascii("ignore")),
        _each_member(_in_ascii("replace")),
        _pair(lambda details: _written(details, ensure_ascii=False, errors="ignore")),
        _pair(lambda details: _written(details, ensure_ascii=False, errors="replace")),
        _each_member(
            lambda member: member.update(client_id=member["client_id"].encode().decode("latin-1"))
        ),
        cause="A letter such as `é` doesn't come back. ASCII has none, and Latin-1 reads the two "
        "bytes that UTF-8 writes as two letters.",
    ),
]


def _or(otherwise: Any) -> Callable[[bytes], Any]:
    """Return a reader that gives something else where it can't read."""

    def deserialise(data: bytes) -> Any:
        try:
            return _read(data)
        except Exception:
            return otherwise

    return deserialise


def _with_defaults(data: bytes) -> ClientDetails:
    """Read what is there, and fill up the rest."""
    found = json.loads(data)
    plain = {"group": "", "protocol": "classic", "generation": 0, "assignor": None, "members": []}
    return msgspec.convert({**plain, **found}, ClientDetails)


_EMPTY = ClientDetails("", "", -1, None, ())

INVENTING = [
    Mistake(
        _pair(deserialise=_or(None)),
        "It gives None for bytes that are no client details, and None means: the group has none. "
        "Leave the `except` out, and let the error go to the caller.",
    ),
    Mistake(
        _pair(deserialise=_or(_EMPTY)),
        "It gives an empty group for bytes that are none. Leave the `except` out, and let the "
        "error go to the caller.",
    ),
    Mistake(
        _pair(deserialise=_with_defaults),
        "It fills up what is missing, so `{}` becomes a group. Take the fields by their names, and "
        "an error shows what isn't there.",
    ),
]
"""Pairs that read what they've written, and more."""
