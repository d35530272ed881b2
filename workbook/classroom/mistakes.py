"""Recognises wrong ideas: an answer that gives what a model gives in every case has its cause."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from workbook.classroom.calls import alike, attempt


@dataclass(frozen=True)
class Mistake:
    """A wrong answer, as a model of all that give the same, and the cause to name."""

    model: Callable[..., Any]
    cause: str


def find_mistake(
    mistakes: Sequence[Mistake], inputs: Sequence[tuple[Any, ...]], results: Sequence[Any]
) -> Mistake | None:
    """Return the first mistake whose model gives these results for these inputs."""
    for mistake in mistakes:
        modelled = (attempt(mistake.model, *copy.deepcopy(args)).result for args in inputs)
        if all(alike(m, r) for m, r in zip(modelled, results, strict=True)):
            return mistake
    return None
