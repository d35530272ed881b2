"""Whatever arrives, a program on Spark goes on, keeps the good records, and says what it loses."""

import json
import shutil
import time
from argparse import Namespace
from random import Random

import psycopg
import pytest
from brokers import produce
from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient
from hostile import _long, good, records, send
from pyspark.errors import StreamingQueryException
from pyspark.sql import Row
from pyspark.sql.streaming import TwsTester
from test_hostile_programs import load, lost, on_spark

from workbook.kafka.readers import read_messages
from workbook.stack.addresses import registry
from workbook.streams.events.ad_actions import VERSIONS, head


@pytest.fixture
def program(spark, broker, topic, capfd, tmp_path):
    """Make a program over new topics; ``options`` names them, and what else it needs."""

    class Program:
        def __init__(self, name, topics, **options) -> None:
            self.module, self.said, self.config = load(name), "", broker.client_config()
            topics = {name: topic(name, partitions=2).name for name in topics}
            checkpoint = tmp_path / "checkpoint"
            options |= {"kafka": self.config, "servers": broker.bootstrap, "checkpoint": checkpoint}
            self.options = Namespace(**options, **topics)

        def run(self, *more) -> None:
            """Start it, let it read all that's there, and stop it."""
            try:
                with on_spark(spark, self.module, vars(self.options), *more) as query:
                    query.processAllAvailable()
            finally:
                self.said += capfd.readouterr().err

        def send(self, name, *sent) -> None:
            produce(self.config, name, *((value, key, 0, *at) for key, value, *at in sent))

        def out(self) -> list:
            return list(read_messages(self.config, self.options.out))

    return Program


def test_no_record_ends_the_table_and_keys_and_values_are_copied(program) -> None:
    amount = "CAST(get_json_object(value, '$.amount') AS INT)"
    where = f"{amount} > 0 AND {amount} < 1000000"
    table = program("table_by_key", ("topic", "out"), where=where)
    large = b'{"amount": 1, "text": "%s"}' % (b"x" * 1_500_000)
    hostile = [each for each in records("position") if len(each.value or b"") < 1_000_000]
    send(table.config, table.options.topic, "position", hostile)
    table.send(table.options.topic, (b"\xff\xfe", large), (b"large", large))
    table.run()
    found = {one.key(): one.value() for one in table.out()}
    assert found[b"\xff\xfe"] == found[b"large"] == large
    assert {good("position", n)[0] for n in range(len(hostile) + 1)} <= {*found}
    assert "2 without a key, 6 for which --where fails" in table.said


@pytest.mark.parametrize("batches", [(0, 10), (10, 0), (4, 5, 1), (1, 9)])
def test_of_two_partitions_the_newer_timestamp_counts_however_they_are_cut(batches) -> None:
    old = [Row(partition=0, offset=n, time=n, holds="true", v=b"old") for n in range(9)]
    tombstone = Row(partition=1, offset=0, time=50, holds="false", v=None)
    late = Row(partition=0, offset=9, time=40, holds="true", v=b"late")
    rows, table = [*old, late], TwsTester(load("table_by_key").Table())
    rows.insert(batches[0], tombstone)
    found, begin = [], 0
    for size in (*batches, 1):
        found += table.test((b"k",), rows[begin : begin + size])
        begin += size
    written = [row.value for row in found if not row.lost]
    assert written[-1:] in ([], [None])
    assert any(row.lost for row in found) == (batches != (10, 0))


def test_each_message_is_in_a_visit_or_said_to_be_lost(program) -> None:
    names, sent, beats, at = ("tracking", "orders"), 0, 0, int(time.time() * 1000)
    visits = program("merge_visits", (*names, "out"), timeout=20)
    topics = [getattr(visits.options, name) for name in names]
    for begin, name in zip((at, at + 1000), topics, strict=True):  # a message comes once
        hostile = records("visit", begin)
        send(visits.config, name, "visit", hostile, lambda n, begin=begin: good("visit", n, begin))
        sent += 2 * len(hostile) - 1  # three are the same message, under three keys
        beats += sum(each.reason == "ignored" for each in hostile)
    visits.run()
    big = b'{"ssid":"big","timestamp":%d,"n":%d,"x":"%s"}'
    visits.send(topics[0], *((b"big", big % (at, n, b"x" * 100_000)) for n in range(30)))
    for name in topics:
        visits.send(name, (None, b'{"timestamp":%d}' % (at + 200_000)))
    visits.run()
    found = [json.loads(one.value()) for one in visits.out()]
    merged = sum(len(each["messages"]) for each in found)
    assert merged + beats + lost(visits.said) == sent + 30, visits.said
    assert {f"good-{n}" for n in range(len(hostile) + 1)} <= {each["ssid"] for each in found}


@pytest.fixture
def counts(program, url):
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("DROP TABLE IF EXISTS action_counts, fence")
    more = {"registry": registry("tests"), "database": url, "horizon": "1 hour"}
    made = program("counts_into_postgres", ("topic",), **more)
    with psycopg.connect(url) as db:
        db.execute(made.module.TABLES)
    return made


def register(counts, schema: str, subject: str = "", **more) -> int:
    client = SchemaRegistryClient({"url": counts.options.registry})
    name = f"{counts.options.topic}-value{subject}"
    return client.register_schema(name, Schema(schema, "AVRO", **more))


def counted(counts) -> dict[str, int]:
    """Let it count all that's there; return the table's counts by ad."""
    subject = f"{counts.options.topic}-value"
    counts.run(counts.module.schemas(counts.options.registry, subject))
    with psycopg.connect(counts.options.database) as db:
        return dict(db.execute("SELECT ad, sum(count) FROM action_counts GROUP BY ad").fetchall())


def test_each_action_is_counted_or_said_to_be_lost(counts) -> None:
    number = [register(counts, text) for text in VERSIONS][-1]
    at = int(time.time() * 1000)
    hostile = records("action", at, number)
    make = [good("action", n, at, number) for n in range(len(hostile) + 1)]
    send(counts.config, counts.options.topic, "action", hostile, make.__getitem__)
    found = counted(counts)
    assert found["good"] == len(make)
    assert sum(found.values()) + lost(counts.said) == 2 * len(hostile) + 1, (found, counts.said)
    for why in ("id in a header", "aren't Avro", "unknown schema", "dated wrong", "PostgreSQL"):
        assert why in counts.said


def test_schemas_as_others_write_them_are_read(counts) -> None:
    seller = {"type": "record", "name": "of.others.Seller"}
    seller["fields"] = [{"name": "id", "type": "long"}]
    register(counts, json.dumps(seller), "-seller")
    refers = [SchemaReference("of.others.Seller", f"{counts.options.topic}-value-seller", 1)]
    kind = {"type": "enum", "name": "Kind", "symbols": ["view", "click"]}
    moment = {"type": "long", "logicalType": "timestamp-millis"}
    types = {"seller": "of.others.Seller", "ad": ["null", "int", "string"], "type": kind}
    types |= {"time": moment, "owner": ["null", "boolean"]}
    fields = [{"name": name, "type": each} for name, each in types.items()]
    fields[-1]["default"] = None
    schema = {"type": "record", "name": "Action"}
    numbers = [
        register(counts, json.dumps(schema | {"fields": some}), references=refers)
        for some in (fields[:-1], fields)
    ]
    now = _long(int(time.time() * 1000))
    bodies = [b"\2\4\4ab\0" + now, b"\2\2\16\2" + now + b"\0", b"\2\2\16\2" + now + b"\2\1"]
    heads = [head(numbers[0]), head(numbers[1]), head(numbers[1])]
    counts.send(
        counts.options.topic, *((b"", h + body) for h, body in zip(heads, bodies, strict=True))
    )
    assert counted(counts) == {"ab": 1, "7": 1}
    with pytest.raises(SystemExit, match="newest schema has no field"):
        counts.run({1: ['"string"']})


def test_what_postgresql_refuses_and_a_rolled_back_checkpoint_are_said(counts, tmp_path) -> None:
    number, at = register(counts, VERSIONS[1]), int(time.time() * 1000)
    text = good("action", 1, at, number)[1]
    # Longer than an index takes, shorter than what the tests' own Spark reads of Avro.
    long = b"\xf0\x2e" + bytes(Random(1).choices(range(33, 127), k=3_000))
    bad = [text.replace(b"good", ad) for ad in (b"\0ood", b"full", b"mine")]
    with psycopg.connect(counts.options.database) as db:
        db.execute("ALTER TABLE action_counts ADD CHECK (ad != 'mine')")
        full = (
            "INSERT INTO action_counts SELECT 'full', date 'today' + n, 'view', 9223372036854775807"
        )
        db.execute(full + " FROM generate_series(-1, 1) n")
    values = [text, *bad, text.replace(b"\x08good", long)]
    counts.send(counts.options.topic, *((b"", value) for value in values))
    assert counted(counts)["good"] == 1
    assert "lost: 4 that PostgreSQL refuses" in counts.said
    shutil.copytree(tmp_path / "checkpoint", tmp_path / "backup")
    late = [good("action", n, at - 10**7, number) for n in range(3)]
    counts.send(counts.options.topic, *((*each, at - 10**7) for each in late))
    assert counted(counts)["good"] == 1
    assert "lost: 3 too late" in counts.said
    shutil.rmtree(tmp_path / "checkpoint")
    shutil.copytree(tmp_path / "backup", tmp_path / "checkpoint")
    counts.send(counts.options.topic, good("action", 9, at, number))
    with pytest.raises(StreamingQueryException, match="rolled back"):
        counted(counts)
