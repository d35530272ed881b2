"""Spark SQL for the fields of a topic: the exploration and the written program use the same."""

import json
from typing import Any

from workbook.explore.sample import AVRO, UNITS, Field, Sample


def text_of(sample: Sample, field: Field) -> str:
    """Return the SQL of a field as text.

    It takes it from the column ``json`` (a variant), or from ``avro7``, decoded by the schema 7.
    """
    if sample.format != AVRO:
        path = "".join(f'["{name}"]' for name in field.path)
        path = path.replace("\\", "\\\\").replace("'", "\\'")
        return f"try_variant_get(json, '${path}', 'string')"
    found: list[str] = []
    for number, text in sample.schemas.items():
        found += _in_avro(f"avro{number}", json.loads(text), field.path, {})
    return f"coalesce({', '.join([*found, 'CAST(NULL AS STRING)'])})"


def time_of(sample: Sample, field: Field) -> str:
    """Return the SQL of a field as a time in ms, null for none; without a zone it's UTC."""
    text = text_of(sample, field)
    if field.unit == "ISO":
        return f"unix_millis(try_cast({text} AS TIMESTAMP))"
    return f"try_cast(try_cast({text} AS DOUBLE) * {1000 / UNITS[field.unit or 'ms']} AS BIGINT)"


def read_by(number: int, schema: str) -> str:
    """Return the SQL of whether a value was read: else Spark's record has null in each field."""
    fields, column = json.loads(schema).get("fields"), f"avro{number}"
    names = [f"{column}.`{each['name']}`" for each in fields or []] or [column]
    return f"coalesce({' OR '.join(f'{name} IS NOT NULL' for name in names)}, FALSE)"


def _in_avro(column: str, schema: Any, path: tuple[str, ...], known: dict[str, Any]) -> list[str]:
    """Return the SQL of each place where a schema may have the field; of a union, its members."""
    if isinstance(schema, str):
        schema = known.get(schema, schema)
    if isinstance(schema, list):
        members = [each for each in schema if each != "null"]
        if len(members) == 1 or {*map(str, members)} in ({"int", "long"}, {"float", "double"}):
            return _in_avro(column, members[0], path, known)
        return [
            sql
            for number, member in enumerate(members)
            for sql in _in_avro(f"{column}.member{number}", member, path, known)
        ]
    kind = schema.get("type") if isinstance(schema, dict) else schema
    if isinstance(kind, (dict, list)):
        return _in_avro(column, kind, path, known)
    if isinstance(schema, dict) and "name" in schema:
        known[schema["name"]] = schema
    if kind == "record":
        found = []
        for each in schema["fields"]:
            below = _in_avro(f"{column}.`{each['name']}`", each["type"], path[1:], known)
            found += below if path and each["name"] == path[0] else []
        return found
    if kind == "map" and path:
        return _in_avro(f"{column}['{path[0]}']", schema["values"], path[1:], known)
    return [] if path or kind in ("array", "map") else [f"CAST({column} AS STRING)"]
