"""The gallery: one picture of each kind, from recorded runs, and the chapters that draw it."""

import re

import pytest
from chapters import NOTEBOOKS, texts

from workbook.classroom.gallery import Gallery, gallery

SAYS = {
    "Chapters 01 and 04": r"5 page views counted, but not published: lost; 31 page views",
    "Chapter 04": r"When the kill fell, micro-batch 11 \(offsets 1,100 to 1,199\) was in offsets",
    "Chapters 00 and 06": r"3 hand-overs of partitions: 6 taken away, 3 given to another",
    "Chapters 20 and 21": r"−1 in Bob: AAPL, GOOG → AAPL; \+1 in Alice: AAPL, BP → AAPL, BP, GOOG",
    "Chapters 02 and 05": r"Dropped: 3,",
    "Chapter 05": r"Closed by the minimum: 4 of 12 windows\. Closed by the maximum less 5 sec",
}


@pytest.fixture(scope="module")
def drawn() -> Gallery:
    return gallery()


@pytest.mark.parametrize("where", SAYS)
def test_each_kind_has_a_picture_of_a_recorded_run(drawn: Gallery, where: str) -> None:
    assert re.search(SAYS[where], drawn.pictures[where].words)


def test_there_are_six_beside_each_other_and_each_can_be_larger(drawn: Gallery) -> None:
    page = drawn._repr_html_()
    assert len(drawn.pictures) == 6
    assert page.count('class="wb-small"') == page.count('type="checkbox"') == 6
    assert all(f'aria-label="larger: {where}"' in page for where in drawn.pictures)
    assert page == gallery()._repr_html_()
    assert all(picture.words in repr(drawn) for picture in drawn.pictures.values())


def test_the_chapters_that_it_names_exist(drawn: Gallery) -> None:
    numbers = {path.stem[:2] for path in NOTEBOOKS}
    assert set(re.findall(r"\d\d", " ".join(drawn.pictures))) <= numbers


def test_the_start_page_links_to_each_notebook() -> None:
    start = next(path for path in NOTEBOOKS if path.stem == "00_start_here")
    linked = set(re.findall(r"\]\((\w+)\.ipynb\)", "\n".join(texts(start, "markdown"))))
    assert linked == {path.stem for path in NOTEBOOKS} - {start.stem}
