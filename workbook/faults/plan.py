"""Who can be crashed where: variants, points, and what a process of the lab is told."""

from __future__ import annotations

import json
import random
from dataclasses import asdict, dataclass

from workbook.errors import NoSuchCrash

VARIANTS = {
    "auto-commit": "Kafka's client commits every 100 ms whatever it has handed out",
    "after-poll": "each record is committed before it is counted",
    "on-delivery": "a second is committed once its metric has been delivered",
    "transactions": "metric and offset are committed together",
    "spark": "Spark, its checkpoint and its Kafka sink",
}
"""What is crashed: four loops by hand, and Spark."""

WHERE = {
    "after-poll": "a record has been handed out",
    "before-send": "a second is complete, its metric not sent",
    "after-send": "the metric has been handed to the producer",
    "before-commit": "about to commit an offset",
    "after-commit": "an offset has been committed",
}
"""What has just happened, or is just about to, at each point of the loops."""

WHERE_ON_SPARK = {
    "before-send": "a micro-batch is about to write",
    "mid-batch": "some metrics of a micro-batch have been written, others not",
    "before-checkpoint": "a micro-batch has been written, but not committed to the checkpoint",
    "after-commit": "a micro-batch has been committed",
}
"""The same for Spark."""

TABLE, STORE = "share-holders", "store.db"
"""The table of share holders as a variant of its own, and its store in the lab's folder."""

WHERE_IN_TABLE = {
    "before-compute": "a micro-batch has been planned, nothing of it computed",
    "mid-batch": "a micro-batch has changed some of its state",
    "before-topic": "a micro-batch has changed its state, and is about to be written",
    "before-store": "a micro-batch is in the topic, not in the store",
    "before-checkpoint": "a micro-batch is in topic and store, not committed to the checkpoint",
    "after-commit": "a micro-batch has been committed",
}
"""The same for the table of share holders."""

_LOOP = tuple(WHERE)
POINTS = {
    # The client commits by itself, in the background: nobody sees it begin.
    "auto-commit": tuple(point for point in WHERE if point != "before-commit"),
    "after-poll": _LOOP,
    "on-delivery": _LOOP,
    "transactions": _LOOP,
    "spark": tuple(WHERE_ON_SPARK),
}
"""The points that each variant passes, in their order."""

PROMISES = {
    "on-delivery": ("lost",),
    "transactions": ("lost", "duplicated"),
    "spark": ("lost",),
}
"""What a variant promises not to let happen; the others promise nothing."""

EVENTS, SECONDS = 2000, 40
"""So many clicks in so many seconds of event time are in the topic before anything starts."""

BATCH, TABLE_BATCH = 200, 100
"""Records of a micro-batch on Spark, of page views and of the table."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a process of the lab is told: where to read and write, how slowly, where to die.

    ``end`` is the end of the source (an offset), ``pace`` seconds of waiting per record. With a
    ``point`` the process kills itself when it passes there for the ``passes``-th time.
    """

    variant: str
    config: dict[str, str]
    source: str
    target: str
    letters: str
    group: str
    folder: str
    end: int
    pace: float
    point: str | None = None
    passes: int = 0

    def to_json(self) -> bytes:
        """Encode the plan as one line for the process's standard input."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def from_json(cls, line: bytes) -> Plan:
        """Parse a plan from its line of JSON."""
        return cls(**json.loads(line))


def require(variant: str, point: str | None = None) -> None:
    """Raise ``NoSuchCrash`` unless there is such a variant, and it passes such a point."""
    if variant not in VARIANTS:
        raise NoSuchCrash(f"There is no variant {variant!r}. Choose one of: {', '.join(VARIANTS)}.")
    if point is not None and point not in POINTS[variant]:
        raise NoSuchCrash(
            f"The variant {variant!r} does not pass {point!r}. "
            f"Choose one of: {', '.join(POINTS[variant])}."
        )


def where(variant: str, point: str) -> str:
    """Describe the point in words."""
    return (WHERE_ON_SPARK if variant == "spark" else WHERE)[point]


def draw(variant: str, point: str, seed: int) -> int:
    """Draw the pass of the point at which the kill comes: well within the run."""
    first, last = _passes(variant, point)
    return random.Random(f"{variant} {point} {seed}").randint(first, last)


def _passes(variant: str, point: str) -> tuple[int, int]:
    if variant == "spark":
        return 3, EVENTS // BATCH - 3
    if variant == "auto-commit" and point == "after-commit":
        return 2, 9  # about every 100 ms
    by_record = point == "after-poll" or (variant == "after-poll" and "commit" in point)
    total = EVENTS if by_record else SECONDS
    return total * 15 // 100, total * 85 // 100
