"""The merge as a picture: what it says, where it stands, and what it leaves out."""

from __future__ import annotations

import re

from workbook.views.merging import LINES, Moment, merging
from workbook.views.picture import Picture

TOPICS = ("tracking", "orders")
AT = 1_767_225_600_000  # midnight

RUN: list[Moment] = [
    ("tracking", "a", AT, {"tracking": AT}, {"a": AT + 20_000}, []),
    ("orders", "a", AT + 5_000, {"tracking": AT, "orders": AT + 5_000}, {"a": AT + 25_000}, []),
    (
        *("tracking", "b", AT + 30_000, {"tracking": AT + 30_000, "orders": AT + 5_000}),
        *({"a": AT + 25_000, "b": AT + 50_000}, []),
    ),
    (
        *("orders", None, AT + 40_000, {"tracking": AT + 30_000, "orders": AT + 40_000}),
        *({"b": AT + 50_000}, ["a"]),
    ),
]


def clock_of(picture: Picture) -> float | None:
    found = re.search(r'<text x="([\d.]+)"[^>]*>clock ', picture.figure)
    return float(found[1]) if found else None


def test_it_says_where_both_topics_and_the_clock_stand() -> None:
    assert merging(RUN, TOPICS).words == (
        "After 4 messages: tracking stands at 00:00:30, orders stands at 00:00:40; the clock is "
        "00:00:30; b open; a emitted."
    )
    first = merging(RUN, TOPICS, 1)
    assert first.words == (
        "After 1 message: tracking stands at 00:00:00, orders has given nothing; there's no clock "
        "yet; a open; none emitted."
    )
    assert clock_of(first) is None


def test_a_slider_moves_what_happens_and_not_the_axis() -> None:
    places = [clock_of(merging(RUN, TOPICS, until)) for until in (2, 3, 4)]
    assert places[0] is not None
    assert places[2] is not None
    assert 96 == places[0] < (places[1] or 0) < places[2]  # by tracking, by orders, by tracking
    dots = [merging(RUN, TOPICS, until).figure.count("<title>tracking") for until in (1, 2, 3, 4)]
    assert dots == [1, 1, 2, 2]


def test_an_emitted_visit_shows_when_it_was_due_and_a_heartbeat_its_time() -> None:
    before, after = merging(RUN, TOPICS, 3).figure, merging(RUN, TOPICS).figure
    assert "orders: heartbeat" not in before
    assert "orders: heartbeat 00:00:40" in after
    lines = [figure.count("dasharray") for figure in (before, after)]
    assert lines == [3, 3]  # the clock, a and b: that of a stays once it's emitted


def test_emitted_visits_are_named_in_their_order() -> None:
    both: Moment = (
        *("orders", None, AT + 90_000, {"tracking": AT + 80_000, "orders": AT + 90_000}),
        *({}, ["b", "a"]),
    )
    assert "b and a emitted (in this order)." in merging([*RUN[:3], both], TOPICS).words


def test_the_same_stands_in_a_table() -> None:
    row = merging(RUN, TOPICS).rows[-1]
    assert row == {
        "message": 4,
        "of": "orders: heartbeat",
        "event time": "00:00:40",
        "clock": "00:00:30",
        "open": "b",
        "emitted": "a",
    }


def test_nothing_one_and_many() -> None:
    assert merging([], TOPICS).words == "No message has come yet."
    assert "no visit yet" in merging([], TOPICS).figure
    beat: Moment = ("orders", None, AT, {"orders": AT}, {}, [])
    assert "none open; none emitted" in merging([beat], TOPICS).words
    many: list[Moment] = []
    for n in range(40):
        dues = {f"v{m}": AT + m for m in range(n + 1)}
        many.append(("tracking", f"v{n}", AT + n, {"tracking": AT + n}, dues, []))
    drawn = merging(many, TOPICS)
    assert f"Of 40 visits the {LINES} that changed last are drawn." in drawn.words
    assert "40 visits open" in drawn.words
    assert drawn.figure.count("<title>tracking") == LINES


def test_a_visit_that_was_emitted_before_its_last_message_says_so() -> None:
    again: Moment = (
        *("tracking", "a", AT + 1_000, {"tracking": AT + 30_000, "orders": AT + 40_000}),
        *({"b": AT + 50_000}, ["a"]),
    )
    assert "✓ emitted twice" in merging([*RUN, again], TOPICS).figure
