"""What a checkpoint was made for: recorded before the first start, and required ever after."""

from __future__ import annotations

import json
import secrets
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import BooleanType

from workbook.commands import run
from workbook.errors import CannotGoOn, TopicMissing
from workbook.kafka.broker import Broker
from workbook.kafka.identity import topic_facts, topic_ids
from workbook.spark import checkpoints
from workbook.spark.checkpoints import WRITES, computed, facts_of, record, require
from workbook.spark.source import kafka_stream
from workbook.systems import SYSTEMS
from workbook.tables.ktable import KTable, collect_set, count, fold, ktable, sum_of
from workbook.topics import Topic

FACTS = {"topic": "clicks", "buckets": 8, "filters": ["(a > 1)"], "changelog": []}


def begin(place: Path) -> None:
    """As Spark does, before a query's first micro-batch."""
    offsets = place / "0" / "offsets"
    offsets.mkdir(parents=True)
    (offsets / "0").write_text("v1")


def test_before_anything_has_begun_everything_fits(tmp_path: Path) -> None:
    place = tmp_path / "new" / "checkpoint"
    require(place, FACTS)
    assert not place.exists()
    record(place, {"topic": "others"})
    record(place, FACTS)  # the other one never started
    begin(place)
    record(place, FACTS)
    require(place, {"topic": "clicks"})
    assert json.loads((place / checkpoints.RECORD).read_text()) == FACTS
    assert [path.name for path in place.glob("*.json*")] == [checkpoints.RECORD]


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        ({**FACTS, "buckets": 2}, "buckets: made for 8, came 2"),
        ({**FACTS, "filters": ["(a > 1)", "(b < 2)"]}, r"\(a > 1\), came \(a > 1\); \(b < 2\)"),
        ({**FACTS, "filters": []}, "filters: made for .*, came nothing"),
        ({**FACTS, "lateness": "1 second"}, "lateness: made for nothing, came 1 second"),
        ({"topic": "clicks"}, "filters: made for .*, came nothing"),
    ],
)
def test_any_difference_is_refused_and_nothing_is_changed(
    tmp_path: Path, facts: dict[str, Any], says: str
) -> None:
    record(tmp_path, FACTS)
    begin(tmp_path)
    with pytest.raises(CannotGoOn, match=says):
        record(tmp_path, facts)
    assert json.loads((tmp_path / checkpoints.RECORD).read_text()) == FACTS


def test_some_facts_are_enough_to_refuse_early(tmp_path: Path) -> None:
    record(tmp_path, FACTS)
    begin(tmp_path)
    with pytest.raises(
        CannotGoOn, match="another one came:\n  topic: made for clicks, came x\nAsk"
    ):
        require(tmp_path, {"topic": "x"})
    with pytest.raises(CannotGoOn, match="by partition: made for nothing, came False"):
        require(tmp_path, {"by partition": False})


@pytest.mark.parametrize(("damage", "says"), [(None, "there is none"), ("{", "cannot be read")])
def test_a_checkpoint_that_does_not_say_what_it_was_made_for_is_refused(
    tmp_path: Path, damage: str | None, says: str
) -> None:
    begin(tmp_path)
    if damage:
        (tmp_path / checkpoints.RECORD).write_text(damage)
    for ask in (record, require):
        with pytest.raises(CannotGoOn, match=f"{says}: it is of an older version"):
            ask(tmp_path, FACTS)


TOPIC = {"topic": "clicks", "topic id": "aaa", "cluster": "one"}
OPTIONS = {
    "system": "page_views",
    "source": "clicks",
    "dead_letters": "letters",
    "out": "metrics",
    "lateness": None,
    "by_partition": False,
    "with_events": False,
}


@pytest.mark.parametrize(
    ("other", "id_now", "says"),
    [
        ({"lateness": "9 seconds"}, "aaa", "lateness in ms: made for 5000, came 9000\nAsk"),
        ({"by_partition": True}, "aaa", "by partition: made for False, came True\nAsk"),
        ({"with_events": True}, "aaa", "events: made for False, came True\nAsk"),
        ({"out": None}, "aaa", "query: made for seconds, came table\n  table of: made for nothing"),
        (
            {"system": "share_holders", "out": None},
            "aaa",
            "query: made for seconds, came table\nAsk",
        ),
        ({}, "bbb", "came:\n  topic id: made for aaa, came bbb\nAsk"),
        ({"out": "m2"}, "aaa", r"writes: made for metrics \(ccc\), came m2 \(ccc\)\nAsk"),
        ({"out_id": "new"}, "aaa", r"writes: made for metrics \(ccc\), came metrics \(new\)"),
    ],
)
def test_run_refuses_other_options_before_spark_starts(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    other: dict[str, Any],
    id_now: str,
    says: str,
) -> None:
    options = Namespace(**OPTIONS, checkpoint=str(tmp_path))
    record(tmp_path, TOPIC | SYSTEMS["page_views"].made_for(options))
    record(tmp_path, {"writes": ["metrics (ccc)"]}, WRITES)
    begin(tmp_path)
    known, out_id = TOPIC.copy(), "ccc"
    monkeypatch.setattr(run, "topics_facts", lambda config, topic: known)
    monkeypatch.setattr(
        run, "written_facts", lambda config, names: {"writes": [f"{n} ({out_id})" for n in names]}
    )
    monkeypatch.setattr(run, "require_topic", lambda config, topic: 1)
    monkeypatch.setattr(Broker, "create", lambda *topics: None)
    nowhere = Broker("127.0.0.1:1", {})
    run._prepare(nowhere, SYSTEMS["page_views"], options)
    known["topic id"] = id_now
    out_id = other.pop("out_id", out_id)
    asked = Namespace(**{**vars(options), **other})
    with pytest.raises(CannotGoOn, match=says):
        run._prepare(nowhere, SYSTEMS[asked.system], asked)


# --- what a query is made for -----------------------------------------------------------------

SCHEMA = "id STRING, client STRING, amount BIGINT, deleted BOOLEAN, offset BIGINT"


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    rows = spark.createDataFrame([], SCHEMA)
    rows.createOrReplaceTempView("rows")
    return rows


def plain(rows: DataFrame) -> KTable:
    return ktable(rows, key="id").filter("amount > 1")


def taking(number: int) -> Any:
    return fold(lambda v, r: v + number, lambda v, r: v - number, 0, "bigint")


@pytest.mark.parametrize(
    "other",
    [
        lambda rows: ktable(rows, key="id", buckets=9).filter("amount > 1"),
        lambda rows: ktable(rows, key=["id", "client"]).filter("amount > 1"),
        lambda rows: ktable(rows, key="id").filter("amount > 2"),
        lambda rows: ktable(rows, key="id"),
        lambda rows: plain(rows).filter("client != 'x'"),
        lambda rows: ktable(rows, key="id").filter("client != 'x'").filter("amount > 1"),
        lambda rows: plain(rows.where("client != 'x'")),
        lambda rows: plain(rows.withColumn("client", F.upper("client"))),
        lambda rows: plain(rows.withColumn("amount", F.col("amount").cast("int"))),
        lambda rows: ktable(rows, key="id", order="amount").filter("amount > 1"),
        lambda rows: plain(rows).filter(even("amount")),
        lambda rows: plain(rows.where(even("amount"))),
        lambda rows: plain(rows.dropDuplicates(["client"])),
        lambda rows: plain(rows.dropDuplicates(["id"])),
        lambda rows: plain(rows.sample(fraction=0.5, seed=1)),
        lambda rows: plain(rows.union(rows.where("amount > 5"))),
        lambda rows: plain(rows.join(names(rows), "client")),
        lambda rows: plain(rows.where("amount < 9").dropDuplicates(["id"])),
    ],
)
def test_another_table_is_made_for_something_else(
    rows: DataFrame, other: Callable[[DataFrame], KTable]
) -> None:
    known = facts_of(plain(rows).group_by("client").aggregate(n=count()))
    assert facts_of(other(rows).group_by("client").aggregate(n=count())) != known


def test_another_mark_of_what_is_deleted_makes_another_table(rows: DataFrame) -> None:
    either = rows.withColumn("gone", ~F.col("deleted"))
    one, other = (ktable(either, key="id", deleted=name) for name in ("deleted", "gone"))
    counted = [facts_of(t.group_by("client").aggregate(n=count())) for t in (one, other)]
    assert counted[0] != counted[1]


def names(rows: DataFrame) -> DataFrame:
    return rows.select("client").where("client > 'm'")


AFTER = ("amount", "deleted", "offset")


def some(holds: str) -> str:
    return f"exists(array(amount, offset), {holds})"


def joined(rows: DataFrame, side: int) -> DataFrame:
    """The amounts of one of two sides."""
    both = rows, rows.sparkSession.createDataFrame([], SCHEMA)
    columns = both[0]["id"], both[0]["client"], both[side]["amount"]
    deleted, offset = both[0]["deleted"], both[0]["offset"]
    return (
        both[0].join(both[1], both[0]["id"] == both[1]["client"]).select(*columns, deleted, offset)
    )


def test_a_hint_and_a_view_are_no_other_query(rows: DataFrame) -> None:
    one = computed(rows.join(names(rows), "client"))
    assert one == computed(rows.join(names(rows).hint("broadcast"), "client"))
    view = rows.sparkSession.sql("SELECT upper(client) AS c FROM rows")
    assert computed(view.repartition("c")) == ["upper(rows.client) AS c"]


def test_the_watermark_belongs_to_a_query(spark: SparkSession) -> None:
    stream = spark.readStream.format("rate").load()
    assert computed(stream.withWatermark("timestamp", "1 minute")) == [
        "WATERMARK timestamp 1 minutes"
    ]


def divided(by: int) -> Any:
    """A filter in Python, made anew as another process would."""
    return F.udf(lambda amount: amount % by == 0, BooleanType())


even = divided(2)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (lambda rows: plain(rows).filter(even("amount")),
         lambda rows: plain(rows).filter(divided(3)("amount"))),
        (lambda rows: plain(rows.withColumn("amount", even("amount").cast("bigint"))),
         lambda rows: plain(rows.withColumn("amount", divided(3)("amount").cast("bigint")))),
        (lambda rows: plain(rows.dropDuplicates(["id"])),
         lambda rows: plain(rows.dropDuplicates(["client"]))),
        (lambda rows: plain(rows.where("amount < 9").dropDuplicates(["id"])),
         lambda rows: plain(rows.where("amount < 8").dropDuplicates(["id"]))),
        (lambda rows: plain(rows.sample(fraction=0.5, seed=1)),
         lambda rows: plain(rows.sample(fraction=0.4, seed=1))),
        (lambda rows: plain(rows.join(names(rows), "client")),
         lambda rows: plain(rows.join(names(rows), "client", "left_semi"))),
        (lambda rows: plain(rows.join(names(rows), "client")),
         lambda rows: plain(rows.join(names(rows).where("client < 'z'"), "client"))),
        (lambda rows: plain(rows.union(rows.where("amount > 5"))),
         lambda rows: plain(rows.union(rows.where("amount > 6")))),
        (lambda rows: plain(rows.exceptAll(rows.where("amount > 5"))),
         lambda rows: plain(rows.where("amount > 5").exceptAll(rows))),
        (lambda rows: plain(rows.union(rows.select("id", "client", *AFTER))),
         lambda rows: plain(rows.union(rows.select("client", "id", *AFTER)))),
        (lambda rows: plain(rows.where("client IN (SELECT client FROM rows)")),
         lambda rows: plain(rows.where("client IN (SELECT id FROM rows WHERE amount > 5)"))),
        (lambda rows: plain(rows.where("amount < (SELECT max(amount) FROM rows)")),
         lambda rows: plain(rows.where("amount < (SELECT min(amount) FROM rows)"))),
        (lambda rows: plain(rows.where(some("x -> {}".format(some("y -> x < y"))))),
         lambda rows: plain(rows.where(some("x -> {}".format(some("y -> y < x")))))),
        (lambda rows: plain(joined(rows, 0)), lambda rows: plain(joined(rows, 1))),
        (lambda rows: plain(rows.withColumn("n", F.udf(len, "bigint")("id"))),
         lambda rows: plain(rows.withColumn("n", F.udf(len, "int")("id")))),
    ],
)  # fmt: skip
def test_what_stands_below_and_what_python_decides_belong_to_it(
    rows: DataFrame,
    one: Callable[[DataFrame], KTable],
    two: Callable[[DataFrame], KTable],
) -> None:
    def facts(make: Callable[[DataFrame], KTable]) -> dict[str, Any]:
        return facts_of(make(rows).group_by("client").aggregate(n=count()))

    assert facts(one) == facts(one) != facts(two)
    assert facts(lambda rows: plain(rows).filter(divided(2)("amount"))) == facts(
        lambda rows: plain(rows).filter(even("amount"))
    )


@pytest.mark.parametrize(
    "other",
    [
        lambda table: table.group_by("client").aggregate(m=count()),
        lambda table: table.group_by("client").aggregate(n=sum_of("amount")),
        lambda table: table.group_by("client").aggregate(n=taking(2)),
        lambda table: table.group_by("client").aggregate(n=taking(1), m=count()),
        lambda table: table.group_by("client").aggregate(per_update=True, n=taking(1)),
        lambda table: table.group_by("amount").aggregate(n=taking(1)),
        lambda table: table.group_by("client").changelog(),
        lambda table: table.changes(),
    ],
)
def test_another_result_is_made_for_something_else(
    rows: DataFrame, other: Callable[[KTable], DataFrame]
) -> None:
    known = facts_of(plain(rows).group_by("client").aggregate(n=taking(1)))
    assert facts_of(other(plain(rows))) != known


def test_the_same_table_written_otherwise_is_the_same(rows: DataFrame) -> None:
    one = plain(rows).group_by("client").aggregate(n=taking(1), ids=collect_set("id"))
    table = ktable(rows, key=("id",)).filter(F.col("amount") > F.lit(1))
    two = table.group_by("client").aggregate(n=taking(1), ids=collect_set("id"))
    assert facts_of(one) == facts_of(two.where("NOT deleted").select(F.upper("client")))


def test_a_query_over_two_sources_names_both(rows: DataFrame) -> None:
    both = checkpoints.marked(rows, {"topic": "a", "n": 1}).union(
        checkpoints.marked(rows, {"topic": "b", "n": 1})
    )
    assert facts_of(both) == {"topic": ["a", "b"], "n": 1}


def test_a_topic_is_known_by_its_id(
    spark: SparkSession, broker: Broker, topic: Callable[..., Topic]
) -> None:
    made, config = topic("moves", partitions=2), broker.client_config()
    known = topic_facts(config, made.name)
    assert known["topic"] == made.name
    assert len(known["topic id"]) == 22
    assert topic_ids(config, [made.name]) == {made.name: known["topic id"]}
    assert known["cluster"] == topic_facts(config, topic("moves").name)["cluster"] != "None"
    raw = kafka_stream(spark, broker, made.name)
    assert facts_of(raw.groupBy("key").count()) == known
    part = kafka_stream(spark, broker, made.name, partitions=[1])
    half = facts_of(part.groupBy("key").count())
    assert known.items() < half.items()
    assert half["partitions"] == [1]
    for ask in (topic_facts, lambda config, name: topic_ids(config, [made.name, name])):
        with pytest.raises(TopicMissing):
            ask(config, f"missing-{secrets.token_hex(4)}")
    bare = spark.readStream.format("kafka").option("subscribe", made.name)
    bare = bare.option("kafka.bootstrap.servers", config["bootstrap.servers"])
    assert facts_of(bare.load()) == {"topic": made.name}
