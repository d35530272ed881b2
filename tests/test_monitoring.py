"""Figures, alerts and Prometheus: each rule meets a fault that is injected into its samples."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.request import urlopen

import pytest
from brokers import free_port
from test_progress import START, Clock, batch

from workbook.cli.run import serving
from workbook.errors import WorkbookError
from workbook.spark.alerts import RULES, Sample, alerts
from workbook.spark.progress import TIMES, Progress, Tells
from workbook.stack import ports
from workbook.views.charts import monitor


def healthy(seconds: int = 90, step: int = 5) -> list[Sample]:
    """1,000 records/s, read by micro-batches of ``step`` seconds; the clock follows."""
    return [
        Sample(START + s, 1000 * (s - lag), {"malformed JSON": s}, 1000 * lag, 1000 * s + 1)
        for s, lag in ((s, s % step) for s in range(seconds))
    ]


@pytest.mark.parametrize("step", [5, 25, 40, 50])
def test_a_healthy_query_has_no_alert_at_any_moment(step: int) -> None:
    """Long micro-batches that keep up neither."""
    samples = healthy(240, step)
    assert not [n for n in range(1, len(samples)) if alerts(samples[:n])]


def overloaded(sample: Sample) -> Sample:
    """A fifth more arrives than is read."""
    return replace(sample, lag=(sample.lag or 0) + int(200 * (sample.time - START)))


def stuck(sample: Sample) -> Sample:
    return replace(sample, clock=1_767_225_605_000)


def rejecting(sample: Sample) -> Sample:
    """Three per cent become dead letters from the 60th second on."""
    bad = max(sample.read - 60_000, 0) * 3 // 100
    return replace(sample, rejected={"malformed JSON": 5, "no key": bad, "too late": 10**6})


def ahead(sample: Sample) -> Sample:
    """The reader's clock was a day ahead, and a producer's."""
    return replace(sample, clock=int(sample.time + 86_400) * 1000)


def idle(lag: int = 0) -> Callable[[Sample], Sample]:
    """Nothing is read, while this number of records arrives each second."""
    return lambda sample: replace(stuck(sample), read=7, lag=int(lag * (sample.time - START)))


@pytest.mark.parametrize(
    ("rule", "fault", "says"),
    [
        ("clock is ahead", ahead, r"up to 2026-01-02 00:01:29 UTC, 86,400 s .* this machine's"),
        ("lag grows", overloaded, r"from 6,000 to 14,000 records: .* raise --max-per-batch"),
        ("lag grows", idle(10), r"read nothing, while 600 .*--idle-timeout"),
        ("clock stands still", stuck, r"at 2026-01-01 00:00:05 UTC for a minute, while 60,000 re"),
        ("clock stands still", lambda s: replace(s, clock=0), "The clock is missing for a minute"),
        ("too many rejects", rejecting, r"1\.\d% of the last 60,000 .* 'no key'. Read the topic"),
        ("", idle(), ""),  # its clock may stand
        ("", lambda s: replace(s, clock=None), ""),  # there's none
    ],
)
def test_a_rule_meets_its_fault_and_no_other_rule_does(rule, fault, says) -> None:
    samples = [fault(sample) for sample in healthy()]
    found = alerts(samples)
    assert [*found] == [rule] * bool(rule)
    assert re.search(says, found.get(rule, ""))
    assert rule == "clock is ahead" or not alerts(samples[:55])  # a minute, not less


# --- the listener -----------------------------------------------------------------------------


class Told(Tells):
    letters: dict[str, int]

    def counts(self) -> dict[str, int]:
        return {"duplicate": 4, "late": 0}

    def completed(self) -> int:
        return 5000


def progress(clock: Clock) -> tuple[Progress, Told]:
    sink = Told()
    sink.letters = {}
    return Progress(sink, rejected=lambda: sink.letters, clock=clock), sink


def reading(began: float, read: int, times: list[int] | None = None) -> Any:
    told = batch(began, 1000, read, read)
    told.durationMs.update(addBatch=400, triggerExecution=500)
    if times:
        told.observedMetrics[TIMES] = {"ms": [int(START * 1000) + ms for ms in times]}
    return told


def test_the_delay_is_from_the_timestamp_to_the_end_of_the_micro_batch() -> None:
    clock = Clock()
    made, _ = progress(clock)
    clock.now += 2
    made.take(reading(1, 1000, [500, -1500]))
    assert made.delay == (1.0, 3.0)
    assert str(made) == "1,000 messages/s, p99 delay 3.0 s, lag 5, 4 duplicate"
    made.take(reading(1.5, 2000))  # nothing observed: the older delay stays
    assert made.delay == (1.0, 3.0)


def test_samples_are_a_second_apart_and_the_last_one_is_that_of_now() -> None:
    clock = Clock()
    made, sink = progress(clock)
    for tick in range(1, 1501):
        clock.now = START + tick / 10
        made.messages = tick
        made.sample()
    assert made.samples[-1] == Sample(clock.now, 1500, {}, None, 5000)
    assert 110 <= len(made.samples) <= 140
    sink.letters = {"no key": 30}
    made.take(reading(150, 1000))
    assert [*made.alerts()] == ["too many rejects", "clock stands still"][::-1]


# --- a panel and Prometheus -------------------------------------------------------------------


def scraped(port: int) -> dict[str, float]:
    text = urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10).read().decode()
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_prometheus_and_the_panel_have_the_same_figures() -> None:
    clock = Clock()
    made, sink = progress(clock)
    sink.letters = {"no key": 300}
    clock.now += 2
    port = free_port()
    with serving(port, "page_views") as figures:
        assert scraped(port) == {}  # before there is a query
        figures.progress = made
        made.take(reading(1, 1000, [500, -1500]))
        found = scraped(port)
        taken = pytest.raises(WorkbookError, match=f"port {port} of 127.0.0.1 .* choose another")
        with taken, serving(port, "ad_statistics"):
            pass
    assert ports.is_free(port)
    of = 'system="page_views"'
    assert found[f'workbook_rejected_records_total{{of="no key",{of}}}'] == 300
    assert found[f'workbook_delay_seconds{{of="p99",{of}}}'] == 3
    assert found[f'workbook_phase_seconds{{of="addBatch",{of}}}'] == 0.4
    assert found[f'workbook_count{{of="duplicate",{of}}}'] == 4
    assert found[f'workbook_state_rows{{of="",{of}}}'] == 7
    assert found[f'workbook_input_records_per_second{{of="",{of}}}'] == 0
    firing = {rule: found[f'workbook_alert{{of="{rule}",{of}}}'] for rule in RULES}
    assert firing == {rule: rule == "too many rejects" for rule in RULES}
    picture = monitor(made)
    assert len(picture.rows) == len(found)
    assert {"name": "delay: p99", "value": "3", "unit": "seconds"} in picture.rows
    said = "1,000 records read, lag 5 records. Delay: 1.0 s for half of them, 3.0 s for 99 %."
    assert said in picture.words
    assert "30.0% of the last 1,000 records were rejected" in picture.words


def test_a_query_is_drawn_before_its_first_micro_batch_too() -> None:
    picture = monitor(Progress())
    assert "<img" in picture.figure
    assert picture.words == "No micro-batch has ended yet."
