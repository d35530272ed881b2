"""What users do with ads, as Avro: views, clicks, messages to the owner and the like."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import date, datetime
from enum import StrEnum
from functools import lru_cache
from io import BytesIO
from typing import Any
from zoneinfo import ZoneInfo

import fastavro

from workbook.errors import Rejected
from workbook.streams.events.fields import MAX_AHEAD_MS
from workbook.streams.events.reasons import Reason

ARRIVAL = "arrival"
"""The header in which the replicator passes on a record's arrival (ms, decimal digits)."""

SCHEMA_ID = "__value_schema_id"
"""The header in which newer serializers put a schema's id; the value is the bare Avro body then."""

MAX_ACTION_BYTES = 4096
HEAD = 5
"""The number of bytes before the Avro body: a zero, and the schema's id in four."""

MAX_AGE_MS = 30 * 24 * 60 * 60 * 1000
"""An event whose time is more than this before its arrival is too old to be counted."""

MAX_ARRIVAL_MS = 4_102_444_800_000
"""The start of 2100: no later arrival is believed, so microseconds aren't taken for ms."""

HORIZON_MS = 600_000
"""A value that arrives again within this time is a duplicate."""

CLOCK_AHEAD_MS = 3_600_000
"""How far a producer's clock may be ahead: by default brokers refuse later timestamps."""

OSLO = ZoneInfo("Europe/Oslo")

SOURCES = ("search", "front page", "email", "social")
"""Where a user comes from."""

UNKNOWN_BROWSER = "unknown"

PLAIN = r"[ -~]{1,64}"
"""What an ad's id and a source look like: 1 to 64 printable ASCII characters."""


class ActionType(StrEnum):
    """The kind of an action; ``READ`` means that the user read the ad to its end."""

    VIEW = "view"
    CLICK = "click"
    MESSAGE = "message"
    FAVOURITE = "favourite"
    EMAIL = "email"
    READ = "read"


TYPES = frozenset(kind.value for kind in ActionType)  # Python 3.11 cannot ask the enum itself


class Fate(StrEnum):
    """What becomes of a record: each has one of these, and only ``ACCEPTED`` is counted.

    Of several that apply, the first counts in this order: rejected, duplicate, filtered (the
    action of an ad's owner), too old.
    """

    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"
    FILTERED = "filtered"
    REJECTED = "rejected"
    TOO_OLD = "too old"


@dataclass(frozen=True, slots=True)
class AdAction:
    """One action of a user on an ad; ``time`` (ms since 1970) says when it happened.

    ``owner`` is true if the ad is the user's own. Version 0 of the schema has no ``browser``.
    """

    event_id: int
    ad: str | None
    type: str
    user: int
    owner: bool
    source: str
    browser: str
    time: int


def _schema(time_type: str, *more: dict[str, Any]) -> str:
    fields = [
        {"name": "event_id", "type": "long"},
        {"name": "ad", "type": ["null", "string"], "default": None},
        {"name": "type", "type": "string"},
        {"name": "user", "type": "long"},
        {"name": "owner", "type": "boolean"},
        {"name": "source", "type": "string"},
        {"name": "time", "type": time_type, "doc": "when it happened, in ms since 1970 (UTC)"},
    ]
    name = {"type": "record", "name": "AdAction", "namespace": "workbook.ad_statistics"}
    return json.dumps({**name, "fields": [*fields, *more]})


_BROWSER = {"name": "browser", "type": "string", "default": UNKNOWN_BROWSER}

VERSIONS: tuple[str, ...] = (_schema("long"), _schema("long", _BROWSER))
"""The schemas as JSON texts, from the oldest to the newest."""

NEEDED = ("event_id", "type", "user", "owner", "source", "time")
"""The fields that must not be null."""

READER = VERSIONS[-1]
"""The schema in which every version is read."""

INCOMPATIBLE = _schema("string", _BROWSER)
"""A schema that a registry refuses as the next version: no old ``time`` can be read with it."""


_FITS = {
    *((kind, kind) for kind in ("long", "string", "boolean")),
    ("int", "long"),
    ("enum", "string"),
}
_NO_BYTES = re.compile(r'"(items|type)": "null"|"fields": \[\]|"size": 0\b')
"""Types without bytes: Java loops over the declared length of such a list, perhaps for years."""

_PER_MS = {"timestamp-micros": 1_000, "timestamp-nanos": 1_000_000}
_NO_MOMENT = ("local-timestamp", "date", "time-")
"""How the logical types of times begin that name no moment without a zone or a day."""


@lru_cache(maxsize=256)
def reading(schema: str) -> tuple[str, int] | None:
    """Return READER in the types of a writer's schema, and how many of its times are one ms.

    A number may be an int, a text an enum, any field nullable, a time a timestamp; the record may
    have another name, and so may a field with an alias. None if it isn't a schema of ad actions.
    """
    fields, per_ms, named, defined = list[Any](), 1, dict[str, Any](), set[str]()
    try:
        writer: Any = fastavro.parse_schema(json.loads(schema), named)
        if _NO_BYTES.search(json.dumps(writer["fields"])):
            return None
        given = {name: each for each in writer["fields"] for name in each.get("aliases", ())}
        given |= {each["name"]: each for each in writer["fields"]}
        for field in json.loads(READER)["fields"]:
            name, wanted = field["name"], field["type"]
            if name in given:
                kinds = given[name]["type"]
                kinds = kinds if isinstance(kinds, list) else [kinds]
                [kind] = [named.get(str(each), each) for each in kinds if each != "null"]
                kind = kind if isinstance(kind, dict) else {"type": kind}
                plain = wanted if isinstance(wanted, str) else wanted[1]
                if (kind["type"], plain) not in _FITS:
                    return None
                if name == "time":
                    per_ms = _PER_MS.get(logical := kind.get("logicalType", ""), 1)
                    if logical.startswith(_NO_MOMENT):
                        return None
                if kind["type"] == "enum":  # Java refuses a name that is defined twice
                    plain = kind["name"] if kind["name"] in defined else kind
                    defined.add(kind["name"])
                nullable = "null" in (*kinds, *wanted)
                field = {"name": name, "type": ["null", plain] if nullable else plain}
                if given[name]["name"] != name:
                    field["aliases"] = [given[name]["name"]]
            elif "default" not in field:
                return None
            fields.append(field)
    except Exception:  # fastavro raises whatever it stumbles over
        return None
    return json.dumps({"type": "record", "name": writer["name"], "fields": fields}), per_ms


@lru_cache(maxsize=64)
def _parsed(schema: str) -> Any:
    bare = json.loads(schema, object_hook=lambda of: {k: of[k] for k in of if k != "logicalType"})
    return fastavro.parse_schema(bare)


def head(schema_id: int) -> bytes:
    """Return the bytes before the Avro body, in Confluent's wire format."""
    return b"\x00" + schema_id.to_bytes(4, "big")


def encode(action: AdAction, version: int, schema_id: int) -> bytes:
    """Encode an action by the schema ``VERSIONS[version]``, which the registry knows by its id."""
    body = BytesIO(head(schema_id))
    body.seek(HEAD)
    fastavro.schemaless_writer(body, _parsed(VERSIONS[version]), asdict(action))
    return body.getvalue()


def decode(
    value: bytes | None, schemas: Mapping[int, str], arrival: int, headers: Iterable[str] = ()
) -> AdAction:
    """Read a record value that arrived at ``arrival`` (ms), or raise ``Rejected``.

    ``schemas`` are the writers' schemas by their ids, ``headers`` the names of the record's
    headers. Bytes behind the action's end are ignored.
    """
    try:
        action = AdAction(**_fields(value, schemas))
    except Rejected as why:
        if why.reason in (Reason.NO_AVRO, Reason.UNKNOWN_SCHEMA) and SCHEMA_ID in headers:
            raise Rejected(Reason.ID_IN_HEADER) from None
        raise
    if any(getattr(action, name) is None for name in NEEDED):
        raise Rejected(Reason.MISSING)
    if action.ad is None:
        raise Rejected(Reason.NO_AD)
    if not re.fullmatch(PLAIN, action.ad) or not re.fullmatch(PLAIN, action.source):
        raise Rejected(Reason.NOT_PLAIN)
    if action.type not in TYPES:
        raise Rejected(Reason.UNKNOWN_ACTION)
    if action.time < 0:
        raise Rejected(Reason.NEGATIVE)
    if action.time > min(arrival, MAX_ARRIVAL_MS) + MAX_AHEAD_MS:
        raise Rejected(Reason.FUTURE)
    return action


def _fields(value: bytes | None, schemas: Mapping[int, str]) -> Any:
    if not value:
        raise Rejected(Reason.EMPTY)
    if len(value) > MAX_ACTION_BYTES:
        raise Rejected(Reason.TOO_LARGE)
    if len(value) < HEAD or value[0] != 0:
        raise Rejected(Reason.NO_AVRO)
    schema = schemas.get(int.from_bytes(value[1:HEAD], "big"))
    if schema is None:
        raise Rejected(Reason.UNKNOWN_SCHEMA)
    if (found := reading(schema)) is None:
        raise Rejected(Reason.OTHER_SCHEMA)
    reader, per_ms = found
    try:
        # Spark keeps a text that is no UTF-8: it fails the check of the field, not of the record.
        fields: Any = fastavro.schemaless_reader(
            *(BytesIO(value[HEAD:]), _parsed(schema), _parsed(reader)),
            handle_unicode_errors="replace",
        )
        return {**fields, "time": fields["time"] and fields["time"] // per_ms}
    except Exception:  # fastavro raises whatever it stumbles over
        raise Rejected(Reason.MALFORMED_AVRO) from None


def day_of(time_ms: int) -> date:
    """Return the day in Oslo at this time."""
    return datetime.fromtimestamp(time_ms // 1000, OSLO).date()
