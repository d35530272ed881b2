"""Chapter 30: The key of a commit."""

import struct

from workbook.classroom.exercise import case, exercise, wrong


def commit_of(key):
    if key is None or len(key) < 2 or struct.unpack(">h", key[:2])[0] not in (0, 1):
        return None
    at, texts = 2, []
    for _ in range(2):
        (size,) = struct.unpack(">h", key[at : at + 2])
        texts.append(key[at + 2 : at + 2 + size].decode())
        at += 2 + size
    group, topic = texts
    return group, topic, struct.unpack(">i", key[at:])[0]


def from_the_end(key):
    if not key or len(key) < 2 or key[0] != 0 or key[1] > 1:
        return None
    end = 4 + key[2] * 256 + key[3]
    return key[4:end].decode(), key[end + 2 : -4].decode(), struct.unpack(">i", key[-4:])[0]


def big(data):
    return int.from_bytes(data, "big", signed=True)


def read(
    key, kind=lambda key: big(key[:2]), kinds=(0, 1), text=bytes.decode, last=big
):  # fmt: skip
    """Read a key; wrong answers do one step in another way."""
    if not key or len(key) < 2 or kind(key) not in kinds:
        return None
    rest, names = key[2:], []
    for _ in range(2):
        length = big(rest[:2])
        names.append(text(rest[2 : 2 + length]))
        rest = rest[2 + length :]
    return *names, last(rest)


def changed(**steps):
    return lambda key: read(key, **steps)


def of(group, topic, partition, kind=1):
    names = (struct.pack(">h", len(name)) + name for name in (group.encode(), topic.encode()))
    return struct.pack(">h", kind) + b"".join(names) + struct.pack(">i", partition)


def draw(random, size):
    group, topic = (
        "".join(random.choices("abcxyz019.-_ \0éßЖ日", k=random.randrange(size + 1)))
        for _ in range(2)
    )
    partition = random.choice((0, -1, 49, 256, 40_000, 70_000, 2**24 + 1))
    return (of(group, topic, partition, random.choice((0, 0, 1, 1, 2, 5, 256, 257, -1))),)


offset_key = exercise(
    commit_of,
    name="The key of a commit",
    task="`key` is the key of a record in `__consumer_offsets`. Its first 2 bytes are its kind. "
    "The key of a commit (kinds 0 and 1) continues with these fields:\n\n"
    "- the length of the group's name, 2 bytes, and the name, in UTF-8;\n"
    "- the length of the topic's name, 2 bytes, and the name, in UTF-8;\n"
    "- the partition, 4 bytes.\n\n"
    "All numbers are signed and big-endian: a partition may be -1. Return `(group, topic, "
    "partition)`. Return `None` for any other kind, and if the key is `None` or has fewer than 2 "
    "bytes.\n\n"
    '`b"\\x00\\x01\\x00\\x04shop\\x00\\x06clicks\\x00\\x00\\x00\\x03"` gives '
    '`("shop", "clicks", 3)`.',
    cases=[
        case("The kind's two bytes are the number 1. Each length takes 2 bytes, the partition 4.",
             of("shop", "clicks", 3)),
        case("`café` has four characters and five bytes.", of("café", "clicks", 3)),
        case("Kind 0 is an older version of the same key.", of("shop", "clicks", 3, 0)),
        case("The partition is -1: `ff ff ff ff`, as a signed number.", of("shop", "clicks", -1)),
        case("The partition is 40,000: `00 00 9c 40`.", of("shop", "clicks", 40_000)),
        case("The group's name has 300 bytes: `01 2c`.", of("g" * 300, "clicks", 3)),
        case("The group's name is empty: its length is 0.", of("", "clicks", 3)),
        case("This is the key of a classic group, kind 2. It isn't a commit.",
             of("shop", "", 0, 2)[:8]),
        case("Kind 257, `01 01`, isn't a commit.", of("shop", "clicks", 3, 257)),
        case("A record may have no key: `None`.", None),
        case("A key of one byte has no kind.", b"\x00"),
        case("An empty key has no kind.", b""),
        case("The length of the topic's name takes two bytes, too. Here it's 300.",
             of("shop", "c" * 300, 3)),
    ],
    draw=draw,
    right=[from_the_end, read],
    wrong=[
        wrong("The names are still bytes. `name.decode()` turns them into text.",
              changed(text=bytes), changed(text=str)),
        wrong("It reads the partition from the wrong end. In `>i` the highest byte is the first.",
              changed(last=lambda rest: int.from_bytes(rest, "little"))),
        wrong("It reads an unsigned number. In `struct`, `i` is signed and `I` isn't.",
              changed(last=lambda rest: int.from_bytes(rest))),
        wrong("It accepts only one of the two kinds of commits, 0 and 1.",
              changed(kinds=(1,)), changed(kinds=(0,))),
        wrong("It looks at one byte of the kind, but the kind has two.",
              changed(kind=lambda key: key[0]), changed(kind=lambda key: key[1])),
        wrong("It reads only a part of the partition's four bytes.",
              changed(last=lambda rest: rest[-1]), changed(last=lambda rest: big(rest[-2:])),
              changed(last=lambda rest: int.from_bytes(rest[-2:]))),
    ],
    hints=(
        "The place of a field depends on the lengths before it. Keep the current place in a "
        "variable, and move it past each field that you have read.",
        "`struct.unpack` turns bytes into numbers: `>` is big-endian, `h` has 2 bytes, `i` has 4. "
        "Cut out the bytes of a name first, then decode them.",
        '`(size,) = struct.unpack(">h", key[at:at + 2])` is the length at the place `at`, and '
        "`key[at + 2:at + 2 + size].decode()` is the name.",
    ),
    discussion="This function trusts the broker: a key that's cut off raises `struct.error` or "
    "returns a name that's too short. A tool for other people's clusters must count such keys and "
    "continue, as the workbook's decoder does (`workbook/streams/events/binary.py`).\n\n"
    "When Kafka added the new group protocol, the topic got new kinds of records. A program that "
    "returns `None` for unknown kinds still ran on that day.",
)  # fmt: skip
