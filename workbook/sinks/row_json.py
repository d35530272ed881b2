"""Writes a table's changed rows as JSON, and reads them."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
import pyarrow as pa


def changed_rows(changes: pa.Table, key: str) -> Iterator[dict[str, Any]]:
    """Yield each changed row, in their order: a key's rows by ``step``, where there is one."""
    if "step" in changes.column_names:
        changes = changes.sort_by([(key, "ascending"), ("step", "ascending")])
        changes = changes.drop_columns(["step"])
    yield from changes.to_pylist(maps_as_pydicts="strict")


def keyed_json(changes: pa.Table, key: str) -> Iterator[tuple[str, str | None]]:
    """Yield each changed row's key and JSON, in their order; None where it is ``deleted``."""
    for row in changed_rows(changes, key):
        deleted = row.pop("deleted")
        yield str(row[key]), None if deleted else row_json(row)


def rows_of_json(values: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows that ``row_json`` wrote."""
    rows: list[dict[str, Any]] = msgspec.json.decode(f"[{','.join(values)}]")
    return rows  # parsed at once: a call for each row takes longer


def _refused(value: Any) -> Any:
    raise TypeError(
        f"Expected values that JSON has, but got {type(value).__name__}. Cast that column to a "
        "string, or leave it out."
    )


row_json: Callable[[dict[str, Any]], str] = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_refused
).encode
"""Returns a row as compact JSON; NaN is a ValueError, bytes and dates a TypeError."""
