"""The source that reads a topic by plain assignment: an internal one, compacted, transactional."""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from brokers import produce
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewPartitions
from labs import until
from pyspark.sql.streaming import StreamingQuery
from source_queries import ALL, Queries

from workbook.errors import RecordsLost
from workbook.sources.assigned import (
    PER_TASK,
    AssignedKafka,
    AssignedReader,
    AssignedSettings,
    in_tasks,
    register,
    shared,
)
from workbook.sources.bounds import begins_of
from workbook.sources.clamped import ClampedKafka
from workbook.spark.progress import _offsets


class Assigned(Queries):
    """A topic, queries on it, and what their micro-batches gave."""

    source = "kafka-assigned"

    @property
    def name(self) -> str:
        return self.topics[0]

    def write(self, *values: str, partition: int = 0) -> None:
        records = ((value.encode(), b"key", partition) for value in values)
        produce(self.broker.client_config(), self.name, *records)

    def read(self, query: StreamingQuery) -> list[str]:
        """Return the values read so far, sorted; a tombstone has none."""
        query.processAllAvailable()
        return sorted(row.value.decode() for batch in self.batches for row in batch if row.value)

    def reader(self, **options: str) -> AssignedReader:
        """Return what plans the micro-batches, without Spark."""
        reader = AssignedReader(AssignedSettings(self.options(**options)))
        self.ends.append(reader.stop)
        return reader

    def follow(self, reader: AssignedReader) -> Callable[[], str]:
        """Return a function that reads one more micro-batch, and returns all values so far."""
        at, found = _begin(reader), list[str]()

        def read() -> str:
            nonlocal at
            at, rows = self.next(reader, at)
            found.extend(row["value"].decode() for row in rows)
            return "".join(sorted(found))

        return read


@pytest.fixture
def assigned(spark, broker, topic, tmp_path) -> Iterator[Assigned]:
    register(spark)
    made = Assigned(spark, broker, [topic("clicks", partitions=3).name], tmp_path)
    yield made
    made.close()


def test_a_restart_goes_on_where_it_was(assigned: Assigned) -> None:
    assigned.write("a", "b")
    query = assigned.start(assigned.rows())
    assert assigned.read(query) == ["a", "b"]
    query.stop()
    assigned.batches.clear()
    assigned.write("c", partition=1)
    again = assigned.start(assigned.rows())
    assert assigned.read(again) == ["c"]
    [source] = [p for p in again.recentProgress if p.numInputRows][-1].sources
    assert json.loads(source.endOffset) == {assigned.name: {"0": 2, "1": 1, "2": 0}}
    progress = again.lastProgress
    assert _offsets(progress, "latestOffset")[assigned.name, 1] == 1


def test_a_partition_that_is_added_while_it_runs_is_read_from_its_first_record(assigned) -> None:
    assigned.write("a")
    read = assigned.follow(assigned.reader())
    assert read() == "a"
    admin = AdminClient(assigned.broker.client_config())
    admin.create_partitions([NewPartitions(assigned.name, 4)])[assigned.name].result(30)
    assigned.write("b", partition=3)
    until(lambda: read() == "ab", "the new partition's record")


def _begin(reader: AssignedReader) -> Any:
    """Return where the second micro-batch begins: the first one is empty."""
    return reader.latestOffset(reader.initialOffset(), ALL)


def _plan(reader: AssignedReader, start: Any) -> tuple[Any, dict[int, int]]:
    """Return where a micro-batch ends, and how many offsets it reads of each partition."""
    end = reader.latestOffset(start, ALL)
    tasks = reader.partitions(start, end)
    parts = [each for task in tasks for each in task.ranges.items()]  # type: ignore[attr-defined]
    return end, {number: end - begin for number, (begin, end) in parts}


@pytest.mark.parametrize(("starting", "read"), [("latest", {0: 1}), ("earliest", {0: 2})])
def test_where_it_begins_is_kept_before_a_record_is_read(assigned, starting, read) -> None:
    """Spark asks for it anew, if the first micro-batch has failed."""
    assigned.write("a")
    reader = assigned.reader(startingOffsets=starting)
    kept, nothing = _plan(reader, reader.initialOffset())
    assert nothing == {}
    assigned.write("b")
    again = assigned.reader(startingOffsets="latest")
    assert again.partitions(again.initialOffset(), kept) == []
    assert _plan(again, kept)[1] == read


def test_what_comes_later_is_not_available_now(assigned: Assigned) -> None:
    assigned.write("a", "b")
    reader = assigned.reader()
    start = _begin(reader)
    reader.prepareForTriggerAvailableNow()
    assigned.write("c")
    end, read = _plan(reader, start)
    assert read == {0: 2}
    assert _plan(reader, end) == (end, {})


def test_records_that_are_gone_end_the_query_or_are_left_out(assigned: Assigned) -> None:
    assigned.write(*"abcdefg")
    reader = assigned.reader()
    start = _begin(reader)
    assigned.delete_before(5)
    with pytest.raises(RecordsLost, match=r"from offset 0, but they begin at 5"):
        _plan(reader, start)
    moved, gone = _plan(assigned.reader(failOnDataLoss="false"), start)
    assert gone == {0: 5}
    assert _plan(reader, moved)[1] == {0: 2}


def test_records_deleted_between_plan_and_read_are_left_out(assigned: Assigned) -> None:
    assigned.write(*"abcdef")
    assigned.write("g", partition=1)
    reader = assigned.reader(failOnDataLoss="false")
    start = _begin(reader)
    [task] = reader.partitions(start, reader.latestOffset(start, ALL))
    assigned.delete_before(4)
    found = [value for batch in reader.read(task) for value in batch["value"].to_pylist()]
    assert sorted(found) == [b"e", b"f", b"g"]


def test_an_open_transaction_hides_records_and_an_aborted_one_has_none(assigned: Assigned) -> None:
    settings = {"transactional.id": f"of-{assigned.name}", "log_level": 0}
    producer = Producer({**assigned.broker.client_config(), **settings})
    producer.init_transactions(60)
    read = assigned.follow(assigned.reader(**{"kafka.isolation.level": "read_committed"}))
    for value, end in (
        ("a", producer.commit_transaction),
        ("b", producer.abort_transaction),
        ("c", None),
    ):
        producer.begin_transaction()
        producer.produce(assigned.name, value.encode(), b"key", 0)
        producer.flush()  # or an abort would throw it away
        if end:
            end(60)
    assigned.write("d")  # behind the open transaction
    assigned.write("e", partition=1)
    began = time.monotonic()
    until(lambda: read() == "ae", "what was committed")
    assert time.monotonic() - began < 30
    producer.commit_transaction(60)
    until(lambda: read() == "acde", "the rest")


CLAMPED = {"subscribe": "t,u", "maxLead": "10 seconds"}


@pytest.mark.parametrize(
    ("source", "options", "says"),
    [
        (AssignedKafka, {"subscribe": ","}, "topics.*','"),
        (AssignedKafka, {"tasks": "many"}, "tasks as a whole number"),
        (AssignedKafka, {"kafka.ssl.truststore.location": "x"}, "kafka.ssl.ca.location"),
        (AssignedKafka, {"kafka.auto.offset.reset": "latest"}, "startingOffsets"),
        (AssignedKafka, {"kafka.sasl.jaas.config": "x"}, "kafka.sasl.username"),
        (AssignedKafka, {"maxOffsetsPerTrigger": "0"}, "maxOffsetsPerTrigger as a whole number"),
        (AssignedKafka, {"failOnDataLoss": "maybe"}, "failOnDataLoss as true or false"),
        (AssignedKafka, {"minPartitions": "4"}, "one of the options.*minpartitions"),
        (ClampedKafka, {**CLAMPED, "subscribe": "one"}, "two topics.*'one'"),
        (ClampedKafka, {**CLAMPED, "maxLead": "0 seconds"}, "maxLead as a time like '10 seconds'"),
    ],
)
def test_options_that_make_no_sense(source: Any, options: dict[str, str], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        source({"kafka.bootstrap.servers": "a:1", "subscribe": "t", **options})


@pytest.mark.parametrize(
    "offsets",
    [
        '{"A":{"0":3},"B":{"0":0,"1":0}}',
        '{"A":{"0":3.7,"1":0},"B":{"0":0,"1":0}}',
        '{"A":{"x":3,"1":0},"B":{"0":0,"1":0}}',
        '{"A":{"0":9,"1":0},"B":{"0":0,"1":0}}',
        '{"A":{"0":"x","1":0},"B":{"0":0,"1":0}}',
        "first",
    ],
)
def test_offsets_that_make_no_sense(offsets: str) -> None:
    bounds = {(topic, number): (1, 8) for topic in "AB" for number in (0, 1)}
    given = '{"A":{"0":2,"1":-2},"B":{"0":-1,"1":8}}'
    assert begins_of(given, "AB", bounds) == {"A": {"0": 2, "1": 1}, "B": {"0": 8, "1": 8}}
    with pytest.raises(ValueError, match=r"Expected .*startingOffsets"):
        begins_of(offsets, "AB", bounds)


def test_a_partition_that_has_less_leaves_its_share_to_the_others_and_none_starves() -> None:
    assert shared({"0": 3, "1": 0}, {"0": 9, "1": 0}, None) == {"0": 9, "1": 0}
    assert shared({"0": 3, "1": 0}, {"0": 9, "1": 4}, 10) == {"0": 9, "1": 4}
    ends = shared({"0": 0, "1": 50, "2": 0}, {"0": 1000, "1": 60, "2": 500}, 300)
    assert ends == {"0": 145, "1": 60, "2": 145}
    begins = {str(number): 0 for number in range(5)}
    assert shared(begins, dict.fromkeys(begins, 7), 2) == dict.fromkeys(begins, 1)


def test_small_ranges_are_one_task_and_large_ones_are_spread_evenly() -> None:
    def ranges(*sizes: int) -> dict[int, tuple[int, int]]:
        return {number: (100, 100 + size) for number, size in enumerate(sizes)}

    [only] = in_tasks(ranges(*[3] * 50), 8)
    assert len(only) == 50
    assert in_tasks({}, 8) == []
    parts = in_tasks(ranges(*(n * PER_TASK for n in (1, 5, 1, 1, 2))), 2)
    assert [sum(e - b for b, e in part.values()) for part in parts] == [50_000, 50_000]
