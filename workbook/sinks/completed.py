"""Writes completed seconds, sends late page views to the dead letters, and reports the sums."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from workbook.events.metrics import COMPLETE
from workbook.kafka.dead_letters import DeadLetters
from workbook.kafka.too_late import send_too_late
from workbook.spark.queries import QueryGroup, facts_of_query
from workbook.spark.state_store import in_rocksdb

EVERY = "2 seconds"


def start_completed(
    views: DataFrame,
    emit: Callable[[DataFrame], None],
    letters: DeadLetters,
    source: Mapping[str, str],
    topic: str,
    checkpoint: Path,
    *,
    every: str = EVERY,
    at: Callable[[str], None] = lambda point: None,
    on_sums: Callable[[dict[str, int]], None] = lambda sums: None,
) -> QueryGroup:
    """Hand the completed seconds of ``completed_views`` to ``emit``, if there are any in a batch.

    ``emit`` gets ``second``, ``partition`` (null where counts are of all), ``views`` and
    ``event_ids``. What came too late is read from ``topic`` once more (``source`` has the client's
    settings) and goes to ``letters`` first. Both happen at least once: a micro-batch that was
    written but not committed to the checkpoint is written again. ``every`` is the least time
    between two micro-batches, also between two that read nothing; each takes about half a second
    of a core. ``on_sums`` gets the sums so far, ``at`` is called at named points, for the crash
    lab.
    """

    def write(batch: DataFrame, batch_id: int) -> None:
        at("before-send")
        # Once, and by one job: an executor that is lost takes cached rows with it, and computed
        # anew they may differ, since what is unread is asked anew. They are few: one task has all.
        rows = batch.toArrow()
        complete = pc.equal(rows["kind"], COMPLETE)
        seconds = rows.filter(complete).drop_columns(["kind", "offsets"])
        rest = rows.filter(pc.invert(complete)).to_pylist()
        send_too_late((row for row in rest if row["offsets"]), source, topic, letters)
        if len(seconds):
            emit(_as_rows(seconds, batch.drop("kind", "offsets")))
        at("before-checkpoint")
        if rest:
            on_sums({row["kind"]: row["views"] for row in rest if row["offsets"] is None})

    with in_rocksdb(views.sparkSession):
        writer = views.writeStream.outputMode("update").trigger(processingTime=every)
        made_for = facts_of_query("seconds", views)
        return QueryGroup([writer.foreachBatch(write)], checkpoint, made_for)


def _as_rows(collected: pa.Table, like: DataFrame) -> DataFrame:
    """Return collected rows as a DataFrame of the same columns as another one.

    ``createDataFrame`` would make the micro-batch's session the active one of this process.
    """
    one_task = like.sparkSession.range(0, 1, 1, 1)
    return one_task.mapInArrow(lambda _: iter(collected.to_batches()), like.schema)
