"""The owner's page: data in, words, totals and a row per day out."""

from __future__ import annotations

from datetime import date

from workbook.views.owners_page import LISTED, Traffic, owners_page

MONDAY = date(2026, 6, 1)
TRAFFIC = Traffic(
    "bike",
    {MONDAY: {"view": 5, "email": 1}, date(2026, 6, 3): {"view": 900, "favourite": 2}},
    viewers={MONDAY: 4, date(2026, 6, 3): 700},
    unique=702,
    sources={"search": 600, "email": 305},
)


def test_the_page_says_totals_and_has_a_row_for_each_day() -> None:
    page = owners_page(TRAFFIC)
    assert page.words == (
        "905 views by 702 viewers on 3 days, from 2026-06-01 to 2026-06-03; "
        "most actions on 2026-06-03."
    )
    assert [(row["day"], row["view"], row["viewers"]) for row in page.rows] == [
        ("2026-06-01", 5, 4), ("2026-06-02", 0, 0), ("2026-06-03", 900, 700),
    ]  # fmt: skip
    assert ">702<" in page.above
    assert "search" in page.below


def test_an_ad_without_actions_and_one_of_three_months() -> None:
    assert owners_page(Traffic("boat")).words == "The ad boat has no actions yet."
    months = Traffic("car", {MONDAY: {"view": 1}, date(2026, 8, 31): {"click": 1}})
    page = owners_page(months)
    assert "on 92 days" in page.words
    assert len(page.rows) == LISTED
    assert page.rows[-1]["click"] == 1
