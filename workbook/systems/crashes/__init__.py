"""Declares how each system is crashed: its points, an input, where its results are, a judge."""

from __future__ import annotations

from collections.abc import Mapping

from workbook.systems.crashes.active_groups import ActiveGroupCrashes
from workbook.systems.crashes.base import Crashes
from workbook.systems.crashes.event_time_merge import EventTimeMergeCrashes
from workbook.systems.crashes.page_views import PageViewCrashes
from workbook.systems.crashes.share_holders import ShareHolderCrashes


def complete(crashes: Mapping[str, Crashes]) -> dict[str, Crashes]:
    """Return them; raise ValueError unless each variant has points, and each point its words."""
    for each in crashes.values():
        what = type(each).__name__
        if not getattr(each, "variants", ()):
            raise ValueError(f"Expected {what} to declare variants, with their points: add it.")
        for variant in each.variants:
            if not variant.does or not variant.points or not all(p.says for p in variant.points):
                raise ValueError(
                    f"Expected {what} to declare points of {variant.name!r}, each with what has "
                    f"happened there, and what {variant.name!r} does: add them."
                )
    return dict(crashes)


CRASHES = complete(
    {
        "page_views": PageViewCrashes(),
        "event_time_merge": EventTimeMergeCrashes(),
        "share_holders": ShareHolderCrashes(),
        "active_groups": ActiveGroupCrashes(),
    }
)
"""How each system is crashed, by its name."""
