"""Reads the fields of a JSON object strictly: a value of another type raises ``Rejected``."""

import json
import re
from typing import Any

from workbook.errors import Rejected
from workbook.streams.events.reasons import Reason

# Half a surrogate pair as an escape: text that nobody can write as UTF-8 again. To be looked for
# where doubled backslashes have been replaced.
_HIGH, _LOW = r"\\u[dD][89abAB][0-9a-fA-F]{2}", r"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_HALF_PAIR = re.compile(f"{_HIGH}(?!{_LOW})|(?<!{_HIGH}){_LOW}")


compact_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
"""Writes JSON without spaces; raises ``ValueError`` for a number that JSON lacks."""


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
