"""Hostile records (data/hostile.jsonl): what the strict readers and the chapters make of them."""

from __future__ import annotations

import pytest
from hostile import LEGAL, TIME, good, records

from workbook.errors import Rejected
from workbook.streams.events.ad_actions import VERSIONS, decode
from workbook.streams.events.clicks import Click
from workbook.streams.events.positions import Position
from workbook.streams.events.reasons import Reason
from workbook.streams.events.visits import read_message

RULES = {
    "click": lambda key, value, at: Click.from_json(value, at, TIME),
    "visit": lambda key, value, at: read_message(key, value, at, TIME),
    "position": lambda key, value, at: Position.from_record(key, value),
    "action": lambda key, value, at: decode(value, {7: VERSIONS[1]}, at),
}


@pytest.mark.parametrize("event", RULES)
def test_the_rules_reject_each_hostile_record_for_its_reason(event: str) -> None:
    assert RULES[event](*good(event, 1), TIME)
    for each in records(event, beyond=True):
        try:
            RULES[event](each.key, each.value, each.timestamp or TIME)
            legal = (*LEGAL, str(Reason.TOO_OLD))
        except Rejected as why:
            legal = (str(why.reason),)
        assert each.reason in legal, each.name
