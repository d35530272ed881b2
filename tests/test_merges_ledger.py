"""The judge of merged messages: each anomaly is found, named and shown."""

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


def test_all_is_well() -> None:
    verdict = judge(ALL)
    assert verdict.clean
    assert verdict.whole
    assert str(verdict).startswith("✓ clean: 3 visits, 3 merged messages")


def with_a(**changed: Any) -> list[tuple[int, Merged]]:
    """All visits, that of a with other messages."""
    return [(0, replace(A, **changed)), (1, B)]


LATER = Merged("a", orders=(A_ORDER,), fragment=1)
CASES: dict[str, tuple[Any, ...]] = {
    "nothing came": ([], {"lost": 5}, []),
    "a message is missing": (with_a(orders=()), {"lost": 1}),
    "a rejected message was merged": (
        with_a(tracking=(TrackingMessage(9, "a", -1, "/"), *A.tracking)), {"unexpected": 1},
    ),
    "under another ssid": ([(0, A), (1, Merged("c", (replace(B1, ssid="c"),)))], {"foreign": 1}),
    "with another page, other cents and another time": (
        [(0, Merged("a", (replace(A1, page="/x"), A2), (replace(A_ORDER, cents=1),))),
         (1, Merged("b", (replace(B1, timestamp=16),)))], {"changed": 3},
    ),
    "in another partition": ([(0, A), (0, B)], {"misrouted": 1}),
    "an order alone passes for a visit": ([*ALL, (0, X)], {"misjudged": 1}, []),
    "a visit was rejected": ([(1, B)], {"misjudged": 1}, [(0, X), (0, A)]),
    "a part without the parts before it": (with_a(fragment=2), {"fragments": 1, "misjudged": 1}),
    "an order alone that claims to be a later part": (
        [*ALL, (0, replace(X, fragment=1))], {"fragments": 1, "misjudged": 1}, [],
    ),
    "nothing in it": ([*ALL, (0, Merged("ghost"))], {"misjudged": 1}),
    "not by event time": (with_a(tracking=A.tracking[::-1]), {"disordered": 1}),
    "orders not by event time": (
        with_a(orders=(A_ORDER, replace(A_ORDER, event_id=7, timestamp=5))),
        {"unexpected": 1, "disordered": 1},
    ),
    "a later part was rejected": (
        with_a(orders=()), {"fragments": 1, "misjudged": 1}, [(0, X), (0, LATER)],
    ),
    "a message twice in one": (
        with_a(tracking=(A1, A1, A2)), {"disordered": 1, "duplicated": 1},
    ),
    "twice": ([*ALL, (0, A)], {"repeated": 1}),
    "in two parts, the second says so": ([*with_a(orders=()), (0, LATER)], {"fragments": 1}),
    "in two parts that both claim to be the first": (
        [(0, Merged("a", (A1,))), (0, Merged("a", (A2,), (A_ORDER,))), (1, B)], {"apart": 1},
    ),
    "a message in two parts": ([*ALL, (0, LATER)], {"fragments": 1, "duplicated": 1}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_an_anomaly_is_named(case: str) -> None:
    observed, expected, *rejected = CASES[case]
    verdict = judge(observed, *rejected)
    assert {name: count for name, count in verdict.counts.items() if count} == expected
    assert verdict.clean == (not set(expected) & set(MergeVerdict.faults))
    assert not verdict.whole
    assert all(MEANINGS[name] in str(verdict) for name in expected)


def test_every_anomaly_has_a_case() -> None:
    assert {name for _, expected, *_ in CASES.values() for name in expected} == set(MEANINGS)
