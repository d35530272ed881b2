"""Measures how long each picture takes to draw from 100,000 records."""

import time
from collections.abc import Callable

import numpy as np
import pandas as pd

from workbook.views.checkpoint import checkpoint
from workbook.views.clocks import clocks
from workbook.views.compaction import Stored, compaction
from workbook.views.event_time import event_time
from workbook.views.group import who_reads, who_writes
from workbook.views.runs import MicroBatch, Run
from workbook.views.table_change import group_steps, table_changes
from workbook.views.tape import Place, Span, tape

RECORDS = 100_000
START = 1_700_000_000_000


def _event_time() -> Callable[[], object]:
    at = np.arange(RECORDS)
    times = START + at * 3 - at * 7919 % 9000  # up to nine seconds late
    table = pd.DataFrame({"partition": at % 24, "offset": at, "arrival": START + at, "time": times})
    ends = range(1000, RECORDS + 1, 1000)  # a hundred micro-batches
    marks = [None, *(START + end * 3 - 5000 for end in ends[:-1])]
    run = Run(table.assign(batch=at // 1000), [
        MicroBatch(n, marks[n - 1] if n else None, marks[n]) for n in range(len(ends))
    ])  # fmt: skip
    return lambda: event_time(run, apart=7)._repr_html_()


def _clocks() -> Callable[[], object]:
    at = np.arange(RECORDS)
    table = pd.DataFrame({"partition": at % 24, "timestamp": START + at * 3})
    return lambda: clocks(table, 24)._repr_html_()


def _checkpoint() -> Callable[[], object]:
    kinds = ("offsets", "state", "commits")
    files = [(kinds[n % 3], n // 3, n / 3) for n in range(RECORDS)]
    return lambda: checkpoint(files, kills=[RECORDS / 6])._repr_html_()


def _compaction() -> Callable[[], object]:
    records = [Stored(n, f"k{n % 1000}", n % 7 == 0) for n in range(RECORDS)]
    found = range(RECORDS - 1000, RECORDS)
    return lambda: compaction(records, found, range(0, RECORDS, 5000))._repr_html_()


def _group_steps() -> Callable[[], object]:
    change = {"change": "add", "position": "p", "tickers": {"AAPL": 1}, "deleted": False}
    steps = [{"client": f"client {n % 24}", **change} for n in range(RECORDS)]
    return lambda: group_steps(steps)._repr_html_()


def _who_reads() -> Callable[[], object]:
    owned = {"A": range(12), "B": range(12, 24)}
    log = [("A", "revoked", range(24)), *((name, "assigned", its) for name, its in owned.items())]
    return lambda: who_reads(owned, log, 24)._repr_html_()


def _who_writes() -> Callable[[], object]:
    written = [(f"tab-{n}", n % 24) for n in range(RECORDS)]
    return lambda: who_writes(written, 24)._repr_html_()


def _table_changes() -> Callable[[], object]:
    row = {"client": "Ada", "amount": 1, "ticker": "AAPL"}
    changes = [("Ada", -1, row), ("Bo", 1, row)]
    updates = [(f"p{n % 24}", row, row, changes) for n in range(RECORDS)]
    return lambda: table_changes(updates).picture._repr_html_()


def _tape() -> Callable[[], object]:
    places = [Place("read", RECORDS // 2), Place("committed", 100)]
    return lambda: tape(places, RECORDS, spans=[Span("held", 100, 500)])._repr_html_()


PICTURES = {
    "checkpoint": _checkpoint,
    "clocks": _clocks,
    "compaction": _compaction,
    "event time": _event_time,
    "group steps": _group_steps,
    "table changes": _table_changes,
    "who reads what": _who_reads,
    "who writes where": _who_writes,
    "tape": _tape,
}
"""A name, and what prepares the records and returns the drawing of them."""


def milliseconds(draw: Callable[[], object], times: int = 5) -> float:
    """Return the median time of a drawing, as HTML."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        draw()
        taken.append((time.perf_counter() - began) * 1000)
    return sorted(taken)[times // 2]


def measure() -> None:
    print("| picture | records | ms |\n| --- | ---: | ---: |")
    for name, prepare in PICTURES.items():
        print(f"| {name} | {RECORDS:,} | {milliseconds(prepare()):.0f} |")


if __name__ == "__main__":
    measure()
