"""The diagram of a pipeline: each part once, arrows from left to right, the chapter's own names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from chapters import NOTEBOOKS, texts
from workbook.views.parts import Loop, Part, Producer, Query, Sink, Topic

from workbook.classroom import Chapter, diagram
from workbook.views.picture import Picture
from workbook.views.pipeline import pipeline

clicks, metrics = Topic("clicks", 24), Topic("metrics")
count = Loop("count", state="views")
BRANCHED = (
    (Producer("shop"), clicks, count, metrics),
    (clicks, Query("by_spark", state="window"), metrics),
    (count, Topic("dead")),
)


def places(picture: Picture) -> dict[str, list[tuple[float, float]]]:
    """Where each text of a picture stands."""
    found: dict[str, list[tuple[float, float]]] = {}
    for x, y, words in re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)<', picture.figure):
        found.setdefault(words, []).append((float(x), float(y)))
    return found


def arrows(picture: Picture) -> list[list[tuple[float, float]]]:
    """The points of each line that ends in an arrow's head."""
    lines = re.findall(r'<polyline points="([^"]+)"[^>]*/><polygon', picture.figure)
    return [[tuple(map(float, p.split(","))) for p in line.split()] for line in lines]  # type: ignore[misc]


def test_a_path_stands_from_left_to_right_in_one_row() -> None:
    path = [Producer("shop"), clicks, count, Sink("shown", "chart")]
    drawn = pipeline(path)
    at = places(drawn)
    [xs, ys] = zip(*(at[part.name][0] for part in path), strict=True)
    assert list(xs) == sorted(set(xs))
    assert len(set(ys)) == 1
    assert len(arrows(drawn)) == 3
    assert drawn.words == "shop → clicks → count → shown."


def test_each_part_has_its_kind_and_its_state_in_words() -> None:
    at = places(pipeline(*BRANCHED))
    for words in ("producer", "topic, 24 partitions", "loop", "Spark query"):
        assert len(at[words]) == 1
    assert len(at["topic, 1 partition"]) == 2
    for part, state in (("count", "state: views"), ("by_spark", "state: window")):
        [(x, y)], [(its_x, its_y)] = at[part], at[state]
        assert its_x == x
        assert 20 < its_y - y < 60
    drawn = pipeline([Topic("t", compacted=True), Sink("held", "list")])
    assert {"compacted topic, 1 partition", "list"} <= places(drawn).keys()


def test_kinds_differ_without_colour() -> None:
    shapes = set()
    kinds: list[Part] = [Producer("x"), Topic("x"), Loop("x"), Query("x"), Sink("x")]
    for part in kinds:
        figure = pipeline([part]).drawing.svg("")
        figure = re.sub(r'(stroke|fill)="[^"]*"|<text.*?</text>', "", figure)
        shapes.add(tuple(re.findall(r"<(rect|polyline|path)|rx=\"(\d+)\"", figure)))
    assert len(shapes) == len(kinds)


def test_a_branch_leaves_and_joins_and_each_part_is_drawn_once() -> None:
    drawn = pipeline(*BRANCHED)
    at = places(drawn)
    assert all(len(at[name]) == 1 for name in ("shop", "clicks", "count", "metrics", "by_spark"))
    assert len(arrows(drawn)) == 6
    assert at["count"][0][1] == at["metrics"][0][1] < at["by_spark"][0][1] < at["dead"][0][1]
    assert at["count"][0][0] == at["by_spark"][0][0]
    assert at["dead"][0][0] == at["metrics"][0][0]
    goes_on = {row["part"]: row["goes on to"] for row in drawn.rows}
    assert goes_on == {
        "shop": "clicks", "clicks": "count, by_spark", "count": "metrics, dead",
        "metrics": "–", "by_spark": "metrics", "dead": "–",
    }  # fmt: skip
    assert drawn.words == (
        "shop → clicks → count → metrics; clicks → by_spark → metrics; count → dead."
    )


def test_an_arrow_begins_and_ends_at_its_boxes() -> None:
    drawn = pipeline(*BRANCHED)
    boxes = {}
    for name, [(x, y)] in ((n, at) for n, at in places(drawn).items() if len(at) == 1):
        boxes[name] = x, y
    ends = {(line[0][1], line[-1][1]) for line in arrows(drawn)}
    top, middle, low = (boxes[name][1] - 31 + 22 for name in ("count", "by_spark", "dead"))
    assert ends == {(top, top), (top, middle), (middle, top), (top, low)}
    assert all(line[0][0] < line[-1][0] for line in arrows(drawn))


def test_arrows_that_go_down_and_up_in_one_gap_dont_share_a_line() -> None:
    bends = {True: set(), False: set()}
    for line in arrows(pipeline(*BRANCHED)):
        if len(line) == 4 and line[0][0] > 200:  # in the gap behind count and by_spark
            bends[line[-1][1] > line[0][1]].add(line[1][0])
    assert bends[True]
    assert bends[False]
    assert max(bends[True]) < min(bends[False])


def test_a_part_stands_right_of_all_that_lead_to_it() -> None:
    shop, late = Producer("shop"), Sink("late")
    at = places(pipeline([shop, clicks, count, late], [clicks, late], [shop, clicks]))
    assert at["clicks"] < at["count"] < at["late"]


def test_an_arrow_of_two_paths_is_drawn_once() -> None:
    drawn = pipeline([clicks, count, metrics], [clicks, count, Topic("dead")])
    assert len(arrows(drawn)) == 3


def test_nothing_and_one_part_and_a_circle() -> None:
    assert pipeline().words == "This pipeline has no parts yet."
    assert pipeline([]).rows == []
    one = pipeline([Topic("<b>")])
    assert one.words == "<b>."
    assert "<b><" not in one.figure
    with pytest.raises(ValueError, match="comes back"):
        pipeline([clicks, count, clicks])


@pytest.fixture(params=[p for p in NOTEBOOKS if p.stem[:2].isdigit()], ids=lambda path: path.stem)
def notebook(request: pytest.FixtureRequest) -> Path:
    return request.param


def test_each_chapter_has_one_with_the_names_of_its_notebook(notebook: Path) -> None:
    paths = diagram.declared(notebook.stem)
    assert paths, f"{notebook.stem} declares no pipeline: diagram.py in its exercises' folder"
    text = "\n".join(texts(notebook, "code") + texts(notebook, "markdown"))
    for part in (part for path in paths for part in path):
        for name in re.findall(r"\w+", f"{part.name} {part.remembers}"):
            assert re.search(rf"\b{name}\b", text), f"{name} isn't in {notebook.stem}"


def test_a_chapters_diagram_fits_on_the_page(notebook: Path) -> None:
    drawn = pipeline(*diagram.declared(notebook.stem))
    assert drawn.drawing.width <= 900
    assert drawn.drawing.height <= 320


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Picture]]:
    """What is displayed, as in a notebook's kernel."""
    seen: list[Picture] = []
    monkeypatch.setattr(diagram, "display", seen.append)
    monkeypatch.setattr(diagram, "get_ipython", lambda: SimpleNamespace(kernel=1))
    return seen


def test_a_chapter_shows_its_pipeline_when_it_is_made(broker: Any, shown: list[Picture]) -> None:
    Chapter("02_views_per_second").close()
    assert [picture.words for picture in shown] == [
        "shop, visitors → clicks → completed → by_hand; clicks → views_per_second → by_spark."
    ]


@pytest.mark.parametrize("name", ["77_a_test", "mine", "", "01_", "my own_chapter.x", "03_engine"])
def test_nothing_is_shown_where_none_is_declared(name: str, shown: list[Picture]) -> None:
    diagram.show(name)
    assert shown == []


def test_nothing_is_shown_for_a_folder_without_a_diagram(
    shown: list[Picture], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diagram, "LESSONS", "workbook")
    diagram.show("77_views")
    assert shown == []


def test_nothing_is_shown_outside_a_notebook(
    shown: list[Picture], monkeypatch: pytest.MonkeyPatch
) -> None:
    for shell in (None, SimpleNamespace()):  # a program, and IPython in a terminal
        monkeypatch.setattr(diagram, "get_ipython", lambda shell=shell: shell)
        diagram.show("02_views_per_second")
    assert shown == []
