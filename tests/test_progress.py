"""What the line of a running query says of its micro-batches."""

import json
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.streaming.listener import StreamingQueryProgress

from workbook.errors import WorkbookError
from workbook.spark.progress import Progress
from workbook.spark.runner import Batch
from workbook.systems import SYSTEMS
from workbook.systems.accounts import Clocks, Sums

START = 1_767_225_600.0  # 2026-01-01
ID = "00000000-0000-0000-0000-000000000000"


class Clock:
    now = START

    def __call__(self) -> float:
        return self.now


def batch(began: float, messages: int, read: int, end: int, **more: Any) -> StreamingQueryProgress:
    """A micro-batch that began so many seconds after START, as Spark tells it."""
    moment = datetime.fromtimestamp(START + began, UTC).isoformat().replace("+00:00", "Z")
    state = {
        "operatorName": "stateStoreSave", "numRowsTotal": 7, "numRowsUpdated": 1,
        "numRowsRemoved": more.get("removed", 0), "allUpdatesTimeMs": 0, "allRemovalsTimeMs": 0,
        "commitTimeMs": 0, "memoryUsedBytes": 0,
        "numRowsDroppedByWatermark": more.get("dropped", 0), "numShufflePartitions": 2,
        "numStateStoreInstances": 2, "customMetrics": {},
    }  # fmt: skip
    source = {
        "description": "Kafka", "startOffset": "{}", "endOffset": json.dumps({"c": {"0": read}}),
        "latestOffset": json.dumps({"c": {"0": end, "1": 5}}), "numInputRows": messages,
        "inputRowsPerSecond": 0.0, "processedRowsPerSecond": 0.0, "metrics": {},
    }  # fmt: skip
    told = {
        "id": ID, "runId": ID,
        "name": None, "timestamp": moment, "batchId": 0, "batchDuration": 1, "durationMs": {},
        "eventTime": {"watermark": more.get("watermark", "1970-01-01T00:00:00.000Z")},
        "stateOperators": [state], "sources": [source], "numInputRows": messages,
        "sink": {"description": "", "numOutputRows": -1, "metrics": {}}, "observedMetrics": {},
    }  # fmt: skip
    return StreamingQueryProgress.fromJson(told)


def test_the_line_before_and_after_the_first_sums() -> None:
    clock = Clock()
    sums = Sums()
    progress = Progress(sums, clock=clock)
    clock.now += 2
    assert str(progress) == "waiting for the first micro-batch, for 2 s"
    progress.take(batch(0, 1000, 1000, 1200))
    assert str(progress) == "500 messages/s, lag 205"
    clock.now += 1
    progress.take(batch(2, 200, 1200, 1200))
    told = {"read": 1200, "rejected": 3, "others": 400, "counted": 700, "too late": 7, "open": 90}
    told |= {"clock": int(START + 5) * 1000, "slowest": 3}
    rows = [{"kind": name, "views": n, "offsets": None} for name, n in told.items()]
    sums.write(pa.Table.from_pylist(rows), Batch("q", 0))
    assert str(progress) == (
        "400 messages/s, lag 5, 1,200 read = 700 counted + 90 in open seconds + 7 too late "
        "+ 3 rejected + 400 no page views, complete up to 2026-01-01 00:00:05 UTC, "
        "waiting for partition 3"
    )
    assert progress.messages == 1200


def test_late_rows_that_spark_drops_are_said() -> None:
    progress = Progress(clock=Clock())
    for began in (0, 1):
        progress.take(batch(began, 10, 10, 10, dropped=2))
    assert str(progress).endswith("4 late rows dropped by Spark")
    assert ("dropped", 4) in {(figure.of, figure.value) for figure in progress.figures()}


def test_lag_is_that_of_now_and_an_old_one_while_the_broker_is_silent() -> None:
    progress = Progress(clock=Clock())
    progress.know({("c", 0): 900, ("c", 1): 5})
    assert progress.lag is None
    progress.take(batch(0, 1000, 1000, 1000))
    assert progress.lag == 5
    progress.know({("c", 0): 3000})
    assert ", lag 2,005" in str(progress)
    progress.silent = True
    assert ", lag 2,005?" in str(progress)


def test_a_rate_is_that_of_the_last_seconds_and_nothing_when_idle() -> None:
    clock = Clock()
    progress = Progress(clock=clock)
    clock.now += 1
    progress.take(batch(0, 100_000, 0, 0))
    clock.now += 20
    progress.take(batch(19, 40, 0, 0))
    assert progress.rate == pytest.approx(20)
    progress.follow("1")
    progress.onQueryIdle(SimpleNamespace(id="1"))
    assert progress.rate == 0


# --- what Spark's listener bus hands over -----------------------------------------------------


def test_a_continued_query_waits_for_records_and_counts_what_a_killed_run_had_planned() -> None:
    progress, planned = Progress(clock=Clock()), batch(0, 1000, 1000, 1000)
    progress.follow(ID)
    progress.onQueryIdle(SimpleNamespace(id=ID))
    assert str(progress) == "waiting for records"
    planned.sources[0]["latestOffset"] = "None"  # as PySpark says it
    progress.take(planned)
    assert (progress.batches, progress.messages, progress.lag) == (1, 1000, 0)


def test_only_events_of_its_own_query_count_whenever_they_are_heard() -> None:
    progress, other = Progress(clock=Clock()), batch(0, 7, 7, 7)
    other["id"] = "another"
    for heard in (other, batch(0, 1000, 1000, 1000)):
        progress.onQueryProgress(SimpleNamespace(progress=heard))
    progress.onQueryTerminated(SimpleNamespace(id="another"))
    progress.follow(ID)
    progress.onQueryProgress(SimpleNamespace(progress=other))
    assert (progress.messages, progress.ended.is_set()) == (1000, False)


def test_an_error_in_the_listener_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(rejected=lambda: dict([1 / 0]), clock=Clock())
    progress.follow(ID)
    for began in (0, 1):
        progress.onQueryProgress(SimpleNamespace(progress=batch(began, 10, 10, 10)))
    assert capsys.readouterr().err.count("ZeroDivisionError") == 1


def test_rates_and_samples_go_on_after_the_clock_was_a_day_ahead() -> None:
    clock = Clock()
    progress = Progress(clock=clock)
    for tick, ahead in ((0, 0), (1, 86_400), (2, 0), (3, 0)):
        clock.now = START + ahead + tick + 1
        progress.take(batch(ahead + tick, 1000, 1000, 1000))
    assert progress.rate == pytest.approx(1000, rel=0.01)
    assert [sample.time - START for sample in progress.samples] == [3, 4]


# --- a merge ----------------------------------------------------------------------------------


def noted(clocks: Clocks, row: dict[str, Any]) -> None:
    clocks.write(pa.Table.from_pylist([{"kind": "clock", **row}]), Batch("q", 0))


def test_a_merge_says_what_a_visit_waits_for_until_one_is_complete() -> None:
    clocks = Clocks(("tracking", "orders"), 2)
    assert not clocks.shown("2 minutes").notes
    row = {"partition": 0, "timestamp": 5000, "newest_0": 5000, "newest_1": 9000, "open": 3}
    row["emitted"] = 0
    noted(clocks, row)
    [note] = clocks.shown("2 minutes").notes
    assert "must pass its newest message by 2 minutes (--timeout)" in note
    noted(clocks, {**row, "emitted": 1})
    shown = clocks.shown("2 minutes")
    assert not shown.notes
    assert shown.columns == ("partition", "tracking", "orders", "clock", "open", "emitted")
    five, nine = "01-01 00:00:05", "01-01 00:00:09"
    assert shown.rows == [("0", five, nine, five, "3", "1")]


@pytest.mark.parametrize(
    ("newest", "clock", "says"),
    [
        ((5000, 9000), 5000, "clock 1970-01-01 00:00:05 UTC by tracking[0]"),
        ((5000, None), None, "nothing yet from orders[0]"),
        ((9000, 5000), 9000, "clock 1970-01-01 00:00:09 UTC without orders[0]"),  # it's idle
        ((9000, 5000), None, "clock 1970-01-01 00:00:07 UTC by tracking[1]"),  # both are
    ],
)
def test_a_merge_says_whose_clock_it_is(newest, clock, says) -> None:
    clocks = Clocks(("tracking", "orders"), 2)
    times = {"timestamp": clock, "newest_0": newest[0], "newest_1": newest[1]}
    other = {"timestamp": 7000, "newest_0": 7000, "newest_1": 9000} if clock is None else times
    for number, row in enumerate((times, other) if clock is None and newest[1] else (times,)):
        noted(clocks, {"partition": number, "open": 1, "emitted": 0, **row})
    assert clocks.line().endswith(f" emitted, {says}")


def test_a_topic_isn_t_merged_with_itself() -> None:
    merge = SYSTEMS["event_time_merge"]
    with pytest.raises(WorkbookError, match="two topics to merge, but --in and --orders are both"):
        merge.check(merge.options(["--in", "orders"]))
