"""Checks whether an answer gives each value as soon as its input has come, as a live loop needs.

On a list nobody sees when a value comes: a list at the end is as good as a generator. On a stream
there is no end, so an answer that collects first never gives anything.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from workbook.classroom.apart import Say, apart
from workbook.classroom.guard import guarded
from workbook.classroom.judging import NotYet
from workbook.classroom.showing import error_line, show

AT_THE_END = (
    "The pairs are right, but they only come once the input has ended, and a topic never ends: "
    "`yield` each pair at the moment when it's complete, while the loop goes on."
)
TOO_LATE = (
    "The pairs are right, but each comes later than it could: it waits for more input than it "
    "needs. `yield` a pair at the moment when it's complete."
)
NO_LIST = (
    "In the chapter the input comes one by one from a topic, and nobody knows how many there will "
    "be: it has no length, and no place to jump to. Take each with a single `for`."
)
NO_END = (
    "With input that comes one by one, as from a topic, it doesn't come to an end. Take each with "
    "a single `for`."
)

GROWS = (
    "The pairs are right, but what it keeps grows with the clicks, and a topic never ends. Remove "
    "what is completed: no more than the unfinished second is needed."
)


def as_they_arrive(items: Sequence[Any], moments: Sequence[int]) -> Callable[[Any], NotYet | None]:
    """Build a check that hands over ``items`` one by one, for an answer that is right on a list.

    ``moments`` says for each value how many items had to come before it; the last item must come
    behind all of them, so that an answer which waits for the end can be told apart.
    """

    def diagnose(answer: Any) -> NotYet | None:
        ended = apart(lambda say: _followed(answer, items, say))
        if ended.hung or ended.result is None:
            return NotYet(NO_END)
        if error := ended.result["error"]:
            return NotYet(NO_LIST, value=f"raised {error}")
        found = ended.result["moments"]
        if found == list(moments):
            return None
        return NotYet(
            AT_THE_END if set(found) == {len(items)} else TOO_LATE,
            given="\n".join(f"{n}: {show(item)}" for n, item in enumerate(items, 1)),
            value=f"pairs after the clicks {', '.join(map(str, found))}",
            expected=f"pairs after the clicks {', '.join(map(str, moments))}",
        )

    return diagnose


def with_little_kept(items: Sequence[Any], most: int) -> Callable[[Any], NotYet | None]:
    """Build a check that looks for a collection of more than ``most`` in a generator's variables.

    ``items`` must come with many more; an answer that is no generator isn't looked into.
    """

    def diagnose(answer: Any) -> NotYet | None:
        ended = apart(lambda say: {"kept": _largest(answer, items)})
        if ended.result is None or ended.result["kept"] <= most:
            return None
        return NotYet(GROWS, value=f"after {len(items)} clicks it keeps {ended.result['kept']}")

    return diagnose


def _largest(answer: Callable[..., Any], items: Sequence[Any]) -> int:
    """Return the size of the largest collection among the variables whenever a value comes."""
    sizes = [0]

    def follow() -> None:
        given = answer(iter(items))
        for _ in given:
            frame = given.gi_frame if inspect.isgenerator(given) else None
            kept = frame.f_locals.values() if frame else ()
            sizes.extend(len(each) for each in kept if isinstance(each, (list, dict, set, tuple)))

    guarded(follow)
    return max(sizes)


def _followed(answer: Callable[..., Any], items: Sequence[Any], say: Say) -> dict[str, Any]:
    """Return after how many items each value came, or the error."""
    taken, moments = 0, list[int]()

    def coming() -> Iterator[Any]:
        nonlocal taken
        for item in items:
            taken += 1
            yield item

    def follow() -> None:
        for _ in answer(coming()):
            moments.append(taken)

    say(0)
    ended = guarded(follow)
    error = error_line(ended.error) if ended.error is not None else ""
    return {"moments": moments, "error": "it never ends" if ended.timed_out else error}
