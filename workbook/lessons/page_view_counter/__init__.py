"""Exercises of chapter 01: how many page views were there?"""

from __future__ import annotations

from workbook.lessons.page_view_counter.on_spark import on_spark
from workbook.lessons.page_view_counter.one_step import one_step

problems = (one_step, on_spark)
