"""Finds the cause of a failed query among Spark's stack traces."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from workbook.errors import SparkFailed

if TYPE_CHECKING:
    from pyspark.sql.streaming import StreamingQuery

LONGEST = 400
"""The number of characters shown of a cause that isn't an error of ours."""

_SAME = "start again, with the same --checkpoint if there was one."

# What to do, after the words of Spark and Kafka for a cause, best ones first.
_KNOWN = {
    (
        *("Could not read records in offset", "offset was changed from", "but consumer reset to"),
        *("greater than the resolved end offset", "have been deleted", "Unknown topic id"),
        *("UnknownTopicId", "OffsetOutOfRange", "KAFKA_DATA_LOSS", "Some data may have been lost"),
    ): "The checkpoint begins at an offset of the topic that this broker does not hold: it belongs "
    "to another broker, or the topic is a new one or has let old records go. Use a new folder for "
    "--checkpoint, and for ad_statistics another --schema, too: its database continues there.",
    ("AuthorizationException", "Not authorized to", "authorization failed"): "This user lacks a "
    "right on the broker, perhaps because it was taken away. docs/own-servers.md lists the rights "
    f"that each command needs. Ask for the missing one, then {_SAME}",
    # SQLite's words for a disk that is full at a start are the last ones.
    ("No space left on device", "disk is full", "disk I/O error"): "The disk is full, or it fails. "
    f"Free some space, then {_SAME}",
    ("database is locked",): f"Another program writes to the store. End it, then {_SAME}",
    ("Python worker failed to connect back",): "A Python process that Spark started did not answer "
    f"within ten seconds: the machine is too busy. Once it is less so, {_SAME}",
    ("(no cause message)", "terminated with exception: Connection reset", "Broken pipe"): "A "
    f"Python process of Spark was killed, or has crashed. Now {_SAME}",
}
_OURS = re.compile(r"workbook\.\w|[\w.]*(Error|Lost): Expected ")
_SAYS_ALL = re.compile(r"workbook\.errors\.\w+: (Expected .+)", re.DOTALL)
_PROXY = ("Py4J", "Python Proxy", "PythonException", "Job aborted", "STREAM_FAILED")
_NAMES_ONE = re.compile(r"[\w.$]+(?:Exception|Error)\b")


def failure_of(query: StreamingQuery) -> BaseException | None:
    """Return what made a query fail; None for one that runs, or that somebody has stopped.

    ``stop`` interrupts the query's thread. If that thread is planning a micro-batch, Spark takes
    its own interruption for a failure: 11 of 271 stops of a join, on a busy machine.
    """
    failure = first = query.exception()
    while getattr(first, "_cause", None) is not None:
        first = first._cause  # type: ignore[union-attr]
    return None if str(first).startswith("java.lang.InterruptedException") else failure


def query_failed(text: str) -> SparkFailed:
    """Return the error for a query that ended; ``text`` is all Spark's output, traces included."""
    if says := known(text):
        return SparkFailed(says)
    if says := ours(text):
        return SparkFailed(f"The query has ended. {says}")
    return SparkFailed(
        f"The query ended by an error of Spark:\n  {cause(text)}\nWhere it names a checkpoint or "
        "a state that does not fit, use a new folder for --checkpoint; else look at the options."
    )


def ours(text: str) -> str:
    """Return what an error of this package says that ended a query; '' if none did."""
    found = _SAYS_ALL.match(cause(text))
    return found[1] if found else ""


def known(text: str) -> str:
    """Return what to do about a cause that is known, and the line that names it; or ''."""
    found = ((words, says) for words, says in _KNOWN.items() if any(word in text for word in words))
    return next((f"{says}\n  {cause(text, words)}" for words, says in found), "")


def cause(text: str, words: tuple[str, ...] = ()) -> str:
    """Return the most telling line.

    One that holds the first of the ``words`` that is found, else an error of this package, which
    says what to do, else the last "Caused by:", else the first that names an exception and is not
    about the way from Java to Python, else the first.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["(no message)"]
    named = [line for word in words for line in lines if word in line]
    named += [line for line in lines if _OURS.match(line)]
    causes = [line for line in lines if line.startswith("Caused by:")]
    named_ones = [line for line in lines if _NAMES_ONE.search(line)]
    told = [line for line in named_ones if not line.startswith(("at ", "raise "))]
    first = [line for line in told if not any(word in line for word in _PROXY)]
    found = [*named[:1], *causes[-1:], *first[:1], lines[0]][0]
    found = found.removeprefix("Caused by:").strip(" :")
    whole = len(found) <= LONGEST or _OURS.match(found)  # what to do stands at the end of ours
    return found if whole else found[:LONGEST] + " ..."
