"""Chapter 40: The fate of a value."""

from dataclasses import dataclass
from io import BytesIO

import fastavro

from workbook.classroom.exercise import case, exercise, wrong


def fate(value, decoders):
    if not value:
        return "empty"
    if len(value) < 5 or value[0] != 0:
        return "no Avro"
    number = int.from_bytes(value[1:5], "big")
    if number not in decoders:
        return "unknown id"
    try:
        action = decoders[number](value[5:])
    except Exception:
        return "malformed"
    if action["ad"] is None:
        return "no ad"
    return "owner" if action["owner"] else "good"


TYPES = {"user": "long", "ad": ["null", "string"], "owner": "boolean"}
FIELDS = [{"name": name, "type": kind} for name, kind in TYPES.items()]


@dataclass(frozen=True)
class Decoder:
    version: int  # the first one has no user

    def __call__(self, body):
        schema = {"type": "record", "name": "Action", "fields": FIELDS[2 - self.version :]}
        return fastavro.schemaless_reader(BytesIO(body), schema, None)


@dataclass(frozen=True)
class Lost:
    def __call__(self, body):
        raise KeyError("Action")


KNOWN = {7: Decoder(1), 258: Decoder(2), 4_278_190_087: Decoder(2), 0: Decoder(1)}
LOST = {**KNOWN, 12: Lost()}
VIEW, OWN, NO_AD, NO_AD_OWN = b"\x02\x06a17\x00", b"\x02\x06a17\x01", b"\x00\x00", b"\x00\x01"
USER, ODD, NOT_TEXT = b"\x0a", b"\x04\x02a", b"\x02\x04\xff\xfe\x00"


def of(number, body, first=b"\x00"):
    return first + number.to_bytes(4) + body, KNOWN


def draw(random, size):
    number, body = random.choice([*KNOWN]), random.choice((VIEW, OWN, NO_AD, NO_AD_OWN))
    value, _ = of(number, body if number in (0, 7) else USER + body)
    spoiled = (
        value[: random.randrange(len(value))],
        bytes([random.randrange(1, 256)]) + value[1:],
        of(random.choice((1, 8, 1_792, 2**24)), body)[0],
        of(7, random.choice((ODD, NOT_TEXT)))[0],
        random.choice((b"", None)),
    )
    return random.choice((value, value, *spoiled)), KNOWN


def judged(
    value, decoders, first=lambda byte: byte == 0, order="big", begin=1, end=5, body=5,
    error=Exception, decode=None, no_ad=lambda ad: ad is None,
):  # fmt: skip
    if not value:
        return "empty"
    if len(value) < 5 or not first(value[0]):
        return "no Avro"
    number = int.from_bytes(value[begin:end], order)
    if number not in decoders:
        return "unknown id"
    try:
        action = (decode or decoders[number])(value[body:])
    except error:
        return "malformed"
    return "no ad" if no_ad(action["ad"]) else "owner" if action["owner"] else "good"


def changed(**other):
    return lambda value, decoders: judged(value, decoders, **other)


fate_of_a_value = exercise(
    fate,
    name="The fate of a value",
    task="Write a function that judges a record by its value, which is bytes or None. "
    "`decoders` is a dictionary from schema ids to decoders. A decoder is a function that "
    'gets a body and returns a dictionary with `"ad"` and `"owner"`, or raises an error. Return '
    "the first text that applies:\n\n"
    '- `"empty"`: the value is None or has no byte.\n'
    '- `"no Avro"`: the value has fewer than five bytes, or its first byte isn\'t 0.\n'
    '- `"unknown id"`: `decoders` doesn\'t have the id. It is the next four bytes: an unsigned '
    "number, highest byte first.\n"
    '- `"malformed"`: the decoder raises an error.\n'
    '- `"no ad"`: the ad is None.\n'
    '- `"owner"`: `owner` is True.\n'
    '- `"good"`: nothing else applies.',
    cases=[
        case("It's a view in version 2. The id 258 is 0, 0, 1, 2.", *of(258, USER + VIEW)),
        case("This id needs all bits of its four bytes.", *of(4_278_190_087, USER + VIEW)),
        case("The id is 0, a number like any other.", *of(0, VIEW)),
        case("It's the owner's own view.", *of(258, USER + OWN)),
        case("`no ad` is before `owner` in the list.", *of(7, NO_AD_OWN)),
        case("The decoder of the id 12 raises KeyError.", of(12, VIEW)[0], LOST),
        case("The decoder of this id can't read the body. Another one can.", *of(258, VIEW)),
        case("The ad is an empty text, and not None.", *of(7, b"\x02\x00\x00")),
        case("The head is whole, and the body is missing.", *of(7, b"")),
        case("The head itself was cut, so there is no whole id.", b"\x00\x00\x00\x00", KNOWN),
        case("The first byte isn't 0.", *of(7, VIEW, b"\x01")),
        case("No decoder has the id 9.", *of(9, VIEW)),
        case("It's JSON text: its first byte isn't 0, so nobody looks for an id.",
             b'{"ad": "a17"}', KNOWN),
        case("The head was cut after three bytes, so nobody looks for an id.",
             b"\x00\x00\x09", KNOWN),
        case("The value is one space. A space is a byte, and it isn't 0.", b" ", KNOWN),
        case("There is no value.", None, KNOWN),
    ],
    draw=draw,
    right=[changed(), lambda value, decoders: fate(value or b"", decoders)],
    wrong=[
        wrong("It reads the wrong id. The id is in the four bytes after the first one, the highest "
              "byte first.",
              changed(end=2), changed(end=4), changed(begin=2), changed(order="little")),
        wrong("It gives the decoder the wrong bytes. The body is `value[5:]`.",
              changed(body=6), changed(body=4), changed(body=0)),
        wrong("It calls the same decoder for each value. The id says which schema the writer used.",
              changed(decode=Decoder(2)), changed(decode=Decoder(1))),
        wrong("`value[0]` is a number, so it never equals bytes such as `b\"\\x00\"`. Compare it "
              "with 0.", changed(first=lambda byte: byte == b"\x00")),
        wrong("It takes the id 0 for a missing one. 0 is a number like any other.",
              lambda value, known: fate(value, {i: known[i] for i in known if i})),
        wrong("It reads a signed number. An id may be larger than 2**31.",
              lambda value, known: fate(value, {i: known[i] for i in known if i < 2**31})),
        wrong("It catches only some kinds of error. A decoder may raise any error.",
              changed(error=EOFError), changed(error=(EOFError, IndexError, ValueError))),
        wrong("It doesn't notice a missing ad: no decoder raises an error for that.",
              changed(no_ad=lambda ad: False)),
    ],
    hints=(
        "Test the conditions in the order of the list, and return at the first one that applies. "
        "A value of three bytes has no id, and a body that can't be read has no ad.",
        "`int.from_bytes` turns bytes into a number, and its second argument is the order of the "
        "bytes. Put only the decoder's call into `try`, and catch every error.",
        'The id is `int.from_bytes(value[1:5], "big")`, and the body is `value[5:]`.',
    ),
    discussion="Different people have to act. If the bytes were cut, it's the producer's team. "
    "If the id is unknown, it's the team that forgot to register its schema. If the owner viewed "
    "her ad, it's nobody. That's why a dead letter has a reason. Your function doesn't find every "
    "fault: a decoder ignores bytes after the end of a record.",
)  # fmt: skip
