"""The judge of a table of groups finds what is planted, and names the offsets as they are."""

import pandas as pd

from workbook.streams.ledgers.groups import judge

COLUMNS = ["group", "topic", "partition", "offset", "described"]
EXPECTED = pd.DataFrame(
    [("a", "t", 0, 5, True), ("a", "t", 1, 2**53 + 1, True), ("b", "t", 0, 7, True)],
    columns=COLUMNS,
)


def test_a_table_like_the_commits_is_clean() -> None:
    assert judge(EXPECTED, EXPECTED, EXPECTED).clean
    assert judge(EXPECTED[:0], EXPECTED[:0], EXPECTED[:0]).clean


def test_it_finds_exactly_what_is_planted() -> None:
    observed = pd.DataFrame(
        [("a", "t", 0, 4, True), ("a", "t", 1, 2**53 + 1, True), ("c", "t", 0, 1, True)],
        columns=COLUMNS,
    )
    found = judge(EXPECTED, observed, EXPECTED)
    place = ["group", "topic", "partition", "offset", "offset_found"]
    assert list(found.stale) == list(found.differing) == place
    assert found.stale.values.tolist() == [["a", "t", 0, 5, 4]]
    assert found.missing["group"].tolist() == ["b"]
    assert found.unexpected[["group", "offset_found"]].values.tolist() == [["c", 1]]
    assert found.nameless["group"].tolist() == ["b"]
    assert len(found.differing) == 3
    assert not found.clean


def test_a_last_digit_that_a_float_would_lose_is_a_difference() -> None:
    observed = EXPECTED.assign(offset=[5, 2**53, 7])[:2]
    assert judge(EXPECTED, observed, EXPECTED).counts["stale"] == 1
