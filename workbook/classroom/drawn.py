"""Draws further cases, for answers that pass the teaching cases by luck or by a shortcut.

A rule on names, sizes, order or small numbers holds in a handful of cases that were chosen to be
read. Cases drawn by a seed have none of those in common; the smallest that fails is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from workbook.classroom.judging import Case, NotYet

Check = Callable[[Any], NotYet | None]


def one_after_another(*checks: Check) -> Check:
    """Combine several checks: the first that finds something decides."""

    def diagnose(answer: Any) -> NotYet | None:
        return next((found for check in checks if (found := check(answer))), None)

    return diagnose


def smallest_first(cases: Iterable[Case]) -> list[Case]:
    """Order drawn cases so that the first one that fails is the easiest to read."""
    return sorted(cases, key=lambda case: len(repr(case.args)))
