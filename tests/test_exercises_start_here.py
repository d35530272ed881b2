"""Proof of chapter 00's exercises."""

from __future__ import annotations

import pytest
from proof import Catalogue, prove

from workbook.exercises import start_here
from workbook.exercises.core import Problem

NO_OPTION = "There is no such option"
NO_LETTER = "Answer with a letter in quotes"

CATALOGUES = [
    Catalogue(
        right=["c", " C "],
        wrong=[
            ("a", "Taking turns"),
            ("b", "how full a partition is"),
            ("d", "Chance would tear"),
            ("e", "All partitions can be read"),
            ("f", NO_OPTION),
            (2, NO_LETTER),
        ],
    ),
    Catalogue(
        right=["a", "A"],
        wrong=[
            ("b", "the five records have the offsets"),
            ("c", "The end is no record yet"),
            ("d", "appended at the end"),
            ("e", "Each partition counts by itself"),
            ("5", NO_OPTION),
            (5, NO_LETTER),
        ],
    ),
]
PAIRS = list(zip(start_here.problems, CATALOGUES, strict=True))


@pytest.mark.parametrize(("problem", "catalogue"), PAIRS, ids=lambda x: getattr(x, "name", ""))
def test_the_exercise_is_proven(problem: Problem, catalogue: Catalogue) -> None:
    prove(problem, catalogue)
