"""What is wrong with the form of an answer to "Pause and resume"."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from workbook.classroom.judging import Form
from workbook.classroom.showing import type_name

PAIR = "`return pause, resume` gives a pair of lists."


def form_of(steer: Callable[..., tuple[list[str], list[str]]]) -> Form:
    """Return what finds a wrong form, or a wrong order by the reference ``steer``."""

    def form(value: Any, tops: Mapping[str, Any], paused: Sequence[str], max_lead: int) -> str:
        return _of_pair(value, tops) or _of_order(value, steer(tops, paused, max_lead))

    return form


def _of_pair(value: Any, tops: Mapping[str, Any]) -> str:
    if isinstance(value, dict):
        return f"It returns a dictionary. {PAIR}"
    if isinstance(value, list) and len(value) == 2 and all(isinstance(v, list) for v in value):
        return f"Both lists are inside a third one. {PAIR}"
    if isinstance(value, list):
        return "It returns one list. Two are asked for: what to pause, and what to resume."
    if isinstance(value, Iterator):
        return ""  # whatever the exercise, that has its cause
    if not isinstance(value, tuple) or len(value) != 2:
        return f"It returns something else than two lists. {PAIR}"
    if cause := _of_list(value[0], tops) or _of_list(value[1], tops):
        return cause
    if value[0] is value[1] and value[0]:
        return (
            "Both names mean one list: `pause = resume = []` makes only one. Each needs a `[]` of "
            "its own."
        )
    return ""


def _of_list(some: Any, tops: Mapping[str, Any]) -> str:
    if some is None or isinstance(some, str):
        return "It returns names, or None, in place of lists. A list may be empty, or hold both."
    if isinstance(some, (set, frozenset)):
        return "These are sets. Return lists, in the order of `tops`."
    if isinstance(some, tuple):
        return "These are tuples. Return lists."
    if isinstance(some, (bool, int, float)):
        return f"It returns a {type_name(some)} where a list of names is asked for."
    if not isinstance(some, list):
        return f"It returns a {type_name(some)} in place of a list: put `list(...)` around it."
    return next((cause for item in some if (cause := _of_name(item, tops))), "")


def _of_name(item: Any, tops: Mapping[str, Any]) -> str:
    if isinstance(item, str):
        if len(item) == 1 and item not in tops:
            return (
                "A text is taken letter by letter, as `pause += topic` does. Append the name: "
                "`pause.append(topic)`."
            )
        return ""
    if item is None or isinstance(item, (int, float)):
        return "These lists hold tops. We want the names of the topics."
    if isinstance(item, tuple):
        return "These lists hold pairs, as `tops.items()` gives them. We want the names alone."
    return "These lists hold something else than names of topics."


def _of_order(value: Any, right: tuple[list[str], list[str]]) -> str:
    if not isinstance(value, tuple) or value == right:
        return ""
    if all(sorted(mine) == sorted(asked) for mine, asked in zip(value, right, strict=True)):
        return "The names are right; return them in the order of `tops`."
    return ""
