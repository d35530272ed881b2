"""What the crash lab's verdict on the table of share holders counts, without a server."""

from __future__ import annotations

import pandas as pd
import pytest

from workbook.crashlab.crashes import CRASHES
from workbook.crashlab.crashes.share_holders import holders_verdict
from workbook.crashlab.report import Outcome
from workbook.streams.ledgers.tables import TableLedger

LEDGER = TableLedger(
    pd.DataFrame(
        {
            "position": ["p1", "p2"],
            "partition": [0, 0],
            "client": ["Al", "Bob"],
            "ticker": ["F", "IBM"],
            "exchange": ["NYSE", "NYSE"],
            "deleted": [False, False],
            "reason": [None, None],
        }
    )
)
AL, BOB, ZOE = ("Al", ["p1"], ["F"]), ("Bob", ["p2"], ["IBM"]), ("Zoë", ["p9"], [])
RIGHT, LACKING, WRONG = (
    pd.DataFrame(rows, columns=["client", "positions", "tickers"])
    for rows in ([AL, BOB], [AL], [AL, BOB, ZOE])
)


@pytest.mark.parametrize(
    ("store", "topic", "letters", "counts"),
    [
        (RIGHT, RIGHT, 3, [0, 0, 0]),
        (WRONG, RIGHT, 3, [1, 0, 0]),
        (RIGHT, LACKING, 3, [0, 1, 0]),
        (RIGHT, RIGHT, 1, [0, 0, 2]),
    ],
)
def test_store_topic_and_dead_letters_are_judged_each_by_itself(
    store: pd.DataFrame, topic: pd.DataFrame, letters: int, counts: list[int]
) -> None:
    verdict = holders_verdict(LEDGER.judge(store), LEDGER.judge(topic), rejected=3, letters=letters)
    assert list(verdict.counts.values()) == counts
    variant = CRASHES["share_holders"].variant(None)
    outcome = Outcome("share_holders", variant, 7, (), verdict)
    assert outcome.kept == (counts == [0, 0, 0])
    assert list(verdict.counts) == list(variant.promises)
    assert f"{letters} of 3 rejected records" in str(verdict)
    assert str(outcome).startswith("✓" if outcome.kept else "✗")
