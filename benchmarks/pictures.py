"""Measures how long the slowest pictures take to draw from 100,000 records."""

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from workbook.views.clocks import clocks
from workbook.views.compaction import Stored, compaction
from workbook.views.event_time import event_time
from workbook.views.group import who_writes
from workbook.views.runs import MicroBatch, Run

RECORDS = 100_000
START = 1_700_000_000_000
AT = np.arange(RECORDS)

Draw = Callable[[], Any]


def _event_time() -> Draw:
    times = START + AT * 3 - AT * 7919 % 9000  # up to nine seconds late
    table = pd.DataFrame({"partition": AT % 24, "offset": AT, "arrival": START + AT, "time": times})
    marks = [None, *(START + end * 3 - 5000 for end in range(1000, RECORDS, 1000))]
    batches = [MicroBatch(n, marks[n - 1] if n else None, at) for n, at in enumerate(marks)]
    run = Run(table.assign(batch=AT // 1000), batches)
    return lambda: event_time(run, apart=7)


def _clocks() -> Draw:
    table = pd.DataFrame({"partition": AT % 24, "timestamp": START + AT * 3})
    return lambda: clocks(table, 24)


def _compaction() -> Draw:
    records = [Stored(n, f"k{n % 1000}", n % 7 == 0) for n in range(RECORDS)]
    found = range(RECORDS - 1000, RECORDS)
    return lambda: compaction(records, found, range(0, RECORDS, 5000))


def _who_writes() -> Draw:
    written = [(f"tab-{n}", n % 24) for n in range(RECORDS)]
    return lambda: who_writes(written, 24)


PICTURES = (_clocks, _compaction, _event_time, _who_writes)
"""Each prepares its records, and returns the drawing of them."""


def milliseconds(draw: Draw) -> float:
    """Return the CPU time of a drawing, as HTML."""
    began = time.process_time()
    draw()._repr_html_()
    return (time.process_time() - began) * 1000


if __name__ == "__main__":
    print("| picture of 100,000 records | CPU ms |\n| --- | ---: |")
    for prepare in PICTURES:
        name, draw = prepare.__name__.strip("_").replace("_", " "), prepare()
        print(f"| {name} | {statistics.median(milliseconds(draw) for _ in range(5)):.0f} |")
