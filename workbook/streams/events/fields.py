"""What all events have in common, and how a JSON object is read strictly."""

import json
import re
from functools import lru_cache
from typing import Annotated, Any

import msgspec
from msgspec.inspect import IntType, UnionType

from workbook.errors import Rejected
from workbook.streams.events.reasons import Reason

# Half a surrogate pair as an escape: text that nobody can write as UTF-8 again. To be looked for
# where doubled backslashes have been replaced.
_HIGH, _LOW = r"\\u[dD][89abAB][0-9a-fA-F]{2}", r"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_HALF_PAIR = re.compile(f"{_HIGH}(?!{_LOW})|(?<!{_HIGH}){_LOW}")

MAX_AHEAD_MS = 5 * 60 * 1000
"""How far an event time may lie after its record's arrival, and after the reader's own time."""

Bigint = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
Name = Annotated[str, msgspec.Meta(min_length=1)]


class Event(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """An event, whose fields, with their types and limits, are described here alone.

    msgspec reads its JSON ten times as fast as the strict rules, and accepts less: no field beside
    these. Events of several kinds in one topic have a tag.
    """

    def to_json(self) -> bytes:
        """Encode the event as a Kafka record value."""
        return msgspec.json.encode(self)


@lru_cache
def columns(*kinds: type[Event]) -> dict[str, str]:
    """Return the fields of these kinds, each once, with its type in Spark; a tag is the first."""
    tags = (kind.__struct_config__.tag_field for kind in kinds)
    found = {tag: "STRING" for tag in tags if tag}
    for kind in kinds:
        for field in msgspec.inspect.type_info(kind).fields:  # type: ignore[attr-defined]
            types = field.type.types if isinstance(field.type, UnionType) else (field.type,)
            is_number = any(isinstance(each, IntType) for each in types)
            found[field.name] = "BIGINT" if is_number else "STRING"
    return found


def json_object(value: bytes | None) -> dict[str, Any]:
    """Parse bytes that are one JSON object in UTF-8, or raise Rejected."""
    if not value:
        raise Rejected(Reason.EMPTY)
    try:
        # Given bytes, json.loads would guess UTF-16 and let broken UTF-8 pass: decode first.
        fields = json.loads(value.decode("utf-8"), parse_constant=_not_json)
    except (ValueError, RecursionError):
        raise Rejected(Reason.MALFORMED) from None
    if not isinstance(fields, dict) or _has_half_pair(value):
        raise Rejected(Reason.MALFORMED)
    return fields


def _has_half_pair(value: bytes) -> bool:
    if b"\\u" not in value:
        return False
    return _HALF_PAIR.search(value.decode("utf-8").replace("\\\\", " ")) is not None


def _not_json(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def text(fields: dict[str, Any], name: str) -> str:
    """Return a text field, or raise Rejected where it's missing or something else."""
    value = fields.get(name)
    if not isinstance(value, str):
        raise Rejected(Reason.MISSING)
    return value


def name(fields: dict[str, Any], name: str) -> str:
    """Return a text field that isn't empty, or raise Rejected: a client needs a name."""
    value = text(fields, name)
    if not value:
        raise Rejected(Reason.MISSING)
    return value


def bigint(fields: dict[str, Any], name: str) -> int:
    """Return a whole number that fits Spark's BIGINT; reject a bool, an int to Python alone."""
    value = fields.get(name)
    if type(value) is not int or not -(2**63) <= value < 2**63:
        raise Rejected(Reason.MISSING)
    return value


def key_text(key: bytes | None) -> str:
    """Return a record's key as text, or raise Rejected where it's empty or isn't UTF-8."""
    try:
        text = (key or b"").decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    if not text:
        raise Rejected(Reason.NO_KEY)
    return text


def require_in_time(timestamp: int, arrival: int, now: int | None) -> None:
    """Raise ``Rejected`` for an event time (ms) that is negative, or too far ahead."""
    if timestamp < 0:
        raise Rejected(Reason.NEGATIVE)
    if timestamp > arrival + MAX_AHEAD_MS:
        raise Rejected(Reason.FUTURE)
    if now is not None and timestamp > now + MAX_AHEAD_MS:
        raise Rejected(Reason.AHEAD)
