"""The options that every system has; a wrong text is refused before anything is started."""

import os
import re
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Any

from workbook.sources.options import milliseconds
from workbook.topics import LEGAL

MAX_PER_BATCH = 2_000_000
"""The records of a micro-batch, at most: this bounds memory."""


def positive(text: str) -> float:
    """Read a number above 0."""
    try:
        number = float(text)
    except ValueError:
        number = 0
    if not 0 < number < float("inf"):
        raise ArgumentTypeError(f"expected a number above 0, but got {text!r}")
    return number


def whole(text: str) -> int:
    """Read a whole number, 1 or more."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"expected a whole number, 1 or more, but got {text!r}")
    return int(text)


def port(text: str) -> int:
    """Read the number of a port."""
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise ArgumentTypeError(f"expected a port from 1 to 65535, but got {text!r}")
    return int(text)


def topic(text: str) -> str:
    """Take the name of a topic, as Kafka allows them."""
    if not LEGAL.fullmatch(text):
        raise ArgumentTypeError(
            f"expected the name of a topic (up to 249 of A-Z, a-z, 0-9, '.', '_', '-'), but got "
            f"{text!r}"
        )
    return text


def schema_name(text: str) -> str:
    """Take the name of a schema of PostgreSQL, which cuts a longer one without a word."""
    reserved = text.startswith("pg_") or text == "information_schema"
    if not 0 < len(text.encode()) < 64 or "\0" in text or reserved:
        raise ArgumentTypeError(
            f"expected the name of a schema, of 1 to 63 bytes and none of PostgreSQL's own, but "
            f"got {text!r}"
        )
    return text


def path(text: str) -> str:
    """Take a file or a folder of this machine, with a leading ``~`` as a shell reads it."""
    if not text or "://" in text:
        raise ArgumentTypeError(f"expected a path in the file system, but got {text!r}")
    return os.path.abspath(os.path.expanduser(text))


def day(text: str) -> date:
    """Read a day such as 2026-06-01."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"expected a day such as 2026-06-01, but got {text!r}") from None


def span(text: str, least: int = 0) -> str:
    """Read a time of at least ``least`` ms and write it as Spark understands it."""
    try:
        ms = milliseconds("this option", text, least)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None
    return f"{ms} milliseconds" if ms % 1000 else f"{ms // 1000} seconds"


def ms(text: str) -> int:
    """Read a time of at least a millisecond, in ms; ``1m`` is a minute."""
    try:
        return milliseconds("this option", re.sub(r"(?<=\d)m$", "min", text))
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None


def share(text: str) -> float:
    """Read a share such as 0.1% or 0.001."""
    try:
        found = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        found = -1
    if not 0 <= found < 1:
        raise ArgumentTypeError(f"expected a share such as 0.1% or 0.001, but got {text!r}")
    return found


def compared(text: str) -> str:
    """Read how results are compared."""
    if text not in ("table", "bag") and not text.startswith("id:"):
        raise ArgumentTypeError(f"expected table, bag or id:FIELD, but got {text!r}")
    return text


def megabytes(text: str) -> float:
    """Read bytes per second such as 20MB/s; returns bytes."""
    return 1e6 * positive(text.lower().removesuffix("/s").removesuffix("mb").strip())


def span_above_zero(text: str) -> str:
    """Read a time of a millisecond at least."""
    return span(text, 1)


_SHOWN_AS: dict[Any, str] = {
    positive: "NUMBER", float: "NUMBER", whole: "N", int: "N", topic: "TOPIC", path: "PATH",
    port: "PORT", day: "DAY",
    span: "TIME", span_above_zero: "TIME", ms: "TIME", share: "SHARE", megabytes: "MB/s",
}  # fmt: skip
"""What help shows in the place of a value, by the function that reads it; else NAME."""


@dataclass(frozen=True)
class Option:
    """An option of a command: ``--name``, what reads its text, its meaning, and its default.

    ``told`` describes a default that isn't a value. Without ``takes`` it is a switch.
    """

    name: str
    takes: Callable[[str], Any] | None
    says: str
    told: str = ""
    default: Any = None

    @property
    def dest(self) -> str:
        """Return the name of its value among the parsed options."""
        return self.name.removeprefix("--").replace("-", "_")

    def add_to(self, parser: ArgumentParser, **how: Any) -> None:
        """Add it to a parser."""
        says = f"{self.says}; default: {self.told or self.default}".replace("%", "%%")
        if self.takes is None:
            parser.add_argument(self.name, action="store_true", help=says)
            return
        how = {"default": self.default, "metavar": _SHOWN_AS.get(self.takes, "NAME"), **how}
        parser.add_argument(self.name, type=self.takes, help=says, **how)


SECONDS = Option("--seconds", positive, "end after this time", "until Ctrl-C or SIGTERM")

DEAD_LETTERS = Option(
    "--dead-letters", topic, "for what can't be read", "TOPIC.dead-letters, of --in"
)

RUN_OPTIONS = (
    Option("--checkpoint", path, "keep offsets and state here", "a new temporary folder each time"),
    Option("--every", positive, "least seconds between micro-batches", "0, or as docs/cli.md says"),
    SECONDS,
    Option("--metrics-port", port, "serve Prometheus on this port of 127.0.0.1", "not served"),
)
"""The options that every system has, besides --in and --max-per-batch."""
