"""Reads the options of a source: times, numbers and flags, as Spark users write them."""

from __future__ import annotations

import re

_UNITS = {"ms": 1, "millisecond": 1, "s": 1000, "second": 1000, "minute": 60_000, "hour": 3_600_000}
"""In ms."""

_PLURALS = "milliseconds|seconds|minutes|hours"


def milliseconds(option: str, text: str) -> int:
    found = re.fullmatch(rf"\s*(\d+(?:\.\d+)?)\s*({'|'.join(_UNITS)}|{_PLURALS})\s*", text.lower())
    value = (
        round(float(found[1]) * _UNITS.get(found[2], _UNITS.get(found[2][:-1], 0))) if found else 0
    )
    if value < 1:
        raise ValueError(f"Expected {option} as a time like '10 seconds', but got {text!r}.")
    return value


def whole(option: str, text: str | None) -> int | None:
    if text is None:
        return None
    if not text.strip().isdigit() or int(text) < 1:
        raise ValueError(f"Expected {option} as a whole number from 1, but got {text!r}.")
    return int(text)


def flag(option: str, text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(f"Expected {option} as true or false, but got {text!r}.")
    return text.lower() == "true"
