"""Answers to "A serde for client details", right and wrong, as learners may write them."""

from __future__ import annotations

import ast
import gzip
import io
import json
import marshal
import os
import pickle
import struct
import tempfile
import time
import uuid
import zlib
from base64 import b64decode, b64encode
from datetime import date, datetime
from pathlib import Path

import msgspec
from proof import Catalogue

from workbook.events.client_details import Assignment, ClientDetails, ClientMember
from workbook.lessons.consumer_offsets.client_details_serde_mistakes import (
    INVENTING,
    MISTAKES,
)


def written(details):
    return json.dumps(msgspec.to_builtins(details)).encode()


def read(data):
    return msgspec.convert(json.loads(data), ClientDetails)


def by_msgspec():
    def serialise(details):
        return msgspec.json.encode(details)

    def deserialise(data):
        return msgspec.json.decode(data, type=ClientDetails)

    return serialise, deserialise


def by_constructors():
    def serialise(details):
        return json.dumps(msgspec.to_builtins(details), ensure_ascii=False).encode("utf-8")

    def deserialise(data):
        found = json.loads(data.decode("utf-8"))
        members = []
        for each in found["members"]:
            each["topics"] = tuple(each["topics"])
            each["assigned"] = tuple(
                Assignment(a["topic"], tuple(a["partitions"])) for a in each["assigned"]
            )
            members.append(ClientMember(**each))
        found["members"] = tuple(members)
        return ClientDetails(**found)

    return serialise, deserialise


def packed():
    def serialise(details):
        data = msgspec.msgpack.encode(msgspec.to_builtins(details))
        return zlib.compress(struct.pack(">i", len(data)) + data)

    def deserialise(data):
        data = zlib.decompress(data)
        (size,) = struct.unpack(">i", data[:4])
        if len(data) != 4 + size:
            raise ValueError(f"expected {size} bytes, but {len(data) - 4} came")
        return msgspec.msgpack.decode(data[4:], type=ClientDetails)

    return serialise, deserialise


def in_base64():
    return lambda d: b64encode(written(d)), lambda data: read(b64decode(data, validate=True))


def by_gzip_without_a_time():
    return (
        lambda details: gzip.compress(written(details), mtime=0),
        lambda data: read(gzip.decompress(data)),
    )


def by_literals():
    def serialise(details):
        return repr(msgspec.to_builtins(details)).encode()

    def deserialise(data):
        return msgspec.convert(ast.literal_eval(data.decode()), ClientDetails)

    return serialise, deserialise


def by_pickle():
    return pickle.dumps, pickle.loads


def pickled_dictionaries():
    def serialise(details):
        return pickle.dumps(msgspec.to_builtins(details))

    def deserialise(data):
        return msgspec.convert(pickle.loads(data), ClientDetails)

    return serialise, deserialise


def pickled_and_packed():
    def serialise(details):
        return zlib.compress(pickle.dumps(details))

    def deserialise(data):
        return pickle.loads(zlib.decompress(data))

    return serialise, deserialise


def by_marshal():
    def serialise(details):
        return marshal.dumps(msgspec.to_builtins(details))

    def deserialise(data):
        return msgspec.convert(marshal.loads(data), ClientDetails)

    return serialise, deserialise


def by_gzip():
    def serialise(details):
        return gzip.compress(written(details))

    def deserialise(data):
        return read(gzip.decompress(data))

    return serialise, deserialise


def by_a_gzip_file():
    def serialise(details):
        packed = io.BytesIO()
        with gzip.GzipFile(fileobj=packed, mode="wb") as file:
            file.write(written(details))
        return packed.getvalue()

    def deserialise(data):
        return read(gzip.decompress(data))

    return serialise, deserialise


def headed(head):
    """A pair whose bytes begin with a line of their own, which isn't read."""

    def answer():
        def serialise(details):
            return f"{head(details)}\n".encode() + written(details)

        def deserialise(data):
            return read(data.split(b"\n", 1)[1])

        return serialise, deserialise

    return answer


second_of_writing = headed(lambda details: int(time.time()))
date_and_time = headed(lambda details: datetime.now().isoformat(timespec="minutes"))
date_of_writing = headed(lambda details: date.today())
day_as_text = headed(lambda details: time.strftime("%Y-%m-%d"))
hours_of_the_machine = headed(lambda details: time.monotonic_ns() // 3_600_000_000_000)
year = headed(lambda details: time.localtime().tm_year)
number_of_the_process = headed(lambda details: os.getpid())
hash_of_the_group = headed(lambda details: hash(details.group))
place_in_memory = headed(lambda details: id(details))


def numbered():
    number = 0

    def serialise(details):
        nonlocal number
        number += 1
        return f"{number}\n".encode() + written(details)

    return serialise, lambda data: read(data.split(b"\n", 1)[1])


def by_number_of_groups():
    groups = []

    def serialise(details):
        if details.group not in groups:
            groups.append(details.group)
        return f"{groups.index(details.group)}\n".encode() + written(details)

    return serialise, lambda data: read(data.split(b"\n", 1)[1])


def with_a_hash_as_checksum():
    def serialise(details):
        data = written(details)
        return struct.pack(">q", hash(data)) + data

    def deserialise(data):
        if struct.unpack(">q", data[:8])[0] != hash(data[8:]):
            raise ValueError("these bytes aren't whole")
        return read(data[8:])

    return serialise, deserialise


def keeps_the_objects():
    objects = {}

    def serialise(details):
        key = str(len(objects)).encode()
        objects[key] = details
        return key

    def deserialise(data):
        return objects[data]

    return serialise, deserialise


def text():
    return lambda details: json.dumps(msgspec.to_builtins(details)), read


def nothing_comes():
    def serialise(details):
        written(details)

    return serialise, read


def a_dictionary():
    return written, json.loads


def untyped():
    return msgspec.json.encode, msgspec.json.decode


def outer_class_only():
    return written, lambda data: ClientDetails(**json.loads(data))


def lists():
    def deserialise(data):
        found = json.loads(data)
        for each in found["members"]:
            each["assigned"] = [Assignment(**a) for a in each["assigned"]]
        found["members"] = [ClientMember(**each) for each in found["members"]]
        return ClientDetails(**found)

    return written, deserialise


def a_method_that_is_not_there():
    def serialise(details):
        return details.to_json().encode()

    return serialise, read


def a_field_that_is_not_there():
    def deserialise(data):
        found = json.loads(data)
        return ClientDetails(found["name"], **found)

    return written, deserialise


def written_as_they_are():
    def serialise(details):
        return json.dumps(details).encode()

    return serialise, read


def through_floats():
    return written, lambda data: msgspec.convert(
        json.loads(data, parse_int=lambda digits: int(float(digits))), ClientDetails
    )


def without_signs():
    def serialise(details):
        plain = msgspec.to_builtins(details)
        for member in plain["members"]:
            member["session_timeout"] = abs(member["session_timeout"])
        return json.dumps(plain).encode()

    return serialise, read


def in_order_of_the_alphabet():
    def serialise(details):
        plain = msgspec.to_builtins(details)
        for member in plain["members"]:
            member["topics"] = sorted(set(member["topics"]))
        return json.dumps(plain).encode()

    return serialise, read


def members_by_their_ids():
    def serialise(details):
        ordered = sorted(details.members, key=lambda member: member.member_id)
        return written(msgspec.structs.replace(details, members=tuple(ordered)))

    return serialise, read


def by_commas():
    def serialise(details):
        head = [details.group, details.protocol, str(details.generation), str(details.assignor)]
        return ",".join(head).encode()

    def deserialise(data):
        group, protocol, generation, assignor = data.decode().split(",")
        return ClientDetails(group, protocol, int(generation), assignor, ())

    return serialise, deserialise


def small_numbers():
    def serialise(details):
        return struct.pack(">i", details.generation) + written(details)

    return serialise, lambda data: read(data[4:])


def by_eval():
    return lambda details: repr(details).encode(), lambda data: eval(data)


def catches_all():
    def deserialise(data):
        try:
            return read(data)
        except Exception:
            return None

    return written, deserialise


def catches_and_fills():
    def deserialise(data):
        try:
            return read(data)
        except ValueError:
            return ClientDetails("", "", -1, None, ())

    return written, deserialise


def fills_up():
    def deserialise(data):
        found = json.loads(data)
        return ClientDetails(
            found.get("group", ""), found.get("protocol", "classic"), found.get("generation", 0),
            found.get("assignor"), read(data).members if "members" in found else (),
        )  # fmt: skip

    return written, deserialise


kept = {}


def remembers():
    def serialise(details):
        kept[details.group] = details
        return details.group.encode()

    return serialise, lambda data: kept[data.decode()]


SLOT = Path(tempfile.gettempdir(), f"serde-{uuid.uuid4().hex}")


def in_a_file():
    def serialise(details):
        SLOT.write_bytes(written(details))
        return b"see the file"

    def deserialise(data):
        if data != b"see the file":
            raise ValueError(data)
        return read(SLOT.read_bytes())

    return serialise, deserialise


def with_a_random_head():
    return lambda details: uuid.uuid4().bytes + written(details), lambda data: read(data[16:])


def padded():
    """Cut off, it reads on as if nothing had happened."""

    def deserialise(data):
        text = data.decode()
        group, _, rest = text.partition("\n")
        return msgspec.structs.replace(read(rest.rpartition("\n")[0]), group=group.split("#")[0])

    def serialise(details):
        return f"{details.group}#\n".encode() + written(details) + b"\nthe end of the details"

    return serialise, deserialise


def exchanged():
    def serialise(details):
        return written(details)

    def deserialise(data):
        return read(data)

    return deserialise, serialise


def one_of_two():
    return written


def called_at_once():
    def serialise(details=None):
        return b""

    return serialise(), serialise()


def nothing():
    print("two functions")


def raises_at_once():
    functions = {}
    return functions["serialise"], read


catalogue = Catalogue(
    right=[
        by_msgspec,
        by_constructors,
        packed,
        in_base64,
        by_gzip_without_a_time,
        by_literals,
    ],
    wrong=[
        (text, "`serialise` gives text"),
        (nothing_comes, "`serialise` returns None"),
        (a_dictionary, "A dictionary comes back"),
        (outer_class_only, "Dictionaries stand"),
        (lists, "Lists stand"),
        (by_commas, "One member, whose client id"),
        (small_numbers, "`serialise` raised error: 'i' format"),
        (a_method_that_is_not_there, "of your cell: `return details.to_json()"),
        (a_field_that_is_not_there, "`deserialise` raised KeyError: 'name', in line"),
        (written_as_they_are, "of your cell: `return json.dumps(details)"),
        (raises_at_once, "Called without arguments it raised KeyError: 'serialise'"),
        (through_floats, "comes back rounded"),
        (without_signs, "loses its sign"),
        (in_order_of_the_alphabet, "topics come back in another order"),
        (members_by_their_ids, "members come back in another order"),
        (by_pickle, "`pickle` calls it. Whoever can write to the store's topic"),
        (by_eval, "runs the bytes as Python's text"),
        (by_marshal, "Equal details give other bytes"),
        (by_gzip, "`gzip` writes the time into its header"),
        (second_of_writing, "the time of writing is part of them"),
        (number_of_the_process, "other bytes in another process"),
        (numbered, "other bytes the second time"),
        (by_number_of_groups, "once another group was written"),
        (with_a_hash_as_checksum, "`deserialise` raised ValueError: these bytes aren't whole, in"),
        (catches_all, "It gives None for bytes"),
        (catches_and_fills, "an empty group for bytes"),
        (fills_up, "fills up what is missing"),
        (remembers, "can't be read in another"),
        (in_a_file, "mixed up"),
        (padded, "was cut off"),
        (exchanged, "changed places"),
        (one_of_two, "must return the two functions"),
        (lambda details: details, "own parameters do not fit"),
    ],
    same=[
        (untyped, a_dictionary),
        (called_at_once, one_of_two),
        (nothing, one_of_two),
        (pickled_dictionaries, by_pickle),
        (pickled_and_packed, by_pickle),
        (by_a_gzip_file, by_gzip),
        (date_and_time, second_of_writing),
        (date_of_writing, second_of_writing),
        (day_as_text, second_of_writing),
        (hours_of_the_machine, second_of_writing),
        (year, second_of_writing),
        (hash_of_the_group, number_of_the_process),
        (place_in_memory, by_marshal),
        (with_a_random_head, numbered),
    ],
    shortcuts=[(keeps_the_objects, "can't be read in another")],
    models=[*MISTAKES, *INVENTING],
)
