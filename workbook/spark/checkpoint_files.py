"""Reads a query's checkpoint: its files, and how far each micro-batch has read.

``recentProgress`` keeps a hundred reports, which an idle query fills in a quarter of an hour; the
log keeps the last micro-batches (``minBatchesToRetain``), however long the query is silent. Its
format is Spark's own (``OffsetSeqLog``): a version, a line of settings, a line for each source.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlparse

if TYPE_CHECKING:
    from pyspark.sql.streaming import StreamingQuery

KINDS = ("offsets", "state", "commits")
"""In the order in which a micro-batch writes them."""

Logged = tuple[dict[int, int], int]
"""The next offset of each partition, and a time in ms."""

_STATE = (".delta", ".changelog", ".zip")
"""What the tasks of a micro-batch write; snapshots come later, from a thread of their own."""

_UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError)


def checkpoint_files(query: Path) -> list[tuple[str, int, float]]:
    """Return kind, micro-batch and time (seconds since 1970) of each file in a query's folder.

    The state that a micro-batch leaves behind is version n + 1. Files that Spark removes meanwhile
    are left out; without a folder there are none.
    """
    numbered = [(kind, *each) for kind in ("offsets", "commits") for each in _numbered(query, kind)]
    found = []
    for kind, batch, path in [*numbered, *_state(query)]:
        with suppress(OSError):
            found.append((kind, batch, path.stat().st_mtime))
    return found


def _numbered(query: Path, kind: str) -> Iterator[tuple[int, Path]]:
    for path in (query / kind).glob("[0-9]*"):
        if path.name.isdigit():
            yield int(path.name), path


def _state(query: Path) -> Iterator[tuple[str, int, Path]]:
    for path in (query / "state").rglob("[0-9]*.*"):
        version = path.name.partition(".")[0].partition("_")[0]
        snapshot = path.suffix == ".zip" and path.with_suffix(".changelog").exists()
        if path.suffix in _STATE and version.isdigit() and not snapshot:
            yield "state", int(version) - 1, path


def offset_log(query: StreamingQuery, topic: str) -> dict[int, Logged]:
    """Return what the query's finished micro-batches have read of a topic, by their number.

    The time is the watermark, 0 before the first one. Empty where the checkpoint is gone, or lies
    where this process can't read it.
    """
    try:
        root: str = query._jsq.streamingQuery().resolvedCheckpointRoot()
    except Exception:  # Spark is closed, or elsewhere
        return {}
    return read_log(Path(unquote(urlparse(root).path)), topic)


def read_log(query: Path, topic: str) -> dict[int, Logged]:
    """Read the log in a query's folder, as ``offset_log``; a file that isn't whole is left out."""
    found = {}
    for number, _ in _numbered(query, "commits"):
        with suppress(*_UNREADABLE):
            settings, ends = _plan(query, number, topic)
            found[number] = ends, int(settings["batchWatermarkMs"])
    return found


def last_read(query: Path, topic: str) -> Logged | None:
    """Return how far the last finished micro-batch has read a topic, and when it was planned.

    The time is the one in the log, not the file's, which a copy would lose. None where no
    micro-batch has finished, or where the log can't be read.
    """
    with suppress(*_UNREADABLE):
        settings, ends = _plan(
            query, max(number for number, _ in _numbered(query, "commits")), topic
        )
        return ends, int(settings["batchTimestampMs"])
    return None


def planned(query: Path, topic: str) -> dict[int, int]:
    """Return up to which offset each micro-batch reads a topic of one partition, as far as noted.

    Of more partitions nothing: an offset of one of them says too little.
    """
    found = {}
    for number, _ in _numbered(query, "offsets"):
        with suppress(*_UNREADABLE):
            [found[number]] = planned_ends(query, number, topic).values()
    return found


def began(query: Path) -> str:
    """Return the offsets at which Spark's own Kafka source began, as JSON; "" if it hasn't."""
    with suppress(OSError):
        found = (query / "sources" / "0" / "0").read_text(encoding="utf-8", errors="replace")
        return found[found.index("{") :]
    return ""


def planned_ends(query: Path, number: int, topic: str) -> dict[int, int]:
    """Return the next offset of each partition of a topic after a planned micro-batch."""
    return _plan(query, number, topic)[1]


def _plan(query: Path, number: int, topic: str) -> tuple[dict[str, Any], dict[int, int]]:
    """Read the plan of a micro-batch: its settings, and where a topic's partitions end."""
    lines = (query / "offsets" / str(number)).read_text(encoding="utf-8").splitlines()
    settings, *sources = (json.loads(line) for line in lines[1:] if line.startswith("{"))
    ends: dict[int, int] = {}
    for source in sources:
        offsets = source["offsets"] if "tops" in source else source  # the clamped source's, or not
        ends |= {int(partition): end for partition, end in offsets.get(topic, {}).items()}
    return settings, ends
