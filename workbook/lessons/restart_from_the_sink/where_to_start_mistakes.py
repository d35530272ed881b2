"""Wrong answers to "Where to start"."""

from __future__ import annotations

from typing import Any

from workbook.classroom.mistakes import Mistake, Mistakes, same_idea
from workbook.classroom.numpy_numbers import numpy_number

MISTAKES = Mistakes()


def _right(said: Any, first: int, end: int) -> int:
    if said is None:
        return -1
    return said if first <= said <= end else -2


MISTAKES += same_idea(
    lambda said, first, end: said,
    cause="It trusts the sink blindly: what it says may be deleted, or from a former topic, or "
    "nothing at all.",
)
MISTAKES += same_idea(
    lambda said, first, end: -1 if said is None else said,
    cause="It doesn't ask whether the source still has that offset. Retention goes on while nobody "
    "reads.",
)
MISTAKES += same_idea(
    lambda said, first, end: _right(said or None, first, end),
    lambda said, first, end: _right(said, first, end) if said else -1,
    lambda said, first, end: -1 if not said else said if said >= first else -2,
    lambda said, first, end: -2 if said == 0 else _right(said, first, end),
    cause="Offset 0 is taken for nothing. It's the first record of a partition: ask `is None`.",
)
MISTAKES += same_idea(
    lambda said, first, end: -1 if said is None else -2 if said < first else said,
    lambda said, first, end: -1 if said is None else said if said >= first else -2,
    cause="It looks at `first` only. The topic may have been created anew, and end before `said`.",
)
MISTAKES += same_idea(
    lambda said, first, end: -1 if said is None else said if 0 <= said <= end else -2,
    lambda said, first, end: -1 if said is None else said if said <= end else -2,
    cause="It looks at `end` only. What retention has deleted lies before `first`.",
)
MISTAKES += same_idea(
    lambda said, first, end: -1 if said is None else said if first <= said < end else -2,
    cause="`end` itself is fine: all was read, nothing is open, and the next record gets this "
    "offset. Your partition would be read again from its beginning.",
)
MISTAKES += same_idea(
    lambda said, first, end: -1 if said is None else said if first < said <= end else -2,
    cause="`first` itself is there: it's the oldest record that the source still has. Asking for "
    "it by its number notices it if it's deleted meanwhile.",
)
MISTAKES += same_idea(
    lambda said, first, end: -1 if said is None else said if first < said < end else -2,
    cause="Both ends belong to the partition's line: `first` is there, and `end` comes next.",
)
MISTAKES += same_idea(
    lambda said, first, end: -1 if said is None or said < first or said > end else said,
    lambda said, first, end: said if said is not None and first <= said <= end else -1,
    cause="Where the offset is gone, it passes over everything that is left. Begin with the "
    "earliest record: -2.",
)
MISTAKES += same_idea(
    lambda said, first, end: -1 if said is None or said > end else -2 if said < first else said,
    cause="A topic that was made anew is passed over. All its records are new: -2.",
)
MISTAKES += same_idea(
    lambda said, first, end: -1 if said is None or 0 <= said < first
    else said if said <= end and said >= 0 else -2,
    lambda said, first, end: -1 if said is None or said < first else -2 if said > end else said,
    cause="Where retention has deleted the offset, it passes over what is left. Begin with the "
    "earliest record: -2.",
)  # fmt: skip
MISTAKES += same_idea(
    lambda said, first, end: said if said is not None and first <= said <= end else -2,
    lambda said, first, end: -2 if said is None else _right(said, first, end),
    cause="A sink that says nothing makes it read all again, and emit again what was emitted in "
    "years. `run` does that; the task asks for latest, -1.",
)
MISTAKES += same_idea(
    lambda said, first, end: -2 if said is None else said if first <= said <= end else -1,
    cause="-1 and -2 are swapped: -1 is latest, -2 is earliest.",
)
MISTAKES += same_idea(
    lambda said, first, end: first if _right(said, first, end) == -2 else _right(said, first, end),
    lambda said, first, end: -1 if said is None else said if first <= said <= end else first,
    lambda said, first, end: -1 if said is None else max(said, first) if said <= end else first,
    cause="It names the first offset. Until the query starts, retention may delete that, too: -2 "
    "is whatever is the earliest by then.",
)
MISTAKES += same_idea(
    lambda said, first, end: -1 if said is None else max(said, first),
    lambda said, first, end: -1 if said is None else max(said, first) if said <= end else -2,
    lambda said, first, end: -1 if said is None else first if said < first else said,
    cause="Where the offset is deleted, it names the first one that is left. That may be deleted, "
    "too, until the query starts: -2 is whatever is the earliest by then.",
)
MISTAKES += same_idea(
    lambda said, first, end: -1 if said is None else min(max(said, first), end),
    cause="It moves the offset to the nearest end. Of a topic made anew it passes over everything.",
)
MISTAKES += same_idea(
    lambda said, first, end: end if said is None else _right(said, first, end),
    cause="Where nothing is said, it names the end of now. The task asks for -1, the latest when "
    "the query starts.",
)
MISTAKES += same_idea(
    lambda said, first, end: 0 if _right(said, first, end) == -2 else _right(said, first, end),
    cause="It begins at offset 0, which may be deleted as well. Earliest is -2.",
)
MISTAKES += same_idea(
    lambda said, first, end: 0 if said is None else _right(said, first, end),
    cause="Where nothing is said, it begins at offset 0, as if nothing were in the sink. The task "
    "asks for latest: -1.",
)
MISTAKES += same_idea(
    lambda said, first, end: None if said is None else _right(said, first, end),
    cause="It gives None where nothing is said. Spark needs an offset: latest is -1.",
)
MISTAKES += same_idea(
    lambda said, first, end: -1 if said is None or said < 0 else _right(said, first, end),
    cause="-2 is taken for nothing said. It says that nothing had come: begin with the first.",
)
MISTAKES += same_idea(
    lambda said, first, end: said if first <= said <= end else -2,
    lambda said, first, end: -2 if said < first or said > end else said,
    cause="It raises where nothing is said: None can't be compared with a number. Ask for it "
    "first.",
)
MISTAKES += same_idea(
    lambda said, first, end: (
        said + 1 if said is not None and first <= said <= end else _right(said, first, end)
    ),
    cause="It begins one after what the sink says. That record is open, too.",
)
MISTAKES += same_idea(
    lambda said, first, end: -1 if said is None else said if end <= said <= first else -2,
    cause="`first` and `end` have changed places.",
)
MISTAKES += same_idea(
    lambda said, first, end: -1 if said is None else first if said <= first <= end else -2,
    cause="`said` and `first` have changed places: it asks whether `first` lies between them.",
)


def _always(value: int) -> list[Mistake]:
    return same_idea(
        lambda said, first, end: value,
        cause=f"It gives {value}, whatever is asked: that's right in some cases only.",
    )


MISTAKES += _always(5)
MISTAKES += _always(-1)
MISTAKES += _always(-2)


def form(value: Any, *args: Any) -> str:
    """Return what is wrong with the form of a value that should be an offset; or ''."""
    if isinstance(value, bool):
        return "It says whether, not where. We want the offset itself, -2 or -1."
    if isinstance(value, str) and value in ("latest", "earliest"):
        return (
            "It returns words. In `startingOffsets` as JSON, each partition has a number: -1 is "
            "latest, -2 earliest."
        )
    if isinstance(value, str):
        return "It returns text. An offset is a whole number."
    return numpy_number(value)
