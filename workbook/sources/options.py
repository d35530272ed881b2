"""Reads the options of both sources: topics, settings of librdkafka, times, numbers, flags."""

import re
from collections.abc import Mapping
from typing import ClassVar

_UNITS = {
    **{"ms": 1, "millisecond": 1, "s": 1000, "second": 1000},
    **{"minute": 60_000, "hour": 3_600_000, "day": 86_400_000},
    **{"min": 60_000, "h": 3_600_000, "d": 86_400_000},
}
"""Of a time, in ms; in the plural too."""

_LONGEST_MS = 36_525 * _UNITS["day"]
"""A time is a century at most: event times and spans in milliseconds are added up in 64 bits."""

_SPAN = re.compile(rf"(\d+(?:\.\d+)?)\s*({'|'.join(_UNITS)})s?\b")

_SHARED = ("subscribe", "startingOffsets", "maxOffsetsPerTrigger", "failOnDataLoss")
_JAVA_ONLY = {
    "auto.offset.reset": "the option startingOffsets",
    "key.deserializer": "a cast in the query, since keys arrive as bytes",
    "value.deserializer": "a cast in the query, since values arrive as bytes",
    "sasl.jaas.config": "kafka.sasl.username and kafka.sasl.password",
    "ssl.keystore.location": "kafka.ssl.certificate.location and kafka.ssl.key.location",
    "ssl.truststore.location": "kafka.ssl.ca.location, a PEM file",
}
"""Settings that users of Spark's own source have, with what to use here instead."""


class Settings:
    """The options of a source that reads this number of ``topics``, None for any number.

    Raises ValueError for one that is missing, unknown or senseless, and for a setting that only
    Kafka's Java clients have. librdkafka itself refuses names that it doesn't know.
    """

    own: ClassVar[tuple[str, ...]] = ()

    def __init__(self, options: Mapping[str, str], topics: int | None, example: str) -> None:
        low = {name.lower(): value for name, value in options.items()}
        kafka = {n.removeprefix("kafka."): v for n, v in low.items() if n.startswith("kafka.")}
        self._given = {name: v for name, v in low.items() if not name.startswith("kafka.")}
        known = [*_SHARED, *self.own]
        if unknown := sorted(set(self._given) - {name.lower() for name in known}):
            raise ValueError(f"Expected one of the options {known}, but got {unknown[0]}.")
        if "bootstrap.servers" not in kafka:
            raise ValueError("Expected the option kafka.bootstrap.servers, but it isn't there.")
        for name in sorted(set(kafka) & set(_JAVA_ONLY)):
            raise ValueError(
                f"Expected settings of librdkafka, this source's client, but got kafka.{name}. Use "
                f"{_JAVA_ONLY[name]} instead."
            )
        self.config = kafka
        subscribed = self.given("subscribe", "")
        self.topics = [name.strip() for name in subscribed.split(",") if name.strip()]
        if len(set(self.topics)) != (topics or len(self.topics) or 1):
            raise ValueError(
                f"Expected the option subscribe with {example}, but got {subscribed!r}."
            )
        self.headers = False
        self.starting = self.given("startingOffsets", "latest")
        self.per_trigger = self.whole("maxOffsetsPerTrigger")
        loss = self.given("failOnDataLoss", "true").lower()
        if loss not in ("true", "false"):
            raise ValueError(f"Expected failOnDataLoss as true or false, but got {loss!r}.")
        self.fail_on_loss = loss == "true"

    def given(self, option: str, default: str) -> str:
        """Return an option's text."""
        return self._given.get(option.lower(), default)

    def whole(self, option: str) -> int | None:
        """Return a number from 1, None where it isn't given."""
        text = self.given(option, "")
        if text and (not text.strip().isdecimal() or int(text) < 1):
            raise ValueError(f"Expected {option} as a whole number from 1, but got {text!r}.")
        return int(text) if text else None


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
