"""Proof of chapter 00's exercises."""

from __future__ import annotations

from proof import Catalogue, ChapterProof

from workbook.exercises.chapters import start_here

NO_OPTION = "There is no such option"
NO_LETTER = "Answer with a letter in quotes"

SAME_KEY = Catalogue(
    right=["c", " C "],
    wrong=[
        ("a", "Taking turns"),
        ("b", "how full a partition is"),
        ("d", "Chance would tear"),
        ("e", "All partitions can be read"),
        ("f", NO_OPTION),
        (2, NO_LETTER),
    ],
)

NEXT_OFFSET = Catalogue(
    right=["a", "A"],
    wrong=[
        ("b", "the five records have the offsets"),
        ("c", "The end is no record yet"),
        ("d", "appended at the end"),
        ("e", "Each partition counts by itself"),
        ("5", NO_OPTION),
        (5, NO_LETTER),
    ],
)


class TestProof(ChapterProof):
    chapter = start_here
    catalogues = (SAME_KEY, NEXT_OFFSET)
