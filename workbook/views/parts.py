"""The parts of a pipeline, as a chapter declares them for its diagram."""

from __future__ import annotations

from dataclasses import dataclass

from workbook.views.picture import number


@dataclass(frozen=True)
class Part:
    """A box of the diagram; two parts that are equal are one box."""

    name: str

    @property
    def kind(self) -> str:
        """Return the word in its box."""
        return type(self).__name__.lower()

    @property
    def remembers(self) -> str:
        """Return the name of its state; '' where it has none."""
        return ""


@dataclass(frozen=True)
class Producer(Part):
    """Whatever writes to a topic."""


@dataclass(frozen=True)
class Topic(Part):
    partitions: int = 1
    compacted: bool = False

    @property
    def kind(self) -> str:
        """Return its word, and into how many partitions it's cut."""
        word = "compacted topic" if self.compacted else "topic"
        return f"{word}, {number(self.partitions, 'partition')}"


@dataclass(frozen=True)
class Loop(Part):
    """A loop in Python, and what it keeps in memory."""

    state: str = ""

    @property
    def remembers(self) -> str:
        """Return the name of its state."""
        return self.state


@dataclass(frozen=True)
class Query(Loop):
    """A streaming query, and the state that Spark keeps for it."""

    @property
    def kind(self) -> str:
        """Return its words."""
        return "Spark query"


@dataclass(frozen=True)
class Sink(Part):
    """Where results end: ``what`` is its kind, such as a dictionary or a table."""

    what: str = "dictionary"

    @property
    def kind(self) -> str:
        """Return what it is."""
        return self.what
