"""The crash lab: kill -9 at a chosen point, start again, and let the ledger say what it cost.

In a notebook: ``from workbook.crashlab import CrashLab, crash``. These are imported when they are
asked for, since every process of the lab passes through here.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbook.crashlab.lab import CrashLab, crash
    from workbook.crashlab.report import Outcome

__all__ = ["CrashLab", "Outcome", "crash"]

_LATER = {"CrashLab": "lab", "crash": "lab", "Outcome": "report"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
