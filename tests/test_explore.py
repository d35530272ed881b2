"""``explore``: its figures against a recomputation by hand, and that it only reads."""

import json
import random
from argparse import Namespace
from collections import Counter, defaultdict
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from confluent_kafka import Producer
from labs import workbook

from workbook.cli.explore import choose
from workbook.cli.main import main
from workbook.explore.figures import BACKLOG, Figures, measure
from workbook.explore.plan import Plan, plan
from workbook.explore.program import program
from workbook.explore.report import Report, console, format_of
from workbook.explore.rows import Choice, _with_avro, read, rows
from workbook.explore.sample import IN_HEADER, LIKE_A_TIME, Field, Sample, _read, _Schemas, look
from workbook.explore.sql import read_by, text_of
from workbook.kafka.readers import read_all

START, WINDOW = 1_790_000_000_000, 60_000
SECRET = "Grace Hopper"
ODD = {
    "another format than most": [
        *(b"not JSON", b"\xff\x00", b'{"at": 1', b"12 apples", b"[1]", b"null"),
        *(b'{"at": 1} x', b'{"at": 1, "n": NaN}'),
    ],
    "no time that can be read": [
        b'{"id": 7}',
        b'{"at": "soon"}',
        b'{"at": 1e300}',
        b'{"at": null}',
    ],
    "no value": [None],
    "more than five minutes ahead of its arrival": [b'{"at": 4070908800000}'],
}


@pytest.fixture(scope="module")
def dirty(broker: Any, request: pytest.FixtureRequest) -> str:
    """A topic of three partitions: late events, repeats, torn keys, and dirt."""
    from workbook.topics import new_topic

    made = new_topic("orders", "explore", 3)
    broker.create(made)
    random.seed(7)
    producer = Producer(broker.client_config())
    values: list[bytes | None] = []
    for number in range(3_000):
        arrival = START + 1_000 * number
        late = random.choice([0, 0, 0, 20, 900, 15_000, 70_000, 400_000])
        value: bytes | None = json.dumps(
            {"order": {"id": number}, "at": arrival - late, "user": number % 40, "name": SECRET}
        ).encode()
        if number % 50 == 43:
            value = values[-40]
        if number % 97 == 5:
            value = random.choice([*chain(*ODD.values())])
        values.append(value)
        key = None if number % 31 == 0 else str(number % 40).encode()
        place = random.randrange(3) if number % 40 == 7 else number % 3
        producer.produce(made.name, value, key, place, timestamp=arrival)
    producer.flush()
    return made.name


def options(**given: Any) -> Namespace:
    return Namespace(**({"time": None, "key": None, "id": None} | given))


def explored(spark: Any, broker: Any, topic: str, folder: Path, **given: Any) -> Report:
    config = broker.client_config()
    wanted = plan(config, topic, 10**12, 1_000_000)
    sample = look(config, wanted, None)
    choice = choose(sample, options(**given))
    at_most, said = given.get("at_most"), []
    found = read(
        spark, broker, wanted, sample, choice, folder, at_most, lambda *at: said.append(at)
    )
    assert said[-1] == (wanted.offsets, wanted.offsets)
    return Report(wanted, sample, choice, measure(found, wanted, WINDOW), WINDOW, 0.001)


def by_hand(config: dict[str, str], topic: str) -> tuple[list[dict[str, Any]], Counter[str]]:
    """Each good record with its time, and how many records of each reason there are."""
    good, reasons = [], Counter[str]()
    for row in read_all(config, topic).itertuples():
        reason = next((why for why, those in ODD.items() if row.value in those), None)
        reasons[reason or "decoded"] += 1
        if reason is None:
            good.append({"p": row.partition, "o": row.offset, "arrival": row.timestamp,
                         "key": row.key, "value": row.value, **json.loads(row.value)})  # fmt: skip
    return good, reasons


def lost(good: list[dict[str, Any]], batch: Any, apart: Any, before: int, delay_s: int) -> int:
    """How many a watermark drops, micro-batch by micro-batch, by the one so many before."""
    batches = defaultdict(list)
    for each in good:
        batches[batch(each)].append(each)
    clocks: dict[Any, list[int]] = defaultdict(list)  # after each micro-batch that it was in
    dropped = 0
    for number in sorted(batches):
        news: dict[Any, int] = {}
        for each in batches[number]:
            known = clocks[apart(each)]
            end = each["at"] // WINDOW * WINDOW + WINDOW
            dropped += len(known) >= before and end <= known[-before] - 1000 * delay_s
            news[apart(each)] = max(news.get(apart(each), 0), each["at"])
        for which, at in news.items():
            clocks[which].append(max([at, *clocks[which][-1:]]))
    return dropped


def test_all_figures_equal_a_recomputation_by_hand(
    spark: Any, broker: Any, dirty: str, tmp_path: Path
) -> None:
    config = broker.client_config()
    report = explored(spark, broker, dirty, tmp_path, key="user")
    good, reasons = by_hand(config, dirty)
    assert report.sample.format == "JSON"
    assert report.choice.time is not None
    assert report.choice.time.name == "at"
    figures, total = report.figures, len(good)
    told = dict(figures.reasons)
    assert told.pop("records") == reasons.total() == 3_000
    assert told.pop("no key") == len(range(0, 3_000, 31))
    ahead = reasons["more than five minutes ahead of its arrival"]
    assert told.pop("decoded") == reasons["decoded"] + ahead
    assert told == {why: reasons[why] for why in ODD}
    delays = np.array([each["arrival"] - each["at"] for each in good])
    assert figures.delay["p50"] == pytest.approx(
        np.quantile(delays, 0.5, method="inverted_cdf"), 0.01
    )
    assert figures.delay["p99"] == pytest.approx(
        np.quantile(delays, 0.99, method="inverted_cdf"), 0.01
    )
    assert (figures.delay["least"], figures.delay["most"]) == (delays.min(), delays.max())
    newest: dict[int, int] = {}
    lateness, minutes = [], Counter[int]()
    for each in sorted(good, key=lambda each: (each["p"], each["o"])):
        newest[each["p"]] = max(newest.get(each["p"], 0), each["at"])
        lateness.append(newest[each["p"]] - each["at"])
        minutes[each["arrival"] // 60_000] += lateness[-1] > figures.lateness["p99"]
    assert [n for n in figures.late if n] == [minutes[at] for at in sorted(minutes) if minutes[at]]
    assert sum(figures.minutes) == 3_000
    assert figures.lateness["most"] == max(lateness)
    assert figures.lateness["p90"] == pytest.approx(
        np.quantile(lateness, 0.9, method="inverted_cdf"), 0.01
    )
    users = Counter(each["user"] for each in good)
    homes = defaultdict(set)
    for each in good:
        homes[each["user"]].add(each["p"])
    assert figures.keys["different"] == len(users)
    assert figures.keys["in several partitions"] == sum(len(each) > 1 for each in homes.values())
    values = Counter(row.value for row in read_all(config, dirty).itertuples() if row.value)
    assert figures.repeats["again"] == sum(n - 1 for n in values.values())
    ways = {
        "live": (lambda each: each["arrival"] // 1000, lambda each: 0, 1),
        "backlog": (lambda each: share(each), lambda each: 0, 2),
        "clocks": (lambda each: share(each), lambda each: each["p"], 2),
    }

    def share(each: dict[str, Any]) -> int:
        begin, end = report.plan.ranges[each["p"]]
        return (each["o"] - begin) * BACKLOG // (end - begin)

    for told in figures.watermarks[:9]:
        for way, how in ways.items():
            assert round(told[way] * total) == lost(good, *how, told["delay_s"]), (way, told)
    assert figures.watermarks[0]["live"] > figures.watermarks[-1]["live"] == 0
    assert figures.watermarks[-1]["groups"] == len({(e["user"], e["at"] // WINDOW) for e in good})


def test_no_value_is_shown(spark: Any, broker: Any, dirty: str, tmp_path: Path) -> None:
    report = explored(spark, broker, dirty, tmp_path, id="order.id", at_most=1e6)
    out = console(record=True, width=110)
    out.print(format_of(report.sample), *report.parts())
    for text in (out.export_text(), report.html(), report.to_json(), program(report)):
        assert "order.id" in text
        assert SECRET not in text
    assert "<script" not in report.html()
    assert json.loads(report.to_json())["recommended_s"] == 600


def test_a_program_counts_all_that_the_report_has_decoded(
    spark: Any, broker: Any, dirty: str, topic: Any, tmp_path: Path
) -> None:
    config, out, letters = broker.client_config(), topic("counts"), topic("letters")
    report = explored(spark, broker, dirty, tmp_path / "rows", key="user")
    made: dict[str, Any] = {"__name__": "program"}
    exec(compile(program(report), "my_pipeline.py", "exec"), made)
    given = Namespace(servers=broker.bootstrap, topic=dirty, config={}, once=True,
                      checkpoint=str(tmp_path / "state"))  # fmt: skip
    for name, target in (("counts", out.name), ("dead_letters", letters.name)):
        query = made["start"](spark, given, name, made[name], target)
        query.awaitTermination()
    good, reasons = by_hand(config, dirty)
    wanted = Counter((each["at"] // WINDOW * WINDOW, str(each["user"])) for each in good)
    found = {
        (int(row.key.split(b"/")[0]), row.key.split(b"/")[1].decode()): json.loads(row.value)[
            "count"
        ]
        for row in read_all(config, out.name).itertuples()
    }
    closed = max(each["at"] for each in good) - 1000 * 600
    assert found
    assert found == {at: n for at, n in wanted.items() if at[0] + WINDOW <= closed}
    assert len(read_all(config, letters.name)) == sum(reasons[why] for why in ODD)


def test_a_foreign_topic_whose_timestamps_are_its_event_times(
    spark: Any, broker: Any, topic: Any, tmp_path: Path
) -> None:
    made, (at, key) = topic("foreign", 3), ("o'clock\\", 'say """who')
    producer = Producer(broker.client_config())
    for number in range(900):
        time = START + 1_000 * number - 600_000 * (number % 10 == 9)
        value = json.dumps({at: 1_000 * time, key: number % 3, "name": SECRET, "id": 10**18})
        place = 0 if number < 800 else 1 + number % 2
        producer.produce(made.name, value, None, place, timestamp=time)
    producer.flush()
    report = explored(spark, broker, made.name, tmp_path, time=at, key=key)
    assert report.sample.records == 3 * 222 + 100  # of the small partitions none is seen twice
    assert sum(each["backwards"] for each in report.figures.partitions) == 90
    assert report.figures.watermarks[0]["live"] == 0.1  # by the order in which they were appended
    program_of: dict[str, Any] = {"__name__": "program"}
    exec(compile(program(report), "my_pipeline.py", "exec"), program_of)
    raw = spark.read.format("kafka").options(**broker.spark_options(), subscribe=made.name).load()
    found = program_of["decoded"](raw).groupBy("reason", "key").count().orderBy("key").collect()
    assert [tuple(row) for row in found] == [(None, number, 300) for number in "012"]
    report.sample.fields.pop(at)
    assert [each.name for each in report.sample.times] == ["id"]  # it's like nanoseconds
    assert choose(report.sample, options()).time is None


def test_it_only_reads(broker: Any, dirty: str, tmp_path: Path) -> None:
    def state() -> tuple[Any, ...]:
        admin = broker._admin()
        groups = {each.group_id for each in admin.list_consumer_groups().result().valid}
        topics = admin.list_topics(timeout=10).topics
        ends = plan(broker.client_config(), dirty, 10**12, 10**9).ranges
        # A broker that has never had a consumer with a group's name makes this topic for itself.
        names = topics.keys() - {"__consumer_offsets"}
        return groups, {name: len(topics[name].partitions) for name in names}, ends

    before = state()
    words = (dirty, "--last", "36500 days", "--json", str(tmp_path / "report.json"))
    process = workbook("explore", *words)
    said, _ = process.communicate(timeout=180)
    assert process.returncode == 0, said
    assert "6 · What a watermark costs" in said
    assert state() == before
    assert json.loads((tmp_path / "report.json").read_text())["reasons"]["records"] == 3_000


@pytest.mark.usefixtures("signals_as_before")
def test_what_cannot_be_explored_is_a_clear_error(
    broker: Any, dirty: str, topic: Any, capsys: Any
) -> None:
    for words, told in {
        ("no-such-topic",): "has none of this name",
        (topic("empty").name,): "the topic is empty",
        (
            dirty,
            "--last",
            "36500d",
            "--time",
            "att",
        ): "no record of the sample has 'att'. It has at",
        (dirty, "--last", "36500d", "--time", "name"): "Expected a time in 'name'",
        (dirty, "--last", "36500d", "--html", "/no/such/folder/x"): "Expected a file that can",
        (dirty, "--json", "/tmp"): "Expected a file that can be written",
    }.items():
        assert main(["explore", *words]) == 1
        assert told in " ".join(capsys.readouterr().err.split()), words


def test_what_spark_cannot_read_is_no_json_and_no_time() -> None:
    assert _read(b'\xef\xbb\xbf{"at": 1}', _Schemas(None), False)[0] != "JSON"
    assert Field(("at",), Counter(), [10**400]).unit is None
    two = [1_764_000_000] * 6 + [1_764_000_000_000] * 4
    assert Field(("at",), Counter(), two).unit == "s", "the more frequent one"
    likely = "created_at createdAt eventTimestamp update_ts sent_ms event_date"
    assert all(map(LIKE_A_TIME.search, likely.split()))
    assert not any(map(LIKE_A_TIME.search, ["candidate_id", "runtime_id", "format", "events"]))


def test_a_schema_id_in_a_header_is_named_and_a_topic_of_nulls_is_told(
    broker: Any, topic: Any
) -> None:
    made, config = topic("foreign"), broker.client_config()
    producer, headers = Producer(config), [("__value_schema_id", b"\x01" + bytes(16))]
    for value in (b"\0\x02\x06abc", b"plain", b'{"at": 1}', None):
        producer.produce(made.name, value, headers=headers)
    producer.flush()
    wanted = plan(config, made.name, None, 1_000)
    sample = look(config, wanted, None)
    assert sample.formats == {IN_HEADER: 2, "JSON": 1, "no value": 1}
    told = Figures([], {"records": 4, "no value": 4}, {}, [], [], {}, {}, {}, {}, {}, [], None)
    report = Report(wanted, sample, Choice(), told, WINDOW, 0.001)
    assert report.advice == "No record has a value, so there is nothing to count in windows."


def test_avro_of_unions_maps_and_logical_types(spark: Any) -> None:
    import io

    import fastavro

    schema = {"type": "record", "name": "Order", "namespace": "shop", "doc": "'''", "fields": [
        {"name": "at", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}]},
        {"name": "who", "type": ["string", "long"]},
        {"name": "more", "type": {"type": "map", "values": "string"}},
        {"name": "to", "type": {"type": "record", "name": "Place", "fields": [
            {"name": "id", "type": "int"}]}},
        {"name": "from", "type": ["null", "shop.Place"]},
    ]}  # fmt: skip
    event = {"at": START, "who": 8, "more": {"it's": "x"}, "to": {"id": 3}, "from": {"id": 4}}
    body = io.BytesIO()
    fastavro.schemaless_writer(body, fastavro.parse_schema(schema), event)
    sample = Sample(1, Counter(Avro=1), {}, {}, {7: json.dumps(schema)}, 1.0, Counter())
    at = Field(("at",))
    at.values.append("2026-01-01T00:00:00")
    frame = spark.createDataFrame(
        [(None, b"\0\0\0\0\x07" + body.getvalue(), 0, 0), (None, b"\0\0\0\0\x08abc", 0, 1),
         (None, b"\0\0\0\0\x07\x99", 0, 2)],
        "key binary, value binary, partition int, offset long",
    ).selectExpr("*", f"timestamp_millis({START}) AS timestamp")  # fmt: skip
    found = rows(frame, sample, Choice(time=at)).orderBy("offset").collect()
    assert [(row.why, row.time) for row in found] == [(0, START), (2, None), (2, None)]
    fields = [("who",), ("more", "it's"), ("to", "id"), ("from", "id"), ("none",)]
    texts = [text_of(sample, Field(path)) for path in fields]
    [row, *_] = _with_avro(frame, sample.schemas).selectExpr(*texts).collect()
    assert [*row] == ["8", "x", "3", "4", None]
    assert read_by(8, '"string"') == "coalesce(avro8 IS NOT NULL, FALSE)"
    costs = [{"delay_s": 0, "live": 0.0, "backlog": 0.0}]
    told = Figures([], {"records": 3}, {}, [], [], {}, {}, {}, {}, {}, costs, None)
    made: dict[str, Any] = {"__name__": "program"}
    report = Report(Plan("avro", 1, {}, 3, {}), sample, Choice(), told, WINDOW, 0.001)
    exec(compile(program(report), "my_pipeline.py", "exec"), made)
    decoded = made["decoded"](frame).orderBy("offset").collect()
    assert [row.reason for row in decoded] == [None, *["no Avro of a schema that is known"] * 2]
