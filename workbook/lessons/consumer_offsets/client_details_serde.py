"""Chapter 30: A serde for client details."""

import ast
import gzip
import inspect
import json
import pickle
import zlib
from functools import partial, wraps

import msgspec

from workbook.classroom.causes import NO_RETURN
from workbook.classroom.exercise import case, exercise, wrong
from workbook.classroom.sandbox import sandbox
from workbook.streams.events.client_details import Assignment, ClientDetails, ClientMember


def details_serde():
    def serialise(details):
        return json.dumps(msgspec.to_builtins(details)).encode()

    def deserialise(data):
        return msgspec.convert(json.loads(data), ClientDetails)

    return serialise, deserialise


BACK, ELSEWHERE = "write and read", "written in another process"
CUT, LONGER, READ = "some bytes are missing", "some bytes too many", "read these bytes"

CALLED = "it ran a call that the bytes name"
ran: list[str] = []


class Bomb:
    """A value that notes that ``pickle`` has run it."""

    def __reduce__(self):
        return ran.append, ("it ran",)


PICKLED = pickle.dumps(Bomb())
EXPRESSION = f"__import__('sys').modules[{__name__!r}].ran.append('it ran')".encode()


def written(write, details):
    data = write(details)
    if not isinstance(data, bytes):
        raise TypeError(f"`serialise` gives {type(data).__name__}, and bytes are asked for")
    return data


def elsewhere(answer, details):
    """Write the details in another process."""
    work = lambda say: {"data": written(answer()[0], details).hex()}  # noqa: E731
    return bytes.fromhex(sandbox(work).result["data"])


def refused(read, *all_data):
    ran.clear()
    for data in all_data:
        try:
            read(data)
        except Exception:
            continue
        return CALLED if ran else f"no error for {data!r}"
    return CALLED if ran else "an error"


def tried(answer):
    """Turn an answer into a function from the way to try its pair to the result."""

    @wraps(answer)  # so that a card finds the line of an error
    def call(how, given):
        if (functions := answer()) is None:
            return None
        write, read = functions  # of one call, as in the notebook
        if how == READ:
            return refused(read, given)
        if how == ELSEWHERE:
            return read(elsewhere(answer, given))
        data = written(write, given)
        if how == CUT:
            places = range(1, len(data))
            return refused(read, *(data[:at] for at in places), *(data[at:] for at in places))
        if how == LONGER:
            return refused(read, data + b"x", data + data, b"x" + data)
        return read(data)

    call.__signature__ = inspect.signature(lambda how, given: None)
    return call


CLICKS = (Assignment("clicks", (0, 1)),)


def member(number=1, client="till", instance=None, assigned=CLICKS, topics=("clicks",), wait=-1):
    return ClientMember(f"id-{number}", client, "/10.0.0.7", instance, 45, wait, topics, assigned)


def group(*members, generation=7):
    return ClientDetails("shop", "classic", generation, "range" if members else None, members)


example = group(member(client="café-1"))
TOPICS = (Assignment("clicks", (0, 2)), Assignment("größen", (1,)))


def draw(random, size):
    text = lambda: "".join(random.choices('ab-é日 ,|;:"\n', k=random.randrange(6)))  # noqa: E731
    members = [
        member(number, text(), random.choice((None, "", "None", "i-1")), random.choice((
            (), TOPICS, (Assignment("b,a", tuple(range(size))),))), tuple("zqc"[: number % 3]))
        for number in range(size // 8)
    ]  # fmt: skip
    return BACK, group(*members, generation=random.choice((0, -1, 7, 2**31 + 5, 2**63 - 1)))


def as_json(details):
    return json.dumps(msgspec.to_builtins(details)).encode()


def pair(encode=as_json, before=lambda data: data, decode=json.loads):
    """Make an answer of its parts; with the defaults it's right."""
    return lambda: (encode, lambda data: msgspec.convert(decode(before(data)), ClientDetails))


def in_memory():
    seen = {}

    def serialise(details):
        seen[details.group] = details
        return details.group.encode()

    return serialise, lambda data: seen[data.decode()]


def forgiving(data):
    try:
        return json.loads(data)
    except ValueError:
        return msgspec.to_builtins(group())


JUST_DATA = "Anybody who can write to the store could run code in every process that reads it."

client_details_serde = exercise(
    details_serde,
    name="A serde for client details",
    task="Write and return two functions. `serialise(details)` returns `bytes` in a format of your "
    "choice. `deserialise(data)` returns an equal `ClientDetails`, in another process, too.\n\n"
    "- Any text, `None` and integers of 64 bits must survive.\n"
    "- If bytes are cut off or joined with others, or aren't client details at all, `deserialise` "
    "must raise an error, of whatever type.\n"
    "- It must never execute its input, so `pickle` is out.\n\n"
    "`msgspec.to_builtins(details)` returns the details as dictionaries, and "
    "`msgspec.convert(dictionaries, ClientDetails)` converts them back.",
    stub="def details_serde():\n"
    "    def serialise(details):\n"
    "        ...  # your code\n\n"
    "    def deserialise(data):\n"
    "        ...\n\n"
    "    return serialise, deserialise\n",
    cases=[
        case("One member with one assignment. The result must equal the details.",
             BACK, group(member())),
        case("The member's client id has an `é`.", BACK, example),
        case("This group has no members, and its assignor is `None`.", BACK, group()),
        case("The members keep their order, and all topics and partitions survive.",
             BACK, group(member(2, assigned=TOPICS), member(1, "other", wait=30))),
        case("One instance id is a text, one is `None`, one is empty, and one is the text `None`.",
             BACK, group(*map(partial(member, 1, "a"), ("till-1", None, "", "None")))),
        case("A client id may contain any character, your separators too.",
             BACK, group(member(client='a,b|c:d;"e"\n\tf'))),
        case("The generation is the largest number of 64 bits.",
             BACK, group(member(), generation=2**63 - 1)),
        case("An empty assignor is a text, not `None`.",
             BACK, msgspec.structs.replace(group(), assignor="")),
        case("Another process wrote the bytes. They must be readable here.",
             ELSEWHERE, msgspec.structs.replace(example, group="elsewhere")),
        case("A part of the bytes isn't a group. `deserialise` must raise an error.", CUT, example),
        case("There are more bytes than `serialise` wrote. `deserialise` must raise an error.",
             LONGER, example),
        *(case("These bytes aren't client details. `deserialise` must raise an error.", READ, data)
          for data in (b"", b"\x00", b"{}", b"[]", b"null", b"1", b'{"group": "shop"}')),
        *(case("These bytes name a function, and it was called.", READ, data)
          for data in (PICKLED, EXPRESSION)),
    ],
    draw=draw,
    rehearse=tried,
    right=[
        lambda: (msgspec.json.encode, partial(msgspec.json.decode, type=ClientDetails)),
        pair(encode=lambda d: repr(msgspec.to_builtins(d)).encode(),
             decode=lambda data: ast.literal_eval(data.decode())),
        pair(lambda details: gzip.compress(as_json(details), mtime=0), gzip.decompress),
    ],
    wrong=[
        wrong(f"`deserialise` obeys the bytes: they can name any function, and `pickle` calls it. "
              f"{JUST_DATA} Write data only, and build the classes yourself.",
              lambda: (pickle.dumps, pickle.loads),
              pair(encode=lambda d: pickle.dumps(msgspec.to_builtins(d)), decode=pickle.loads)),
        wrong(f"`deserialise` runs the bytes as Python code. {JUST_DATA} `json.loads` and "
              "`ast.literal_eval` read data and run nothing.",
              pair(encode=lambda d: repr(msgspec.to_builtins(d)).encode(), decode=eval),
              lambda: (lambda d: repr(d).encode(), lambda data: eval(data))),
        wrong("The details stay in the memory of the process that wrote them. The bytes must "
              "contain everything about the group.", in_memory),
        wrong(NO_RETURN, lambda: None),
        wrong("It returns dictionaries. Build the three classes again, for example by "
              "`msgspec.convert`.", lambda: (msgspec.json.encode, msgspec.json.decode)),
        wrong("It catches the error and invents an empty group. Let it raise: nobody would notice "
              "that the group is invented.", pair(decode=forgiving)),
        wrong("It reads as far as it can and ignores the rest, so nobody would notice half a "
              "record too many.",
              pair(decode=lambda data: json.JSONDecoder().raw_decode(data.decode())[0]),
              pair(lambda details: zlib.compress(as_json(details)), zlib.decompress)),
    ],
    hints=(
        "JSON can contain any text, `None` and large integers. `json.dumps` returns a text. What "
        "must `serialise` return?",
        "JSON has no tuples and no classes, so `deserialise` must build the three classes again: "
        "by hand from the inside out, or by `msgspec.convert`, which also checks that no field is "
        "missing.",
        "`json.dumps(msgspec.to_builtins(details)).encode()` is one direction, and "
        "`msgspec.convert(json.loads(data), ClientDetails)` is the other.",
    ),
    discussion="roowho's authors wrote such a pair by hand, too: Kafka Streams wants a serde for "
    "each store. The names of the fields cost bytes in every record, but they pay off for years: "
    "you can add a field with a default, and old bytes are still readable.",
)  # fmt: skip
