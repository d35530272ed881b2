"""Recognises an answer whose parameters are the stub's in another order."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from workbook.classroom.judging import NotYet

Check = Callable[[Any], NotYet | None]


def in_order_of(reference: Callable[..., Any], check: Check) -> Check:
    """Extend a check: an answer that fails has perhaps exchanged the reference's parameters."""
    asked = list(inspect.signature(reference).parameters)

    def diagnose(answer: Any) -> NotYet | None:
        found = check(answer)
        if found is None or not _exchanged(answer, asked):
            return found
        names = ", ".join(asked)
        return replace(found, cause=f"Its parameters have changed places. The stub has `{names}`.")

    return diagnose


def _exchanged(answer: Any, asked: list[str]) -> bool:
    try:
        own = list(inspect.signature(answer).parameters)
    except (TypeError, ValueError):  # it's no function, or a built-in without a signature
        return False
    return own != asked and sorted(own) == sorted(asked)
