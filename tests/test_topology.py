"""A query's topology from Spark's own plan: what rows pass, what is remembered, and how much."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import Producer
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from workbook.errors import NoTopology
from workbook.kafka.broker import Broker
from workbook.pipelines.share_holders import us_share_holders
from workbook.sources.formats import POSITIONS
from workbook.sources.kafka import clamped_stream, kafka_stream
from workbook.spark.runner import Batch, Sink, start_query
from workbook.spark.topology import OPERATOR, SHUFFLE, SINK, SOURCE, Node, Topology, topology
from workbook.topics import Topic
from workbook.views.pipeline import topology_picture


class Nowhere(Sink):
    """A sink that takes all."""

    kind = "nowhere"

    def write(self, rows: pa.Table, batch: Batch) -> None:
        """Take the rows."""


def flow(graph: Topology) -> list[str]:
    """The names of the parts, in the order of the rows."""
    return [node.name for node in graph.nodes]


@pytest.fixture
def rate(spark: SparkSession) -> DataFrame:
    rows = spark.readStream.format("rate").option("rowsPerSecond", 5).load()
    return rows.withColumn("k", F.col("value") % 3)


def test_a_windowed_count_has_a_shuffle_before_its_state(rate: DataFrame) -> None:
    windows = F.window("timestamp", "10 seconds")
    counts = rate.where("value > 3").withWatermark("timestamp", "4 seconds")
    graph = topology(counts.groupBy(windows, "k").count())
    assert flow(graph) == ["rate", "watermark", "shuffle", "aggregate"]
    assert graph.nodes[1].detail == "timestamp - 4 seconds"
    [shuffle] = graph.of_kind(SHUFFLE)
    assert shuffle.keys == ("window", "k")
    assert shuffle.partitions == 2
    assert (graph.nodes[-1].state, graph.checkpoint, graph.nodes[-1].size) == (0, None, None)


def test_duplicates_joins_and_unions_are_named(rate: DataFrame) -> None:
    assert flow(topology(rate.dropDuplicates(["k"])))[-2:] == ["shuffle", "dropDuplicates"]
    left = rate.withWatermark("timestamp", "1 second")
    assert flow(topology(left.dropDuplicatesWithinWatermark(["k"])))[-1] == (
        "dropDuplicatesWithinWatermark"
    )
    right = left.selectExpr("k AS j", "timestamp AS then")
    graph = topology(left.join(right, F.expr("k = j AND timestamp = then")))
    assert [graph.nodes[n].name for n in graph.nodes[-1].before] == ["shuffle", "shuffle"]
    assert (graph.nodes[-1].name, len(graph.of_kind(SOURCE))) == ("join", 2)

    def double(batches: Any) -> Any:
        yield from batches

    both = rate.where("k = 0").union(rate.where("k = 1"))
    graph = topology(both.mapInArrow(double, both.schema).dropDuplicates(["k"]))
    assert flow(graph) == ["rate", "rate", "shuffle", "dropDuplicates"]
    assert graph.nodes[2].before == (0, 1)


def test_a_query_of_files_has_its_sink_and_what_its_state_holds(
    spark: SparkSession, tmp_path: Path
) -> None:
    folders = [tmp_path / "left", tmp_path / "right"]
    for folder in folders:
        folder.mkdir()
        (folder / "1.json").write_text('{"a": 1}\n{"a": 2}\n{"a": 2}\n')
    left, right = (spark.readStream.schema("a INT").json(str(folder)) for folder in folders)
    place = tmp_path / "checkpoint"
    writer = left.union(right).groupBy("a").count().writeStream.outputMode("update")
    query = writer.format("noop").option("checkpointLocation", str(place)).start()
    try:
        query.processAllAvailable()
        (folders[0] / "2.json").write_text('{"a": 2}\n')
        query.processAllAvailable()
        graph = topology(query)
    finally:
        query.stop()
    assert [n.name for n in graph.of_kind(SOURCE)] == ["left", "right"]  # also without news
    assert [node.name for node in graph.of_kind(SINK)] == ["noop"]
    [store] = [node for node in graph.nodes if node.state is not None]
    assert (store.rows, graph.checkpoint) == (2, place)
    held = (path for path in (place / "state" / "0").rglob("*") if path.is_file())
    assert store.size == sum(path.stat().st_size for path in held)


def test_a_query_has_a_topology_before_its_first_micro_batch(
    rate: DataFrame, tmp_path: Path
) -> None:
    writer = rate.groupBy("k").count().writeStream.outputMode("complete").format("memory")
    writer = writer.queryName("drawn_early").trigger(processingTime="1 hour")
    query = writer.option("checkpointLocation", str(tmp_path)).start()
    try:
        assert flow(topology(query)) == ["rate", "shuffle", "aggregate", "memory"]
    finally:
        query.stop()


def test_a_table_from_kafka_has_two_states_of_buckets(
    spark: SparkSession, broker: Broker, topic: Callable[..., Topic], tmp_path: Path
) -> None:
    positions = topic("positions", partitions=3)
    producer = Producer(broker.client_config())
    share = {"client": "Al", "ticker": "IBM", "amount": 1, "exchange": "NYSE"}
    for number in range(9):
        producer.produce(positions.name, key=f"p{number}", value=json.dumps(share).encode())
    producer.flush()
    changes = us_share_holders(POSITIONS.parse(kafka_stream(spark, broker, positions.name)))
    with start_query(changes, [Nowhere()], tmp_path) as running:
        running.process_all()
        graph = topology(running.query)
    [source] = graph.of_kind(SOURCE)
    assert (source.name, source.detail, source.partitions) == (positions.name, "kafka", 3)
    stores = [node for node in graph.nodes if node.state is not None]
    assert [node.state for node in stores] == [1, 0]
    assert all(node.rows and node.size for node in stores)
    assert flow(graph)[1:] == ["shuffle", "transformWithState"] * 2 + ["foreachBatch"]
    picture = topology_picture(graph.nodes)
    assert f"{positions.name} → " in picture.words
    assert picture.words.count("entries of its buckets, ") == 2
    assert "__" not in picture.words + str(picture.rows)


def test_topics_are_named_whatever_reads_or_writes_them(
    spark: SparkSession, broker: Broker, topic: Callable[..., Topic], tmp_path: Path
) -> None:
    one, other = topic("tracking"), topic("orders")
    both = [one.name, other.name]
    for rows in (kafka_stream(spark, broker, both), clamped_stream(spark, broker, both, "5 s")):
        [source] = topology(rows).of_kind(SOURCE)
        assert sorted(source.name.split(", ")) == sorted(both)
    rows = kafka_stream(spark, broker, one.name).select("key", "value")
    writer = rows.writeStream.format("kafka").options(**broker.spark_options())
    query = writer.option("topic", other.name).option("checkpointLocation", str(tmp_path)).start()
    try:
        assert topology(query).nodes[-1].name == other.name
    finally:
        query.stop()


@pytest.mark.parametrize("thing", ["a batch", 7, None])
def test_what_is_no_stream_is_refused_with_what_to_pass(spark: SparkSession, thing: object) -> None:
    thing = spark.range(3) if thing == "a batch" else thing
    with pytest.raises(NoTopology, match=r"Expected a streaming query.*but got.*Pass what"):
        topology(thing)  # type: ignore[arg-type]


# --- the internal topics of Kafka Streams -----------------------------------------------------

TABLE = Topology(
    (
        Node(SOURCE, "positions", "kafka", partitions=4),
        Node(SHUFFLE, "shuffle", before=(0,), keys=("bucket",)),
        Node(OPERATOR, "transformWithState", before=(1,), state=1, size=3000),
        Node(SHUFFLE, "shuffle", before=(2,), keys=("bucket",)),
        Node(OPERATOR, "transformWithState", before=(3,), state=0, size=4000),
    )
)
JOIN = Topology(
    (
        *(Node(SOURCE, "a"), Node(SHUFFLE, "left", before=(0,))),
        *(Node(SOURCE, "b"), Node(SHUFFLE, "right", before=(2,))),
        Node(OPERATOR, "join", before=(1, 3), state=0, size=7),
    )
)


def test_each_source_has_a_row_of_boxes_up_to_the_join() -> None:
    drawn = topology_picture(JOIN.nodes)
    assert drawn.words == (
        "a → left → join; b → right → join. 2 shuffles; 1 state store: state 0: 0.0 kB."
    )
    assert [row["goes on to"] for row in drawn.rows] == ["left", "join", "right", "join", "–"]
    assert len(topology_picture(TABLE.nodes).drawing.lines) == 1
    assert topology_picture(()).words == "It has no parts."
