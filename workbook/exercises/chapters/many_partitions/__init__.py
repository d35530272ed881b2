"""Exercises of chapter 05: why is one partition a luxury?"""

from __future__ import annotations

from workbook.exercises.chapters.many_partitions.add_up import add_up
from workbook.exercises.chapters.many_partitions.per_partition_on_spark import (
    per_partition_on_spark,
)
from workbook.exercises.chapters.many_partitions.slow_partition import slow_partition
from workbook.exercises.chapters.many_partitions.slowest_clock import slowest_clock

problems = (slowest_clock, add_up, per_partition_on_spark, slow_partition)
