"""The crash lab: kill -9 at a chosen point, start again, and let the ledger say what it cost.

In a notebook: ``from workbook.faults import CrashLab, crash``. These are imported when they are
asked for, since the command line and every process of the lab pass through here.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from workbook.faults.command import add_arguments, command
from workbook.faults.plan import POINTS, VARIANTS

if TYPE_CHECKING:
    from workbook.faults.lab import CrashLab, crash
    from workbook.faults.outcome import Outcome

__all__ = ["POINTS", "VARIANTS", "CrashLab", "Outcome", "add_arguments", "command", "crash"]

_LATER = {"CrashLab": "lab", "crash": "lab", "Outcome": "outcome"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
