"""Pictures with axes: data in, words and rows out; and what a run's watermark drops."""

import base64
import re
import xml.dom.minidom

import numpy as np
import pandas as pd
import pytest

from workbook.views.charts import per_second
from workbook.views.clocks import clocks
from workbook.views.event_time import MOST, event_time
from workbook.views.leads import leads
from workbook.views.merging import DRAWN, Moment, merging
from workbook.views.picture import NOTHING, Picture, duration, moment
from workbook.views.plane import Plane
from workbook.views.runs import (
    LAST_MS,
    MicroBatch,
    Read,
    Run,
    dropped,
    joined,
    newest,
    reported,
)

NOON = 1_700_049_600_000
"""2023-11-15 12:00:00 UTC."""
IN_2099 = 4_070_908_800_000


def drawn_words(picture: Picture) -> str:
    """The words that stand in the drawing itself."""
    [data] = re.findall(r"base64,([^\"]+)", picture.figure)
    svg = base64.b64decode(data).decode()
    return " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", svg))


# --- event time against arrival ---------------------------------------------------------------


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


TUNNEL = [[100, 200, 3_100], [], [900, 4_200], [-60_000], [9_000], [], [3_999, 4_000]]
"""Two late ones: 900 is counted, -60,000 and 3,999 come after the watermark."""


def test_a_click_is_dropped_if_its_window_had_ended_by_the_watermark_of_the_batch_before() -> None:
    run = in_bites(TUNNEL)
    assert [batch.drops and batch.drops - NOON for batch in run.batches] == [
        None, None, -1_900, -1_900, -800, -800, 4_000,
    ]  # fmt: skip
    assert dropped(run).tolist() == [False] * 5 + [True, False, True, False]
    drawn = event_time(run)
    assert drawn.words == (
        "Micro-batches 0 to 6: 9 page views in 5 windows. Dropped: 2 (2 of partition 0)."
    )
    assert [row["dropped"] for row in drawn.rows] == [0, 0, 0, 1, 0, 0, 1]
    assert "earlier: 2023-11-15 11:59:00" in drawn_words(drawn)


def test_a_slider_shows_the_clicks_up_to_a_micro_batch_and_a_partition_apart() -> None:
    run = in_bites(TUNNEL)
    early = event_time(run, until=2)
    assert "5 page views in 3 windows" in early.words
    assert len(early.rows) == 3
    assert [batch.number for batch in newest(run, 3)] == [4, 5, 6]
    assert "page view of partition 0, dropped" in drawn_words(event_time(run, apart=0))


def test_an_empty_topic_a_query_without_progress_and_one_that_failed() -> None:
    assert event_time(Run()).words == "No page view has come yet."
    drawn = event_time(joined(clicks((0, 0, 0)), {}))
    assert drawn.words == ("The query has no report yet. Waiting to be read: 1 page view.")
    assert "not read yet" in drawn_words(drawn)
    assert event_time(Run(failed="no such topic.")).words.startswith(
        "The query has failed: no such topic. "
    )
    run = joined(clicks((0, 0, 0)), {0: Read({0: 3}, None)}, unreadable=2)
    assert "2 records couldn't be read." in event_time(run).words


def test_a_watermark_past_the_year_9999_is_its_end() -> None:
    """Spark writes such a year with a sign; an idle query's report is the next micro-batch's."""
    report = {"batchId": 3, "durationMs": {"addBatch": 2}, "sources": [{"endOffset": None}]}
    mark = {"eventTime": {"watermark": "+33658-09-27T01:46:40.000Z"}}
    idle = {"batchId": 4, "durationMs": {"triggerExecution": 3}}
    assert reported([report | mark, report | idle], "clicks") == {3: Read({}, LAST_MS)}


def test_of_many_clicks_a_sample_is_drawn_that_keeps_what_is_rare() -> None:
    count = 200_000
    draw = np.random.default_rng(5)
    table = pd.DataFrame({
        "partition": draw.integers(0, 24, count), "offset": np.arange(count),
        "arrival": NOON + np.arange(count), "time": NOON + draw.integers(0, 60_000, count),
    })  # fmt: skip
    table.loc[count // 2, "time"] = IN_2099
    table.loc[count - 1, "time"] = NOON - 600_000
    table["batch"] = np.where(np.arange(count) < count - 1, 0, 1)
    drawn = event_time(Run(table, [MicroBatch(0, None, None), MicroBatch(1, NOON - 1_000, NOON)]))
    shown = re.search(r"Of ([\d,]+) a sample of ([\d,]+) is drawn", drawn.words)
    assert shown is not None
    assert shown[1] == f"{count:,}"
    assert int(shown[2].replace(",", "")) <= MOST + 1
    assert "Dropped: 1 (" in drawn.words
    assert "earlier: 2023-11-15 11:50:00" in drawn_words(drawn)


# --- clocks -----------------------------------------------------------------------------------


def polled(*rows: tuple[int, int]) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=["partition", "timestamp"])
    return table.assign(timestamp=NOON + table["timestamp"])


THREE = polled((0, 0), (0, 9_500), (1, 2_200), (2, 4_800), (0, 9_100))


def test_a_clock_is_the_newest_event_time_of_its_partition() -> None:
    drawn = clocks(THREE, 3)
    assert drawn.words == (
        "Partitions with a clock: 3 of 3. Closed by the minimum: 1 of 4 windows. Closed by the "
        "maximum less 5 seconds: 2 of 4 windows. The next click may come too late in: partition 1."
    )
    assert [row["its window"] for row in drawn.rows] == ["open", "closed by the maximum", "open"]
    assert "by minimum:" in drawn_words(drawn)


def test_without_a_record_a_partition_holds_the_minimum_back() -> None:
    assert "because these have no record yet: partitions 3, 4." in clocks(THREE, 5).words
    assert "no record yet" in drawn_words(clocks(THREE, 5))
    night = polled(*((n % 3, n * 100) for n in range(100)))
    assert "minimum: 0 of 10 windows, because" in clocks(night, 4).words
    beat = pd.concat([night, polled((3, 10_500))])
    assert "minimum: 9 of 11 windows." in clocks(beat, 4).words
    assert "late" not in clocks(beat, 4, until=1).words
    assert clocks(beat, 4, until=100).words == clocks(night, 4).words
    assert clocks(polled(), 24).words.startswith("Partitions with a clock: 0 of 24.")


# --- two topics -------------------------------------------------------------------------------

THERE = {"tracking": [0, 5, 10, 40], "orders": [0, 20]}


def test_leads_say_what_was_read_and_who_waits() -> None:
    drawn = leads(THERE, {"tracking": 4, "orders": 2}, 10)
    assert drawn.words == (
        "topic: tracking; top: second 40; state: waits; read: 0, 5, 10, 40; waiting: –. "
        "topic: orders; top: second 20; state: may go on; read: 0, 20; waiting: –."
    )
    assert "may read up to here" in drawn_words(drawn)
    assert "waits, all read" in drawn_words(drawn)
    assert leads(THERE, {"tracking": 0, "orders": 0}, 10).words.count("may go on") == 2
    assert "waits" not in leads({"a": [10], "b": [0]}, {"a": 1, "b": 1}, 10).words
    assert leads({"a": [], "b": []}, {"a": 0, "b": 0}, 10).words.count("none yet") == 2


TOPICS = ("tracking", "orders")
AT = 1_767_225_600_000  # midnight
RUN: list[Moment] = [
    ("tracking", "a", AT, {"tracking": AT}, {"a": AT + 20_000}, []),
    ("orders", "a", AT + 5_000, {"tracking": AT, "orders": AT + 5_000}, {"a": AT + 25_000}, []),
    (
        *("tracking", "b", AT + 30_000, {"tracking": AT + 30_000, "orders": AT + 5_000}),
        *({"a": AT + 25_000, "b": AT + 50_000}, []),
    ),
    (
        *("orders", None, AT + 40_000, {"tracking": AT + 30_000, "orders": AT + 40_000}),
        *({"b": AT + 50_000}, ["a"]),
    ),
]


def test_a_merge_says_where_both_topics_and_the_clock_are() -> None:
    drawn = merging(RUN, TOPICS)
    assert drawn.words == (
        "The last of 4 rows: message: 4; of: orders: heartbeat; event time: 00:00:40; "
        "clock: 00:00:30; open: b; emitted: a."
    )
    assert "clock 00:00:30" in drawn_words(drawn)
    assert "✓ emitted" in drawn_words(drawn)
    assert "clock: –; open: a; emitted: –" in merging(RUN, TOPICS, 1).words
    assert "clock" not in drawn_words(merging(RUN, TOPICS, 1))
    assert merging([], TOPICS).words == NOTHING
    many: list[Moment] = []
    for n in range(40):
        dues = {f"v{m}": AT + m for m in range(n + 1)}
        many.append(("tracking", f"v{n}", AT + n, {"tracking": AT + n}, dues, []))
    assert f"Drawn: the {DRAWN} of 40 visits" in merging(many, TOPICS).caption


# --- counts -----------------------------------------------------------------------------------


def test_a_chart_of_counts_names_each_series() -> None:
    drawn = per_second({"a": {10: 4, 12: 6}, "b": {}}, "Views")
    assert drawn.words == (
        "line: a; newest second: 6; on average: 3.3. "
        "line: b; newest second: nothing yet; on average: 0.0."
    )


@pytest.mark.parametrize(
    ("ms", "words"),
    [(0, "00:00:00"), (1_001, "00:00:01.001"), (-1, "23:59:59.999"),
     (10**15, "1,000,000,000,000,000 ms")],
)  # fmt: skip
def test_times_in_words(ms: int, words: str) -> None:
    assert moment(ms) == words
    lengths = (250, 1_000, 55_000, 60_000, 90_000, 7_200_000, 86_400_000, 73 * 31_557_600_000)
    assert [duration(length) for length in lengths] == [
        *("0.25 seconds", "1 second", "55 seconds", "1 minute", "90 seconds", "2 hours", "1 day"),
        "73 years",
    ]


@pytest.mark.parametrize(
    "name", ["team$x{$y", "$\\frac$", "a\x00\x1fb", "\ud800", "a\n\rb", "<i>&", "_a", ""]
)
def test_names_from_outside_are_drawn_whatever_they_are(name: str) -> None:
    lanes, chart = Plane("across", "upwards"), per_second({name: {1: 2, 2: 3}}, "a caption").figure
    lanes.lanes([name])
    lanes.axes.text(0, 0, name)
    drawn = [base64.b64decode(*re.findall(r'base64,([^"]+)', i)) for i in (chart, lanes.svg(name))]
    for image in drawn:
        xml.dom.minidom.parseString(image)
    assert (b"_a" in drawn[0]) == (name == "_a"), "it's in the legend"
