"""Chapter 30: The value of a commit."""

import struct

from workbook.classroom.exercise import case, exercise, wrong


def offset_of(value):
    return None if value is None else struct.unpack(">q", value[2:10])[0]


def number(cut=slice(2, 10), order="big", absent=None, signed=True):
    """Return an answer with some of its steps changed, as the wrong answers need it."""
    return lambda v: absent if v is None else int.from_bytes(v[cut], order, signed=signed)


def of(offset, version=3, at=1_700_000_000_000):
    """Make a value: in version 4 a text's length takes one byte, and tags follow."""
    rest = b"\0\0" if version == 3 else b"\1"
    return struct.pack(">hqi", version, offset, 0) + rest + struct.pack(">q", at) + rest[2:]


def draw(random, size):
    offset = random.choice((0, -1, 40, 300, 70_000, 2**31 + 5, 2**53 + 1))
    return (random.choice((None, *3 * [of(offset, random.choice((3, 4)), 10**12 + size)])),)


commit_value = exercise(
    offset_of,
    name="The value of a commit",
    task="`value` is the value of a commit: bytes, or `None` for a tombstone. It begins with its "
    "version, 2 bytes, and the committed offset, 8 bytes. Both numbers are signed and big-endian. "
    "The fields after them depend on the version. Return the offset, and `None` for a tombstone.",
    cases=[
        case("The offset is 40, in version 3.", of(40)),
        case("The offset is 300: `00 00 00 00 00 00 01 2c`.", of(300)),
        case("The offset needs more than four bytes, and more digits than a float has.",
             of(2**53 + 1)),
        case("The offset is -1: `ff ff ff ff ff ff ff ff`, as a signed number.", of(-1)),
        case("In version 4 other fields follow, but the offset has the same place.", of(7, 4)),
        case("An offset of 0 is an offset: the group begins at the first record.", of(0)),
        case("A tombstone has no value.", None),
    ],
    draw=draw,
    right=[number()],
    wrong=[
        wrong("It begins at the first byte. The first two bytes are the version.",
              number(slice(0, 8)), number(slice(8))),
        wrong("It reads only a part of the offset's eight bytes.",
              number(slice(2, 6)), number(slice(6, 10)), number(slice(9, 10))),
        wrong("It reads the offset from the wrong end. In `>q` the highest byte is the first.",
              number(order="little")),
        wrong("It reads an unsigned number. In `struct`, `q` is signed and `Q` isn't.",
              number(signed=False)),
        wrong("It returns a tuple. `struct.unpack` always does: take its first element.",
              lambda value: value and struct.unpack(">q", value[2:10])),
        wrong("It reads the end of the value. The last field of version 3 is the commit's time.",
              number(slice(-8, None))),
    ],
    hints=(
        "It's the key's exercise with two fields of a fixed length. Which bytes have the offset?",
        "`q` is struct's letter for a number of 8 bytes. A tombstone has no bytes to read, so "
        "handle it first.",
        '`struct.unpack(">q", value[2:10])[0]` is the offset.',
    ),
    discussion="The version says how to read the rest: metadata, the time of the commit, and in "
    "newer versions the topic's id. All versions so far have the offset in this place, but nothing "
    "promises it for the next one. A tool for other people's clusters should check the version, "
    "as the workbook's decoder does.",
)  # fmt: skip
