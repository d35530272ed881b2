"""Exercises of chapter 04: what if it crashes right now?"""

from __future__ import annotations

from workbook.exercises.chapters.at_least_once.after_the_kill import after_the_kill
from workbook.exercises.chapters.at_least_once.last_value import last_value
from workbook.exercises.chapters.at_least_once.offset_to_commit import offset_to_commit

problems = (offset_to_commit, last_value, after_the_kill)
