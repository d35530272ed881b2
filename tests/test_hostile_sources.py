"""Hostile records (data/hostile.jsonl) between good ones: every system counts all good ones."""

import json
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import fastavro
import psycopg
import pytest
from hostile import BEYOND, good, records, send
from pyspark.sql import SparkSession

from workbook.errors import CannotGoOn, Rejected
from workbook.kafka.broker import Broker
from workbook.kafka.readers import read_dead_letters, read_messages
from workbook.kafka.registry import register
from workbook.sources.ad_actions import parse
from workbook.spark.runner import OnPoint
from workbook.stack.addresses import database, registry
from workbook.streams.events.ad_actions import VERSIONS, AdAction, _parsed, decode, head
from workbook.streams.events.reasons import Reason
from workbook.systems import SYSTEMS
from workbook.systems.base import Job, Started
from workbook.topics import Topic, new_topic


@pytest.fixture
def start(broker: Broker, spark: SparkSession, tmp_path: Path) -> Callable[..., Started]:
    """Return a function that starts a system, as ``run`` does, until it has read all."""

    def once(name: str, *words: str, more: tuple[Topic, ...] = ()) -> Started:
        options = SYSTEMS[name].options(words)
        results = SYSTEMS[name].results(options, 1)
        broker.create(*more, *results, Topic(options.source).dead_letters)
        started = SYSTEMS[name].start(Job(spark, broker, options, tmp_path / name, OnPoint()))
        with started.running as running:
            running.process_all()
        return started

    return once


@pytest.fixture
def hostile(broker: Broker) -> Topic:
    """A topic that takes any record's own timestamp, and values of 2 MB."""
    name = new_topic("hostile", "sources").name
    made = Topic(name, 1, {**Topic(name).config, **BEYOND, "max.message.bytes": "2000000"})
    broker.create(made)
    return made


def letters(broker: Broker, topic: Topic) -> dict[int, str]:
    found = read_dead_letters(broker.client_config(), topic.dead_letters.name)
    return dict(zip(found.offset, found.reason, strict=True))


def test_page_views(broker: Broker, hostile: Topic, start: Any, capsys: Any) -> None:
    found = records("click", int(time.time()) * 1000, beyond=True)
    counted, reasons = send(broker.client_config(), hostile.name, "click", found)
    for _ in range(2):
        started = start("page_views", "--in", hostile.name)
    said = capsys.readouterr().err
    assert f"Partition 0 of {hostile.name} has a record at offset" in said
    assert said.count("the package's own source") == 1, "the second start has passed it"
    assert sum(int(views.replace(",", "")) for _, views in started.shown().rows) == counted
    assert letters(broker, hostile) == reasons


def test_share_holders(broker: Broker, hostile: Topic, start: Any) -> None:
    found = records("position", int(time.time()) * 1000, beyond=True)
    _, reasons = send(broker.client_config(), hostile.name, "position", found)
    started = start("share_holders", "--in", hostile.name)
    keys = {each.key for each in found if each.reason == "counted"}
    assert len(started.sinks[-1]) == len(found) + 1 + len(keys)
    assert letters(broker, hostile) == reasons


def test_event_time_merge(broker: Broker, hostile: Topic, start: Any) -> None:
    found = records("visit", int(time.time()) * 1000, beyond=True)
    _, reasons = send(broker.client_config(), hostile.name, "visit", found)
    orders = new_topic("orders", "hostile")
    words = ("--in", hostile.name, "--orders", orders.name, "--out", f"{orders.name}.visits")
    started = start("event_time_merge", *words, more=(orders,))
    visits = {each.key for each in found if each.reason == "counted"}
    assert started.sinks[-1].counts()["open"] == len(found) + 1 + len(visits)
    assert letters(broker, hostile) == reasons


def test_ad_statistics(broker: Broker, hostile: Topic, start: Any) -> None:
    name = hostile.name.replace("-", "_").replace(".", "_")
    schema = register(registry("test"), name, VERSIONS[1])
    now = int(time.time()) * 1000
    found = records("action", now, schema, beyond=True)
    make = lambda number: good("action", number, now, schema)  # noqa: E731
    counted, reasons = send(broker.client_config(), hostile.name, "action", found, make)
    start("ad_statistics", "--in", hostile.name, "--subject", name, "--schema", name)
    assert letters(broker, hostile) == reasons
    with psycopg.connect(database("test")) as connection:
        fates = connection.execute(f"SELECT fate, sum(count)::int FROM {name}.fates GROUP BY fate")
        assert dict(fates.fetchall())["accepted"] == counted


def test_replicate(broker: Broker, hostile: Topic, start: Any) -> None:
    config = broker.client_config()
    send(config, hostile.name, "action", records("action", beyond=True))
    start("replicate", "--in", hostile.name)
    sent, copied = (
        [message.value() for message in read_messages(config, topic)]
        for topic in (hostile.name, f"{hostile.name}.long-lived")
    )
    assert {*copied} == {*sent}
    small = Topic(f"{hostile.name}.small")
    broker.create(small)
    system = SYSTEMS["replicate"]
    with pytest.raises(CannotGoOn, match=r"to take records of 2,000,000 bytes"):
        system.check_topics(broker, system.options(["--in", hostile.name, "--out", small.name]))


# --- schemas as others write them --------------------------------------------------------------

ACTION = AdAction(5, "a", "view", 7, False, "email", "b", 1_700_000_000_000)
KIND = {"type": "enum", "name": "Kind", "symbols": ["view", "email"]}
MORE = {"name": "more", "type": {"type": "array", "items": "int"}}
NULLS = {"name": "more", "type": {"type": "array", "items": "null"}}
ITEM = {"name": "item", "aliases": ["ad"], "type": "string"}


def schema(drop: str = "", add: Any = None, **types: Any) -> str:
    """The newest schema without a field, with one more, with other types or another name."""
    newest = {**json.loads(VERSIONS[1]), **({"name": types.pop("name")} if "name" in types else {})}
    fields = [{"name": each["name"], "type": types.get(each["name"], each["type"])}
              for each in newest["fields"] if each["name"] != drop]  # fmt: skip
    return json.dumps({**newest, "fields": [*([add] if add else []), *fields]})


OTHERS: list[tuple[str, dict[str, Any], str | None]] = [
    (schema(add=MORE), {"more": [1]}, None),
    (schema(add=NULLS), {"more": [None]}, Reason.OTHER_SCHEMA.value),
    (schema(time=["null", "long"], event_id=["long", "null"]), {}, None),
    (schema(time=["null", "long"]), {"time": None}, Reason.MISSING.value),
    (schema(time={"type": "long", "logicalType": "timestamp-millis"}), {}, None),
    (schema(time={"type": "long", "logicalType": "timestamp-micros"}),
     {"time": ACTION.time * 1000}, None),
    (schema(time={"type": "long", "logicalType": "local-timestamp-millis"}), {},
     Reason.OTHER_SCHEMA.value),
    (schema(time={"type": "int", "logicalType": "date"}), {"time": 20_000},
     Reason.OTHER_SCHEMA.value),
    (schema(type=KIND, source="Kind"), {}, None),
    (schema(type=["null", KIND]), {}, None),
    (schema(user="int", event_id="int", ad={"type": "string", "avro.java.string": "S"}), {}, None),
    (schema(name="x.y.Other"), {}, None),
    (schema("ad", ITEM), {"item": "a"}, None),
    (schema("source"), {}, Reason.OTHER_SCHEMA.value),
    (schema(time="string"), {"time": "12:00"}, Reason.OTHER_SCHEMA.value),
    ('"string"', {}, Reason.OTHER_SCHEMA.value),
]  # fmt: skip


def test_schemas_as_others_write_them_are_read_or_named(spark: SparkSession) -> None:
    schemas, values = dict(enumerate(each for each, *_ in OTHERS)), list[bytes]()
    for number, (each, changes, _) in enumerate(OTHERS):
        body = BytesIO(head(number))
        body.seek(5)
        value = {**{f: getattr(ACTION, f) for f in AdAction.__slots__}, **changes}
        fastavro.schemaless_writer(body, _parsed(each), "" if each == '"string"' else value)
        values.append(body.getvalue())
    values.append(head(0) + b"\xfe\xff\xff\xff\xff\xff\xff\xff\x7f")  # 2^62 ints
    columns = "value BINARY, offset BIGINT, headers ARRAY<STRUCT<key: STRING, value: BINARY>>"
    rows = [(value, n, None) for n, value in enumerate(values)]
    made = spark.createDataFrame(rows, columns).selectExpr(
        "*", "0 AS partition", "'' AS topic", "value AS key",
        f"timestamp_millis({ACTION.time}) AS timestamp",
    )  # fmt: skip
    *found, last = parse(made, schemas).orderBy("offset").collect()
    for (text, _, reason), row, value in zip(OTHERS, found, values, strict=False):
        assert row.reason == reason, text
        if reason is None:
            assert (row.ad, row.type, row.user, str(row.day)) == ("a", "view", 7, "2023-11-14")
            assert decode(value, schemas, ACTION.time) == ACTION
        else:
            with pytest.raises(Rejected, match=reason):
                decode(value, schemas, ACTION.time)
    assert last.reason == Reason.MALFORMED_AVRO.value
