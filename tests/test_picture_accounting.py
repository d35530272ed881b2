"""The account of records: five parts that add up, told apart without their colours."""

from __future__ import annotations

import re
from collections import Counter

from workbook.streams.events.ad_actions import Fate
from workbook.views.accounting import accounting

DUE = {"accepted": 24_000, "duplicate": 2_400, "filtered": 2_300, "rejected": 1_200, "too old": 100}


def test_what_adds_up_is_said_to() -> None:
    drawn = accounting(DUE, DUE)
    assert drawn.words == (
        "30,000 of 30,000 records found: 24,000 accepted, 2,400 duplicate, 2,300 filtered, "
        "1,200 rejected, 100 too old. It adds up, part by part."
    )
    assert drawn.figure.count("✓") == len(Fate) + 1
    assert drawn.rows[1] == {"fate": "duplicate", "expected": 2_400, "found": 2_400}


def test_a_sum_that_is_right_with_wrong_parts_is_wrong() -> None:
    drawn = accounting(DUE, {**DUE, "accepted": 24_010, "duplicate": 2_390})
    assert "accepted 10 too many; duplicate 10 too few." in drawn.words
    assert drawn.figure.count("✗") == 2


def test_a_part_is_as_long_as_its_share() -> None:
    half = accounting(Counter(accepted=10, rejected=30), Counter(accepted=10)).figure
    found = re.findall(r'width="([\d.]+)" [^>]*><title>(\w+, \w+): ', half)
    assert [(name, float(wide)) for wide, name in found] == [
        ("expected, accepted", 140), ("expected, rejected", 420), ("found, accepted", 140),
    ]  # fmt: skip


def test_nothing_expected_and_nothing_found() -> None:
    assert accounting({}, {}).words == "0 of 0 records found: none. It adds up, part by part."


def test_each_part_has_a_look_of_its_own_without_its_colour() -> None:
    looks = set()
    for fate in Fate:
        figure = accounting({fate.value: 1}, {}).figure
        drawn = figure.partition(f"expected, {fate}: 1")[2].partition("<text")[0]
        looks.add(re.sub(r"#\w+", "", drawn))
    assert len(looks) == len(Fate)
