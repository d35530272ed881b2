"""Declares how each system is crashed: its points, an input, where its results are, a judge."""

from workbook.crashlab.crashes.active_groups import ActiveGroupCrashes
from workbook.crashlab.crashes.ad_statistics import AdStatisticsCrashes, ReplicateCrashes
from workbook.crashlab.crashes.base import Crashes
from workbook.crashlab.crashes.event_time_merge import EventTimeMergeCrashes
from workbook.crashlab.crashes.page_views import PageViewCrashes
from workbook.crashlab.crashes.share_holders import ShareHolderCrashes

CRASHES: dict[str, Crashes] = {
    "page_views": PageViewCrashes(),
    "event_time_merge": EventTimeMergeCrashes(),
    "share_holders": ShareHolderCrashes(),
    "active_groups": ActiveGroupCrashes(),
    "replicate": ReplicateCrashes(),
    "ad_statistics": AdStatisticsCrashes(),
}
"""How each system is crashed, by its name."""
