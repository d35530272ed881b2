"""Brings back the start of a step of the mob's ninety minutes, in whatever kernel."""

from __future__ import annotations

from workbook.classroom.reopen import reopen

NOTEBOOK = "mob_ninety_minutes"


def recover(step: int = 1) -> None:
    """Bring back the start of a step: fresh topics with clicks in them, and our program so far.

    Loops and visitors of this notebook end; nothing is deleted, and nobody else's is touched. After
    a restart of the kernel it may be the first thing that runs. Raises WorkbookError for a step
    that there isn't.
    """
    reopen(NOTEBOOK, step)
