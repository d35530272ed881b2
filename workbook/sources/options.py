"""Reads the options of a source: settings of Kafka's clients, times, numbers and flags."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_UNITS = {
    "ms": 1,
    "millisecond": 1,
    "s": 1000,
    "second": 1000,
    "minute": 60_000,
    "hour": 3_600_000,
    "day": 86_400_000,
}
"""Of a time, in ms; in the plural too."""

_LONGEST_MS = 36_525 * _UNITS["day"]
"""A time is a century at most: event times and spans in milliseconds are added up in 64 bits."""

_PEM = "kafka.ssl.ca.location, a PEM file"
_JAVA_ONLY = {
    "auto.offset.reset": "the option startingOffsets",
    "key.deserializer": "a cast in the query, since keys arrive as bytes",
    "value.deserializer": "a cast in the query, since values arrive as bytes",
    "sasl.jaas.config": "kafka.sasl.username and kafka.sasl.password",
    "ssl.keystore.type": "kafka.ssl.certificate.location and kafka.ssl.key.location, PEM files",
    "ssl.truststore.location": _PEM,
    "ssl.truststore.password": _PEM,
    "ssl.truststore.type": _PEM,
}
"""Settings that users of Spark's own source have, with what to use here instead."""

_SPAN = re.compile(rf"(\d+(?:\.\d+)?)\s*({'|'.join(_UNITS)})s?\b")


def sorted_out(
    options: Mapping[str, str], known: Sequence[str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the source's own options by their lower-case names, and settings for librdkafka.

    Raises ValueError for an option that isn't ``known``, for a setting that only Kafka's Java
    clients have, and without a broker. librdkafka itself refuses names that it doesn't know.
    """
    low = {name.lower(): value for name, value in options.items()}
    kafka = {n.removeprefix("kafka."): v for n, v in low.items() if n.startswith("kafka.")}
    own = {name: value for name, value in low.items() if not name.startswith("kafka.")}
    if unknown := sorted(set(own) - set(known)):
        raise ValueError(f"Expected one of the options {list(known)}, but got {unknown[0]}.")
    if "bootstrap.servers" not in kafka:
        raise ValueError("Expected the option kafka.bootstrap.servers, but it isn't there.")
    for name in sorted(set(kafka) & set(_JAVA_ONLY)):
        raise ValueError(
            f"Expected settings of librdkafka, this source's client, but got kafka.{name}. Use "
            f"{_JAVA_ONLY[name]} instead."
        )
    return own, kafka


def milliseconds(option: str, text: str, least: int = 1) -> int:
    """Return a time like "10 seconds" or "1 minute 30 seconds" in ms.

    Raises ValueError for another text, for less than ``least`` ms and for more than a century.
    """
    words = text.lower()
    parts = _SPAN.findall(words)
    value = sum(float(number) * _UNITS[unit] for number, unit in parts)
    if not parts or _SPAN.sub("", words).strip() or not least <= value <= _LONGEST_MS:
        raise ValueError(
            f"Expected {option} as a time like '10 seconds', from {least} ms to a century, but "
            f"got {text!r}."
        )
    return round(value)


def whole(option: str, text: str | None) -> int | None:
    """Return a number from 1, None without a text; raise ValueError for another text."""
    if text is None:
        return None
    if not text.strip().isdecimal() or int(text) < 1:
        raise ValueError(f"Expected {option} as a whole number from 1, but got {text!r}.")
    return int(text)


def flag(option: str, text: str) -> bool:
    """Return what ``true`` or ``false`` says; raise ValueError for another text."""
    if text.lower() not in ("true", "false"):
        raise ValueError(f"Expected {option} as true or false, but got {text!r}.")
    return text.lower() == "true"
