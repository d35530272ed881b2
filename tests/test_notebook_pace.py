"""Notebooks as people run them: with pauses, with wrong answers, and once more from the top.

``WORKBOOK_PACE_SEED`` chooses other cells to pause at.
"""

import os
import random
import time
from pathlib import Path

import nbformat
import pytest
from chapters import NOTEBOOKS, Place, places
from kernels import kernel
from labs import until

from workbook.classroom.render import State

pytestmark = pytest.mark.slow

SEED = os.environ.get("WORKBOOK_PACE_SEED", "1")
PAUSES_S = (75, 75, 15)


def code_cells(path: Path) -> list[str]:
    return [cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def path(request: pytest.FixtureRequest) -> Path:
    return request.param


def test_it_runs_however_long_somebody_thinks(path: Path, tmp_path: Path) -> None:
    cells = code_cells(path)
    draw = random.Random(f"{SEED} {path.stem}")
    pauses = dict(zip(draw.sample(range(1, len(cells)), len(PAUSES_S)), PAUSES_S, strict=True))
    print(f"seed {SEED}: seconds of pause before the code cells", pauses)
    with kernel(tmp_path) as mine:
        said = ""
        for number, cell in enumerate(cells):
            time.sleep(pauses.get(number, 0))  # what somebody thinks: it's what this is about
            said += mine.run(cell)
        assert "Closed." in said
        until(lambda: not mine.sparks(), "the end of Spark's Java process")


def wrong(place: Place, cell: str) -> str:
    """The exercise's cell with an answer that is wrong whatever is asked."""
    if place.problem.stub.startswith("def "):
        return cell.replace("...  # your code", "return 42", 1)
    letter = "b" if place.problem.reference == "a" else "a"
    return cell.replace("...", f'"{letter}"', 1)


def right(place: Place, cell: str) -> str:
    """The exercise's cell with our answer."""
    check = cell[len(place.problem.stub.rstrip()) :]
    return f"{place.name} = {place.shown_as}.reference{check}"


def test_wrong_answers_never_break_it_and_it_starts_anew(path: Path, tmp_path: Path) -> None:
    cells, exercises = code_cells(path), {place.cell: place for place in places(path)}
    with kernel(tmp_path) as mine:
        for corrected in (False, True):
            for number, cell in enumerate(cells):
                place = exercises.get(number)
                if place is None:
                    mine.run(cell)
                    continue
                assert State.NOT_YET.word in mine.run(wrong(place, cell)), place.problem.name
                if corrected:
                    assert State.CORRECT.word in mine.run(right(place, cell)), place.problem.name
            until(lambda: not mine.sparks(), "the end of Spark's Java process")
