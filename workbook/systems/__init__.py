"""The registry of systems, each declared in a module of its own."""

from __future__ import annotations

from collections.abc import Iterable

from workbook.systems.active_groups import ActiveGroups
from workbook.systems.base import System
from workbook.systems.crashes.base import Crashes
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
        if system.crashes is not None:
            _require_crashes(system.crashes)
        if system.name in found:
            other = type(found[system.name]).__name__
            raise ValueError(
                f"Expected a name of its own for each system, but {other} and {what} are both "
                f"{system.name!r}: rename one."
            )
        found[system.name] = system
    return found


def _require_crashes(crashes: Crashes) -> None:
    """Raise ValueError unless each variant has points, and each point its words."""
    what = type(crashes).__name__
    if not getattr(crashes, "variants", ()):
        raise ValueError(f"Expected {what} to declare variants, with their points: add it there.")
    for variant in crashes.variants:
        if not variant.does or not variant.points or not all(p.says for p in variant.points):
            raise ValueError(
                f"Expected {what} to declare points of {variant.name!r}, each with what has "
                f"happened there, and what {variant.name!r} does: add them."
            )


SYSTEMS = by_name([PageViews(), EventTimeMerge(), ShareHolders(), ActiveGroups()])

STREAMS = {stream.name: stream for system in SYSTEMS.values() for stream in system.streams}
"""Every stream that can be generated, by its name."""

CRASHES = {name: system.crashes for name, system in SYSTEMS.items() if system.crashes is not None}
"""How each system is crashed that can be."""
