"""Reads the state of a running table from its checkpoint."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import polars as pl
from pyspark.sql import Row, SparkSession

from workbook.buckets.processor import SEGMENTS, TABLES
from workbook.buckets.state import table_names, whole_table
from workbook.errors import NoSuchState
from workbook.spark.checkpoints import made_for
from workbook.tables.aggregates import GROUP, RESULT
from workbook.tables.steps import GROUP_BUCKET

TABLE, GROUPS = "table", "groups"

_NAMES = {GROUP: "group", RESULT: "value"}


def state_of(spark: SparkSession, checkpoint: Path, name: str = TABLE) -> pd.DataFrame:
    """Read one of the tables in a query's state, as of its last committed micro-batch.

    ``name`` is "table" (the latest row per key: what the subtractor takes out), "groups" (how many
    rows each group has) or that of an aggregate (what it keeps of each group); of a join, that of
    either side's rows. ``bucket`` and ``partition`` say where a row lies (``state_partition`` in a
    table that has such a column itself). Each call is a Spark job over the whole state: it is for
    looking inside, a store is for asking. Raises ``NoSuchState`` before the first micro-batch is
    committed, and for another name.
    """
    folder = str(checkpoint / "0")
    operator, table = _find(spark, checkpoint, name)
    lists, segments = (_read(spark, folder, operator, each) for each in (TABLES, SEGMENTS))
    larger = {(row["key"]["bucket"], row["user_map_key"]["name"]): row for row in segments}
    frames = []
    for row in lists:
        bucket = row["key"]["bucket"]

        def read(segment: str, bucket: int = bucket) -> bytes:
            return bytes(larger[bucket, segment]["user_map_value"]["rows"])

        rows = whole_table(bytes(row["value"]["rows"]), table, read)
        if rows is not None:
            frames.append(_placed(rows, bucket=bucket, partition=row["partition_id"]))
    if not frames:
        return pd.DataFrame()
    found = pl.concat(frames).drop(GROUP_BUCKET, strict=False)
    return found.rename(_NAMES, strict=False).to_pandas()


def _placed(rows: pl.DataFrame, **place: int) -> pl.DataFrame:
    """Add where rows lie, and hide none of their own columns by that."""
    free = {f"state_{name}" if name in rows.columns else name: at for name, at in place.items()}
    return rows.with_columns(**{name: pl.lit(at) for name, at in free.items()})


def _read(spark: SparkSession, folder: str, operator: int, variable: str) -> list[Row]:
    options = {"operatorId": str(operator), "stateVarName": variable}
    return spark.read.format("statestore").options(**options).load(folder).collect()


def _find(spark: SparkSession, checkpoint: Path, name: str) -> tuple[int, str]:
    """Find the operator and the variable that hold the table of this name."""
    known = _tables(spark, checkpoint)
    if name not in known:
        raise NoSuchState(
            f"Expected a table in the state of {checkpoint}, but there is none named {name!r}: it "
            f"has {sorted(known) or 'none yet'}. A query has state once its first micro-batch is "
            "committed; call process_all() first."
        )
    return known[name]


def _tables(spark: SparkSession, checkpoint: Path) -> dict[str, tuple[int, str]]:
    """Find every table by its name: the operator that reads first keeps the changelogs'."""
    if not any((checkpoint / "0" / "commits").glob("[0-9]*")):
        return {}
    folder = str(checkpoint / "0")
    operators = spark.read.format("state-metadata").load(folder).collect()
    first = max(row["operatorId"] for row in operators)
    sides = made_for(checkpoint).get("tables")  # of a join; also where both are empty now
    found = {name: (first, name) for name in sides} if sides else {TABLE: (first, "rows")}
    for row in operators:
        number = row["operatorId"]
        if number != first:
            lists = _read(spark, folder, number, TABLES)
            names = {name for each in lists for name in table_names(bytes(each["value"]["rows"]))}
            found |= {GROUPS if n == "rows" else n: (number, n) for n in sorted(names)}
    return found
