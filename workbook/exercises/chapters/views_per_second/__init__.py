"""Exercises of chapter 02: how many page views were there per second?"""

from __future__ import annotations

from workbook.exercises.chapters.views_per_second.by_rule import by_rule
from workbook.exercises.chapters.views_per_second.per_second_on_spark import per_second_on_spark
from workbook.exercises.chapters.views_per_second.quiet_minute import quiet_minute
from workbook.exercises.chapters.views_per_second.two_modes import two_modes

problems = (by_rule, per_second_on_spark, quiet_minute, two_modes)
