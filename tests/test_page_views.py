"""The two ways of counting page views: same clicks accepted, same reasons, same counts."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import astuple, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from pyspark.sql import DataFrame, SparkSession

from workbook.errors import Rejected
from workbook.pipelines.page_views.counts import (
    page_views,
)
from workbook.sources.clicks import parse
from workbook.streams.events.clicks import Click, ClickType, PlainClick
from workbook.streams.events.reasons import Reason

ARRIVAL = 1_700_000_000_000
CLICK = Click(7, ClickType.PAGE, "home", ARRIVAL - 5, "Firefox", "t1")
IN_2099 = 4_070_908_800_000
DATA = Path(__file__).parents[1] / "data" / "clicks.jsonl"

BAD = [
    (None, Reason.EMPTY),
    (b"", Reason.EMPTY),
    (b"   ", Reason.MALFORMED),
    (b'{"event_id":1', Reason.MALFORMED),
    (b"[1]", Reason.MALFORMED),
    (b"null", Reason.MALFORMED),
    (b"{'name':1}", Reason.MALFORMED),
    (b"\xef\xbb\xbf" + CLICK.to_json(), Reason.MALFORMED),
    (CLICK.to_json() + b"}", Reason.MALFORMED),
    (CLICK.to_json() * 2, Reason.MALFORMED),
    (CLICK.to_json() + b"]", Reason.MALFORMED),
    (CLICK.to_json() + b',{"a":1}', Reason.MALFORMED),
    (CLICK.to_json() + b',"a":1', Reason.MALFORMED),
    (CLICK.to_json().replace(b"home", b"h\xffme"), Reason.MALFORMED),
    (CLICK.to_json().replace(b"home", b"\\ud800"), Reason.MALFORMED),
    (CLICK.to_json().replace(b"7", b"NaN"), Reason.MALFORMED),
    (CLICK.to_json().decode().encode("utf-16"), Reason.MALFORMED),
    (b"{}", Reason.MISSING),
    (CLICK.to_json().replace(b"browser", b"Browser"), Reason.MISSING),
    (CLICK.to_json().replace(b'"home"', b"5"), Reason.MISSING),
    (CLICK.to_json().replace(b'"home"', b"true"), Reason.MISSING),
    (CLICK.to_json().replace(b'"home"', b"[1]"), Reason.MISSING),
    (CLICK.to_json().replace(b'"home"', b"1e999"), Reason.MISSING),
    (CLICK.to_json().replace(b'"t1"', b"1"), Reason.MISSING),
    (CLICK.to_json().replace(b"7,", b"7.0,"), Reason.MISSING),
    (CLICK.to_json().replace(b"7,", b'"7",'), Reason.MISSING),
    (CLICK.to_json().replace(b"7,", b"9223372036854775808,"), Reason.MISSING),
    (b'{"timestamp":"x",' + CLICK.to_json()[1:-1] + b',"timestamp":"x"}', Reason.MISSING),
    (CLICK.to_json().replace(b"Page", b"Purchase"), Reason.UNKNOWN_TYPE),
    (CLICK.to_json().replace(b"1699999999995", b"-1"), Reason.NEGATIVE),
    (CLICK.to_json().replace(b"1699999999995", str(IN_2099).encode()), Reason.FUTURE),
    (CLICK.to_json().replace(b"1699999999995", b"1700000300001"), Reason.FUTURE),
]
GOOD = [
    CLICK.to_json(),
    b" " + CLICK.to_json() + b"\n",
    CLICK.to_json().replace(b"home", b"a}b"),
    CLICK.to_json().replace(b"home", b"12"),
    CLICK.to_json().replace(b"home", b"true"),
    CLICK.to_json().replace(b"home", b"h\\u00f6me \\ud83d\\ude00 \\\\ud800"),
    CLICK.to_json().replace(b"home", "Köln".encode()),
    CLICK.to_json().replace(b"home", b""),
    CLICK.to_json().replace(b'"t1"', b"null"),
    CLICK.to_json()[:-1] + b',"more":{"a":[1,NULL]}}'.replace(b"NULL", b"null"),
    b'{"timestamp":"x",' + CLICK.to_json()[1:],
    CLICK.to_json().replace(b"1699999999995", b"1700000300000"),
    CLICK.to_json().replace(b"1699999999995", b"0"),
    CLICK.to_json().replace(b"7,", b"9223372036854775807,"),
]


def raw(
    spark: SparkSession, values: list[bytes | None], arrivals: list[int] | None = None
) -> DataFrame:
    """Values as Spark's Kafka source hands them over; all arrived at ARRIVAL unless told."""
    at = arrivals or [ARRIVAL] * len(values)
    rows = [
        (None, None if v is None else bytearray(v), "clicks", 0, offset, moment(at[offset]))
        for offset, v in enumerate(values)
    ]
    schema = (
        "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP"
    )
    return spark.createDataFrame(rows, schema)


def moment(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)


def by_hand(value: bytes | None, arrival: int = ARRIVAL) -> tuple[Any, ...]:
    try:
        c = Click.from_json(value, arrival)
    except Rejected as why:
        return (str(why.reason), None, None, None, None, None, None)
    return (None, c.event_id, c.click_type.value, c.name, c.timestamp, c.browser, c.tab_id)


def on_spark(raw: DataFrame) -> list[tuple[Any, ...]]:
    wanted = ("reason", "event_id", "click_type", "name", "timestamp", "browser", "tab_id")
    before = {row.offset: row.value for row in raw.collect()}
    rows = parse(raw, fields=("offset", "value", *wanted)).collect()
    rows.sort(key=lambda row: row.offset)
    assert {row.offset: row.value for row in rows} == before
    return [tuple(row[field] for field in wanted) for row in rows]


def assert_agree(
    spark: SparkSession, values: list[bytes | None], arrivals: list[int] | None = None
) -> None:
    at = arrivals or [ARRIVAL] * len(values)
    expected = [by_hand(value, arrival) for value, arrival in zip(values, at, strict=True)]
    seen = zip(values, on_spark(raw(spark, values, at)), expected, strict=True)
    assert [(value, got, right) for value, got, right in seen if got != right] == []


def test_every_kind_of_bad_record_has_its_reason(spark: SparkSession) -> None:
    values = [value for value, _ in BAD]
    assert [by_hand(value)[0] for value in values] == [reason.value for _, reason in BAD]
    assert [row[0] for row in on_spark(raw(spark, values))] == [reason.value for _, reason in BAD]


def test_odd_but_good_records_are_accepted(spark: SparkSession) -> None:
    assert [by_hand(value)[0] for value in GOOD] == [None] * len(GOOD)
    assert_agree(spark, list(GOOD))


def records() -> list[dict[str, Any]]:
    return [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]


def test_both_agree_on_the_data_file(spark: SparkSession) -> None:
    values = [r["value"] if r["value"] is None else r["value"].encode() for r in records()]
    arrivals = [record["arrival"] for record in records()]
    assert_agree(spark, values, arrivals)
    assert [row[0] for row in on_spark(raw(spark, values, arrivals))] == [
        record["reason"] for record in records()
    ]


# --- mutations --------------------------------------------------------------------------------

ODD = ["null", "true", "0", "-0", "-1", "1.0", "1e3", "1e999", "NaN", "-Infinity", "007", "+1",
       "99999999999999999999", '"12"', '""', '"Page"', '"x}y"', "[]", "[1, 2]", '{"a":{"b":1}}',
       '"\\ud83d\\ude00"', '"\\ude00"', '"\\u0041"', '"\\x"', '"tab\there"', str(IN_2099),
       '"a\\"b"', "{", "'x'", '"a" "b"', ".5", "5."]  # fmt: skip
WEDGES = [b"\xff", b"\xed\xa0\x80", b"\xc0\x80", b"\xf0\x9f\x98\x80", b"\x00", b"\x0c", b"}", b"{",
          b"]", b",", b'"', b"\\", b" ", b"\n", b":", b"\xc2\xa0", b"/* */"]  # fmt: skip


def pairs_of(rng: random.Random) -> list[tuple[str, str]]:
    click = {**json.loads(CLICK.to_json()), "click_type": rng.choice(["Page", "Action"])}
    return [(json.dumps(name), json.dumps(value)) for name, value in click.items()]


def change_pairs(rng: random.Random, pairs: list[tuple[str, str]]) -> None:
    place = rng.randrange(len(pairs))
    name = pairs[place][0]
    match rng.randrange(6):
        case 0:
            del pairs[place]
        case 1:
            rng.shuffle(pairs)
        case 2:
            pairs[place] = (name, rng.choice(ODD))
        case 3:
            pairs.insert(rng.randrange(len(pairs) + 1), (name, rng.choice(ODD)))
        case 4:
            pairs.append(('"extra"', rng.choice(ODD)))
        case 5:
            pairs[place] = (name.replace("e", "\\u0065"), pairs[place][1])


def change_bytes(rng: random.Random, value: bytes) -> bytes:
    place = rng.randrange(len(value))
    match rng.randrange(5):
        case 0:
            return value[:place]
        case 1:
            return value[:place] + rng.choice(WEDGES) + value[place:]
        case 2:
            return value + rng.choice(WEDGES)
        case 3:
            return value[:place] + value[place + 1 :]
        case _:
            return rng.choice([b"[%b]", b"%b %b", b"{%b", b" %b", b'{"a":%b}']).replace(
                b"%b", value
            )


def mutant(rng: random.Random) -> bytes:
    pairs = pairs_of(rng)
    for _ in range(rng.choice([0, 1, 1, 2, 3])):
        if pairs:
            change_pairs(rng, pairs)
    colon, comma = rng.choice([(":", ","), (": ", ", "), (" :\t", "\r\n,")])
    value = ("{" + comma.join(n + colon + v for n, v in pairs) + "}").encode()
    for _ in range(rng.choice([0, 0, 1, 2])):
        if value:
            value = change_bytes(rng, value)
    return value


def test_both_agree_on_mutated_json(spark: SparkSession) -> None:
    rng = random.Random(3)
    values: list[bytes | None] = [mutant(rng) for _ in range(5000)]
    reasons = {by_hand(value)[0] for value in values}
    assert {None, Reason.MALFORMED, Reason.MISSING, Reason.UNKNOWN_TYPE} <= reasons
    assert_agree(spark, values)


# --- just beside the plain layout ---------------------------------------------------------------

PLAIN = [b'{"event_id":', b',"click_type":', b',"name":', b',"timestamp":', b',"browser":',
         b',"tab_id":', b"}"]  # fmt: skip
WHOLES = [b"0", b"7", b"-0", b"-7", b"00", b"07", b"-07", b"+7", b"7.0", b"7e0", b" 7", b"7 ", b"",
          b"-", b"9" * 18, b"9" * 19, b"1" * 40, b"1699999999995", b"9223372036854775807",
          b"9223372036854775808", b"-9223372036854775808", b"-9223372036854775809", b'"7"',
          b"\xd9\xa3", b"1700000300000", b"1700000300001"]  # fmt: skip
STRINGS = [b'""', b'"a"', b'"Page"', b'"Action"', b'"page"', b'"a\x00b"', b'"a\nb"', b'"a\x1fb"',
           b'"a\x7fb"', b'"a\\nb"', b'"a\\"', b'"a"b"', b'"a', b"a", b"null", b"nul", b"true",
           b"12", '"Müsli"'.encode(), '"\u2028\u0085"'.encode(), '"\ufffd"'.encode(),
           '"\U0001f600"'.encode(), b'"\xff"', b'"\xed\xa0\x80"', b'"\xc0\xaf"', b'"\xf0\x9f"',
           b'","timestamp":5,"x":"', b'"}"', b'"{"', b'"\\u0041"', b'"a" ', b' "a"']  # fmt: skip
ENDS = [b"", b"", b"", b"\n", b" ", b"}", b",", b"\x00", b"\xc2\x85", b"{}"]


def beside_plain(rng: random.Random) -> bytes:
    """Click.to_json's own layout, with a few values or joints that may not be what they were."""
    values = [b"7", b'"Page"', b'"home"', b"1699999999995", b'"Firefox"', b'"t1"']
    for place in rng.sample(range(6), rng.choice([0, 1, 1, 1, 2])):
        values[place] = rng.choice(WHOLES if place in (0, 3) else STRINGS)
    fields = [name + value for name, value in zip(PLAIN, values, strict=False)]
    match rng.randrange(12):
        case 0:
            del fields[rng.randrange(6)]
        case 1:
            fields.insert(rng.randrange(1, 7), rng.choice(fields[1:]))
        case 2:
            one, other = rng.sample(range(1, 6), 2)
            fields[one], fields[other] = fields[other], fields[one]
        case 3:
            place = rng.randrange(6)
            fields[place] = fields[place].replace(b":", rng.choice([b": ", b" :", b"::", b""]), 1)
        case 4:
            fields.insert(rng.randrange(1, 7), b',"more":' + rng.choice(WHOLES + STRINGS))
    return b"".join(fields) + rng.choice([b"}"] * 9 + [b""]) + rng.choice(ENDS)


def test_both_agree_on_what_is_nearly_plain(spark: SparkSession) -> None:
    rng = random.Random(4)
    values: list[bytes | None] = [beside_plain(rng) for _ in range(8000)]
    reasons = Counter(by_hand(value)[0] for value in values)
    assert min(reasons[None], reasons[Reason.MALFORMED], reasons[Reason.MISSING]) > 500
    assert_agree(spark, values)


def test_what_to_json_writes_is_read_the_fast_way() -> None:
    """Else it would be right, yet slow."""
    assert PlainClick.__struct_fields__ == tuple(field.name for field in fields(Click))
    for c in (CLICK, replace(CLICK, tab_id=None), replace(CLICK, event_id=-3, name="Müsli 😀")):
        plain = msgspec.json.decode(c.to_json(), type=PlainClick)
        assert msgspec.structs.astuple(plain) == astuple(c)


# --- counting ---------------------------------------------------------------------------------


def click(name: str, kind: ClickType = ClickType.PAGE, timestamp: int = ARRIVAL) -> Click:
    return Click(1, kind, name, timestamp, "Firefox")


MIXED = [
    click("home"), click("home", timestamp=IN_2099), click("shoes"), click("x", ClickType.ACTION),
    click("home", timestamp=ARRIVAL - 10**9), click("shoes", timestamp=-1),
]  # fmt: skip


def test_spark_counts_accepted_page_views_only(spark: SparkSession) -> None:
    parsed = parse(raw(spark, [c.to_json() for c in MIXED] + [b"junk", None]))
    rows = page_views(parsed).collect()
    assert {row["name"]: row.views for row in rows} == {"home": 2, "shoes": 1}
