"""Exercises of chapter 20: what is true now?"""

from __future__ import annotations

from workbook.exercises.chapters.positions_table.filtered_table import filtered_table
from workbook.exercises.chapters.positions_table.latest_on_spark import latest_on_spark
from workbook.exercises.chapters.positions_table.one_record import one_record
from workbook.exercises.chapters.positions_table.what_is_left import what_is_left

problems = (one_record, latest_on_spark, filtered_table, what_is_left)
