"""What the crash lab's verdict on the table of share holders counts, without a server."""

import pandas as pd
import pytest
from test_table_ledger import record

from workbook.crashlab.crashes import CRASHES
from workbook.crashlab.crashes.base import letters
from workbook.crashlab.crashes.share_holders import holders_verdict
from workbook.crashlab.report import Outcome
from workbook.streams.ledgers.tables import TableLedger

LEDGER = TableLedger(pd.DataFrame([record("p1", "Al/F/NYSE"), record("p2", "Bob/IBM/NYSE")]))
AL, BOB, ZOE = ("Al", ["p1"], ["F"]), ("Bob", ["p2"], ["IBM"]), ("Zoë", ["p9"], [])
RIGHT, LACKING, WRONG = (
    pd.DataFrame(rows, columns=["client", "positions", "tickers"])
    for rows in ([AL, BOB], [AL], [AL, BOB, ZOE])
)
REJECTED = pd.DataFrame({"topic": "t", "partition": 0, "offset": [1, 2, 3], "reason": "no key"})


@pytest.mark.parametrize(
    ("store", "topic", "found", "counts"),
    [
        (RIGHT, RIGHT, REJECTED, [0, 0, 0]),
        (WRONG, RIGHT, REJECTED, [1, 0, 0]),
        (RIGHT, LACKING, REJECTED, [0, 1, 0]),
        (RIGHT, RIGHT, REJECTED.head(1), [0, 0, 2]),
        (RIGHT, RIGHT, REJECTED.assign(offset=[1, 2, 4]), [0, 0, 2]),
        (RIGHT, RIGHT, REJECTED.assign(partition=[0, 1, 0]), [0, 0, 2]),
        (RIGHT, RIGHT, REJECTED.assign(reason=["empty value", "no key", "no key"]), [0, 0, 2]),
        (RIGHT, RIGHT, pd.concat([REJECTED, REJECTED.assign(offset=7)]), [0, 0, 1]),
    ],
)
def test_store_topic_and_dead_letters_are_judged_each_by_itself(
    store: pd.DataFrame, topic: pd.DataFrame, found: pd.DataFrame, counts: list[int]
) -> None:
    due, given = letters(REJECTED.assign(reason="no key")), letters(found)
    verdict = holders_verdict(LEDGER.judge(store), LEDGER.judge(topic), rejected=due, found=given)
    assert list(verdict.counts.values()) == counts
    variant = CRASHES["share_holders"].variant(None)
    outcome = Outcome("share_holders", variant, 7, (), verdict)
    assert outcome.kept == (counts == [0, 0, 0])
    assert list(verdict.counts) == list(variant.promises)
    right = len(due & given)
    assert f"{right} of 3 rejected records, {len(given) - right} others." in str(verdict)
    assert str(outcome).startswith("✓" if outcome.kept else "✗")
