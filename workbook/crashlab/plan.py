"""The plan of a process of the crash lab, and what it notes that outlives kill -9."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from workbook.crashlab.crashes.base import Point

NOTE = "killed"
"""The file in the lab's folder: when (seconds since 1970) the lab's kill came, and its point."""

READ = "read"
"""The file in the lab's folder with the offset behind the last record that the loop was given."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A run of a system, with the ``words`` behind ``workbook run``, in a process of its own.

    ``records`` are waiting in its topic. With a ``point`` the process kills itself when it passes
    there for the ``passes``-th time. ``group`` and ``pace`` (seconds of waiting per record) are
    for runs by hand. ``own`` is a loop of somebody's own, packed as text.
    """

    system: str
    variant: str
    words: tuple[str, ...]
    config: dict[str, str]
    folder: str
    group: str
    records: int
    pace: float
    point: str | None = None
    passes: int = 0
    own: str = ""

    def to_json(self) -> bytes:
        """Encode the plan as one line for the process's standard input."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def from_json(cls, line: bytes) -> Plan:
        """Parse a plan from its line of JSON."""
        return cls(**json.loads(line))


def draw(variant: str, points: Sequence[Point], seed: int) -> list[int]:
    """Draw the pass of each point at which a kill comes; all but the first come soon after."""
    passes, begins = [], True
    for point in points:
        spread = (point.last - point.first) // len(points)
        first, last = (point.first, point.first + spread) if begins else (1, max(spread, 1))
        passes.append(random.Random(f"{variant} {point.name} {seed}").randint(first, last))
        begins = False
    return passes


class NoteRead:
    """Notes the offset behind each record; called before the loop gets the record."""

    def __init__(self, folder: Path) -> None:
        self._file = os.open(folder / READ, os.O_CREAT | os.O_WRONLY)

    def __call__(self, offset: int) -> None:
        os.pwrite(self._file, b"%20d" % offset, 0)


def read_in(folder: Path) -> int | None:
    """Return the offset that a process noted last; None if it was given no record."""
    try:
        return int((folder / READ).read_text())
    except (FileNotFoundError, ValueError):
        return None
