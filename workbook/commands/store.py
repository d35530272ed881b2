"""``workbook store``: ask for the rows of a table, while a query writes it or later."""

from __future__ import annotations

import json
import sqlite3
from argparse import Namespace
from pathlib import Path

from workbook.commands.console import typed
from workbook.errors import WorkbookError
from workbook.sinks.store import Store


def ask(options: Namespace) -> int:
    """Print a row, or all of them, as JSON; 1 if there is no such key."""
    path = Path(options.file)
    if not path.is_file():
        raise WorkbookError(
            f"Expected a store, but there is no file {path}. `{typed()} run` says where it "
            "keeps one: with --checkpoint, or share_holders with --store, it stays when the query "
            "ends."
        )
    try:
        store = Store(path, key="", reading=True)
        if options.key is None:
            for each in store.all():
                print(json.dumps(each, ensure_ascii=False))
            return 0
        row = store.get(options.key)
    except sqlite3.DatabaseError as error:
        raise WorkbookError(f"{path} is no store of a table: {error}.") from None
    if row is None:
        print(f"{options.key} is not in the table ({len(store):,} rows).")
        return 1
    print(json.dumps(row, ensure_ascii=False))
    return 0
