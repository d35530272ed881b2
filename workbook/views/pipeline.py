"""A pipeline as rows of boxes: producers, topics, loops and queries with their state, sinks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from workbook.views.boxes import Box, Rows, arrows
from workbook.views.picture import Picture, number

CAPTION = "This chapter's pipeline, left to right. Dashed: what a part of it remembers"


@dataclass(frozen=True)
class Part:
    """A box of a pipeline: its name, its kind in words, what it remembers, and how it looks."""

    name: str
    kind: str
    state: str = ""
    look: str = ""


def producer(name: str) -> Part:
    """Return whatever writes to a topic."""
    return Part(name, "producer", look="producer")


def topic(name: str, partitions: int = 1, *, compacted: bool = False) -> Part:
    """Return a topic, and into how many partitions it's cut."""
    word = "compacted topic" if compacted else "topic"
    return Part(name, f"{word}, {number(partitions, 'partition')}", look="topic")


def loop(name: str, state: str = "") -> Part:
    """Return a loop in Python, and what it keeps in memory."""
    return Part(name, "loop", state, "loop")


def query(name: str, state: str = "") -> Part:
    """Return a streaming query, and the state that Spark keeps for it."""
    return Part(name, "Spark query", state, "query")


def sink(name: str, what: str = "dictionary") -> Part:
    """Return where results end: ``what`` is its kind, such as a dictionary or a table."""
    return Part(name, what, look="sink")


def pipeline(*paths: Sequence[Part], caption: str = CAPTION) -> Picture:
    """Draw a row per path; a later path begins or ends with parts of an earlier one."""
    lines = [("", arrows([_box(part) for part in path])) for path in paths]
    said = [" → ".join(part.name for part in path) for path in paths if path]
    words = "; ".join(said) + "." if said else "This pipeline has no parts yet."
    return Picture(Rows(lines), caption, words, _rows(paths))


def _box(part: Part) -> Box:
    state = f"state: {part.state}" if part.state else ""
    return Box(part.name, part.kind, state=state, look=part.look)


def _rows(paths: Sequence[Sequence[Part]]) -> list[dict[str, str]]:
    ways = dict.fromkeys(pair for path in paths for pair in pairwise(path))
    return [
        {
            "part": part.name,
            "kind": part.kind,
            "state": part.state or "–",
            "goes on to": ", ".join(to.name for source, to in ways if source == part) or "–",
        }
        for part in dict.fromkeys(part for path in paths for part in path)
    ]
