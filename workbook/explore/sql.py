"""Spark SQL for the fields of a topic: the exploration and the written program use the same."""

import json
from typing import Any

from fastavro.schema import expand_schema

from workbook.explore.sample import AVRO, UNITS, Field, Sample

AS_JSON = (
    r"CASE WHEN btrim(string(value), ' \t\r\n') LIKE '{%}' THEN try_parse_json(string(value)) END"
)
"""The SQL of a value as an object: Spark would read `12 apples` as the number 12."""


def text_of(sample: Sample, field: Field) -> str:
    """Return the SQL of a field as text.

    It takes it from the column ``json`` (a variant), or from ``avro7``, decoded by the schema 7.
    """
    if sample.format != AVRO:
        path = "".join(f"['{name}']" if '"' in name else f'["{name}"]' for name in field.path)
        return f"try_variant_get(json, {_quoted('$' + path)}, 'string')"
    found: list[str] = []
    for number, text in sample.schemas.items():
        found += _in_avro(f"avro{number}", expand_schema(json.loads(text)), field.path)
    return f"coalesce({', '.join([*found, 'CAST(NULL AS STRING)'])})"


def time_of(sample: Sample, field: Field) -> str:
    """Return the SQL of a field as a time in ms, null for none; without a zone it's UTC."""
    text = text_of(sample, field)
    if field.unit == "ISO":
        return f"unix_millis(try_cast({text} AS TIMESTAMP))"
    return f"try_cast(try_cast({text} AS DOUBLE) * {1000 / UNITS[field.unit or 'ms']} AS BIGINT)"


def read_by(number: int, schema: str) -> str:
    """Return the SQL of whether a value was read: else Spark's record has null in each field."""
    known, column = json.loads(schema), f"avro{number}"
    fields = known.get("fields", []) if isinstance(known, dict) else []
    names = [f"{column}.`{each['name']}`" for each in fields] or [column]
    return f"coalesce({' OR '.join(f'{name} IS NOT NULL' for name in names)}, FALSE)"


def _quoted(text: str) -> str:
    text = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{text}'"


def _in_avro(column: str, schema: Any, path: tuple[str, ...]) -> list[str]:
    """Return the SQL of each place where a schema may have the field; of a union, its members."""
    if isinstance(schema, list):
        members = [each for each in schema if each != "null"]
        if len(members) == 1 or {*map(str, members)} in ({"int", "long"}, {"float", "double"}):
            return _in_avro(column, members[0], path)
        return [
            sql
            for number, member in enumerate(members)
            for sql in _in_avro(f"{column}.member{number}", member, path)
        ]
    kind = schema.get("type") if isinstance(schema, dict) else schema
    if isinstance(kind, (dict, list)):
        return _in_avro(column, kind, path)
    if kind == "record":
        fields = [each for each in schema["fields"] if each["name"] in path[:1]]
        return [
            sql
            for each in fields
            for sql in _in_avro(f"{column}.`{each['name']}`", each["type"], path[1:])
        ]
    if kind == "map" and path:
        return _in_avro(f"{column}[{_quoted(path[0])}]", schema["values"], path[1:])
    return [] if path or kind in ("array", "map") else [f"CAST({column} AS STRING)"]
