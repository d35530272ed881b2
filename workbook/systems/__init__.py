"""The registry of systems, each declared in a module of its own."""

from __future__ import annotations

from collections.abc import Iterable

from workbook.systems.active_groups import ActiveGroups
from workbook.systems.base import System
from workbook.systems.event_time_merge import EventTimeMerge
from workbook.systems.page_views import PageViews
from workbook.systems.share_holders import ShareHolders

DECLARED = ("name", "does", "reads", "examples")
"""The facts that a system declares, beside its methods."""


def by_name(systems: Iterable[System]) -> dict[str, System]:
    """Return the systems by name; raise ValueError if two share one, or one lacks something."""
    found: dict[str, System] = {}
    for system in systems:
        what = type(system).__name__
        missing = [name for name in DECLARED if not getattr(system, name, None)]
        if missing:
            raise ValueError(f"Expected {what} to declare {', '.join(missing)}: add it there.")
        if system.name in found:
            other = type(found[system.name]).__name__
            raise ValueError(
                f"Expected a name of its own for each system, but {other} and {what} are both "
                f"{system.name!r}: rename one."
            )
        found[system.name] = system
    return found


SYSTEMS = by_name([PageViews(), EventTimeMerge(), ShareHolders(), ActiveGroups()])

STREAMS = {stream.name: stream for system in SYSTEMS.values() for stream in system.streams}
"""Every stream that can be generated, by its name."""
