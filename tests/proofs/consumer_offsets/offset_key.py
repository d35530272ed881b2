"""Answers to "The key of a commit", right and wrong, as learners may write them."""

from __future__ import annotations

import io
import re
import struct
from struct import unpack, unpack_from

from proof import Catalogue

from workbook.lessons.consumer_offsets.offset_key_mistakes import MISTAKES


def with_a_stream(key):
    if not key or len(key) < 2:
        return None
    of = io.BytesIO(key)
    number = lambda size: int.from_bytes(of.read(size), "big", signed=True)  # noqa: E731
    if number(2) not in (0, 1):
        return None
    group = of.read(number(2)).decode("utf-8")
    topic = of.read(number(2)).decode("utf-8")
    return group, topic, number(4)


def by_places(key):
    if key is None or key[:2] not in (b"\x00\x00", b"\x00\x01"):
        return None
    (a,) = unpack_from(">h", key, 2)
    (b,) = unpack_from(">h", key, 4 + a)
    group = str(key[4 : 4 + a], "utf-8")
    return group, str(key[6 + a : 6 + a + b], "utf-8"), unpack_from(">i", key, 6 + a + b)[0]


def from_the_end(key):
    if not key or len(key) < 2 or key[0] != 0 or key[1] > 1:
        return None
    size = key[2] * 256 + key[3]
    group, rest = key[4 : 4 + size], key[4 + size :]
    return group.decode(), rest[2:-4].decode(), unpack(">I", rest[-4:])[0]


def by_characters(key):
    if key is None or len(key) < 2 or unpack(">h", key[:2])[0] not in (0, 1):
        return None
    text = key.decode()
    size = unpack(">h", text[2:4].encode())[0]
    group, rest = text[4 : 4 + size], text[4 + size :]
    other = unpack(">h", rest[:2].encode())[0]
    return group, rest[2 : 2 + other], unpack(">i", rest[2 + other :].encode())[0]


def native(key):
    if key is None or len(key) < 2 or unpack("h", key[:2])[0] not in (0, 1):
        return None
    (size,) = unpack("h", key[2:4])
    group, rest = key[4 : 4 + size].decode(), key[4 + size :]
    (other,) = unpack("h", rest[:2])
    return group, rest[2 : 2 + other].decode(), unpack("i", rest[2 + other :])[0]


def kind_1_only(key):
    return by_places(key) if key and key[:2] == b"\x00\x01" else None


def last_byte(key):
    found = by_places(key)
    return found and (found[0], found[1], key[-1])


def last_two(key):
    found = by_places(key)
    return found and (found[0], found[1], unpack(">H", key[-2:])[0])


def latin(key):
    found = by_places(key)
    if found is None:
        return None
    group, topic, partition = found
    return group.encode().decode("latin-1"), topic.encode().decode("latin-1"), partition


def as_bytes(key):
    found = by_places(key)
    return found and (found[0].encode(), found[1].encode(), found[2])


def a_tuple_at_the_end(key):
    found = by_places(key)
    return found and (found[0], found[1], unpack(">i", key[-4:]))


def whatever_kind(key):
    return by_places(b"\x00\x01" + key[2:]) if key and len(key) > 1 else None


def without_a_look_at_none(key):
    if struct.unpack(">h", key[:2])[0] not in (0, 1):
        return None
    return by_places(key)


def a_list(key):
    found = by_places(key)
    return found and list(found)


def length_of_one_byte(key):
    if not key or key[:2] not in (b"\x00\x00", b"\x00\x01"):
        return None
    a = key[3]
    b = key[5 + a]
    return key[4 : 4 + a].decode(), key[6 + a : 6 + a + b].decode(), unpack(">i", key[-4:])[0]


def topic_before_group(key):
    found = by_places(key)
    return found and (found[1], found[0], found[2])


def forgets_the_second_length(key):
    if not key or key[:2] not in (b"\x00\x00", b"\x00\x01"):
        return None
    size = int.from_bytes(key[2:4])
    return key[4 : 4 + size].decode(), key[4 + size : -4].decode(), int.from_bytes(key[-4:])


def one_byte_as_the_kind(key):
    return by_places(key) if key and key[:2] == 1 else None


def low_byte_of_the_kind(key):
    return by_places(b"\x00" + key[1:]) if key else None


def high_byte_of_the_kind(key):
    if key is None or len(key) < 2 or key[0] > 1:
        return None
    (size,) = unpack(">h", key[2:4])
    (other,) = unpack(">h", key[4 + size : 6 + size])
    group, topic = key[4 : 4 + size].decode(), key[6 + size : 6 + size + other].decode()
    return group, topic, unpack(">i", key[6 + size + other :])[0]


def tries_it(key):
    try:
        (size,) = unpack_from(">h", key, 2)
        (other,) = unpack_from(">h", key, 4 + size)
        group, topic = key[4 : 4 + size].decode(), key[6 + size : 6 + size + other].decode()
        return group, topic, unpack_from(">i", key, 6 + size + other)[0]
    except Exception:
        return None


def negative_kinds_too(key):
    if key is None or len(key) < 2 or unpack(">h", key[:2])[0] > 1:
        return None
    return by_places(b"\x00\x01" + key[2:])


def length_of_the_topic_in_one_byte(key):
    if not key or key[:2] not in (b"\x00\x00", b"\x00\x01"):
        return None
    (size,) = unpack(">h", key[2:4])
    topic = key[6 + size : 6 + size + key[5 + size]].decode()
    return key[4 : 4 + size].decode(), topic, unpack(">i", key[-4:])[0]


def length_of_the_group_in_one_byte(key):
    if not key or key[:2] not in (b"\x00\x00", b"\x00\x01"):
        return None
    size = key[3]
    (other,) = unpack(">h", key[4 + size : 6 + size])
    topic = key[6 + size : 6 + size + other].decode()
    return key[4 : 4 + size].decode(), topic, unpack(">i", key[-4:])[0]


def up_to_the_length(key):
    if not key or key[:2] not in (b"\x00\x00", b"\x00\x01"):
        return None
    (size,) = unpack(">h", key[2:4])
    (other,) = unpack(">h", key[4 + size : 6 + size])
    return key[4:size].decode(), key[6 + size : other].decode(), unpack(">i", key[-4:])[0]


def in_ascii(key):
    if not key or key[:2] not in (b"\x00\x00", b"\x00\x01"):
        return None
    (size,) = unpack(">h", key[2:4])
    (other,) = unpack(">h", key[4 + size : 6 + size])
    group, topic = key[4 : 4 + size], key[6 + size : 6 + size + other]
    return group.decode("ascii"), topic.decode("ascii"), unpack(">i", key[-4:])[0]


def ends_at_a_zero(key):
    if not key or key[:2] not in (b"\x00\x00", b"\x00\x01"):
        return None
    group = key[4:].split(b"\x00")[0]
    rest = key[4 + len(group) :]
    return group.decode(), rest[2:-4].decode(), unpack(">i", rest[-4:])[0]


def stripped(*what):
    def commit_of(key):
        found = by_places(key)
        return found and (found[0].strip(*what), found[1].strip(*what), found[2])

    return commit_of


def no_group_without_a_name(key):
    found = by_places(key)
    return found if found and found[0] else None


def first_part_of_the_topic(key):
    found = by_places(key)
    return found and (found[0], found[1].split(".")[0], found[2])


def by_a_pattern(key):
    found = re.match(rb"\x00[\x00\x01](..)([\w.-]*)(..)([\w.-]+)(....)$", key or b"", re.S)
    return found and (found[2].decode(), found[4].decode(), unpack(">i", found[5])[0])


def kind_as_a_tuple(key):
    return by_places(key) if key and unpack(">h", key[:2]) in (0, 1) else None


def raises_for_others(key):
    found = by_places(key)
    if found is None:
        raise ValueError("no commit")
    return found


catalogue = Catalogue(
    right=[with_a_stream, by_places, from_the_end],
    wrong=[
        (by_characters, "counts characters"),
        (native, "from the wrong end. Kafka's"),
        (kind_1_only, "leaves out kind 0"),
        (last_byte, "one byte for the partition"),
        (last_two, "two bytes for the partition"),
        (latin, "Latin-1"),
        (as_bytes, "still bytes. `decode()`"),
        (a_tuple_at_the_end, "always returns one"),
        (whatever_kind, "Ask first whether"),
        (a_list, "Right contents in a list"),
        (length_of_one_byte, "one byte for a length"),
        (topic_before_group, "The group comes first"),
        (forgets_the_second_length, "length of its own"),
        (low_byte_of_the_kind, "one byte of the kind"),
        (one_byte_as_the_kind, "Two bytes equal no number"),
        (high_byte_of_the_kind, "first byte of the kind alone"),
        (tries_it, "never asks for the kind"),
        (negative_kinds_too, "Kind -1 is below"),
        (up_to_the_length, "cuts a name off at its length"),
        (in_ascii, "ASCII"),
        (ends_at_a_zero, "Only its length says where it ends"),
        (stripped(), "strips the names"),
        (no_group_without_a_name, "this group is empty"),
        (first_part_of_the_topic, "a dot is part of a name"),
        (by_a_pattern, "`café` has four characters"),
        (lambda key: print(by_places(key)), "prints"),
        (lambda group, topic: (group, topic, 0), "Keep the parameters"),
    ],
    shortcuts=[
        (lambda key: by_places(key) if key and b"clicks" in key else None, ""),
        (lambda key: by_places(key) if key and len(key) < 40 else None, ""),
    ],
    same=[
        (without_a_look_at_none, whatever_kind),
        (raises_for_others, whatever_kind),
        (kind_as_a_tuple, one_byte_as_the_kind),
        (length_of_the_topic_in_one_byte, length_of_one_byte),
        (length_of_the_group_in_one_byte, length_of_one_byte),
        (stripped("\0"), stripped()),
    ],
    models=MISTAKES,
)
