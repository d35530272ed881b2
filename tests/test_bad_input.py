"""Bad input: what goes in, where it ends up, and with which reason (docs/bad-input.md).

Each table has good and bad records of one stream. They are read by the rules in Python and by
Spark, which sends the bad ones to a real topic of dead letters.
"""

import json
import random
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from brokers import produce

from workbook.errors import Rejected
from workbook.kafka.dead_letters import DeadLetters
from workbook.kafka.readers import read_dead_letters
from workbook.sources import ad_actions
from workbook.sources.records import CLICKS, POSITIONS, VISITS, Format, _read
from workbook.streams.events.ad_actions import (
    MAX_AGE_MS,
    VERSIONS,
    AdAction,
    day_of,
    decode,
    encode,
    head,
)
from workbook.streams.events.clicks import Click, ClickType
from workbook.streams.events.fields import MAX_AHEAD_MS
from workbook.streams.events.positions import MAX_AMOUNT, MAX_POSITION_BYTES, Position
from workbook.streams.events.reasons import Reason
from workbook.streams.events.visits import (
    MAX_MESSAGE_BYTES,
    Heartbeat,
    OrderMessage,
    TrackingMessage,
)

DATA = Path(__file__).parents[1] / "data"
NOW = int(time.time() * 1000)
AHEAD = NOW + 1_200_000
"""Of a producer whose clock is ahead by twenty minutes: its records arrive then, too."""

IN_2099 = 4_070_908_800_000
Record = tuple[bytes | None, bytes | None]


@dataclass(frozen=True)
class Table:
    """Good records of a stream, and bad ones (key, value) with the reason to expect."""

    form: Format
    good: list[Record]
    bad: list[tuple[bytes | None, bytes | None, Reason]]


def edits(key: bytes, value: bytes, *changes: tuple[str, object, Reason | None]) -> list[Any]:
    """Bad records: a good value in which one text is replaced by another."""
    assert all(old.encode() in value for old, _, _ in changes)
    return [(key, value.replace(old.encode(), str(new).encode()), why) for old, new, why in changes]


def no_json(key: bytes, value: bytes) -> list[Any]:
    """Values that are not one JSON object in UTF-8."""
    values = (
        b" ", b"null", b"{'name':1}", b"[" + value + b"]", value[:-1], value + b"}", value * 2,
        value + b',"a":1', b"\xef\xbb\xbf" + value, value.decode().encode("utf-16"), b"\0",
        value.replace(b":", b":\xff", 1), value[:-1] + b',"x":"\\uD83D"}',
        value[:-1] + b',"x":NaN}',
        b'{"a":' * 500 + b"1" + b"}" * 500 + b"]", value[:-1] + b',"x":007}',
    )  # fmt: skip
    return [(key, each, Reason.MALFORMED) for each in values]


def with_more(value: bytes) -> bytes:
    """The same value, written differently: spaces, another field, and one that comes twice."""
    return b'  {"timestamp":1,"amount":1,' + value[1:-1] + b',"more":{"a":[1,null]}}\n'


CLICK = Click(7, ClickType.PAGE, "home", NOW, "Firefox", "t1").to_json()
ORDER = OrderMessage(8, "v1", NOW, "o8", 1995).to_json()
SEEN = TrackingMessage(7, "v1", NOW, "/shoes").to_json()
BOB = Position("Bob", "AAPL", 10, "NASDAQ").to_json()
AT = f'"timestamp":{NOW}'


def beat(at: int) -> bytes:
    return Heartbeat(at).to_json()


TABLES = {
    "clicks": Table(
        CLICKS,
        good=[
            (None, CLICK),
            (b"\xff", with_more(CLICK)),
            *edits(b"t", CLICK, ("home", "h\\u00f6me \\ud83d\\ude00 \\\\ud800 ü }", None)),
            *edits(b"t", CLICK, ('"t1"', "null", None), (AT, '"timestamp":0', None)),
            *edits(b"t", CLICK, ("home", "", None), (":7,", f":{2**63 - 1},", None)),
        ],
        bad=[
            (b"t", None, Reason.EMPTY),
            (b"t", b"", Reason.EMPTY),
            *no_json(b"t", CLICK),
            (b"t", b"{}", Reason.MISSING),
            *edits(
                *(b"t", CLICK, ("browser", "Browser", Reason.MISSING)),
                *((f'"{name}"', new, Reason.MISSING)
                  for name in ("home", "t1") for new in ("5", "true", "[1]", "1e999")),
                *((f":{n},", f":{new},", Reason.MISSING)
                  for n in (7, NOW) for new in ("7.0", '"7"', 2**63, "true", "null", "[1]")),
                ("Page", "Scroll", Reason.UNKNOWN_TYPE),
                (AT, '"timestamp":-1', Reason.NEGATIVE),
                (AT, f'"timestamp":{NOW + MAX_AHEAD_MS + 60_000}', Reason.FUTURE),
                (AT, f'"timestamp":{IN_2099}', Reason.FUTURE),
            ),
            (b"ahead", Click(1, ClickType.PAGE, "/", AHEAD, "x").to_json(), Reason.AHEAD),
            (b"t", b'{"event_id":1,"click_type":"?","timestamp":-1,"browser":""}', Reason.MISSING),
        ],
    ),
    "tracking": Table(
        VISITS,
        good=[
            (b"v1", SEEN),
            (b"v1", ORDER),
            (b"v1", with_more(SEEN)),
            *((key, beat(NOW)) for key in (None, b"", b"\xff", b"v9")),
            (None, beat(NOW)[:-1] + b',"page":"/","order_id":"o","cents":1}'),
            (b"v1", SEEN[:-2] + b"s" * (MAX_MESSAGE_BYTES - len(SEEN)) + SEEN[-2:]),
        ],
        bad=[
            (b"v1", None, Reason.EMPTY),
            *no_json(b"v1", SEEN),
            (None, SEEN, Reason.NO_KEY),
            (b"\xff", ORDER, Reason.NO_KEY),
            (b"v2", SEEN, Reason.OTHER_KEY),
            (b"v1", SEEN[:-2] + b"s" * MAX_MESSAGE_BYTES + SEEN[-2:], Reason.TOO_LARGE),
            (None, beat(IN_2099), Reason.FUTURE),
            (b"ahead", TrackingMessage(1, "ahead", AHEAD, "/").to_json(), Reason.AHEAD),
            (b"ahead", beat(AHEAD), Reason.AHEAD),
            *edits(
                *(b"v1", SEEN, ('"v1"', "null", Reason.MISSING), ('"v1"', '""', Reason.MISSING)),
                *(("page", "Page", Reason.MISSING), ("tracking", "x", Reason.UNKNOWN_MESSAGE)),
                *((AT, '"timestamp":-1', Reason.NEGATIVE), ("tracking", "order", Reason.MISSING)),
            ),
            *edits(
                *(b"v1", ORDER, ('"o8"', '""', Reason.MISSING), ("1995", "null", Reason.MISSING)),
                *(("1995", new, Reason.NOT_CENTS) for new in ("-1", "1.5", '"1"', str(10**9 + 1))),
            ),
        ],
    ),
    "positions": Table(
        POSITIONS,
        good=[
            (b"p1", BOB),
            (b"p1", with_more(BOB)),
            (b"p1", BOB + b" " * (MAX_POSITION_BYTES - len(BOB))),
            *edits(b"p1", BOB, ("10", MAX_AMOUNT, None), ("Bob", " ", None)),
            (b"p1", None),  # a tombstone
        ],
        bad=[
            *((key, value, Reason.NO_KEY)
              for key in (None, b"", b"a\xc3") for value in (None, b"", BOB, b" " * 5000)),
            (b"p1", b"", Reason.EMPTY),
            *no_json(b"p1", BOB),
            (b"p1", b" " * (MAX_POSITION_BYTES + 1), Reason.TOO_LARGE),
            *edits(
                *(b"p1", BOB, ("client", "Client", Reason.MISSING)),
                *((f'"{name}"', new, Reason.MISSING)
                  for name in ("Bob", "AAPL", "NASDAQ") for new in ("null", '""', "7", '["x"]')),
                *(("10", new, Reason.NOT_AN_AMOUNT)
                  for new in ('"10"', 0, -1, "10.0", "1e1", "true", MAX_AMOUNT + 1, "1" * 3000)),
                ("NASDAQ", "MOON", Reason.UNKNOWN_EXCHANGE),
            ),
        ],
    ),
}  # fmt: skip


def judged(form: Format, record: Record) -> tuple[Any, str | None]:
    """The event and the reason by the rules in Python."""
    key, value = record
    arrival = AHEAD if key == b"ahead" else NOW
    try:
        return form.judge(key, value, arrival, NOW), None
    except Rejected as why:
        return None, str(why.reason)


@pytest.mark.parametrize("stream", TABLES)
def test_each_bad_record_is_a_dead_letter_with_its_reason(stream, broker, spark, topic) -> None:
    table, made = TABLES[stream], topic(stream)
    records = [record[:2] for record in (*table.good, *table.bad)]
    expected = [None] * len(table.good) + [str(reason) for *_, reason in table.bad]
    assert [judged(table.form, record)[1] for record in records] == expected
    config = broker.client_config()
    arrivals = [AHEAD if key == b"ahead" else NOW for key, _ in records]
    sent = zip(records, arrivals, strict=True)
    produce(config, made.name, *((value, key, 0, at) for (key, value), at in sent))
    letters = DeadLetters(config, made.dead_letters.name)
    raw = spark.read.format("kafka").options(**broker.spark_options(), subscribe=made.name).load()
    rows = table.form.parse(raw, letters, ("offset", "reason"))
    assert dict(rows.collect()) == dict(enumerate(expected))
    kept = read_dead_letters(config, made.dead_letters.name)
    assert {*kept["topic"]} == {made.name}
    found = {row.offset: (row.key, row.value, row.reason, row.arrival) for row in kept.itertuples()}
    bad = range(len(table.good), len(records))
    assert found == {n: (*records[n], expected[n], arrivals[n]) for n in bad}


# --- the fast way and the rules ---------------------------------------------------------------

PIECES = [
    *(b"\xff", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80", b"\x00", b"}", b"{", b"]", b",", b'"', b"\\"),
    *(b" ", b":", b"null", b"true", b"-0", b"1.0", b"1e3", b"NaN", b"007", b"9" * 20, b'"12"'),
    *(b'""', b'"Page"', b"[]", b'{"a":1}', b'"\\ud83d\\ude00"', b'"\\ude00"', b'"a" "b"', b"5."),
]


def mutant(draw: random.Random, value: bytes) -> bytes:
    """A value with one to three changes: a piece put in, cut out, or in place of a JSON value."""
    for _ in range(draw.randint(1, 3)):
        place = draw.randrange(len(value) or 1)
        piece = draw.choice(PIECES)
        begin = max(value.rfind(b":", 0, place), 0) + 1
        end = min(n if (n := value.find(sign, begin)) > 0 else len(value) for sign in (b",", b"}"))
        value = draw.choice([
            value[:place] + piece + value[place:], value[:place] + value[place + 1 :],
            *[value[:begin] + piece + value[end:]] * 3,
            value[:end] + b',"x":' + piece + value[end:],
        ])  # fmt: skip
    return value


@pytest.mark.parametrize("stream", TABLES)
def test_the_fast_way_reads_what_the_rules_read(stream: str) -> None:
    table, draw = TABLES[stream], random.Random(stream)
    plain = [(key, value) for key, value, *_ in (*table.good * 9, *table.bad) if value]
    short = [record for record in plain if len(record[1]) < 250]
    records = [
        (key, mutant(draw, value)) for key, value in (draw.choice(short) for _ in range(15_000))
    ]
    times = pa.array([(AHEAD if key == b"ahead" else NOW) * 1000 for key, _ in records])
    batch = pa.record_batch({
        "key": pa.array([key for key, _ in records], pa.binary()),
        "value": pa.array([value for _, value in records], pa.binary()),
        "arrival": times.cast(pa.timestamp("us", "UTC")),
        "now": pa.array([NOW * 1000] * len(records)).cast(pa.timestamp("us", "UTC")),
    })  # fmt: skip
    events, reasons = _read(batch, table.form)
    accepted = 0
    for row, record in enumerate(records):
        event, reason = judged(table.form, record)
        accepted += event is not None
        assert reasons.get(row) == reason, record
        assert all(getattr(events[row], f) == getattr(event, f) for f in _fields(event)), record
    assert 300 < accepted < 14_000


def _fields(event: Any) -> tuple[str, ...]:
    return () if event is None else event.__struct_fields__


# --- ad actions: Avro, rejected by Spark SQL --------------------------------------------------

IDS = {11: VERSIONS[0], 12: VERSIONS[1]}
ACTION = AdAction(2**40, "ad-1", "view", 5, False, "front page", "Firefox", NOW)
AVRO = encode(ACTION, 1, 12)


def action(**changed: Any) -> bytes:
    return encode(replace(ACTION, **changed), 1, 12)


ACTIONS: list[tuple[bytes | None, Reason | None]] = [
    *((value, None) for value in (AVRO, encode(ACTION, 0, 11), AVRO + b"behind")),
    (action(ad="'); DROP TABLE counts; --", browser="", type="read"), None),
    (action(ad="a" * 64, time=NOW + MAX_AHEAD_MS), None),
    (action(time=NOW - 2 * MAX_AGE_MS), None),  # too old isn't rejected
    *((action(time=at), None) for at in (1_782_856_799_999, 1_782_856_800_000)),  # a day begins
    (None, Reason.EMPTY),
    (b"", Reason.EMPTY),
    (AVRO + bytes(4097 - len(AVRO)), Reason.TOO_LARGE),
    *((value, Reason.NO_AVRO) for value in (AVRO[:4], b"\x01" + AVRO[1:], b'{"event_id": 1}')),
    (head(8) + AVRO[5:], Reason.UNKNOWN_SCHEMA),
    *((AVRO[:cut], Reason.MALFORMED_AVRO) for cut in range(5, len(AVRO))),
    (action(ad=None), Reason.NO_AD),
    *((action(ad=ad), Reason.NOT_PLAIN) for ad in ("", "a" * 65, "ad\n", "æ", "a\0b", "\t")),
    (action(source="søk"), Reason.NOT_PLAIN),
    (AVRO.replace(b"ad-1", b"ad-\xff"), Reason.NOT_PLAIN),
    (action(type="View"), Reason.UNKNOWN_ACTION),
    *((action(time=at), Reason.NEGATIVE) for at in (-1, -(2**63))),
    *((action(time=at), Reason.FUTURE) for at in (NOW + MAX_AHEAD_MS + 1, NOW * 1000, 2**63 - 1)),
    (action(ad=None, type="?", time=-1), Reason.NO_AD),  # the first of several
]


def by_the_rules(value: bytes | None) -> tuple[str | None, str | None, Any]:
    try:
        read = decode(value, IDS, NOW)
    except Rejected as why:
        return str(why.reason), None, None
    return None, read.ad, day_of(read.time)


def test_each_bad_action_has_its_reason_and_keeps_its_bytes(spark) -> None:
    rows = [(None, value, "t", 0, n, [("arrival", str(NOW).encode())])
            for n, (value, _) in enumerate(ACTIONS)]  # fmt: skip
    schema = "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, "
    headers = "headers ARRAY<STRUCT<key: STRING, value: BINARY>>"
    raw = spark.createDataFrame(rows, schema + headers).selectExpr("*", "now() AS timestamp")
    found = ad_actions.parse(raw, IDS).orderBy("offset").collect()
    for (value, reason), row in zip(ACTIONS, found, strict=True):
        assert row["reason"] == (reason and str(reason)), value
        assert row["value"] == (value if reason or row["too_old"] else None), value
        assert by_the_rules(value) == (row["reason"], None if reason else row["ad"], row["day"])


# --- the files in data/ -----------------------------------------------------------------------


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def test_the_clicks_in_data_have_their_reasons() -> None:
    for record in lines("clicks.jsonl"):
        value = record["value"] and record["value"].encode()
        value = b"" if record["value"] == "" else value
        try:
            Click.from_json(value, record["arrival"])
            reason = None
        except Rejected as why:
            reason = str(why.reason)
        assert reason == record["reason"], record


def test_a_day_begins_at_midnight_in_oslo_also_without_the_zones_of_the_system() -> None:
    code = (
        "from workbook.streams.events.ad_actions import day_of; "
        "print(*map(day_of, [1782856799999, 1782856800000]))"
    )
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, env={"PYTHONTZPATH": ""}, capture_output=True, text=True)
    assert run.stdout.split() == ["2026-06-30", "2026-07-01"]
