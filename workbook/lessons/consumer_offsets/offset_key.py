"""Chapter 30: The key of a commit."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from workbook.classroom.causes import MEANT_NONE
from workbook.classroom.core import Problem
from workbook.classroom.drawn import one_after_another, smallest_first
from workbook.classroom.judging import Case, NotYet, by_cases
from workbook.lessons.consumer_offsets.offset_key_mistakes import MISTAKES


def commit_of(key: bytes | None) -> tuple[str, str, int] | None:
    if key is None or len(key) < 2 or struct.unpack(">h", key[:2])[0] not in (0, 1):
        return None
    at, texts = 2, []
    for _ in range(2):
        (size,) = struct.unpack(">h", key[at : at + 2])
        texts.append(key[at + 2 : at + 2 + size].decode())
        at += 2 + size
    group, topic = texts
    return group, topic, struct.unpack(">i", key[at:])[0]


def _text(words: str) -> bytes:
    data = words.encode()
    return struct.pack(">h", len(data)) + data


def _key(group: str, topic: str, partition: int, kind: int = 1) -> bytes:
    return struct.pack(">h", kind) + _text(group) + _text(topic) + struct.pack(">i", partition)


def _case(key: bytes | None, says: str) -> Case:
    return Case((key,), commit_of(key), says)


def _drawn_cases() -> Iterator[Case]:
    draw = random.Random(30)
    letters = "abcxyz019.-_ \0éßЖ日"
    for size in range(30):
        group, topic = ("".join(draw.choices(letters, k=size // 3 + n)) for n in (0, 1))
        partition = draw.choice((0, 1, 49, 256, 70_000, 2**24 + 1))
        key = _key(group, topic, partition, draw.choice((0, 1)))
        yield _case(key, "This key was drawn by chance. Where does each field begin?")


_MEMBER = struct.pack(">h", 5) + _text("café") + _text("S9OcyPryRsub")

_CASES = [
    _case(
        _key("shop", "clicks", 3),
        "The kind takes 2 bytes, each length 2, and the partition 4.",
    ),
    _case(_key("longer-group", "a-topic", 0), "Names have any length, and it stands before them."),
    _case(
        _key("café", "clicks", 3),
        "A length counts bytes, not characters: `café` has four characters and five bytes.",
    ),
    _case(_key("shop", "größen", 1), "The length counts bytes: `größen` has eight."),
    _case(
        _key("shop", "clicks", 3, kind=0),
        "Kind 0 is an older form of the same key, and old records may still be there.",
    ),
    _case(_key("shop", "clicks", 300), "The partition is 300: that's `00 00 01 2c`."),
    _case(
        _key("shop", "clicks", 40_000),
        "The partition is 40,000, `00 00 9c 40`: of two bytes with a sign, 32,767 is the most.",
    ),
    _case(
        _key("shop", "clicks", 70_000), "The partition is 70,000, and takes three bytes of four."
    ),
    _case(
        _key("g" * 300, "clicks", 3),
        "The name of this group has 300 bytes: its length, `01 2c`, takes both bytes.",
    ),
    _case(
        _key("shop", "eu.clicks", 3),
        "The topic is called `eu.clicks`: a dot is part of a name, like any letter.",
    ),
    _case(
        _key("sh\0p", "clicks", 3),
        "A name may hold a byte that's zero. Only its length says where it ends.",
    ),
    _case(
        _key(" shop\0", "clicks", 3),
        "A name may begin with a space and end with a zero: it's another group than `shop`.",
    ),
    _case(
        _key("shop", "t" * 300, 3),
        "The name of this topic has 300 bytes. (Kafka allows 249; the key has room for more.)",
    ),
    _case(_key("", "clicks", 3), "The name of this group is empty: its length is 0. It happens."),
    _case(
        _key("1", "2", 0x33003400),
        "Here every byte looks like another field. Go by the lengths.",
    ),
    _case(
        struct.pack(">h", 2) + _text("shop"),
        "This is the key of a group, of kind 2. It's no commit: `None`.",
    ),
    _case(
        _MEMBER, "This is the key of a member, of kind 5: it goes on like a commit's, and is none."
    ),
    _case(_key("shop", "clicks", 3, kind=257), "Kind 257 isn't 1: a kind has two bytes, `01 01`."),
    _case(_key("shop", "clicks", 3, kind=-1), "Kind -1 is below 0 and 1, and is no commit."),
    _case(None, "A record may have no key at all: `None`."),
    _case(b"", "An empty key: it doesn't even have a kind."),
    _case(b"\x00", "A key of one byte: it doesn't even have a kind."),
]


def _asked_for_the_kind(check: Callable[[Any], NotYet | None]) -> Callable[[Any], NotYet | None]:
    """Extend a check: who raises where no commit is, or sees none at all, misreads the kind."""

    def diagnose(answer: Any) -> NotYet | None:
        found = check(answer)
        if found and found.expected == "None" and found.cause.startswith("It raised"):
            return replace(found, cause=_NO_COMMIT)
        if found and found.cause == f"{MEANT_NONE} {_CASES[0].cause}":
            return replace(found, cause=_NEVER)
        return found

    return diagnose


_NO_COMMIT = (
    "It raises an error here, where `None` is asked for: this key is no commit's. Ask first "
    "whether there is a key, and for its kind; read on only then."
)
_NEVER = (
    "It returns None, though the kind is 1. Two bytes equal no number, and neither does the tuple "
    "that `struct.unpack` always returns: take its first element."
)

offset_key = Problem(
    name="The key of a commit",
    task="`key` is the key of a record in `__consumer_offsets`: bytes, or `None`. It begins with "
    "its kind, 2 bytes. Kinds 0 and 1 are commits, and go on so:\n\n"
    "- the length of the group's name, 2 bytes; the name, in UTF-8;\n"
    "- the length of the topic's name, 2 bytes; the name, in UTF-8;\n"
    "- the partition, 4 bytes, which are the last ones.\n\n"
    "All numbers are signed and big-endian. Return `(group, topic, partition)`; `None` for "
    "any other kind, for `None`, and for a key of fewer than 2 bytes.\n\n"
    '`b"\\x00\\x01\\x00\\x04shop\\x00\\x06clicks\\x00\\x00\\x00\\x03"` gives '
    '`("shop", "clicks", 3)`.',
    stub="def commit_of(key):\n    ...  # your code\n",
    diagnose=_asked_for_the_kind(
        one_after_another(by_cases(_CASES, MISTAKES), by_cases(smallest_first(_drawn_cases())))
    ),
    hints=(
        "Where a field begins depends on the lengths before it. Keep a place, and move it on "
        "behind each field.",
        "`struct.unpack` makes a number of bytes; `>` is big-endian, `h` takes 2 bytes, `i` takes "
        "4. Cut the bytes of a name out first, and decode them then.",
        '`(size,) = struct.unpack(">h", key[at:at + 2])` is the length at a place; the name is '
        "`key[at + 2:at + 2 + size].decode()`.",
    ),
    reference=commit_of,
    discussion="It trusts the broker: a key that's cut off raises `struct.error`, or gives a name "
    "that's too short. A tool for other people's clusters must count such keys and go on; the "
    "workbook's decoder does (`workbook/events/binary.py`).\n\n"
    "The new group protocol has come with kinds of its own. Whoever says `None` to what they don't "
    "know has a program that still ran on that day.",
)
