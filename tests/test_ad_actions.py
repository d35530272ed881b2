"""Ad actions in Avro: both versions, and each reason for which one is rejected."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from workbook.errors import Rejected
from workbook.streams.events.ad_actions import (
    MAX_AGE_MS,
    UNKNOWN_BROWSER,
    VERSIONS,
    AdAction,
    decode,
    encode,
    head,
)
from workbook.streams.events.clicks import MAX_AHEAD_MS
from workbook.streams.events.reasons import Reason

NOW = 1_767_225_600_000  # 2026-01-01 in UTC
SCHEMAS = {7: VERSIONS[0], 9: VERSIONS[1]}
ACTION = AdAction(2**40, "ad-1", "view", 5, False, "front page", "Firefox", NOW)
VALUE = encode(ACTION, 1, 9)


def changed(**fields: Any) -> bytes:
    return encode(replace(ACTION, **fields), 1, 9)


def test_both_versions_are_read_as_the_newer_one() -> None:
    assert decode(VALUE, SCHEMAS, NOW) == ACTION
    old = encode(ACTION, 0, 7)
    assert decode(old, SCHEMAS, NOW) == replace(ACTION, browser=UNKNOWN_BROWSER)
    assert decode(VALUE + b"more", SCHEMAS, NOW) == ACTION


def test_a_version_that_came_later_is_read_by_the_reader_of_today() -> None:
    third = json.loads(VERSIONS[1])
    third["fields"].append({"name": "page", "type": "int", "default": 1})
    assert decode(head(11) + VALUE[5:] + b"\x08", {11: json.dumps(third)}, NOW) == ACTION


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, Reason.EMPTY),
        (b"", Reason.EMPTY),
        (VALUE + bytes(4097 - len(VALUE)), Reason.TOO_LARGE),
        (VALUE[:4], Reason.NO_AVRO),
        (b"\x01" + VALUE[1:], Reason.NO_AVRO),
        (b'{"event_id": 1}', Reason.NO_AVRO),
        (head(8) + VALUE[5:], Reason.UNKNOWN_SCHEMA),
        (VALUE[:5], Reason.MALFORMED_AVRO),
        (VALUE[:-1], Reason.MALFORMED_AVRO),
        (changed(ad=None), Reason.NO_AD),
        (changed(ad=""), Reason.NOT_PLAIN),
        (changed(ad="a" * 65), Reason.NOT_PLAIN),
        (changed(ad="ad\n"), Reason.NOT_PLAIN),
        (changed(source="søk"), Reason.NOT_PLAIN),
        (VALUE.replace(b"ad-1", b"ad-\xff"), Reason.NOT_PLAIN),
        (changed(type="View"), Reason.UNKNOWN_ACTION),
        (changed(time=-1), Reason.NEGATIVE),
        (changed(time=NOW + MAX_AHEAD_MS + 1), Reason.FUTURE),
        (changed(ad=None, type="?", time=-1), Reason.NO_AD),  # the first of several
    ],
)
def test_each_reason(value: bytes | None, reason: Reason) -> None:
    with pytest.raises(Rejected) as rejected:
        decode(value, SCHEMAS, NOW)
    assert rejected.value.reason is reason


def test_what_is_just_good() -> None:
    odd: dict[str, Any] = {"ad": "'); DROP TABLE counts; --", "browser": "", "type": "read"}
    latest = {"ad": "a" * 64, "time": NOW + MAX_AHEAD_MS}
    for fields in (odd, latest, {"time": NOW - 2 * MAX_AGE_MS}):  # too old isn't rejected
        assert decode(changed(**fields), SCHEMAS, NOW) == replace(ACTION, **fields)


def test_a_day_begins_at_midnight_in_oslo_also_without_the_zones_of_the_system() -> None:
    summer = 1_782_856_800_000  # 22:00 UTC on 30 June 2026
    code = (
        "from workbook.streams.events.ad_actions import day_of; "
        f"print(*map(day_of, [{NOW} - 3_600_001, {NOW} - 3_600_000, {summer} - 1, {summer}]))"
    )
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, env={"PYTHONTZPATH": ""}, capture_output=True, text=True)
    assert run.stdout.split() == ["2025-12-31", "2026-01-01", "2026-06-30", "2026-07-01"]
