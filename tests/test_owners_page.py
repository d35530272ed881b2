"""The owner's page: data in, words, totals and a row per day out."""

import re
from dataclasses import replace
from datetime import date, timedelta

import psycopg

from workbook.sinks.counts_table import TABLES
from workbook.sinks.viewers import sketch_of
from workbook.views.owners_page import DAYS, LISTED, OwnersPage, Traffic, owners_page

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
    assert page.words == ("905 views by 702 viewers on 3 days, from 2026-06-01 to 2026-06-03.")
    assert [(row["day"], row["view"], row["viewers"]) for row in page.rows] == [
        ("2026-06-01", 5, 4), ("2026-06-02", 0, 0), ("2026-06-03", 900, 700),
    ]  # fmt: skip
    assert ">702<" in page.above
    assert "search" in page.below


def test_groups_are_bars_and_words_and_a_hidden_one_has_no_number() -> None:
    groups = {"age_group": {"25-44": 600, "under 25": None, "unknown": 30}, "region": {"Norway": 7}}
    page = owners_page(replace(TRAFFIC, groups=groups))
    said = (
        "Viewers by age group: 25-44 600, under 25 hidden, unknown 30. Viewers by region: Norway 7."
    )
    assert page.words.endswith(said)
    rows = re.findall(r"<tr.*?</tr>", page.below)
    [hidden] = [row for row in rows if "under 25" in row]
    assert "hidden" in hidden
    assert "width:0px" in hidden
    assert "Viewers by age group" in page.below
    assert "Viewers" not in owners_page(TRAFFIC).below.replace("Views", "")


def test_an_ad_without_actions_and_one_of_three_months() -> None:
    assert owners_page(Traffic("boat")).words == "The ad boat has no actions yet."
    months = Traffic("car", {MONDAY: {"view": 1}, date(2026, 8, 31): {"click": 1}})
    page = owners_page(months)
    assert "on 92 days" in page.words
    assert len(page.rows) == LISTED
    assert page.rows[-1]["click"] == 1


# --- from the tables --------------------------------------------------------------------------


def test_the_page_follows_the_tables_and_keeps_the_last_numbers(url: str, schema: str) -> None:
    page = OwnersPage(url, schema, "bike")
    assert page().words.startswith("The tables don't exist yet")
    with psycopg.connect(url, autocommit=True, options=f"-c search_path={schema}") as connection:
        connection.execute(TABLES.read_text())
        assert page().words == "The ad bike has no actions yet."
        tuesday, old = MONDAY + timedelta(1), MONDAY - timedelta(DAYS)
        connection.cursor().executemany(
            "INSERT INTO counts_by_generation VALUES ('bike', %s, %s, %s, 0, %s)",
            [(MONDAY, "view", "search", 3), (MONDAY, "view", "social", 1),
             (MONDAY, "read", "search", 2), (tuesday, "click", "email", 1),
             (old, "view", "search", 99)],
        )  # fmt: skip
        for day, users in ((MONDAY, [1, 2, 3]), (tuesday, [3, 4])):
            connection.execute(
                "INSERT INTO viewers_by_generation VALUES ('bike', %s, 0, %s, %s)",
                [day, sketch_of(users), len(users)],
            )
        groups = (MONDAY, "male", 12), (tuesday, "male", 15), (tuesday, "other", 2)
        for day, value, users in groups:
            connection.execute(
                "INSERT INTO groups_by_generation VALUES ('bike', %s, 'gender', %s, 0, %s, 0)",
                [day, value, sketch_of(range(users))],
            )
    everything = OwnersPage(url, schema, "bike", lambda counts, least: counts)
    assert everything().words.endswith("Viewers by gender: male 15, other 2.")
    shown = page()
    assert shown.words.startswith("4 views by 4 viewers on 2 days, from 2026-06-01 to 2026-06-02")
    assert shown.words.endswith("Viewers by gender: male hidden, other hidden.")
    assert [(row["view"], row["read"], row["viewers"]) for row in shown.rows] == [
        (4, 2, 3), (0, 0, 2),
    ]  # fmt: skip
    assert "99" not in shown.below
    page._url, page._open = "postgresql://127.0.0.1:1/nobody", None
    away = r"PostgreSQL doesn't answer: .* from \d\d:\d\d:\d\d UTC\. 4 views"
    assert re.match(away, page().words)
