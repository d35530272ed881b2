"""Writes a table's changed rows as JSON, bytes included, and reads them."""

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import pyarrow as pa

_BYTES = "$base64"
_AS_KEY = f'"{_BYTES}":'
# Within a text its quotes would be escaped: so these letters are in JSON as a key, or not at all.


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


def row_json(row: dict[str, Any]) -> str:
    """Return a row as compact JSON; bytes become ``{"$base64": …}``, NaN is a ValueError."""
    return _encode(row)


def rows_of_json(values: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows that ``row_json`` wrote, bytes as bytes.

    A map whose only key is ``$base64`` comes back as bytes too, if its value is base64.
    """
    text = f"[{','.join(values)}]"  # parsed at once: a call for each row takes longer
    rows: list[dict[str, Any]] = (
        json.loads(text, object_hook=_with_bytes) if _AS_KEY in text else msgspec.json.decode(text)
    )
    return rows


def _with_bytes(fields: dict[str, Any]) -> Any:
    if len(fields) != 1 or _BYTES not in fields:
        return fields
    try:
        return b64decode(fields[_BYTES], validate=True)
    except (TypeError, ValueError):
        return fields


def _tagged(value: Any) -> dict[str, str]:
    if isinstance(value, bytes):
        return {_BYTES: b64encode(value).decode()}
    raise TypeError(f"Expected values that JSON has, or bytes, but got {type(value).__name__}.")


# Without spaces, and with bytes.
_encode = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_tagged
).encode
