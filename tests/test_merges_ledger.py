"""The judge of merged messages: each anomaly is found, named and shown."""

from html import escape
from typing import Any

import pandas as pd
import pytest
from msgspec.structs import replace

from workbook.streams.events.visits import Merged, OrderMessage, TrackingMessage
from workbook.streams.ledgers.merges import MEANINGS, MergeLedger, MergeVerdict

A1, A2 = TrackingMessage(1, "a", 10, "/"), TrackingMessage(2, "a", 20, "/cart")
A_ORDER = OrderMessage(1, "a", 30, "o1", 500)
B1 = TrackingMessage(3, "b", 15, "/")
LONE = OrderMessage(2, "x", 15, "o2", 700)
A = Merged("a", (A1, A2), (A_ORDER,))
B, X = Merged("b", (B1,)), Merged("x", (), (LONE,))
ALL = [(0, A), (1, B)]
PARTITIONS = {"a": 0, "b": 1, "x": 0}


def ledger() -> MergeLedger:
    rows = [
        ("tracking" if isinstance(m, TrackingMessage) else "order", m.event_id, m.ssid,
         PARTITIONS[m.ssid], m.timestamp, getattr(m, "page", None), getattr(m, "order_id", None),
         getattr(m, "cents", None), reason)
        for m, reason in (
            (A1, None), (A1, None), (A2, None), (A_ORDER, None), (B1, None), (LONE, None),
            (TrackingMessage(9, "a", -1, "/"), "negative timestamp"),
        )
    ]  # fmt: skip
    names = ["type", "event_id", "ssid", "partition", "timestamp", "page", "order_id", "cents"]
    return MergeLedger(pd.DataFrame(rows, columns=[*names, "reason"]))


def judge(observed: Any, rejected: Any = ((0, X),)) -> MergeVerdict:
    return ledger().judge(observed, rejected)


def found(verdict: MergeVerdict) -> dict[str, int]:
    return {name: count for name, count in verdict.counts.items() if count}


def test_all_is_well() -> None:
    verdict = judge(ALL)
    assert verdict.clean
    assert verdict.whole
    assert str(verdict).startswith("✓ clean: 3 visits, 3 merged messages")


CASES: dict[str, tuple[Any, Any, dict[str, int]]] = {
    "nothing came": ([], [], {"lost": 5}),
    "a visit is missing": ([(0, A)], [(0, X)], {"lost": 1}),
    "a message is missing": ([(0, replace(A, orders=())), (1, B)], [(0, X)], {"lost": 1}),
    "a rejected message was merged": (
        [(0, replace(A, tracking=(TrackingMessage(9, "a", -1, "/"), *A.tracking))), (1, B)],
        [(0, X)], {"unexpected": 1},
    ),
    "under another ssid": (
        [(0, A), (1, Merged("c", (replace(B1, ssid="c"),)))], [(0, X)], {"foreign": 1}
    ),
    "with another page": (
        [(0, A), (1, Merged("b", (replace(B1, page="/x"),)))], [(0, X)], {"changed": 1}
    ),
    "with another time": (
        [(0, A), (1, Merged("b", (replace(B1, timestamp=16),)))], [(0, X)], {"changed": 1}
    ),
    "with other cents": (
        [(0, replace(A, orders=(replace(A_ORDER, cents=1),))), (1, B)], [(0, X)], {"changed": 1}
    ),
    "in another partition": ([(0, A), (0, B)], [(0, X)], {"misrouted": 1}),
    "an order alone passes for a visit": ([*ALL, (0, X)], [], {"misjudged": 1}),
    "a visit was rejected": ([(1, B)], [(0, X), (0, A)], {"misjudged": 1}),
    "a part without the parts before it": (
        [(0, replace(A, fragment=2)), (1, B)], [(0, X)], {"fragments": 1, "misjudged": 1},
    ),
    "an order alone that claims to be a later part": (
        [*ALL, (0, Merged("x", orders=(LONE,), fragment=1))], [],
        {"fragments": 1, "misjudged": 1},
    ),
    "nothing in it": (
        [*ALL, (0, Merged("ghost"))], [(0, X)], {"misjudged": 1},
    ),
    "not by event time": (
        [(0, replace(A, tracking=A.tracking[::-1])), (1, B)], [(0, X)], {"disordered": 1},
    ),
    "orders not by event time": (
        [(0, replace(A, orders=(A_ORDER, replace(A_ORDER, event_id=7, timestamp=5)))), (1, B)],
        [(0, X)], {"unexpected": 1, "disordered": 1},
    ),
    "a later part was rejected": (
        [(0, replace(A, orders=())), (1, B)],
        [(0, X), (0, Merged("a", orders=(A_ORDER,), fragment=1))],
        {"fragments": 1, "misjudged": 1},
    ),
    "a message twice in one": (
        [(0, replace(A, tracking=(A1, A1, A2))), (1, B)], [(0, X)],
        {"disordered": 1, "duplicated": 1},
    ),
    "twice": ([*ALL, (0, A)], [(0, X)], {"repeated": 1}),
    "in two parts, the second says so": (
        [(0, replace(A, orders=())), (0, Merged("a", orders=(A_ORDER,), fragment=1)), (1, B)],
        [(0, X)], {"fragments": 1},
    ),
    "in two parts that both claim to be the first": (
        [(0, Merged("a", (A1,))), (0, Merged("a", (A2,), (A_ORDER,))), (1, B)],
        [(0, X)], {"apart": 1},
    ),
    "a message in two parts": (
        [(0, A), (0, Merged("a", (A2,), fragment=1)), (1, B)],
        [(0, X)], {"fragments": 1, "duplicated": 1},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_an_anomaly_is_named(case: str) -> None:
    observed, rejected, expected = CASES[case]
    verdict = judge(observed, rejected)
    assert found(verdict) == expected
    assert verdict.clean == (not set(expected) & set(MergeVerdict.faults))
    assert not verdict.whole
    for name in expected:
        assert MEANINGS[name] in str(verdict)
        assert escape(MEANINGS[name]) in verdict._repr_html_()


def test_every_anomaly_has_a_case() -> None:
    assert {name for _, _, expected in CASES.values() for name in expected} == set(MEANINGS)
