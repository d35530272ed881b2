"""Chapters count each good record between hostile ones (data/hostile.jsonl): people copy them."""

import ast
import json
import re
import time
from dataclasses import replace
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import psycopg
import pytest
from chapters import NOTEBOOKS, cells
from confluent_kafka import Consumer, TopicPartition
from hostile import good, records, send

from workbook.kafka.readers import read_all
from workbook.lessons.ad_counts import per_day
from workbook.lessons.many_partitions import slowest_clock
from workbook.lessons.merge_by_key import combine_parts
from workbook.lessons.metrics_topic import publish_a_count
from workbook.lessons.views_per_second import by_rule, per_second_on_spark
from workbook.spark.settings import in_rocksdb
from workbook.streams.events.visits import OrderMessage

SECOND, IMPORT = int(time.time()), (ast.Import, ast.ImportFrom)
"""The second of all good events but the last one, 20 later; hostile ones are 2 earlier."""


class Notebook:
    """A chapter's own cells, and the names that they use."""

    def __init__(self, broker: Any, spark: Any, folder: Path, number: str, **names: Any) -> None:
        [path] = [path for path in NOTEBOOKS if path.name.startswith(number)]
        self.cells, places = cells(path), (str(folder / f"{number}-{n}") for n in count())
        small = {**broker.spark_options(), "maxOffsetsPerTrigger": "100"}
        self.config, self.checkpoint = broker.client_config(), lambda: next(places)
        chapter = MagicMock(config=self.config, spark_options=small, spark=lambda: spark)
        chapter.checkpoint, chapter.topic = self.checkpoint, lambda name: names[name]
        chapter.wait = lambda *_: self["query"].processAllAvailable()
        self.names = {"__name__": "__main__", "query": MagicMock(), "chapter": chapter, **names}
        self.names |= {"spark": spark, "config": self.config, "spark_options": small}
        imports = [n for text in self.cells for n in ast.parse(text).body if isinstance(n, IMPORT)]
        exec(compile(ast.Module(imports, []), "<imports>", "exec"), self.names)

    def run(self, *lines: str) -> None:
        """Run the cells that have a line that begins like this."""
        for line in lines:
            [cell] = [text for text in self.cells if f"\n{line}" in f"\n{text}"]
            exec(compile(cell, line, "exec"), self.names)

    def __getitem__(self, name: str) -> Any:
        return self.names[name]

    def read(self, topic: str, end: int, loop: Any) -> Any:
        """Hand a reader to a loop of the chapter, until it has read the record before ``end``."""
        reader, whole = Consumer({**self.config, "group.id": topic}), TopicPartition(topic, 0, 0)
        reader.assign([whole])
        return loop(reader, lambda: reader.position([whole])[0].offset >= end)

    def rows(self, table: Any, mode: str = "update") -> list[Any]:
        """Run a query of the chapter over what is there; all rows that it emits."""
        found: list[Any] = []
        query = table.writeStream.outputMode(mode).trigger(availableNow=True)
        query = query.option("checkpointLocation", self.checkpoint())
        query = query.foreachBatch(lambda batch, _: found.extend(batch.collect()))
        query.start().awaitTermination()
        return found


@pytest.fixture
def notebook(broker, spark, tmp_path) -> Any:
    return partial(Notebook, broker, spark, tmp_path)


def fill(broker: Any, topic: str, event: str, make: Any = None, change: Any = None) -> int:
    """Send hostile records between good ones; return how many good ones SECOND has."""
    hostile = [change(each) if change else each for each in records(event, (SECOND - 2) * 1000)]
    last, make = len(hostile), make or (lambda n, at: good(event, n, at))
    times = [*range(SECOND * 1000, SECOND * 1000 + last), SECOND * 1000 + 20_000]
    send(broker.client_config(), topic, event, hostile, lambda n: make(n, times[n]))
    return last


def test_chapters_02_03_and_05_count_each_good_page_view(broker, topic, notebook) -> None:
    clicks, metrics = topic("clicks").name, topic("metrics").name
    n = fill(broker, clicks, "click")
    every, counted = 2 * n + 1, {}
    two = notebook("02", clicks=clicks, by_spark=counted, second=SECOND, old=SECOND, far=0)
    two.names["views_per_second"] = per_second_on_spark.reference
    two.names["keep"] = lambda batch, _: counted.update(batch.collect())
    two.run("def arriving(", "parsed = raw.select(")
    loop = two.read(clicks, every, lambda *args: by_rule.reference(two["arriving"](*args)))
    assert sum(views for second, views in loop if second == SECOND) == n
    assert dict(two.rows(two["views_per_second"](two["parsed"])))[SECOND] == n
    two.run("limit = F.unix_millis(")
    two["query"].stop()
    assert counted[SECOND] == n

    three = notebook("03", clicks=clicks, metrics=metrics, publish=publish_a_count.reference)
    three.names["ordered"] = three.config
    three.run("def page_second(", "def publish_seconds(", "def or_dead_letter(")
    three.run("counts = (", "def as_records(")
    three.names["second_of"] = three["or_dead_letter"]
    three.read(clicks, every, three["publish_seconds"])
    three["loop_producer"].flush()
    published = read_all(broker.client_config(), metrics)
    assert published[published.key == str(SECOND).encode()].value.iloc[-1] == str(n).encode()
    assert not any(three["noted"])
    views = {row.key: row.value for row in three.rows(three["as_records"](three["counts"]))}
    assert views[str(SECOND)] == str(n)

    five, emitted = notebook("05"), []
    five.run("def arrivals(", "def per_second(", "def start(")
    assert dict(slowest_clock.reference(five["arrivals"](clicks, every), 1))[SECOND] == n
    query = five["start"](clicks, "5 seconds", emitted, 60)
    query.processAllAvailable()
    query.stop()
    assert {row.window.start.timestamp(): row.views for row in emitted}[SECOND] == n


def test_chapter_10_merges_each_good_message(broker, spark, topic, notebook) -> None:
    tracking, orders = topic("tracking").name, topic("orders").name
    ten = notebook("10", tracking=tracking, orders=orders, combine=combine_parts.reference)
    n = fill(broker, tracking, "visit")

    def order(n, at):
        return b"", OrderMessage(n, f"good-{n}", at, f"o{n}", 1).to_json()

    assert fill(broker, orders, "visit", order) == n
    whole = {f"good-{number}" for number in range(n + 1)}
    ten.run("settings = {", "def part(", "def merge(", "class KeepVisit", "merged = ")
    values = [read_all(broker.client_config(), each).value for each in (tracking, orders)]
    visits = ten["merge"](chain(*values))
    with in_rocksdb(spark):
        last = {row.ssid: json.loads(row.visit) for row in ten.rows(ten["merged"])}
    for found in visits, last:
        both = {s for s, visit in found.items() if visit["tracking"] and visit["orders"]}
        assert both >= whole
    ten.run("def stream(", "def pairs(")
    assert len(ten.rows(ten["pairs"](tracking, orders, "inner"), "append")) >= n


def test_chapter_41_writes_each_good_action(broker, topic, notebook, url) -> None:
    names = {b"timestamp": b"time", b"click_type": b"type", b'"name"': b'"ad"'}

    def of_an_ad(each):
        value = re.sub(b"|".join(names), lambda m: names[m[0]], each.value or b"")
        return replace(each, value=value)

    def make(n, at):
        return None, json.dumps({"ad": "good", "type": "view", "time": at}).encode()

    week, schema = topic("week").name, f"hostile_{SECOND}"
    n, own = fill(broker, week, "click", make, of_an_ad), f"-c search_path={schema}"
    with psycopg.connect(url, autocommit=True, options=own) as db:
        db.execute(f"CREATE SCHEMA {schema}")
        ads = notebook("41", week=week, late=week, url=url, own=own, db=db)
        ads.names["counts_per_day"] = per_day.reference
        ads.run("def read(", "seen, late", 'print("PostgreSQL', "def add_counts(", "def add_up(")
        ads["windows"].processAllAvailable()
        ads["windows"].stop()
        assert sum(ads["seen"].values()) > n
        ads["add_up"](ads["add_counts"], ads.checkpoint())
        [(views,)] = db.execute("SELECT sum(count)::int FROM counts WHERE ad = 'good'")
        db.execute(f"DROP SCHEMA {schema} CASCADE")
    assert views == n + 1


def test_chapter_43_archives_each_good_action(broker, topic, notebook) -> None:
    actions = topic("actions").name
    n = fill(broker, actions, "action")
    archive = notebook("43", actions=actions)
    archive.run("def read_topic(", "def archive(")
    assert archive["records"].count() == 2 * n + 1
    assert archive["records"].where("ad = 'good' AND reason IS NULL").count() == n + 1


def test_chapter_45_knows_each_good_viewer(broker, topic, notebook) -> None:
    viewers = topic("viewers").name
    value = json.dumps({"region": "Trøndelag"}).encode()
    n = fill(broker, viewers, "position", lambda number, _: (b"%d" % (100 + number), value))
    people = notebook("45", viewers=viewers)
    people.run("newest = ")
    known = [row.user for row in people["table"].where("region = 'Trøndelag'").collect()]
    assert sorted(known) == [*range(100, 101 + n)]
