"""Exercises of chapter 21: who holds a US share?"""

from __future__ import annotations

from workbook.exercises.chapters.us_share_holders.change_of_amount import change_of_amount
from workbook.exercises.chapters.us_share_holders.set_with_counts import set_with_counts
from workbook.exercises.chapters.us_share_holders.subtractor import subtractor
from workbook.exercises.chapters.us_share_holders.what_an_update_tells import what_an_update_tells

problems = (change_of_amount, what_an_update_tells, set_with_counts, subtractor)
