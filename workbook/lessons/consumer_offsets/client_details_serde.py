"""Chapter 30: A serde for client details."""

import ast
import builtins
import gzip
import inspect
import json
import pickle
import time
import zlib
from functools import partial, wraps

import msgspec

from workbook.classroom.exercise import case, exercise, wrong
from workbook.classroom.sandbox import sandbox
from workbook.streams.events.client_details import Assignment, ClientDetails, ClientMember


def details_serde():
    def serialise(details):
        return json.dumps(msgspec.to_builtins(details)).encode()

    def deserialise(data):
        return msgspec.convert(json.loads(data), ClientDetails)

    return serialise, deserialise


# --- how a pair is tried ------------------------------------------------------------------------

BACK, TWO = "there and back", "write two, then read two"
AGAIN, ELSEWHERE = "the same details again", "in another process, and later"
CUT, LONGER, READ = "some bytes are cut off", "with bytes too many", "read these bytes"

CALLED = "it ran a call that the bytes name"
ran: list[str] = []


class Bomb:
    """A value that notes that it was run once ``pickle`` reads it."""

    def __reduce__(self):
        return ran.append, ("it ran",)


PICKLED = pickle.dumps(Bomb())
EXPRESSION = f"__import__('sys').modules[{__name__!r}].ran.append('it ran')".encode()


def written(answer, details):
    data = answer()[0](details)
    if not isinstance(data, bytes):
        raise TypeError(f"`serialise` gives {type(data).__name__}, and bytes are asked for")
    return data


def elsewhere(answer, details):
    """Write the details in another process, whose clock and hashes are different."""

    def work(say):
        own, clock = hash, time.time
        builtins.hash = lambda value: own(value) ^ 2**40
        time.time = lambda: clock() + 10**8
        return {"data": written(answer, details).hex()}

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
    """Turn an answer into a function from how its pair is tried to what comes of it."""

    @wraps(answer)  # so that a card finds the line of an error
    def call(how, given):
        write, read = partial(written, answer), answer()[1]
        if how == READ:
            return refused(read, given)
        if how == TWO:
            return [read(data) for data in [write(each) for each in given]]
        if how == AGAIN:
            equal = msgspec.json.decode(msgspec.json.encode(given), type=ClientDetails)
            serialise = answer()[0]
            before = [serialise(msgspec.structs.replace(given, group="before")), serialise(given)]
            again = {before[1], serialise(equal)}
            return "the same bytes" if again == {write(given)} else "other bytes"
        if how == ELSEWHERE:
            data = elsewhere(answer, given)
            return read(data), "the same bytes" if data == write(given) else "other bytes"
        data = write(given)
        if how == CUT:
            places = range(1, len(data))
            return refused(read, *(data[:at] for at in places), *(data[at:] for at in places))
        if how == LONGER:
            return refused(read, data + b"x", data + data, b"x" + data)
        return read(data)

    call.__signature__ = inspect.signature(lambda how, given: None)
    return call


# --- groups -------------------------------------------------------------------------------------

CLICKS = (Assignment("clicks", (0, 1)),)


def member(number=1, client="till", instance=None, assigned=CLICKS, topics=("clicks",), wait=-1):
    return ClientMember(f"id-{number}", client, "/10.0.0.7", instance, 45, wait, topics, assigned)


def group(*members, generation=7):
    return ClientDetails("shop", "classic", generation, "range" if members else None, members)


example, OTHER = group(member(client="café-1")), group(member(1), member(2, "other"))
TOPICS = (Assignment("clicks", (0, 2)), Assignment("größen", (1,)))


def draw(random, size):
    def text():
        return "".join(random.choices("ab-é日 ,|;:/\n", k=random.randrange(6)))

    members = []
    for number in range(size // 8):
        client = "".join(random.choices("ab-é日 ,|;:\n", k=size // 3))
        parts = tuple(random.sample(range(400), size // 2))
        assigned = (Assignment("clicks", parts), Assignment("b,a", parts[:1]))
        instance = random.choice((None, "", "None", "i-1"))
        topics, waits = tuple("zqc"[: number % 3]), random.choices((-1, 0, 7, 2**40), k=2)
        members.append(ClientMember(text(), client, text(), instance, *waits, topics, assigned))
    generation = random.choice((0, -1, 7, 2**31 + 5, 2**63 - 1))
    assignor = random.choice((None, "", "None", text()))
    return BACK, ClientDetails("g" + text(), text(), generation, assignor, tuple(members))


# --- wrong answers ------------------------------------------------------------------------------


def as_json(details):
    return json.dumps(msgspec.to_builtins(details)).encode()


def pair(encode=as_json, before=lambda data: data, decode=json.loads):
    """Make an answer of its parts; with the defaults it's right."""
    return lambda: (encode, lambda data: msgspec.convert(decode(before(data)), ClientDetails))


seen: dict[str, ClientDetails] = {}


def in_a_global():
    def serialise(details):
        seen[details.group] = details
        return details.group.encode()

    return serialise, lambda data: seen[data.decode()]


def forgiving(data):
    try:
        return json.loads(data)
    except ValueError:
        return msgspec.to_builtins(group())


def with_a_time(details):
    return b"%d\n" % (time.time() // 10**6) + as_json(details)  # the same during a whole check


JUST_DATA = "Whoever can write to the store's topic would run code in every process that reads it."

client_details_serde = exercise(
    details_serde,
    name="A serde for client details",
    task="Spark keeps what you give it as bytes. Write the pair that turns a `ClientDetails` into "
    "bytes and back, and return both: `serialise(details)` gives `bytes`, and `deserialise(data)` "
    "gives an equal `ClientDetails`, with its `ClientMember`s and their `Assignment`s (tuples, "
    "all of them). The two run in different processes.\n\n"
    "The format is yours. It must stand any text and `None`, and numbers of 64 bits; the same "
    "details give the same bytes, at any time and in any process. Handed bytes that `serialise` "
    "didn't write, only a part of them, or more behind their end, `deserialise` raises an error "
    "(any), rather than inventing a group; and whatever it's handed, it runs none of it.\n\n"
    "`msgspec.to_builtins(details)` makes dictionaries of it; `msgspec.convert` goes the "
    "other way.",
    stub="def details_serde():\n"
    "    def serialise(details):\n"
    "        ...  # your code\n\n"
    "    def deserialise(data):\n"
    "        ...\n\n"
    "    return serialise, deserialise\n",
    cases=[
        case("One member, whose client id has an `é`. What comes back must equal it.",
             BACK, example),
        case("This group has no members, and its assignor is `None`.", BACK, group()),
        case("The members keep their order.", BACK, group(member(2), member(1, "other"))),
        case("This member reads two topics: all topics and partitions must come back.",
             BACK, group(member(assigned=TOPICS))),
        case("One instance id is a text, one is `None`, one is empty, and one is the text `None`.",
             BACK, group(*map(partial(member, 1, "a"), ("till-1", None, "", "None")))),
        case("A client id may hold any character, also your separators.",
             BACK, group(member(client='a,b|c:d;"e"\n\tf'))),
        case("A topic's name may hold a comma in other systems' records, too, and the topics keep "
             "their order.", BACK, group(member(topics=("z,q", "c", "b")))),
        case("A member without topics.", BACK, group(member(topics=(), assigned=()))),
        case("The generation is the largest number of 64 bits.",
             BACK, group(member(), generation=2**63 - 1)),
        case("The time-outs aren't known: both are -1.",
             BACK, group(msgspec.structs.replace(member(), session_timeout=-1))),
        case("An empty assignor is a text, and not `None`.",
             BACK, msgspec.structs.replace(group(), assignor="")),
        case("This group has 300 members.", BACK, group(*map(member, range(300)))),
        case("Two groups were written, and then both read.", TWO, [example, OTHER]),
        case("Equal details must give the same bytes, also when they're other objects, and after "
             "another group. (`pickle` and `marshal` write which texts are one object.)",
             AGAIN, example),
        case("They were written by another process, and later: they must be read here, and be the "
             "same bytes as here. (`gzip` writes the time, and the `hash` of a text changes.)",
             ELSEWHERE, example),
        case("A part of the bytes is no group. Let it raise an error.", CUT, example),
        case("Bytes too many: these bytes weren't written by `serialise`. Let it raise an error.",
             LONGER, example),
        *(case("These bytes are no client details. Let it raise an error.", READ, data)
          for data in (b"", b"\x00", b"{}", b"[]", b"null", b"1", b'{"group": "shop"}')),
        *(case("These bytes name a call, and it was run.", READ, data)
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
        wrong(f"`deserialise` does what the bytes ask for: bytes can name a function, and `pickle` "
              f"calls it. {JUST_DATA} Write data alone, and build the classes yourself.",
              lambda: (pickle.dumps, pickle.loads),
              pair(encode=lambda d: pickle.dumps(msgspec.to_builtins(d)), decode=pickle.loads)),
        wrong(f"`deserialise` runs the bytes as Python's text. {JUST_DATA} `json.loads` and "
              "`ast.literal_eval` read data, and run nothing.",
              pair(encode=lambda d: repr(msgspec.to_builtins(d)).encode(), decode=eval),
              lambda: (lambda d: repr(d).encode(), lambda data: eval(data))),
        wrong("The details stay in the memory of the process that wrote them. All of a group must "
              "be in its bytes.", in_a_global),
        wrong("The time of writing is part of the bytes (`gzip` writes one, too). A store that "
              "compares bytes takes that for a change.",
              pair(with_a_time, lambda data: data.split(b"\n", 1)[1])),
        wrong("It returns dictionaries. The three classes must be built again: `msgspec.convert` "
              "does that.", lambda: (msgspec.json.encode, msgspec.json.decode)),
        wrong("It catches the error and invents an empty group. Let it raise: nobody misses a "
              "group that was invented.", pair(decode=forgiving)),
        wrong("It reads as far as it can and ignores what is behind: half a record more would go "
              "unnoticed.",
              pair(decode=lambda data: json.JSONDecoder().raw_decode(data.decode())[0]),
              pair(lambda details: zlib.compress(as_json(details)), zlib.decompress)),
    ],
    hints=(
        "JSON is a format that stands any text, `None` and large numbers. What does `json.dumps` "
        "give, and what is asked for?",
        "JSON has no tuples and no classes. So something must build the three classes again, by "
        "hand from the inside out, or by `msgspec.convert`, which also checks that all is there.",
        "`json.dumps(msgspec.to_builtins(details)).encode()` one way, and "
        "`msgspec.convert(json.loads(data), ClientDetails)` the other.",
    ),
    discussion="The original wrote both by hand, too: Kafka Streams wants a serde for each store. "
    "Names in every record cost bytes, and buy years: a field can be added, and old bytes are "
    "still read if it has a default.\n\n"
    "That the same details give the same bytes lets a store leave out what hasn't changed, by "
    "comparing. A time in the bytes ends that, also where you don't see it: `gzip` writes one.",
)  # fmt: skip
