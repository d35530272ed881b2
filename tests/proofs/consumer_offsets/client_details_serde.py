"""Answers to "A serde for client details", right and wrong, as learners may write them."""

from __future__ import annotations

import json
import pickle
import struct
import tempfile
import uuid
import zlib
from base64 import b64decode, b64encode
from pathlib import Path

import msgspec
from proof import Catalogue

from workbook.events.client_details import Assignment, ClientDetails, ClientMember
from workbook.exercises.chapters.consumer_offsets.client_details_serde_mistakes import (
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


def by_pickle():
    return pickle.dumps, pickle.loads


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


catalogue = Catalogue(
    right=[by_msgspec, by_constructors, by_pickle, packed, in_base64],
    wrong=[
        (text, "`serialise` gives text"),
        (nothing_comes, "`serialise` returns None"),
        (a_dictionary, "A dictionary comes back"),
        (outer_class_only, "Dictionaries stand"),
        (lists, "Lists stand"),
        (by_commas, "One member, whose client id"),
        (small_numbers, "raised error: 'i' format"),
        (by_eval, "makes something of them"),
        (catches_all, "It gives None for bytes"),
        (catches_and_fills, "an empty group for bytes"),
        (fills_up, "fills up what is missing"),
        (remembers, "can't be read in another"),
        (in_a_file, "mixed up"),
        (with_a_random_head, "other bytes the second time"),
        (padded, "was cut off"),
        (exchanged, "changed places"),
        (one_of_two, "must return the two functions"),
        (lambda details: details, "own parameters do not fit"),
    ],
    same=[
        (untyped, a_dictionary),
        (called_at_once, one_of_two),
        (nothing, one_of_two),
    ],
    models=[*MISTAKES, *INVENTING],
)
