"""The table's ledger recomputes the truth, and finds exactly what is planted."""

import pandas as pd
import pytest

from workbook.streams.events.reasons import Reason
from workbook.streams.ledgers.tables import MEANINGS, TableLedger


def record(position: str, holds: str, reason: str | None = None) -> dict[str, object]:
    """``holds`` is client/ticker/exchange, or nothing for a tombstone."""
    client, ticker, exchange = holds.split("/") if holds else (None, None, None)
    row = {"position": position, "client": client, "ticker": ticker, "exchange": exchange}
    return row | {"deleted": not holds, "partition": 0, "reason": reason}


SMALL = TableLedger(
    pd.DataFrame(
        [
            record("1", "Bob/AAPL/NASDAQ"),
            record("2", "Alice/IBM/NYSE"),
            record("3", "Alice/SAP/XETRA"),
            record("4", "Bob/GOOG/NASDAQ"),
            record("1", "Alice/AAPL/NASDAQ"),  # moved
            record("5", "Carol/F/NYSE"),
            record("5", ""),  # closed
            record("6", "Dave/GE/NYSE"),
            record("6", "", Reason.MALFORMED.value),
            record("7", "Eve/KO/NYSE"),
            record("7", "Eve/BP/LSE"),
        ]
    )
)
RIGHT = {"Alice": (["1", "2"], ["IBM", "AAPL"]), "Bob": (["4"], ["GOOG"])}


def table(held: dict[str, tuple[list[str] | None, list[str] | None]]) -> pd.DataFrame:
    rows = [(client, *lists) for client, lists in held.items()]
    return pd.DataFrame(rows, columns=["client", "positions", "tickers"])


def test_it_finds_exactly_what_is_planted() -> None:
    wrong = {
        "Alice": (["2"], ["AAPL"]), "Bob": (["1", "4", "4"], ["GOOG"]), "Carol": (["5"], ["F"]),
        "Dave": (["6"], []), "Eve": (["7"], []), "Frank": (None, None), "Gus": (["99"], []),
    }  # fmt: skip
    verdict = SMALL.judge(table(wrong))
    assert not verdict.clean
    assert verdict.counts == {
        "missing": 1, "stale": 5, "repeated": 1, "empty": 1, "wrong_tickers": 1,
    }  # fmt: skip
    [missing] = verdict.missing.to_dict("records")
    assert missing == {"client": "Alice", "position": "1", "ticker": "AAPL", "exchange": "NASDAQ",
                       "partition": 0, "offset": 4}  # fmt: skip
    stale = {row.position: (row.client, row.why) for row in verdict.stale.itertuples()}
    assert stale == {
        "1": ("Bob", "held by Alice"),
        "5": ("Carol", "closed"),
        "6": ("Dave", "rejected: malformed JSON"),
        "7": ("Eve", "no US share: LSE"),
        "99": ("Gus", "no record of it so far"),
    }
    assert verdict.stale["offset"].tolist()[:4] == [4, 6, 8, 10]
    assert verdict.repeated.to_dict("records") == [{"client": "Bob", "position": "4", "times": 2}]
    assert verdict.empty["client"].tolist() == ["Frank"]
    [found] = verdict.wrong_tickers.to_dict("records")
    assert found == {"client": "Alice", "expected": ["AAPL", "IBM"], "observed": ["AAPL"]}
    for shown in (str(verdict), verdict._repr_html_()):
        assert "not clean: 3 positions held, 8 in the table" in shown
        assert "no US share: LSE" in shown
        assert MEANINGS["stale"] in shown


def test_a_right_table_is_clean_and_an_empty_one_lacks_all() -> None:
    assert "✓ clean" in str(SMALL.judge(table(RIGHT)))
    assert SMALL.judge(table({})).counts["missing"] == 3


def test_a_client_who_stands_there_twice_is_refused() -> None:
    """Though all positions may be there, and each once."""
    with pytest.raises(ValueError, match="'Bob' is in the table twice"):
        SMALL.judge(pd.concat([table(RIGHT), table({"Bob": ([], [])})]))
