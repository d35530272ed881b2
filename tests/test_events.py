"""Click.from_json: every record is a click or has one reason, and no other exception escapes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbook.errors import Rejected
from workbook.streams.events.clicks import MAX_AHEAD_MS, Click, ClickType
from workbook.streams.events.reasons import (
    OF_ACTIONS,
    OF_POSITIONS,
    OF_THE_READER,
    OF_VISITS,
    Reason,
)

RECORDS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "clicks.jsonl").open(encoding="utf-8")
]
NOW = 1_767_225_600_000
CLICK = Click(7, ClickType.PAGE, "/home", NOW, "Firefox", "tab-1")


def reason_of(value: bytes | None, arrival: int = NOW) -> str | None:
    try:
        Click.from_json(value, arrival)
    except Rejected as rejected:
        return rejected.reason
    return None


@pytest.mark.parametrize("record", RECORDS, ids=lambda r: f"{r['partition']}-{r['offset']}")
def test_a_fixed_record_has_its_reason(record: dict) -> None:
    value = None if record["value"] is None else record["value"].encode()
    assert reason_of(value, record["arrival"]) == record["reason"]


def test_the_fixed_records_cover_every_reason() -> None:
    assert {r["reason"] for r in RECORDS} == {
        None,
        *(r.value for r in Reason),
    } - OF_ACTIONS - OF_POSITIONS - OF_VISITS - OF_THE_READER


@pytest.mark.parametrize("tab_id", [None, "tab-1", "", 'a"b\\c\u2028ü🛒'])
def test_a_click_survives_its_own_json(tab_id: str | None) -> None:
    click = Click(2**63 - 1, ClickType.ACTION, 'x"\n\\', NOW + MAX_AHEAD_MS, "", tab_id)
    assert Click.from_json(click.to_json(), NOW) == click


BYTES = {
    "not UTF-8": CLICK.to_json().replace(b"home", b"\xff\xfe"),
    "UTF-16": CLICK.to_json().decode().encode("utf-16-le"),
    "byte order mark": b"\xef\xbb\xbf" + CLICK.to_json(),
    "encoded surrogate": CLICK.to_json().replace(b"home", b"\xed\xa0\x80"),
    "deep nesting": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "deep list": b"[" * 100_000,
    "huge number": CLICK.to_json().replace(b'"event_id":7', b'"event_id":' + b"7" * 5000),
    "zero byte": b"\0",
    "half pair": CLICK.to_json().replace(b"home", b"\\ud83d"),
    "second half": CLICK.to_json().replace(b"home", b"\\ude00"),
    "halves swapped": CLICK.to_json().replace(b"home", b"\\ude00\\ud83d"),
    "half pair in an extra field": CLICK.to_json()[:-1] + b',"x":"\\uD83D"}',
}


@pytest.mark.parametrize("value", BYTES.values(), ids=BYTES.keys())
def test_bytes_that_are_no_json_are_malformed(value: bytes) -> None:
    assert reason_of(value) == Reason.MALFORMED


def test_whole_pairs_and_escaped_backslashes_are_text() -> None:
    pair = CLICK.to_json().replace(b"/home", b"\\ud83d\\ude00")
    assert Click.from_json(pair, NOW).name == "😀"
    backslash = CLICK.to_json().replace(b"/home", b"\\\\ud83d")
    assert Click.from_json(backslash, NOW).name == "\\ud83d"


@pytest.mark.parametrize("number", ["true", "1.0", "1e3", '"1"', "null", str(2**63), "[1]"])
@pytest.mark.parametrize("name", ["event_id", "timestamp"])
def test_a_number_must_be_a_64_bit_whole_number(name: str, number: str) -> None:
    fields = json.loads(CLICK.to_json()) | {name: "@"}
    assert reason_of(json.dumps(fields).replace('"@"', number).encode()) == Reason.MISSING


def test_the_first_reason_wins() -> None:
    fields = {"event_id": 1, "click_type": "Scroll", "timestamp": -1, "browser": "x"}
    assert reason_of(json.dumps(fields).encode()) == Reason.MISSING
    assert reason_of(json.dumps(fields | {"name": "x"}).encode()) == Reason.UNKNOWN_TYPE


def test_the_second_of_a_click_is_rounded_down() -> None:
    assert Click(1, ClickType.PAGE, "/", 1999, "x").epoch_second == 1
