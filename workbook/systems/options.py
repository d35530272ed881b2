"""The options that every system has; a wrong text is refused before anything is started."""

from __future__ import annotations

import json
import os
import re
from argparse import ArgumentParser, ArgumentTypeError

from workbook.sources.options import milliseconds

FOREVER = "default: until Ctrl-C or SIGTERM"

MAX_PER_BATCH = 2_000_000
"""The records of a micro-batch, at most: this bounds memory."""

_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")


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


def topic(text: str) -> str:
    """Take the name of a topic, as Kafka allows them."""
    if not _TOPIC.fullmatch(text) or text in (".", ".."):
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


def offsets_in_json(text: str) -> dict[str, dict[int, int]]:
    """Read offsets by topic and partition: ``{"clicks": {"0": 23}}``."""
    try:
        return {
            str(t): {int(p): int(o) for p, o in of.items()} for t, of in json.loads(text).items()
        }
    except (ValueError, AttributeError, TypeError):
        raise ArgumentTypeError(
            f'expected offsets like {{"tracking":{{"0":23}}}}, but got {text!r}'
        ) from None


def span(text: str, least: int = 0) -> str:
    """Read a time of at least ``least`` ms and write it as Spark understands it."""
    try:
        ms = milliseconds("this option", text, least)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None
    return f"{ms} milliseconds" if ms % 1000 else f"{ms // 1000} seconds"


def span_above_zero(text: str) -> str:
    """Read a time of a millisecond at least."""
    return span(text, 1)


def add_run_options(
    parser: ArgumentParser, reads: str, *, rejects: bool = True, most: int = MAX_PER_BATCH
) -> None:
    """Add the options of ``workbook run`` that every system has, or all those that reject."""
    parser.add_argument(
        "--in",
        dest="source",
        type=topic,
        default=reads,
        metavar="TOPIC",
        help=f"the topic to read; default: {reads}",
    )
    if rejects:
        parser.add_argument(
            "--dead-letters",
            type=topic,
            metavar="TOPIC",
            help="the topic for records that can't be read, created if missing; default: the one "
            "that is read, with .dead-letters appended",
        )
    parser.add_argument(
        "--checkpoint",
        type=path,
        metavar="FOLDER",
        help="keep offsets and state here, so that the next start continues; a cluster's workers "
        "must reach it. Default: a temporary folder, so each start begins from nothing",
    )
    parser.add_argument(
        "--every",
        type=positive,
        metavar="SECONDS",
        help="start a micro-batch at most once in this time; default: as often as possible, but "
        "page_views with --out every 2 seconds, active_groups every second, replicate every half a "
        "second",
    )
    parser.add_argument(
        "--max-per-batch",
        type=whole,
        default=most,
        metavar="RECORDS",
        help=f"read at most this number of records per micro-batch; default: {most}",
    )
    parser.add_argument("--seconds", type=positive, help=f"end after this time; {FOREVER}")
