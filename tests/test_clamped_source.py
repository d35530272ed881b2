"""The clamped source on a real broker: what it reads, when it stops, and what it refuses."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from brokers import produce
from confluent_kafka import Producer
from labs import DEADLINE, until
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame
from pyspark.sql.streaming import StreamingQuery
from pyspark.sql.streaming.datasource import ReadMaxRows
from pyspark.sql.types import StructType
from source_queries import ALL, Queries

from workbook.errors import BrokerUnreachable, RecordsLost, TopicMissing
from workbook.sources.clamp import goes_on
from workbook.sources.clamped import ClampedKafka, ClampedReader, ClampSettings, register
from workbook.topics import Topic


class Clamped(Queries):
    """Two topics, written at times in seconds after an hour ago, and queries on them."""

    source, more = "kafka-clamped", {"maxLead": "10 seconds"}
    hour_ago = int(time.time() * 1000) - 3_600_000

    def write(self, side: int, *seconds: float, partition: int = 0) -> None:
        times = ((second, self.hour_ago + round(second * 1000)) for second in seconds)
        records = ((b"%g" % second, b"key", partition, at) for second, at in times)
        produce(self.broker.client_config(), self.topics[side], *records)

    def read(self, query: StreamingQuery) -> tuple[list[float], list[float]]:
        """Return the seconds read so far, of both topics, sorted."""
        query.processAllAvailable()
        return self.seconds([row.asDict() for batch in self.batches for row in batch])

    def seconds(self, rows: list[dict[str, Any]]) -> tuple[list[float], list[float]]:
        first, second = (
            sorted(float(row["value"]) for row in rows if row["topic"] == topic and row["value"])
            for topic in self.topics
        )
        return first, second

    def log(self, **options: str) -> ClampedReader:
        """Return what plans the micro-batches, without Spark."""
        log = ClampedReader(ClampSettings({**self.options(**options), **self.more}), goes_on)
        self.ends.append(log.stop)
        return log


@pytest.fixture
def clamped(spark, broker, topic, tmp_path) -> Iterator[Clamped]:
    register(spark)
    both = [topic("tracking", partitions=2).name, topic("orders", partitions=2).name]
    made = Clamped(spark, broker, both, tmp_path)
    yield made
    made.close()


def test_it_gives_the_columns_and_values_of_the_native_source(clamped: Clamped) -> None:
    for side in (0, 1):
        for partition in (0, 1):
            clamped.write(side, *range(10), partition=partition)
    own, native = clamped.rows(maxOffsetsPerTrigger="8"), clamped.rows("kafka")
    schemas = [[(f.name, f.dataType) for f in rows.schema] for rows in (own, native)]
    assert schemas[0] == schemas[1]
    found = []
    for rows, name in ((own, "own"), (native, "native")):
        clamped.start(rows, name, once=True).awaitTermination(DEADLINE)
        found.append(Counter(row for batch in clamped.batches for row in batch))
        if name == "own":
            assert max(map(len, clamped.batches)) <= 8
        clamped.batches.clear()
    assert found[0] == found[1]
    assert sum(found[0].values()) == 40


def test_a_leader_waits_across_a_restart_too_and_heartbeats_release_it(clamped: Clamped) -> None:
    clamped.write(0, *range(100))
    query = clamped.start(clamped.rows())
    assert clamped.read(query) == ([0], [])
    clamped.write(1, 0, 20)
    assert clamped.read(query) == (list(range(31)), [0, 20])
    clamped.write(1, 50)
    assert clamped.read(query) == (list(range(61)), [0, 20, 50])
    assert query.lastProgress is not None
    [source] = [p for p in query.recentProgress if p.numInputRows][-1].sources
    assert '"0":61' in source.endOffset.replace(" ", "")
    assert '"0":100' in source.latestOffset.replace(" ", "")
    query.stop()
    clamped.write(1, 49, 55)
    again = clamped.start(clamped.rows())
    assert clamped.read(again) == (list(range(66)), [0, 20, 49, 50, 55])


def test_each_partition_stops_before_the_first_record_that_leads_its_own(clamped: Clamped) -> None:
    clamped.write(0, 3, 9, 1, 12, 40, 2, 13)
    clamped.write(1, 5, 4, 3)
    clamped.write(0, *range(100, 140), partition=1)
    log = clamped.log()
    at, rows = clamped.next(log, log.initialOffset())
    assert clamped.seconds(rows) == ([1, 3, 9, 12, 100], [3, 4, 5])
    clamped.write(1, 95, partition=1)
    assert clamped.seconds(clamped.next(log, at)[1]) == ([*range(101, 106)], [95])


def test_what_is_available_now_is_read_and_then_it_ends(clamped: Clamped) -> None:
    clamped.write(0, *range(50))
    clamped.write(1, 5)
    log, read = clamped.log(), list[Any]()
    log.prepareForTriggerAvailableNow()
    clamped.write(1, 30)
    at, rows = clamped.next(log, log.initialOffset(), ReadMaxRows(8))
    while rows:
        assert len(rows) <= 8
        read += rows
        at, rows = clamped.next(log, at, ReadMaxRows(8))
    assert clamped.seconds(read) == ([*range(16)], [5])


@pytest.mark.parametrize("strict", [True, False])
def test_records_that_are_gone_end_the_query_or_are_left_out(clamped, strict: bool) -> None:
    for side in (0, 1):
        clamped.write(side, *range(10))
    log, later = (clamped.log(failOnDataLoss=str(strict)) for _ in range(2))
    ask, first = log.ask, log.initialOffset()

    def ask_before() -> Any:
        found = ask()
        clamped.delete_before(5)
        return found

    log.ask = ask_before  # type: ignore[method-assign]
    for reader, says in ((log, "offset"), (later, "from offset 0, but they begin at 5")):
        if strict:
            with pytest.raises(RecordsLost, match=says):
                reader.latestOffset(first, ALL)
        else:
            found = reader.latestOffset(first, ALL)
            assert [of["0"] for of in found["offsets"].values()] == [10, 10]


def test_while_the_broker_is_away_nobody_becomes_idle(clamped, monkeypatch) -> None:
    later, name = [0.0], clamped.topics[0]
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + later[0], time=time.time)
    monkeypatch.setattr("workbook.sources.clamped.time", clock)
    log = clamped.log(idleTimeout="10 minutes")
    clamped.write(0, 0)
    clamped.write(1, 0)
    found, ask = log.latestOffset(log.initialOffset(), ALL), log.ask
    clamped.write(0, 5, 99)

    def ask_late() -> Any:
        later[0] += 3600
        return ask()

    log.ask = ask_late  # type: ignore[method-assign]
    found = log.latestOffset(found, ALL)
    assert found["offsets"][name]["0"] == 2
    log.ask = ask  # type: ignore[method-assign]
    later[0] += 3600
    assert log.latestOffset(found, ALL)["offsets"][name]["0"] == 3, "it's idle now"


def test_a_time_far_ahead_is_read_and_does_not_count_and_a_rule_of_your_own_decides(
    clamped: Clamped, topic: Callable[..., Topic]
) -> None:
    class Unclamped(ClampedKafka):
        rule = staticmethod(lambda own, other, max_lead: True)

    clamped.write(0, 1, 5400, 2, 30)
    clamped.write(1, 3, 5400)
    log = clamped.log()
    found = log.latestOffset(log.initialOffset(), ALL)["offsets"]
    assert [of["0"] for of in found.values()] == [3, 2]
    free = Unclamped({**clamped.options(), **clamped.more}).streamReader(StructType())
    clamped.ends.append(free.stop)
    found = free.latestOffset(free.initialOffset(), ALL)["offsets"]
    assert [of["0"] for of in found.values()] == [4, 2]
    single = clamped.log(subscribe=f"{clamped.topics[0]},{topic('single').name}")
    with pytest.raises(ValueError, match=r"same number of partitions.*2 and 1"):
        single.initialOffset()


def test_the_first_batch_that_failed_is_read_again_from_where_it_began(clamped: Clamped) -> None:
    for side in (0, 1):
        clamped.write(side, *range(10))
    names = clamped.topics
    chosen = f'{{"{names[0]}":{{"0":7,"1":-2}},"{names[1]}":{{"0":7,"1":-2}}}}'

    def fail(batch: DataFrame, number: int) -> None:
        raise RuntimeError("no")

    writer = clamped.rows(startingOffsets=chosen).writeStream.foreachBatch(fail)
    with pytest.raises(StreamingQueryException):
        writer.option("checkpointLocation", str(clamped.place / "own")).start().awaitTermination(60)
    again = clamped.start(clamped.rows(startingOffsets="earliest"))
    assert clamped.read(again) == ([7, 8, 9], [7, 8, 9])


def test_a_topic_that_is_missing_is_named_at_once(clamped: Clamped) -> None:
    log = clamped.log(subscribe=f"nowhere,{clamped.topics[1]}")
    began = time.monotonic()
    with pytest.raises(TopicMissing, match=r"Expected a topic 'nowhere'.*Check the name"):
        log.initialOffset()
    assert time.monotonic() - began < 9


def test_a_partition_that_was_full_is_read_on_from_another_place_too(clamped: Clamped) -> None:
    """More records wait than are kept: the reader pauses there. A pause outlives an assignment."""
    clamped.write(0, *[n / 1000 for n in range(50_000)])
    clamped.write(1, 0)
    log, name = clamped.log(), clamped.topics[0]
    first = log.initialOffset()
    at = log.latestOffset(first, ReadMaxRows(800))
    until(lambda: log.latestOffset(at, ReadMaxRows(800)) and log._paused, "a pause")
    found = log.latestOffset(first, ReadMaxRows(30_000))
    assert found["offsets"][name]["0"] > 5000
    clamped.write(1, 45)
    for _ in range(400):
        found = log.latestOffset(found, ReadMaxRows(800))
    assert found["offsets"][name]["0"] == 50_000


class OnePartitionSilent:
    """A consumer of two partitions: a backlog that never ends, and one that has nothing to give."""

    def __init__(self, clock: list[float], name: str) -> None:
        self.clock, self.name, self.next, self.paused = clock, name, 0, False

    def assign(self, places: list[Any]) -> None: ...

    def pause(self, places: list[Any]) -> None:
        self.paused = True

    def consume(self, most: int, timeout: float) -> list[Any]:
        self.clock[0] += timeout
        first, self.next = self.next, self.next + (0 if self.paused else most)
        return [
            SimpleNamespace(error=lambda: None, topic=lambda: self.name, partition=lambda: 0,
                            offset=lambda n=n: n, timestamp=lambda: (1, 1))
            for n in range(first, self.next)
        ]  # fmt: skip


def test_a_silent_partition_is_waited_for_and_the_other_is_not_read_without_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [0.0]
    stands = SimpleNamespace(monotonic=lambda: clock[0], time=time.time)
    monkeypatch.setattr("workbook.sources.clamped.time", stands)
    given = {"kafka.bootstrap.servers": "-", "subscribe": "a,b", "maxLead": "1 second"}
    log, client = ClampedReader(ClampSettings(given), goes_on), OnePartitionSilent(clock, "a")
    places = {("a", 0): (0, 10**9), ("b", 0): (0, 5)}
    log.ask, log._client = lambda: places, client  # type: ignore
    start = {"offsets": {"a": {"0": 0}, "b": {"0": 0}}, "tops": {"a": {}, "b": {}}}
    with pytest.raises(BrokerUnreachable, match="partition 0 of b"):
        log.latestOffset(start, ReadMaxRows(2_000))
    assert client.next <= 60_000
    assert clock[0] < 90


def _transaction(clamped: Clamped, *seconds: float, commit: bool) -> None:
    """Write tracking messages in a transaction: behind them lies an offset that has no record."""
    settings = {"transactional.id": f"of-{clamped.topics[0]}"}
    producer = Producer({**clamped.broker.client_config(), **settings})
    producer.init_transactions(60)
    producer.begin_transaction()
    for second in seconds:
        at = clamped.hour_ago + round(second * 1000)
        value = b"%g" % second
        producer.produce(clamped.topics[0], value, b"key", 0, timestamp=at)
    producer.flush()  # or an abort would throw them away
    (producer.commit_transaction if commit else producer.abort_transaction)(60)


@pytest.mark.parametrize(
    ("level", "read"), [("read_uncommitted", [1, 2, 3]), ("read_committed", [1])]
)
def test_the_ends_of_transactions_are_passed_over(clamped, level, read) -> None:
    _transaction(clamped, 1, commit=True)
    _transaction(clamped, 2, 3, commit=False)
    clamped.write(1, 3)
    log = clamped.log(**{"kafka.isolation.level": level})

    def goes_on(at: Any, *due: list[float]) -> Any:
        """The broker shows the end of a transaction a moment after it has confirmed it."""
        found = lambda: clamped.seconds(clamped.next(log, at)[1])  # noqa: E731
        until(lambda: found() == due, f"{due}", within=20)
        return log.latestOffset(at, ALL)

    at = goes_on(log.initialOffset(), read, [3])
    _transaction(clamped, 4, commit=True)
    at = goes_on(at, [4], [])
    log = clamped.log(**{"kafka.isolation.level": level})  # a restart
    clamped.write(0, 5)
    goes_on(at, [5], [])
