"""Wrong answers to "The key of a commit", from a key to group, topic and partition."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from workbook.classroom.mistakes import Mistakes, same_idea

MISTAKES = Mistakes()
"""The answers of learners, as they write them; the first that gives the same names the cause."""


def _number(kind: str, data: bytes) -> int:
    return int(struct.unpack(kind, data)[0])


def _two_bytes(two: bytes) -> int:
    return _number(">h", two)


def _read(
    key: bytes,
    decode: Callable[[bytes], Any] = bytes.decode,
    last: Callable[[bytes], Any] = lambda rest: _number(">i", rest),
    size: Callable[[bytes], int] = _two_bytes,
    topic_size: Callable[[bytes], int] | None = None,
    cut: Callable[[bytes, int, int], bytes] = lambda key, at, length: key[at : at + length],
    end: int | None = None,
) -> tuple[Any, Any, Any]:
    """Read a commit's key, with one of its steps done in another way."""
    at, texts = 2, []
    for length_of in (size, topic_size or size):
        length = length_of(key[at : at + 2])
        texts.append(decode(cut(key, at + 2, length)))
        at += 2 + length
    return texts[0], texts[1], last(key[at if end is None else end :])


def _is_none(key: bytes | None, kinds: tuple[int, ...] = (0, 1)) -> bool:
    return key is None or len(key) < 2 or _number(">h", key[:2]) not in kinds


def _with(**steps: Any) -> Callable[[bytes | None], Any]:
    return lambda key: None if key is None or _is_none(key) else _read(key, **steps)


_CHARACTERS = (
    "It counts characters. A length counts bytes, and `é` takes two: cut the bytes out first, "
    "and decode them then."
)


def _by_characters(text: str, size: Callable[[str], int], names: int = 2) -> list[str]:
    at, found = 2, []
    for _ in range(names):
        length = size(text[at : at + 2])
        found.append(text[at + 2 : at + 2 + length])
        at += 2 + length
    return [*found, text[at:]]


@MISTAKES.add(_CHARACTERS)
def decodes_first(key: bytes | None) -> Any:
    if key is None or _is_none(key):
        return None
    group, topic, rest = _by_characters(key.decode(), lambda two: ord(two[0]) * 256 + ord(two[1]))
    return group, topic, _number(">i", rest.encode())


@MISTAKES.add(_CHARACTERS)
def decodes_first_with_replacements(key: bytes | None) -> Any:
    if key is None or _is_none(key):
        return None
    text = key.decode(errors="replace")
    group, topic, _ = _by_characters(text, lambda two: ord(two[0]) * 256 + ord(two[1]))
    return group, topic, _number(">i", key[-4:])


@MISTAKES.add(_CHARACTERS)
def moves_on_by_characters(key: bytes | None) -> Any:
    if key is None or _is_none(key):
        return None
    at, texts = 2, []
    for _ in range(2):
        length = _number(">h", key[at : at + 2])
        texts.append(key[at + 2 : at + 2 + length].decode())
        at += 2 + len(texts[-1])
    return texts[0], texts[1], _number(">i", key[-4:])


MISTAKES += same_idea(
    _with(decode=lambda name: name.decode("latin-1")),
    _with(decode=lambda name: name.decode("cp1252")),
    cause="It decodes the names as Latin-1: `é` becomes `Ã©`. They're in UTF-8, which is what "
    "`decode()` takes by default.",
)

MISTAKES += same_idea(
    _with(decode=lambda name: name.decode("ascii")),
    _with(decode=lambda name: str(name, "ascii")),
    _with(decode=lambda name: name.decode("ascii", errors="ignore")),
    _with(decode=lambda name: name.decode("ascii", errors="replace")),
    cause="It decodes the names as ASCII, which has no `é`. They're in UTF-8.",
)

MISTAKES += same_idea(
    _with(decode=bytes),
    _with(decode=str),
    cause="The names are still bytes. `decode()` makes text of them; `str` only puts `b'…'` "
    "around.",
)


@MISTAKES.add(
    "It reads numbers from the wrong end. Kafka's are big-endian, the highest byte first: `>h`, "
    "`>i`. (Without a sign `struct` takes the order of your machine.)"
)
def little_endian(key: bytes | None) -> Any:
    if key is None or len(key) < 2 or _number("<h", key[:2]) not in (0, 1):
        return None
    return _read(key, last=lambda rest: _number("<i", rest), size=lambda two: _number("<h", two))


MISTAKES += same_idea(
    _with(last=lambda rest: _number("<i", rest)),
    cause="It reads the partition from the wrong end: `>i`, the highest byte first.",
)


@MISTAKES.add(
    "It leaves out kind 0, an older form of the same key. Old records may still be there."
)
def only_kind_1(key: bytes | None) -> Any:
    return None if key is None or _is_none(key, (1,)) else _read(key)


@MISTAKES.add("It leaves out kind 1, the commits of today. Kind 0 is only their older form.")
def only_kind_0(key: bytes | None) -> Any:
    return None if key is None or _is_none(key, (0,)) else _read(key)


@MISTAKES.add("It looks at one byte of the kind. A kind takes two: 257 is `01 01`, and no commit.")
def one_byte_of_the_kind(key: bytes | None) -> Any:
    return None if key is None or len(key) < 2 or key[1] not in (0, 1) else _read(key)


def _by_the_first_byte(end: int | None = None) -> Callable[[bytes | None], Any]:
    return lambda key: (
        _read(key, end=end) if key is not None and len(key) > 1 and key[0] in (0, 1) else None
    )


MISTAKES += same_idea(
    _by_the_first_byte(),
    _by_the_first_byte(-4),
    cause="It looks at the first byte of the kind alone, which is 0 for every kind up to 255.",
)


def _tries(read: Callable[[bytes], Any]) -> Callable[[bytes | None], Any]:
    def answer(key: bytes | None) -> Any:
        try:
            return read(key or b"")
        except (struct.error, IndexError):
            return None

    return answer


def _of_bytes(key: bytes) -> Any:
    if len(key) < 2:
        return None
    return _read(key, size=int.from_bytes, last=int.from_bytes)


MISTAKES += same_idea(
    _tries(_read),
    _tries(_of_bytes),
    cause="It never asks for the kind: whatever can be read as a commit's key is taken for one.",
)

MISTAKES += same_idea(
    _with(last=lambda rest: rest[-1]),
    _with(last=lambda rest: rest[3]),
    cause="It takes one byte for the partition. All four count: 300 is `00 00 01 2c`.",
)

MISTAKES += same_idea(
    _with(last=lambda rest: _number(">h", rest[-2:])),
    _with(last=lambda rest: _number(">H", rest[-2:])),
    cause="It takes two bytes for the partition. All four count.",
)

MISTAKES += same_idea(
    _with(last=lambda rest: _number(">h", rest[:2])),
    _with(last=lambda rest: rest[0]),
    cause="It takes only the first of the partition's four bytes: they're 0 in most cases.",
)

MISTAKES += same_idea(
    _with(last=bytes),
    cause='The partition is still bytes. `struct.unpack(">i", …)` makes a number of them.',
)

MISTAKES += same_idea(
    _with(last=lambda rest: struct.unpack(">i", rest)),
    cause="The partition is a tuple: `struct.unpack` always returns one, also of a single number. "
    "Take its first element.",
)


def _low_byte(two: bytes) -> int:
    return two[1]


MISTAKES += same_idea(
    _with(size=_low_byte),
    _with(size=_low_byte, end=-4),
    _with(size=_low_byte, topic_size=_two_bytes, end=-4),
    _with(topic_size=_low_byte, end=-4),
    _with(topic_size=_low_byte),
    cause="It takes one byte for a length. Both count: 300 is `01 2c`.",
)

MISTAKES += same_idea(
    _with(cut=lambda key, at, length: key[at:length]),
    cause="It cuts a name off at its length: `key[a:b]` ends at the place `b`. The name ends where "
    "it begins plus its length.",
)

MISTAKES += same_idea(
    _with(decode=lambda name: name.decode().strip()),
    _with(decode=lambda name: name.decode().strip("\0")),
    _with(decode=lambda name: name.decode().strip(" \0")),
    cause="It strips the names. What stands in a name is part of it, and another group's name "
    "without it.",
)


@MISTAKES.add("It gives the topic first. The group comes first, in the key and in the answer.")
def topic_first(key: bytes | None) -> Any:
    if key is None or _is_none(key):
        return None
    group, topic, partition = _read(key)
    return topic, group, partition


@MISTAKES.add(
    "Behind the group's name it doesn't skip the length of the topic's: two bytes of it stand in "
    "the name. Each name has a length of its own."
)
def forgets_a_length(key: bytes | None) -> Any:
    if key is None or _is_none(key):
        return None
    size = _number(">h", key[2:4])
    return key[4 : 4 + size].decode(), key[4 + size : -4].decode(), _number(">i", key[-4:])
