"""The plan of a process of the crash lab: a system, its topics, and where to die."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from workbook.crashlab.crashes.base import Point

NOTE = "killed"
"""The file in the lab's folder that says when (seconds since 1970) the kill came."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A run of a system, with the ``words`` behind ``workbook run``, in a process of its own.

    ``records`` are waiting in its topic. With a ``point`` the process kills itself when it passes
    there for the ``passes``-th time. ``group`` and ``pace`` (seconds of waiting per record) are
    for runs by hand. ``own`` is a loop of somebody's own, in a parcel.
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
