"""Event time against arrival: who is drawn where, what the stair drops, and what the words say."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from workbook.views.axis import TimeAxis, duration, moment
from workbook.views.event_time_sheet import MOST

from workbook.views.event_time import event_time
from workbook.views.picture import Picture
from workbook.views.runs import EARLIER, WAITING, MicroBatch, Read, Run, dropped, joined, newest
from workbook.views.runs import reported as of_reports

NOON = 1_700_049_600_000
"""2023-11-15 12:00:00 UTC."""
IN_2099 = 4_070_908_800_000


def clicks(*rows: tuple[int, int, int]) -> pd.DataFrame:
    """Partition, offset, event time in ms after noon; they arrive in this order."""
    table = pd.DataFrame(rows, columns=["partition", "offset", "time"], dtype="int64")
    return table.assign(arrival=NOON + np.arange(len(rows)), time=NOON + table["time"])


def in_bites(times: list[list[int]], delay: int = 5_000) -> Run:
    """One partition; a list of event times for each micro-batch, and a watermark as Spark's."""
    flat = [time for bite in times for time in bite]
    table = clicks(*((0, offset, time) for offset, time in enumerate(flat)))
    read, end, top = {}, 0, None
    for number, bite in enumerate(times):
        end += len(bite)
        read[number] = Read({0: end}, None if top is None else NOON + top - delay)
        top = max([top, *bite] if top is not None else bite, default=None)
    return joined(table, read)


def titles(picture: Picture) -> dict[int, str]:
    """What is said of the click at each offset, for who points at it."""
    found = re.findall(r"<title>partition \d+, offset (\d+): ([^<]*)</title>", picture.figure)
    return {int(offset): words for offset, words in found}


def dots(picture: Picture) -> dict[int, tuple[float, float]]:
    shape = r'<circle cx="([\d.]+)" cy="([\d.]+)"[^>]*><title>partition \d+, offset (\d+):'
    return {int(o): (float(x), float(y)) for x, y, o in re.findall(shape, picture.figure)}


def crosses(picture: Picture) -> int:
    """The crosses on clicks, without the legend's."""
    return len(re.findall(r"<path [^>]*><title>partition", picture.figure))


def stair(picture: Picture) -> list[tuple[float, float]]:
    [points] = re.findall(r'points="([^"]*)"[^>]*stroke-width="2.5"', picture.figure)[:1]
    return [(float(x), float(y)) for x, y in (pair.split(",") for pair in points.split())]


def level(steps: list[tuple[float, float]], x: float) -> float:
    """How high the stair is at a place; far below all before it begins."""
    return next((b for (a, b), (end, _) in pairwise(steps) if a <= x <= end), 1e9)


TUNNEL = [[100, 200, 3_100], [], [900, 4_200], [-60_000], [9_000], [], [3_999, 4_000]]
"""Two late ones: 900 is counted, -60,000 and 3,999 come after the watermark."""


def test_a_click_is_dropped_if_its_window_had_ended_by_the_watermark_of_the_batch_before() -> None:
    run = in_bites(TUNNEL)
    assert [batch.drops and batch.drops - NOON for batch in run.batches] == [
        None, None, -1_900, -1_900, -800, -800, 4_000,
    ]  # fmt: skip
    assert dropped(run).tolist() == [False] * 5 + [True, False, True, False]
    drawn = event_time(run)
    said = titles(drawn)
    assert [said[n].endswith("dropped") for n in range(9)] == dropped(run).tolist()
    assert crosses(drawn) == 2
    assert "2 were dropped: their windows had ended by the watermark of the" in drawn.words


def test_a_batch_doesnt_drop_by_its_own_watermark() -> None:
    """In a backlog the batch's own one is ahead, yet what ended by it is still counted."""
    run = in_bites([[10_000], [4_000], [3_999, 10_500]])
    assert [b.watermark and b.watermark - NOON for b in run.batches] == [None, 5_000, 5_000]
    assert dropped(run).tolist() == [False, False, True, False]


def test_the_borders_of_a_window_count_as_sparks_do() -> None:
    run = in_bites([[9_999], [], [3_999], [4_000]])  # the watermark is 4,999
    assert dropped(run).tolist() == [False, True, False]
    run = in_bites([[10_000], [], [4_000, 4_999, 5_000]])  # it is 5,000
    assert dropped(run).tolist() == [False, True, True, False]
    assert dropped(run, 10_000).tolist() == [False] * 4


def test_before_the_first_watermark_only_what_ended_by_1970_is_dropped() -> None:
    table = clicks((0, 0, -NOON - 1), (0, 1, -NOON), (0, 2, 0))
    assert dropped(joined(table, {0: Read({0: 3}, None)})).tolist() == [True, False, False]


def test_a_dot_stands_by_its_arrival_and_its_event_time() -> None:
    at = dots(event_time(in_bites(TUNNEL)))
    in_order = [at[n] for n in range(9)]
    assert [x for x, _ in in_order] == sorted(x for x, _ in in_order)
    by_time = sorted(at, key=lambda n: [100, 200, 3100, 900, 4200, -60000, 9000, 3999, 4000][n])
    heights = [at[n][1] for n in by_time]
    assert heights == sorted(heights, reverse=True)
    assert len(set(heights)) == 9


def test_what_is_dropped_lies_below_the_stair_and_what_is_counted_reaches_above_it() -> None:
    run = in_bites([[n * 700 - 15_000 * (n % 3 == 2) for n in range(k, k + 3)] for k in range(60)])
    drawn = event_time(run)
    steps = stair(drawn)
    assert steps == sorted(steps, key=lambda step: step[0])
    for offset, (x, y) in dots(drawn).items():
        if titles(drawn)[offset].endswith("dropped"):
            assert y > level(steps, x), "below the stair"
    assert 0 < dropped(run).sum() < len(run.clicks)


def test_the_stair_ends_with_what_the_next_micro_batch_will_drop_by() -> None:
    drawn = event_time(in_bites([[100], [9_100], []]))
    assert "the watermark is 12:00:04.100" in drawn.words
    assert drawn.rows[-1]["watermark"] == "12:00:04.100"
    assert [row["drops what ended by"] for row in drawn.rows] == ["–", "–", "11:59:55.100"]
    heights = [y for _, y in stair(drawn)]
    assert heights[-1] < heights[0], "it has climbed"


def test_the_stair_is_what_a_micro_batch_drops_by_and_not_what_it_closes_by() -> None:
    drawn = event_time(in_bites([[0], [20_000], [5_000, 21_000]]))
    x, y = dots(drawn)[2]
    assert y < level(stair(drawn), x), "5 s is counted: above the stair, far below the watermark"
    assert "the watermark is 12:00:15" in drawn.words


def test_2099_stands_at_the_edge_and_squashes_nobody() -> None:
    run = in_bites([[0, 1_000, 2_000], [], [IN_2099 - NOON], [], [2_500, 2_600], []])
    drawn = event_time(run)
    at = dots(drawn)
    assert at[0][1] - at[2][1] > 50, "two seconds are still far apart"
    assert at[3][1] < min(at[n][1] for n in (0, 1, 2, 4, 5))
    assert "2099-01-01 00:00:00" in drawn.figure
    assert "75 years left out" in drawn.figure
    assert "the watermark is 2098-12-31 23:59:55" in drawn.words
    assert [titles(drawn)[n].endswith("dropped") for n in range(6)] == [False] * 4 + [True] * 2
    assert [row["dropped"] for row in drawn.rows] == [0, 0, 0, 0, 2, 0]


def test_windows_are_closed_by_the_watermark_and_look_different() -> None:
    run = in_bites([[0, 100, 1_000], [], [7_000], []])
    drawn = event_time(run)
    assert "4 page views in 3 windows, 2 closed and 1 open" in drawn.words
    assert "<title>2, closed</title>" in drawn.figure
    assert "<title>1, open</title>" in drawn.figure
    closed = drawn.figure.index("<title>2, closed</title>")
    assert 'opacity="0.6"' in drawn.figure[closed : closed + 300], "hatched"
    [before] = re.findall(r"<rect [^>]*><title>1, open", drawn.figure)
    assert "stroke-dasharray" in before
    early = event_time(run, until=1)
    assert "3 page views in 2 windows, 0 closed and 2 open" in early.words


def test_a_window_says_what_it_has_counted_and_lost() -> None:
    drawn = event_time(in_bites([[0, 100, 1_000], [], [7_000], [], [500, 600]]))
    assert "<title>2 and 2 ✗, closed</title>" in drawn.figure


def test_going_back_shows_what_was_known_then_on_the_same_axes() -> None:
    run = in_bites(TUNNEL)
    whole, early = event_time(run), event_time(run, until=2)
    assert sorted(titles(early)) == [0, 1, 2, 3, 4]
    assert {n: dots(whole)[n] for n in range(5)} == dots(early)
    assert "In micro-batches 0 to 2: 5 page views" in early.words
    assert "None was dropped." in early.words
    assert len(early.rows) == 3
    assert "In micro-batch 0: 3 page views" in event_time(run, until=0).words


def test_of_a_long_run_the_last_clicks_are_drawn() -> None:
    run = in_bites([[100 * n, 100 * n + 50] for n in range(30)])
    assert [batch.number for batch in newest(run, 5)] == [27, 28, 29]
    drawn = event_time(run, last=5)
    assert sorted(titles(drawn)) == list(range(54, 60))
    assert "In micro-batches 27 to 29: 6 page views" in drawn.words
    assert [batch.number for batch in newest(run, 4)] == [28, 29]
    assert newest(run, 1_000) == list(run.batches)


def test_partitions_are_told_apart_by_their_mark() -> None:
    table = clicks((0, 0, 0), (1, 0, 9_000), (0, 1, 100), (1, 1, 9_100))
    read = {
        0: Read({0: 1, 1: 1}, None),
        1: Read({0: 1, 1: 1}, NOON + 4_000),
        2: Read({0: 2, 1: 2}, NOON + 4_000),
    }
    drawn = event_time(joined(table, read), apart=1)
    assert len(re.findall(r"<circle [^>]*><title>partition 0", drawn.figure)) == 2
    assert len(re.findall(r"<rect [^>]*><title>partition 1", drawn.figure)) == 2
    assert "1 was dropped, of partition 0: its window had ended" in drawn.words
    assert "of partition 1" in drawn.figure
    other = event_time(joined(table, read), apart=0)
    assert len(re.findall(r"<rect [^>]*><title>partition 0", other.figure)) == 2
    assert crosses(other) == crosses(drawn) == 1


def test_clicks_stand_in_the_order_of_arrival_whatever_their_partition() -> None:
    table = clicks((1, 7, 0), (0, 3, 0), (1, 8, 0), (0, 4, 0))[::-1]
    at = dots(event_time(joined(table, {0: Read({0: 9, 1: 9}, None)})))
    assert sorted(at, key=lambda offset: at[offset][0]) == [7, 3, 8, 4]


def test_what_waits_to_be_read_stands_apart() -> None:
    table = clicks((0, 0, 0), (0, 1, 100), (0, 2, 200))
    drawn = event_time(joined(table, {0: Read({0: 1}, None)}))
    assert "2 page views wait to be read." in drawn.words
    assert titles(drawn)[1].endswith("not read yet")
    assert "not read yet" in drawn.figure
    assert drawn.rows == [
        {"micro-batch": 0, "page views": 1, "event times": "12:00:00", "drops what ended by": "–",
         "dropped": 0, "watermark": "–"}
    ]  # fmt: skip
    later = {0: Read({0: 1}, None), 1: Read({0: 2}, None)}
    assert sorted(titles(event_time(joined(table, later), until=0))) == [0]
    assert sorted(titles(event_time(joined(table, later)))) == [0, 1, 2]
    one = event_time(joined(table[:2], {0: Read({0: 1}, None)}))
    assert "1 page view waits to be read." in one.words


def test_an_empty_topic_and_a_query_without_progress() -> None:
    assert event_time(Run()).words == "No page view has come yet."
    assert event_time(joined(clicks(), {0: Read({0: 0}, None)})).words.startswith("No page view")
    drawn = event_time(joined(clicks((0, 0, 0)), {}))
    assert drawn.words == (
        "The query has reported no micro-batch yet. 1 page view waits to be read."
    )
    assert drawn.rows == []
    assert event_time(Run(failed="no such topic.")).words.startswith(
        "The query has failed: no such topic. "
    )


def test_one_record() -> None:
    drawn = event_time(in_bites([[250], []]))
    assert drawn.words == (
        "In micro-batches 0 to 1: 1 page view in 1 window, 0 closed and 1 open; "
        "the watermark is 11:59:55.250. None was dropped."
    )
    assert list(dots(drawn)) == [0]


def test_records_that_cant_be_read_are_counted() -> None:
    run = joined(clicks((0, 0, 0)), {0: Read({0: 3}, None)}, unreadable=2)
    assert "2 records couldn't be read." in event_time(run).words
    assert "couldn't" not in event_time(in_bites([[0]])).words


def test_micro_batches_whose_reports_are_gone_arent_guessed() -> None:
    run = in_bites([[n * 1_000] for n in range(9)])
    read = {b.number: Read({0: b.number + 1}, b.watermark) for b in run.batches[4:]}
    cut = joined(run.clicks.drop(columns="batch"), read)
    assert cut.clicks["batch"].tolist() == [EARLIER] * 5 + [5, 6, 7, 8]
    assert [batch.number for batch in cut.batches] == [5, 6, 7, 8]
    assert list(cut.batches) == list(run.batches[5:])
    only = joined(run.clicks.drop(columns="batch"), {8: Read({0: 9}, None)})
    assert "keeps no report" in event_time(only).words


def report(number: int, end: object, mark: str = "", idle: bool = False) -> dict[str, Any]:
    """A progress report, as far as the picture reads it."""
    return {
        "batchId": number,
        "durationMs": {"triggerExecution": 3} | ({} if idle else {"addBatch": 2}),
        "eventTime": {"watermark": mark} if mark else {},
        "sources": [{"endOffset": end}, {"endOffset": None}],
    }


def test_progress_reports_say_how_far_and_by_which_watermark() -> None:
    reports = [
        report(0, '{"clicks": {"0": 3, "1": 2}, "other": {"0": 9}}', "1970-01-01T00:00:00.000Z"),
        report(1, {"clicks": {"0": 5}}, "2023-11-15T12:00:00.250Z"),
        report(2, {"clicks": {"0": 5}}, "2023-11-15T12:00:01.000Z", idle=True),
    ]
    assert of_reports(reports, "clicks") == {
        0: Read({0: 3, 1: 2}, None), 1: Read({0: 5}, NOON + 250),
    }  # fmt: skip
    assert of_reports([report(0, None)], "clicks") == {0: Read({}, None)}


@pytest.mark.parametrize("count", [201, 5_000, 1_000_000])
def test_of_many_clicks_a_sample_is_drawn_that_keeps_what_is_rare(count: int) -> None:
    draw = np.random.default_rng(5)
    table = pd.DataFrame({
        "partition": draw.integers(0, 24, count), "offset": np.arange(count),
        "arrival": NOON + np.arange(count), "time": NOON + draw.integers(0, 60_000, count),
    })  # fmt: skip
    table.loc[count // 2, "time"] = IN_2099
    table.loc[count - 1, "time"] = NOON - 600_000
    table["batch"] = np.where(np.arange(count) < count - 1, 0, 1)
    run = Run(table, [MicroBatch(0, None, None), MicroBatch(1, NOON - 1_000, NOON)])
    drawn = event_time(run, apart=7)
    said = titles(drawn)
    assert len(said) <= MOST
    assert count // 2 in said, "the only one of 2099"
    assert said[count - 1].endswith("dropped"), "the only one that was dropped"
    shown = re.search(r"Of ([\d,]+) a sample of ([\d,]+) is drawn", drawn.words)
    assert shown is not None
    assert shown.groups() == (f"{count:,}", f"{len(said):,}")
    assert f"{count:,} page views" in drawn.words


def test_in_a_crowd_no_kind_hides_another() -> None:
    table = clicks(*((n % 2, n, 0) for n in range(2_000)))
    drawn = event_time(joined(table, {0: Read({0: 9_999, 1: 9_999}, None)}), apart=1)
    shapes = [re.findall(f"<{s} [^>]*><title>partition", drawn.figure) for s in ("circle", "rect")]
    assert all(80 < len(found) < 120 for found in shapes)


def test_windows_on_either_side_of_what_is_left_out_have_boxes_of_their_own() -> None:
    times = [*range(-600_000, -597_000, 1_000), *range(0, 60_000, 1_000)]
    drawn = event_time(in_bites([times, [90_000], []]))
    boxes = re.findall(r"<title>(\d+) (closed|open)</title>", drawn.figure)
    assert sorted(boxes) == [("1", "open"), ("3", "closed"), ("60", "closed")]


def test_equal_runs_are_drawn_equally_and_nothing_is_cut_off() -> None:
    run = in_bites(TUNNEL)
    assert event_time(run).figure == event_time(in_bites(TUNNEL)).figure
    shuffled = Run(run.clicks.sample(frac=1, random_state=3), run.batches)
    assert event_time(shuffled).figure == event_time(run).figure
    drawing = event_time(run).drawing
    assert drawing.width <= 900
    for x, y in dots(event_time(run)).values():
        assert 0 < x < drawing.width
        assert 0 < y < drawing.height


# --- the axis ---------------------------------------------------------------------------------


def test_an_axis_rises_and_leaves_out_what_is_empty() -> None:
    times = [NOON + s * 1000 for s in (*range(10), 300, 301)]
    axis = TimeAxis(times, 400.0, 0.0, 1000)
    assert [(part.end - part.start) // 1000 for part in axis.left_out] == [290]
    assert [axis(time) for time in times] == sorted((axis(time) for time in times), reverse=True)
    assert axis(NOON) == 400
    assert axis(NOON + 302_000) == pytest.approx(0)
    assert axis(NOON - 10**9) == 400, "outside it's the nearest end"
    assert axis.places(np.array(times)).tolist() == [axis(time) for time in times]


def test_an_axis_keeps_short_silences_and_has_few_breaks() -> None:
    assert TimeAxis([NOON, NOON + 9_000], 400, 0, 1000).left_out == []
    minutes = [NOON + s * 1000 for s in (*range(90), *range(105, 120))]
    assert TimeAxis(minutes, 400, 0, 1000).left_out == [], "15 s of 120 aren't worth a break"
    lonely = TimeAxis([NOON + n * 10**7 for n in range(50)], 400, 0, 1000)
    assert len(lonely.left_out) <= 6
    assert all(part.bottom > part.top for part in lonely.stretches)
    assert TimeAxis([], 400, 0, 1000).drawn


def test_labels_dont_touch_each_other_and_name_the_day_where_it_differs() -> None:
    for count in (3, 7, 60, 200, 999):
        for start in range(NOON, NOON + 60_000, 7_000):
            times = [start + n * 1000 for n in range(count)] + [IN_2099 - 1_000, IN_2099]
            axis = TimeAxis(times, 394, 34, 1000)
            places = [axis(time) for time, _ in axis.labels()]
            assert min(a - b for a, b in pairwise(places)) >= 12
            assert axis.words(start) == moment(start)
            assert axis.words(IN_2099) == "2099-01-01 00:00:00"
    minute = [NOON + n * 1000 for n in range(60)]
    far = TimeAxis([*minute, IN_2099 - 3_000, IN_2099 + 3_000], 394, 34, 1000).labels()
    assert far[-1] == (IN_2099 + 3_000, "2099-01-01 00:00:03"), "the last window has its label"


@pytest.mark.parametrize(
    ("ms", "words"),
    [(0, "00:00:00"), (1_001, "00:00:01.001"), (-1, "23:59:59.999"),
     (10**15, "1,000,000,000,000,000 ms")],
)  # fmt: skip
def test_times_in_words(ms: int, words: str) -> None:
    assert moment(ms) == words


@pytest.mark.parametrize(
    ("ms", "words"),
    [(250, "0.25 seconds"), (1_000, "1 second"), (55_000, "55 seconds"), (60_000, "1 minute"),
     (600_000, "10 minutes"), (7_200_000, "2 hours"), (86_400_000, "1 day"),
     (73 * 31_557_600_000, "73 years")],
)  # fmt: skip
def test_durations_in_words(ms: int, words: str) -> None:
    assert duration(ms) == words


def test_nothing_waits_without_its_own_mark() -> None:
    run = joined(clicks((0, 0, 0), (0, 1, 10)), {0: Read({0: 1}, None)})
    assert run.clicks["batch"].tolist() == [0, WAITING]
    [shape] = re.findall(r"<circle [^>]*><title>partition 0, offset 1", event_time(run).figure)
    assert 'fill="none"' in shape


def test_a_watermark_past_the_year_9999_and_durations_that_are_no_round_number() -> None:
    from workbook.views.axis import duration

    from workbook.views.runs import LAST_MS, _watermark

    assert _watermark({"eventTime": {"watermark": "+33658-09-27T01:46:40.000Z"}}) == LAST_MS
    said = [duration(ms) for ms in (90_000, 60_000, 3_600_000, 5_000, 1_000)]
    assert said == ["90 seconds", "1 minute", "1 hour", "5 seconds", "1 second"]
