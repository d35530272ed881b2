"""The table's ledger recomputes the truth at any offset, and finds exactly what is planted."""

from __future__ import annotations

import random

import pandas as pd
import pytest

from workbook.errors import Rejected
from workbook.streams.events.positions import Position
from workbook.streams.events.reasons import Reason
from workbook.streams.generators.positions import PositionStream
from workbook.streams.ledgers.tables import MEANINGS, TableLedger, records_of

STREAM = PositionStream(
    seed=4, partitions=3, positions=200, clients=30, bad_share=0.05, duplicate_share=0.05
)
COUNT = 4000
SENT = STREAM.expected(0, COUNT)
LEDGER = TableLedger(SENT)


def by_hand(records: list[dict], offsets: dict[int, int] | None) -> dict[str, Position]:
    """The same truth by a dict and Position.from_record, record by record."""
    table: dict[str, Position] = {}
    read = dict.fromkeys(range(STREAM.partitions), 0)
    for record in records:
        partition = record["partition"]
        read[partition] += 1
        if offsets is not None and read[partition] > offsets.get(partition, 0):
            continue
        try:
            position = Position.from_record(record["key"], record["value"])
        except Rejected:
            position = None
        if position is None:
            table.pop(record["key"].decode(errors="replace"), None)
        else:
            table[record["key"].decode()] = position
    return table


def holders_of(table: dict[str, Position], what: str) -> dict[str, list[str]]:
    found: dict[str, set[str]] = {}
    for name, p in table.items():
        if p.exchange in ("NYSE", "NASDAQ"):
            found.setdefault(p.client, set()).add(name if what == "positions" else p.ticker)
    return {client: sorted(held) for client, held in found.items()}


@pytest.mark.parametrize("seed", range(20))
def test_the_truth_at_any_offset_is_that_of_a_dict(seed: int) -> None:
    draw = random.Random(seed)
    ends = SENT["partition"].value_counts().to_dict()
    offsets = {p: draw.randrange(end + 1) for p, end in ends.items()} if seed else None
    if seed == 1:
        del offsets[2]
    table = by_hand(STREAM.block(0, COUNT).to_pylist(), offsets)
    latest = LEDGER.latest(offsets)
    assert list(latest["position"]) == sorted(table)
    for row in latest.itertuples():
        assert table[row.position] == Position(row.client, row.ticker, row.amount, row.exchange)
    holders = LEDGER.holders(offsets)
    for what in ("positions", "tickers"):
        assert holders[what].to_dict() == holders_of(table, what)
    assert LEDGER.judge(holders_of(table, "positions"), offsets).clean


def record(position: str, holds: str, offset: int, **more: object) -> dict[str, object]:
    """``holds`` is client/ticker/exchange, or nothing for a tombstone."""
    client, ticker, exchange = holds.split("/") if holds else (None, None, None)
    row = {"position": position, "client": client, "ticker": ticker, "exchange": exchange}
    return row | {"deleted": not holds, "partition": 0, "offset": offset, "reason": None} | more


SMALL = TableLedger(
    pd.DataFrame(
        [
            record("1", "Bob/AAPL/NASDAQ", 0),
            record("2", "Alice/IBM/NYSE", 1),
            record("3", "Alice/SAP/XETRA", 2),
            record("4", "Bob/GOOG/NASDAQ", 3),
            record("1", "Alice/AAPL/NASDAQ", 4),  # moved
            record("5", "Carol/F/NYSE", 5),
            record("5", "", 6),  # closed
            record("6", "Dave/GE/NYSE", 7),
            record("6", "", 8, reason=Reason.MALFORMED.value),
            record("7", "Eve/KO/NYSE", 9),
            record("7", "Eve/BP/LSE", 10),
        ]
    )
)
TRUE = {"Alice": ["1", "2"], "Bob": ["4"]}


def test_it_finds_exactly_what_is_planted() -> None:
    wrong = {"Alice": ["2"], "Bob": ["1", "4", "4"], "Carol": {"5"}, "Dave": ("6",), "Eve": ["7"],
             "Frank": [], "Gus": ["99"]}  # fmt: skip
    verdict = SMALL.judge(wrong)
    assert not verdict.clean
    assert verdict.counts == {
        "missing": 1, "stale": 5, "repeated": 1, "empty": 1, "wrong_tickers": 0,
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


def test_what_is_stale_and_repeated_is_stale_once() -> None:
    verdict = SMALL.judge({**TRUE, "Gus": ["99", "99"]})
    assert verdict.counts["stale"] == verdict.counts["repeated"] == 1


@pytest.mark.parametrize("kind", [list, set, tuple, frozenset])
def test_any_collection_will_do(kind: type) -> None:
    assert SMALL.judge({client: kind(held) for client, held in TRUE.items()}).clean
    frame = pd.DataFrame({"client": list(TRUE), "positions": [kind(h) for h in TRUE.values()]})
    assert SMALL.judge(frame).clean
    assert SMALL.judge(frame.set_index("client")).clean


def test_tickers_are_judged_where_they_are_given() -> None:
    table = SMALL.holders()
    assert SMALL.judge(table).notes == []
    assert SMALL.judge(TRUE).notes == ["Tickers were not judged: none were given."]
    wrong = table.assign(tickers=[["AAPL"], ["GOOG"]])
    [found] = SMALL.judge(wrong).wrong_tickers.to_dict("records")
    assert found == {"client": "Alice", "expected": ["AAPL", "IBM"], "observed": ["AAPL"]}
    assert SMALL.judge(table.assign(tickers=[["IBM", "AAPL"], ["GOOG"]])).clean


def test_a_deleted_row_is_not_in_the_table() -> None:
    table = SMALL.holders().reset_index().assign(deleted=False)
    gone = pd.DataFrame(
        {"client": ["Eve"], "positions": [None], "tickers": [None], "deleted": True}
    )
    assert SMALL.judge(pd.concat([table, gone])).clean
    left = gone.assign(deleted=False)
    assert SMALL.judge(pd.concat([table, left])).empty["client"].tolist() == ["Eve"]


def test_an_empty_table_and_an_empty_changelog() -> None:
    assert SMALL.judge({}).counts["missing"] == 3
    assert SMALL.judge({}, {0: 0}).clean
    nothing = TableLedger(SENT.iloc[:0])
    assert nothing.judge({}).clean
    assert nothing.judge({"Bob": ["1"]}).counts["stale"] == 1
    assert nothing.holders().empty
    assert list(nothing.holders()) == ["positions", "tickers"]


def test_what_cannot_be_judged_is_refused() -> None:
    with pytest.raises(ValueError, match=r"needs \['client'\]"):
        TableLedger(SENT.drop(columns="client"))
    with pytest.raises(ValueError, match="needs positions"):
        SMALL.judge(pd.DataFrame({"client": ["Bob"]}))
    twice = pd.DataFrame({"client": ["Bob", "Bob"], "positions": [["4"], ["4"]]})
    with pytest.raises(ValueError, match="'Bob' stands in the table twice"):
        SMALL.judge(twice)


def test_records_with_gaps_keep_their_offsets() -> None:
    topic = pd.DataFrame(
        {
            "partition": [0, 0, 0],
            "offset": [3, 7, 9],
            "key": [b"1", b"2", b"\xff"],
            "value": [Position("Bob", "AAPL", 1, "NASDAQ").to_json(), b"{}", None],
        }
    )
    records = records_of(topic)
    assert records["reason"].tolist() == [None, Reason.MISSING.value, Reason.NO_KEY.value]
    ledger = TableLedger(records)
    assert ledger.latest({0: 3}).empty
    assert ledger.latest({0: 4})["position"].tolist() == ["1"]
    assert ledger.latest({"0": 4})["position"].tolist() == ["1"]


def test_the_text_and_the_table_name_the_rows_in_words() -> None:
    verdict = SMALL.judge({"Alice": ["1", "2"], "Bob": ["4"], "Eve": ["7"]})
    for shown in (str(verdict), verdict._repr_html_()):
        assert "not clean: 3 positions held, 4 in the table" in shown
        assert "no US share: LSE" in shown
        assert "wrong tickers" in shown
        assert MEANINGS["stale"] in shown
    assert "✓ clean" in str(SMALL.judge(TRUE))
