"""``workbook store``: ask for the rows of a table, while a query writes it or later."""

import json
import sqlite3
import sys
from argparse import Namespace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from workbook.cli.console import typed
from workbook.errors import WorkbookError
from workbook.sinks.once import tables_in
from workbook.sinks.store import Store
from workbook.sinks.windowed_store import WindowedStore


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
