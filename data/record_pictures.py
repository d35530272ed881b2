"""Write pictures.json again: what the small pictures of chapter 00 are drawn from, all real runs.

Run it as ``python data/record_pictures.py`` from the top of the repository, in the environment. It
takes about two minutes; each time another file comes out, because real runs differ.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import pandas as pd
from confluent_kafka import Consumer, Producer
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from workbook.classroom.chapter import Chapter
from workbook.classroom.recorded import recorded
from workbook.crashlab import crash, found
from workbook.kafka.readers import read_all
from workbook.streams.generators.clicks import ClickStream

FILE = Path(__file__).parent / "pictures.json"
TEN = 1_767_261_600_000
"""Ten o'clock, 1 January 2026 (UTC)."""


def main() -> None:
    chapter = Chapter("00_pictures", spark=True)
    pictures = {
        "group": group(chapter),
        "clocks": clocks(chapter),
        "event_time": event_time(chapter),
        "tape": tape(chapter),
        "checkpoint": checkpoint(chapter),
    }
    chapter.close()
    lines = [f'"{name}": {json.dumps(its, ensure_ascii=False)}' for name, its in pictures.items()]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(FILE, f"{FILE.stat().st_size:,} bytes")


def send(chapter: Chapter, topic: str, clicks: pd.DataFrame) -> None:
    producer = Producer(chapter.config)
    for click in clicks.itertuples():
        producer.produce(topic, click.value, click.key, partition=click.partition)
    producer.flush()


def group(chapter: Chapter) -> dict[str, Any]:
    """Let A and B share six partitions, by the default strategy."""
    topic = chapter.topic("clicks", 6)
    owned: dict[str, set[int]] = {}
    log: list[tuple[str, str, list[int]]] = []

    def note(name: str, what: str, reader: Consumer, places: list[Any]) -> None:
        numbers = {place.partition for place in places}
        before = owned.get(name, set())
        log.append((name, what, sorted(numbers)))
        owned[name] = before | numbers if what == "assigned" else before - numbers

    def poll(reader: Consumer, until: Callable[[], bool]) -> None:
        while not until():
            reader.poll(0.1)

    def member(name: str) -> Any:
        reader = Consumer({**chapter.config, "group.id": topic})
        callbacks = {f"on_{event}": partial(note, name, what) for event, what in
                     (("assign", "assigned"), ("revoke", "revoked"), ("lost", "lost"))}  # fmt: skip
        reader.subscribe([topic], **callbacks)
        return chapter.loop(poll, reader, name)

    member("A")
    chapter.wait(lambda: len(owned.get("A", ())) == 6, "A with six partitions")
    log.clear()
    member("B")
    chapter.wait(lambda: len(owned.get("B", ())) == 3 == len(owned["A"]), "three each")
    return {
        "owned": {name: sorted(those) for name, those in owned.items()},
        "log": list(log),
        "partitions": 6,
    }


def clocks(chapter: Chapter) -> dict[str, Any]:
    """Read twelve partitions; the clicks of partition 7 stop some seconds before the others."""
    topic = chapter.topic("clicks", 12)
    clicks = ClickStream(seed=5, rate=20, partitions=12, start_ms=TEN).block(0, 240).to_pandas()
    slow = (clicks.partition == 7) & (clicks.timestamp > clicks.timestamp.max() - 7000)
    send(chapter, topic, clicks[~slow])
    records = read_all(chapter.config, topic)
    times = [json.loads(value)["timestamp"] for value in records.value]
    return {
        "records": list(zip(records.partition.tolist(), times, strict=True)),
        "partitions": 12,
    }


def event_time(chapter: Chapter) -> dict[str, Any]:
    """Run chapter 02's query in several micro-batches, where each eighth click is late."""
    topic = chapter.topic("clicks")
    crowd = ClickStream(seed=8, rate=5, late_share=0.12, late_by_ms=12_000, partitions=1)
    clicks = crowd.ending_by(int(time.time() * 1000), 96).block(0, 96).to_pandas()
    spark = chapter.spark()
    spark.conf.set("spark.sql.shuffle.partitions", 2)
    raw = (
        spark.readStream.format("kafka").options(**chapter.spark_options)
        .option("subscribe", topic).option("startingOffsets", "earliest").load()
    )  # fmt: skip
    send(chapter, topic, clicks[:16])
    query = (
        views_per_second(raw).writeStream.outputMode("update").format("noop")
        .option("checkpointLocation", chapter.checkpoint()).start()
    )  # fmt: skip
    for first in range(16, 97, 16):
        query.processAllAvailable()
        send(chapter, topic, clicks[first : first + 16])
    run = recorded(chapter.config, query, topic)
    query.stop()
    return {
        "clicks": run.clicks.to_dict("list"),
        "batches": [(batch.number, batch.drops, batch.watermark) for batch in run.batches],
    }


def views_per_second(raw: DataFrame) -> DataFrame:
    fields = "click_type STRING, timestamp BIGINT"
    click = F.from_json(F.col("value").cast("string"), fields).alias("click")
    pages = raw.select(click).select("click.*").where("click_type = 'Page'")
    timed = pages.withColumn("time", F.timestamp_millis("timestamp"))
    return timed.withWatermark("time", "4 seconds").groupBy(F.window("time", "1 second")).count()


def tape(chapter: Chapter) -> dict[str, Any]:
    """Note what kill -9 found of the loop that commits by itself; seed 3 leaves no gap."""
    with mock.patch.object(found, "tape", wraps=found.tape) as drawn:
        crash(chapter.broker, "page_views", "auto-commit", "before-send", seed=3)
    (_, [place]), how = drawn.call_args
    return {
        "end": how["end"],
        "place": (place.name, place.offset),
        "spans": [(s.name, s.first, s.end, s.look.name) for s in how["spans"]],
        "crash": how["crash"],
        "caption": how["caption"],
    }


def checkpoint(chapter: Chapter) -> dict[str, Any]:
    """Note the files of Spark's checkpoint, killed before a micro-batch was committed."""
    with mock.patch.object(found, "checkpoint", wraps=found.checkpoint) as drawn:
        crash(chapter.broker, "page_views", "spark", "before-checkpoint", progress=print)
    (files,), how = drawn.call_args
    kill = max(batch for _, batch, at in files if at < how["kills"][0])
    files = [file for file in files if kill - 6 < file[1] < kill + 3]
    drawn = {batch for _, batch, _ in files} | {kill - 6}
    return {
        "files": files,
        "kills": list(how["kills"]),
        "starts": list(how["starts"]),
        "planned": {n: end for n, end in how["planned"].items() if n in drawn},
    }


if __name__ == "__main__":
    main()
