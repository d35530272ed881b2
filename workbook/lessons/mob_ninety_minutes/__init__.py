"""The five steps of the mob's ninety minutes: one program that grows."""

from workbook.classroom import kernel_start
from workbook.lessons.mob_ninety_minutes.commit_on_delivery import commit_on_delivery
from workbook.lessons.mob_ninety_minutes.count_views import count_views
from workbook.lessons.mob_ninety_minutes.per_second import per_second
from workbook.lessons.mob_ninety_minutes.print_records import print_records
from workbook.lessons.mob_ninety_minutes.publish_seconds import publish_seconds
from workbook.lessons.mob_ninety_minutes.step import in_turn

problems = in_turn(print_records, count_views, per_second, publish_seconds, commit_on_delivery)


def recover(step: int = 1) -> None:
    """Bring back the start of a step, in whatever kernel, even as the first thing that runs."""
    kernel_start.recover(step, "mob_ninety_minutes")
