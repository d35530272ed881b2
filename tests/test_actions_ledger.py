"""The ledger of ad actions: what is lost, counted twice, or not accounted for."""

from collections import Counter

import pandas as pd

from workbook.streams.generators.ad_actions import AdActionStream
from workbook.streams.ledgers.actions import KEY, judge

STREAM = AdActionStream(rate=50, ads=40, too_old_share=0.05, bad_share=0.05, duplicate_share=0.2)
EXPECTED = STREAM.expected(0, 2000)
ACCOUNTING = dict(Counter(EXPECTED["fate"]))
ACCEPTED = EXPECTED[EXPECTED["fate"] == "accepted"]
COUNTS = ACCEPTED.groupby(KEY).size().rename("count").reset_index()
VIEWS = ACCEPTED[ACCEPTED["type"] == "view"].groupby(["ad", "day"])["user"]
VIEWERS = VIEWS.nunique().rename("estimate").reset_index()
LETTERS = EXPECTED.loc[EXPECTED["reason"].notna(), ["reason", "partition"]].reset_index(
    names="offset"
)


def counted(rows: pd.DataFrame = COUNTS, letters: pd.DataFrame | None = None, **more: int) -> dict:
    return judge(EXPECTED, rows, ACCOUNTING | more, letters).counts


def test_what_adds_up_is_clean() -> None:
    in_deltas = pd.concat([COUNTS.assign(count=1), COUNTS.assign(count=COUNTS["count"] - 1)])
    assert set(ACCOUNTING) == {"accepted", "duplicate", "filtered", "rejected", "too old"}
    verdict = judge(EXPECTED, in_deltas, ACCOUNTING, pd.concat([LETTERS, LETTERS]))  # sent again
    assert verdict.clean
    assert verdict.headline == (
        "0 lost, 0 counted twice, 0 unaccounted, 0 letters lost; 2,000 messages"
    )


def test_a_viewer_too_many_or_too_few_is_an_anomaly() -> None:
    def wrong(viewers: pd.DataFrame) -> int:
        return judge(EXPECTED, COUNTS, ACCOUNTING, None, viewers).counts["viewers wrong"]

    assert wrong(VIEWERS) == 0
    assert wrong(VIEWERS.assign(estimate=VIEWERS["estimate"] + (VIEWERS.index == 2))) == 1
    assert wrong(VIEWERS.drop(index=0)) == VIEWERS["estimate"][0]
    assert wrong(pd.DataFrame([])) == VIEWERS["estimate"].sum()


def test_each_anomaly_is_counted_and_shown() -> None:
    clean = {"lost": 0, "counted twice": 0, "unaccounted": 0}
    fewer = COUNTS.assign(count=COUNTS["count"] - (COUNTS.index == 3))
    assert counted(fewer) == clean | {"lost": 1}
    assert counted(COUNTS.drop(index=0)) == clean | {"lost": COUNTS["count"][0]}
    assert counted(pd.DataFrame([])) == clean | {"lost": len(ACCEPTED)}
    foreign = pd.concat([COUNTS, COUNTS.head(1).assign(ad="nobody's", count=7)])
    assert counted(foreign) == clean | {"counted twice": 7}
    swapped = {"accepted": len(ACCEPTED) + 1, "too old": ACCOUNTING["too old"] - 2, "new": 4}
    assert counted(**swapped) == clean | {"unaccounted": 7}
    assert counted(letters=LETTERS.iloc[2:]) == clean | {"letters lost": 2}
    placed = EXPECTED.assign(offset=EXPECTED["number"])
    old = placed[placed["reason"].notna()][["event_id", "reason"]].dropna()
    repeated = placed[placed["fate"] == "duplicate"].drop(columns="reason").merge(old, "inner")
    for moved, wrong in (
        (LETTERS, 0),
        (pd.concat([LETTERS, repeated[LETTERS.columns]]), 0),
        (LETTERS.replace({"offset": LETTERS["offset"][0]}, 9999), 2),
        (pd.concat([LETTERS.assign(reason="another"), LETTERS]), len(LETTERS)),
    ):
        assert judge(placed, COUNTS, ACCOUNTING, moved).counts["letters lost"] == wrong
    verdict = judge(EXPECTED, foreign, {}, LETTERS)
    assert not verdict.clean
    assert "nobody's" in verdict._repr_html_()
    assert "counted twice         7" in str(verdict)
