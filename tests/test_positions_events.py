"""Position.from_record: every record is a position, a tombstone, or has one reason."""

from __future__ import annotations

import json
import random
from pathlib import Path

import msgspec
import pytest

from workbook.errors import Rejected
from workbook.streams.events.positions import (
    EXCHANGES,
    MAX_AMOUNT,
    MAX_POSITION_BYTES,
    PlainPosition,
    Position,
)
from workbook.streams.events.reasons import Reason
from workbook.streams.generators.positions import PositionStream

BOB = Position("Bob", "AAPL", 10, "NASDAQ")
GOOD = BOB.to_json().decode()
FIXED = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "positions.jsonl").open(encoding="utf-8")
]


def reason_of(value: bytes | None, key: bytes | None = b"1") -> str | None:
    try:
        Position.from_record(key, value)
    except Rejected as rejected:
        return rejected.reason
    return None


def changed(old: str, new: str) -> bytes:
    assert old in GOOD
    return GOOD.replace(old, new).encode()


BAD: list[tuple[bytes, Reason]] = [
    (b"", Reason.EMPTY),
    (b" ", Reason.MALFORMED),
    (b"position", Reason.MALFORMED),
    (b"null", Reason.MALFORMED),
    (b"[" + GOOD.encode() + b"]", Reason.MALFORMED),
    (GOOD[:-1].encode(), Reason.MALFORMED),
    (GOOD.encode() * 2, Reason.MALFORMED),
    (b"\xef\xbb\xbf" + GOOD.encode(), Reason.MALFORMED),
    (GOOD.encode("utf-16"), Reason.MALFORMED),
    (GOOD.encode().replace(b"Bob", b"\xff\xfe"), Reason.MALFORMED),
    (changed("Bob", "\\ud83d"), Reason.MALFORMED),
    (changed("10", "NaN"), Reason.MALFORMED),
    (changed("10", "010"), Reason.MALFORMED),
    (b"{}", Reason.MISSING),
    (changed('"client":"Bob",', ""), Reason.MISSING),
    (changed('"Bob"', "null"), Reason.MISSING),
    (changed('"Bob"', '""'), Reason.MISSING),
    (changed('"Bob"', "7"), Reason.MISSING),
    (changed('"Bob"', '["Bob"]'), Reason.MISSING),
    (changed("client", "Client"), Reason.MISSING),
    (changed('"AAPL"', "null"), Reason.MISSING),
    (changed('"AAPL"', '""'), Reason.MISSING),
    (changed('"amount":10,', ""), Reason.MISSING),
    (changed("10", "null"), Reason.MISSING),
    (changed(',"exchange":"NASDAQ"', ""), Reason.MISSING),
    (changed("10", '"10"'), Reason.NOT_AN_AMOUNT),
    (changed("10", "0"), Reason.NOT_AN_AMOUNT),
    (changed("10", "-1"), Reason.NOT_AN_AMOUNT),
    (changed("10", "10.0"), Reason.NOT_AN_AMOUNT),
    (changed("10", "1e1"), Reason.NOT_AN_AMOUNT),
    (changed("10", "true"), Reason.NOT_AN_AMOUNT),
    (changed("10", "[10]"), Reason.NOT_AN_AMOUNT),
    (changed("10", str(MAX_AMOUNT + 1)), Reason.NOT_AN_AMOUNT),
    (changed("10", str(2**64)), Reason.NOT_AN_AMOUNT),
    (changed("10", "1" * 3000), Reason.NOT_AN_AMOUNT),
    (changed("NASDAQ", "MOON"), Reason.UNKNOWN_EXCHANGE),
    (changed("NASDAQ", "nasdaq"), Reason.UNKNOWN_EXCHANGE),
    (changed('"NASDAQ"', '""'), Reason.MISSING),
    (changed("Bob", "B" * MAX_POSITION_BYTES), Reason.TOO_LARGE),
    (b" " * (MAX_POSITION_BYTES + 1), Reason.TOO_LARGE),
]
ODD: list[bytes] = [
    changed(":10", " :\n10\t"),
    changed("Bob", "Zoë 東京 \\ud83d\\ude00 \\\\ud83d"),
    changed("Bob", " "),
    changed("Bob", "\\u0000"),
    changed("10", "1"),
    changed("10", str(MAX_AMOUNT)),
    changed('"client":"Bob"', '"client":"Eve","client":"Bob"'),
    b'{"exchange":"LSE","amount":1,"ticker":"BP","client":"x"}',
    GOOD.encode() + b" " * (MAX_POSITION_BYTES - len(GOOD)),
]
TAKEN_BY_THE_RULES_ALONE = changed('"Bob"', '"Bob","note":{"a":[1,null]}')


@pytest.mark.parametrize(("value", "reason"), BAD, ids=range(len(BAD)))
def test_a_bad_value_has_its_reason(value: bytes, reason: Reason) -> None:
    assert reason_of(value) == reason


@pytest.mark.parametrize("value", [*ODD, TAKEN_BY_THE_RULES_ALONE], ids=range(len(ODD) + 1))
def test_an_odd_value_is_a_position(value: bytes) -> None:
    assert reason_of(value) is None


@pytest.mark.parametrize("key", [None, b"", b"\xff", b"a\xc3"])
@pytest.mark.parametrize("value", [None, b"", BOB.to_json(), b" " * 5000])
def test_a_bad_key_comes_before_all_else(key: bytes | None, value: bytes | None) -> None:
    assert reason_of(value, key) == Reason.NO_KEY


def test_a_tombstone_is_no_position_and_no_error() -> None:
    assert Position.from_record(b"p1", None) is None


def test_a_position_survives_its_own_json() -> None:
    for name in ("Bob", 'a"b\\c\u2028ü🛒', "\x00"):
        position = Position(name, name, MAX_AMOUNT, "TSE")
        assert Position.from_record(b"1", position.to_json()) == position


def fast(value: bytes) -> Position | None:
    """What msgspec takes, as the pipeline reads it: a value that is too large is looked at."""
    try:
        p = msgspec.json.decode(value, type=PlainPosition)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    if len(value) > MAX_POSITION_BYTES:
        return None
    return Position(p.client, p.ticker, p.amount, p.exchange)


@pytest.mark.parametrize("value", [*(v for v, _ in BAD), *ODD, TAKEN_BY_THE_RULES_ALONE])
def test_what_msgspec_takes_the_rules_take_equally(value: bytes) -> None:
    taken = fast(value)
    if taken is not None:
        assert Position.from_record(b"1", value) == taken


def test_msgspec_takes_all_that_is_plain() -> None:
    assert fast(TAKEN_BY_THE_RULES_ALONE) is None
    stream = PositionStream(positions=50)
    values = [value for value in stream.block(0, 2000)["value"].to_pylist() if value is not None]
    assert all(fast(value) == Position.from_record(b"1", value) for value in values)


def test_what_msgspec_takes_of_values_with_a_broken_byte() -> None:
    draw, taken = random.Random(1), 0
    plain = [value for value in (*ODD, BOB.to_json()) if len(value) < 200]
    seeds = [*plain * 4, *(value for value, _ in BAD if 20 < len(value) < 200)]
    for _ in range(50_000):
        value = bytearray(draw.choice(seeds))
        for _ in range(draw.randint(1, 2)):
            value[draw.randrange(len(value))] = draw.choice(
                b'"\\{}[]:,0129.eE-+ \tnud8\xff\x80\x00A'
            )
        found = fast(bytes(value))
        if found is not None:
            taken += 1
            assert Position.from_record(b"1", bytes(value)) == found, bytes(value)
    assert taken > 1000


def test_both_know_the_same_exchanges() -> None:
    for exchange in EXCHANGES:
        assert fast(changed("NASDAQ", exchange)) == Position("Bob", "AAPL", 10, exchange)


@pytest.mark.parametrize("record", FIXED, ids=lambda r: f"{r['offset']}-{r['key']}")
def test_a_fixed_record_can_be_read(record: dict) -> None:
    value = record["value"]
    position = Position.from_record(
        record["key"].encode(), None if value is None else value.encode()
    )
    assert position is None or position.to_json().decode() == value


def test_the_fixed_records_tell_the_whole_story() -> None:
    table: dict[str, dict] = {}
    seen = set()
    for offset, record in enumerate(FIXED):
        assert record.keys() == {"offset", "key", "value"}
        assert record["offset"] == offset
        before = table.get(record["key"])
        now = record["value"] and json.loads(record["value"])
        if now is None:
            seen.add("closed")
        elif before is None:
            seen.add("opened")
        else:
            seen.add("moved" if before["client"] != now["client"] else "updated")
        seen.add((now or {}).get("exchange"))
        table[record["key"]] = now
    assert seen >= {"opened", "updated", "moved", "closed", "LSE", "NASDAQ"}
    assert len(table) == 5
