"""Exercises of chapter 03: how do others get the numbers?"""

from __future__ import annotations

from workbook.exercises.chapters.metrics_topic.metrics_by_hand import metrics_by_hand
from workbook.exercises.chapters.metrics_topic.metrics_on_spark import metrics_on_spark

problems = (metrics_by_hand, metrics_on_spark)
