"""Start the ad statistics in a notebook's own Spark, also with another rule for duplicates."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from workbook.classroom.chapter import Chapter
from workbook.systems.ad_statistics import AdStatistics
from workbook.systems.base import Job

if TYPE_CHECKING:
    from pyspark.sql import Column

    from workbook.spark.runner import Running


def counting(
    chapter: Chapter,
    topic: str,
    schema: str,
    *,
    same: Column | None = None,
    viewers: str | None = None,
    first: date | None = None,
    last: date | None = None,
    checkpoint: str | None = None,
    max_per_batch: int | None = None,
) -> Running:
    """Start what ``run ad_statistics --in TOPIC --schema SCHEMA`` starts; return the query.

    ``same`` is a column of ``value`` (bytes) and ``action`` (a struct) that is equal for two
    records if they are the same action; None: the value. ``viewers`` is a compacted topic of the
    users' demographics. With ``first`` and ``last`` it replays
    these days, and ends. ``checkpoint`` is a folder to continue in. A query in a folder beside it
    is stopped, so a replay's folder needs another parent. A micro-batch has at most
    ``max_per_batch`` records.
    """
    from workbook.spark.runner import OnPoint

    system = AdStatistics()
    system.same = same
    days = ["--from", str(first), "--to", str(last)] if first and last else []
    most = ["--max-per-batch", str(max_per_batch)] if max_per_batch else []
    table = ["--viewers", viewers] if viewers else []
    words = ["--in", topic, "--subject", f"{topic}-value", "--schema", schema, *days]
    options = system.options([*words, *most, *table])
    system.check(options)
    system.check_topics(chapter.broker, options)
    folder = Path(checkpoint or chapter.checkpoint())
    return system.start(Job(chapter.spark(), chapter.broker, options, folder, OnPoint())).running
