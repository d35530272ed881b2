"""The registry of systems, each declared in a module of its own."""

from workbook.systems.active_groups import ActiveGroups
from workbook.systems.ad_statistics import AdStatistics
from workbook.systems.archive import Archive
from workbook.systems.base import System
from workbook.systems.event_time_merge import EventTimeMerge
from workbook.systems.page_views import PageViews
from workbook.systems.replicate import Replicate
from workbook.systems.share_holders import ShareHolders

SYSTEMS: dict[str, System] = {
    system.name: system
    for system in (
        *(PageViews(), EventTimeMerge(), ShareHolders(), ActiveGroups(), Replicate()),
        *(AdStatistics(), Archive()),
    )
}

STREAMS = {stream.name: stream for system in SYSTEMS.values() for stream in system.streams}
"""Every stream that can be generated, by its name."""
