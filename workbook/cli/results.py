"""``workbook store`` and ``metrics``: what a system has written, while it runs or later."""

import json
import sqlite3
import sys
import time
from argparse import Namespace
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from workbook.cli.console import Ending, end_like_ctrl_c, typed, waiting_for
from workbook.errors import Rejected, WorkbookError
from workbook.kafka.readers import consumer
from workbook.sinks.once import tables_in
from workbook.sinks.store import Store, WindowedStore
from workbook.stack.addresses import kafka
from workbook.streams.events.metrics import Metric

SHOWN = 60
"""Bytes shown of a record that isn't a metric."""

LINES = 10
"""Lines printed of records that aren't metrics; more of them are only counted."""


def follow(options: Namespace) -> None:
    """Print each second and its page views as they arrive, until asked to end."""
    end_like_ctrl_c()
    with waiting_for("Looking for Kafka"):
        broker = kafka("metrics")
    reader = consumer(broker.client_config(), options.topic)
    ending, unreadable = Ending(options.seconds), 0
    known: defaultdict[int, dict[int | None, int]] = defaultdict(dict)
    try:
        while not ending.has_come():
            message = reader.poll(0.2)
            if message is None:
                continue
            key, value = message.key(), message.value()
            try:
                line = changed(Metric.from_record(key, value), known)
            except Rejected as why:
                unreadable += 1
                if unreadable <= LINES:
                    place = f"partition {message.partition()}, offset {message.offset()}"
                    got = f"key {(key or b'')[:SHOWN]!r}, value {(value or b'')[:SHOWN]!r}"
                    text = f"{options.topic}, {place}: {why.reason}; got {got}"
                    print(text, file=sys.stderr, flush=True)
                continue
            if line:
                print(line, flush=True)
    finally:
        reader.close()
        if unreadable > LINES:
            print(f"{unreadable:,} records were no metrics.", file=sys.stderr, flush=True)


def changed(metric: Metric, known: defaultdict[int, dict[int | None, int]]) -> str:
    """Return ``1700000000 22:13:20 42`` if a metric changes its second's page views, else "".

    That's the second, its time of day (UTC) and its page views: the last value of each key, added
    up. ``known`` has these values by second and partition, and is updated.
    """
    views = known[metric.second]
    if views.get(metric.partition) == metric.views:  # it's in the topic twice
        return ""
    views[metric.partition] = metric.views
    time_of_day = time.strftime("%H:%M:%S", time.gmtime(metric.second % 86_400))
    return f"{metric.second} {time_of_day} {sum(views.values())}"


def ask(options: Namespace) -> int:
    """Print a row, or all of them, as JSON; 1 if there is no such key.

    Of a windowed store: the windows and their numbers of keys, or the windows of a key.
    """
    path = Path(options.file)
    if not path.is_file():
        raise WorkbookError(
            f"Expected a store, but there is no file {path}. `{typed()} run` says where it "
            "keeps one: with --checkpoint, or with --store, it stays when the query "
            "ends."
        )
    try:
        is_windowed = WindowedStore.tables[0] in tables_in(path)
        rows, known = (_windows if is_windowed else _rows)(path, options.key)
    except sqlite3.DatabaseError as error:
        raise WorkbookError(f"{path} is no store of a table: {error}.") from None
    for row in rows:
        text = json.dumps(row, ensure_ascii=False, default=_shown)
        print(text if text.isprintable() else json.dumps(row, default=_shown))
    if options.key is None or rows:
        return 0
    print(f"{options.key} is not in the table ({known:,} rows).")
    return 1


def _rows(path: Path, key: str | None) -> tuple[list[dict[str, Any]], int]:
    """Return the rows that are asked for, and how many there are."""
    store = Store(path, key="", reading=True)
    row = None if key is None else store.get(key)
    return store.all() if key is None else [row] if row is not None else [], len(store)


def _windows(path: Path, key: str | None) -> tuple[list[dict[str, Any]], int]:
    store = WindowedStore(path, key="", reading=True)
    if key is None:
        return [{"window": _utc(start), "keys": n} for start, n in store.windows()], len(store)
    found = store.fetch(key, 0, sys.maxsize)
    return [{"window": _utc(start), "row": row} for start, row in found], len(store)


def _utc(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds")


def _shown(value: bytes) -> str:
    return value.decode(errors="backslashreplace")
