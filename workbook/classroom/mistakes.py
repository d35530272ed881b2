"""Recognises mistakes: wrong answers as learners write them, each with its likely cause."""

from __future__ import annotations

import copy
from collections import namedtuple
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import starmap
from typing import Any, TypeVar

from workbook.classroom.calls import alike, attempt

Model = TypeVar("Model", bound=Callable[..., Any])


def _every_case(*args: Any) -> bool:
    return True


@dataclass(frozen=True)
class Mistake:
    """A wrong answer, as a model of all that give the same, and the cause to name.

    ``shows`` says which arguments show it: of the cases that fail, the first such one is shown.
    """

    model: Callable[..., Any]
    cause: str
    shows: Callable[..., bool] = _every_case


class Mistakes(list[Mistake]):
    """The mistakes of an exercise; where two give the same, the first one names the cause."""

    def add(self, cause: str, *, shows: Callable[..., bool] = _every_case) -> Callable[..., Any]:
        """Return a decorator that adds a wrong answer under its cause."""

        def keep(model: Model) -> Model:
            self.append(Mistake(model, cause, shows))
            return model

        return keep


def same_idea(*models: Callable[..., Any], cause: str) -> list[Mistake]:
    """Return the mistakes of one wrong idea that can be written in several ways."""
    return [Mistake(model, cause) for model in models]


def find_mistake(
    mistakes: Sequence[Mistake], inputs: Sequence[tuple[Any, ...]], results: Sequence[Any]
) -> Mistake | None:
    """Return the first mistake whose model gives these results for these inputs."""
    for mistake in mistakes:
        modelled = (attempt(mistake.model, *copy.deepcopy(args)).result for args in inputs)
        if all(alike(m, r) for m, r in zip(modelled, results, strict=True)):
            return mistake
    return None


def cause_of_rows(
    mistakes: Sequence[Mistake],
    columns: Sequence[str],
    rows: Sequence[tuple[Any, ...]],
    found: Sequence[tuple[Any, ...]],
) -> str:
    """Return the cause of the first mistake that makes the rows found, in any order; or ''.

    The models get the rows with their fields under the names of the columns.
    """
    mistake = find_mistake(
        [replace(mistake, model=_in_order(mistake.model)) for mistake in mistakes],
        [(named(columns, rows),)],
        [sorted(found, key=repr)],
    )
    return mistake.cause if mistake else ""


def named(columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Return the rows with their fields under the names of the columns."""
    row = namedtuple("row", columns)  # type: ignore[misc]  # the names come from a schema
    return list(starmap(row, rows))


def _in_order(model: Callable[..., Any]) -> Callable[..., Any]:
    return lambda rows: sorted(model(rows), key=repr)
