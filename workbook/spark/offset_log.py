"""Reads from a query's checkpoint how far each micro-batch has read, and by which watermark.

``recentProgress`` keeps a hundred reports, which an idle query fills in a quarter of an hour; the
log keeps the last micro-batches (``minBatchesToRetain``), however long the query is silent. Its
format is Spark's own (``OffsetSeqLog``): a version, a line of settings, a line for each source.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlparse

if TYPE_CHECKING:
    from pyspark.sql.streaming import StreamingQuery

Logged = tuple[dict[int, int], int]
"""The next offset of each partition, and the watermark in ms (0 before the first one)."""


def offset_log(query: StreamingQuery, topic: str) -> dict[int, Logged]:
    """Return what the query's finished micro-batches have read of a topic, by their number.

    Empty where the checkpoint is gone, or lies where this process can't read it.
    """
    try:
        root: str = query._jsq.streamingQuery().resolvedCheckpointRoot()
    except Exception:  # Spark is closed, or elsewhere
        return {}
    return read_log(Path(unquote(urlparse(root).path)), topic)


def read_log(checkpoint: Path, topic: str) -> dict[int, Logged]:
    """Read the log in a checkpoint folder; a file that isn't whole is left out."""
    found = {}
    for commit in (checkpoint / "commits").glob("[0-9]*"):
        with suppress(OSError, ValueError, KeyError, TypeError):
            settings, sources = _planned(checkpoint, commit.name)
            found[int(commit.name)] = _ends(sources, topic), int(settings["batchWatermarkMs"])
    return found


def last_read(checkpoint: Path, topic: str) -> tuple[dict[int, int], int] | None:
    """Return how far the last finished micro-batch has read a topic, and when (ms) it was planned.

    The time is the one in the log, not the file's, which a copy would lose. None where no
    micro-batch has finished, or where the log can't be read.
    """
    done = [int(file.name) for file in (checkpoint / "commits").glob("[0-9]*")]
    with suppress(OSError, ValueError, KeyError, TypeError):
        settings, sources = _planned(checkpoint, str(max(done)))
        return _ends(sources, topic), int(settings["batchTimestampMs"])
    return None


def planned_ends(checkpoint: Path, number: int, topic: str) -> dict[int, int]:
    """Return the next offset of each partition of a topic after a planned micro-batch."""
    return _ends(_planned(checkpoint, str(number))[1], topic)


def _planned(checkpoint: Path, number: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Read the plan of a micro-batch: its settings, and where each source ends."""
    lines = (checkpoint / "offsets" / number).read_text(encoding="utf-8").splitlines()
    settings, *sources = (json.loads(line) for line in lines[1:] if line.startswith("{"))
    return settings, sources


def _ends(sources: list[dict[str, Any]], topic: str) -> dict[int, int]:
    ends: dict[int, int] = {}
    for source in sources:
        ends |= {int(partition): end for partition, end in source.get(topic, {}).items()}
    return ends
