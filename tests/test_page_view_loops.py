"""The loops that publish completed seconds: what each one promises. Their crashes: test_crash."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from brokers import message
from confluent_kafka import OFFSET_INVALID, KafkaError, KafkaException, TopicPartition

from workbook.errors import Rejected, SeveralPartitions
from workbook.pipelines.page_views.metrics import (
    AHEAD,
    AHEAD_MS,
    CUT,
    LATE,
    Completed,
    commit_after_poll,
    commit_on_delivery,
    in_transactions,
)
from workbook.streams.events.clicks import Click, ClickType
from workbook.streams.events.reasons import Reason

START = 1_700_000_000
ARRIVAL = (START + 60) * 1000


def click(second: int, event_id: int = 0, kind: ClickType = ClickType.PAGE) -> Click:
    return Click(event_id, kind, "home", (START + second) * 1000 + 500, "Firefox")


class Scripted:
    """A reader, its metrics, its dead letters and its producer; ``log`` is what happened.

    All that is sent is delivered at the next ``serve``. So many commits find the broker ``away``.
    The group has ``known`` committed, and the partition begins at ``low``.
    """

    away, known, low = 0, OFFSET_INVALID, 0

    def __init__(self, *handed: Any) -> None:
        self.left, self.log, self.thens = list(handed), list[Any](), list[Callable[[], None]]()

    def poll(self, timeout: float) -> Any:
        return self.left.pop(0) if self.left else None

    def over(self) -> bool:
        return not self.left

    def committed(self, places: list[TopicPartition], timeout: float) -> list[TopicPartition]:
        return [TopicPartition("clicks", place.partition, self.known) for place in places]

    def get_watermark_offsets(self, place: TopicPartition, timeout: float) -> tuple[int, int]:
        return self.low, 99

    def commit(
        self,
        message: Any = None,
        offsets: Sequence[TopicPartition] = (),
        asynchronous: bool = True,
    ) -> None:
        assert not asynchronous, "the loop goes on when the broker has it"
        if message is not None:
            offsets = [TopicPartition("clicks", message.partition(), message.offset() + 1)]
        if self.away:
            self.away -= 1
            raise KafkaException(KafkaError(KafkaError._TRANSPORT))
        self.log.append(("commit", offsets[0].offset))

    def send(
        self, metric: Any, ids: Sequence[int], then: Callable[[], None] = lambda: None
    ) -> None:
        self.log.append(("sent", metric.second - START, metric.views))
        self.thens.append(then)

    def serve(self) -> None:
        while self.thens:
            self.thens.pop(0)()

    def __call__(self, message: Any, why: Rejected) -> None:
        self.log.append(("rejected", message.offset(), why.reason))

    def close(self) -> None:
        self.log.append("closed")
        self.serve()

    def consumer_group_metadata(self) -> str:
        return "group"

    def send_offsets_to_transaction(self, offsets: list[TopicPartition], group: str) -> None:
        self.log.append(("commit", offsets[0].offset))

    def produce(self, sent: tuple[str, int, int]) -> None:
        self.log.append(sent)

    def init_transactions(self) -> None:
        pass

    begin_transaction = commit_transaction = init_transactions


def handed(*seconds: int | Click, first: int = 0, place: int = 0, at: int = ARRIVAL) -> list[Any]:
    """Clicks, or page views of these seconds, at offsets from ``first`` on; ids count from 0."""
    clicks = [click(s, n) if isinstance(s, int) else s for n, s in enumerate(seconds)]
    return [message(one.to_json(), place, first + n, at) for n, one in enumerate(clicks)]


def on_delivery(bench: Scripted) -> None:
    commit_on_delivery(bench, bench, bench.over, bench)


def transactions(bench: Scripted) -> None:
    def to_send(done: Completed) -> dict[str, Any]:
        return {"sent": ("sent", done.metric().second - START, len(done.event_ids))}

    in_transactions(bench, bench, to_send, bench.over, bench)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("known", "low", "cut"),
    [(OFFSET_INVALID, 5, True), (3, 5, True), (OFFSET_INVALID, 0, True), (5, 5, False)],
)
def test_a_first_second_that_may_be_cut_is_not_emitted(known: int, low: int, cut: bool) -> None:
    bench = Scripted(*handed(0, 0, 1, 2, first=5), None)
    bench.known, bench.low = known, low
    on_delivery(bench)
    first = [("rejected", 5, CUT), ("rejected", 6, CUT)] if cut else [("sent", 0, 2)]
    found = [event for event in bench.log if event[0] in ("sent", "rejected")]
    assert found == [*first, ("sent", 1, 1)]


@pytest.mark.parametrize("work", [on_delivery, transactions])
def test_no_commit_passes_a_dead_letter_that_is_still_on_its_way(work) -> None:
    bench = Scripted(*handed(0, 1, 0, 2), None)
    work(bench)
    events = [event for event in bench.log if event == "closed" or event[0] != "sent"]
    assert events[:4] == ["closed", ("commit", 1), ("rejected", 2, LATE), "closed"]
    assert events[4] == ("commit", 3)


def test_the_first_record_of_the_open_second_is_committed() -> None:
    action = click(0, 70, ClickType.ACTION)
    bench = Scripted(*handed(0, 0, action, 1, 1, click(2, 71, ClickType.ACTION), 1, 2, 2, 5), None)
    on_delivery(bench)
    assert [e for e in bench.log if e[0] == "commit"] == [("commit", n) for n in (3, 7, 9)]
    sent = [e for e in bench.log if e[0] == "sent"]
    assert sent == [("sent", 0, 2), ("sent", 1, 3), ("sent", 2, 2)]


def test_at_most_once_each_record_is_committed_before_it_is_counted() -> None:
    bench = Scripted(*handed(0, 1, 1))
    commit_after_poll(bench, bench, bench.over, bench)
    assert bench.log == [("commit", 1), ("commit", 2), ("sent", 0, 1), ("commit", 3)]


def test_a_delivery_is_committed_also_where_no_click_comes_any_more() -> None:
    bench = Scripted(*handed(0, 1), None)
    on_delivery(bench)
    assert bench.log == [("sent", 0, 1), "closed", ("commit", 1), "closed"]


def test_a_commit_that_fails_is_made_good_by_the_next_one() -> None:
    bench = Scripted(*handed(0, 1, 2))
    bench.away = 1
    on_delivery(bench)
    assert [event for event in bench.log if event[0] == "commit"] == [("commit", 2)]


def ahead(ms: int, kind: ClickType = ClickType.PAGE) -> Click:
    """A click whose event time lies that much after its arrival."""
    return Click(99, kind, "home", ARRIVAL + ms, "Firefox")


def test_a_page_view_too_far_ahead_of_its_arrival_or_of_the_reader_is_rejected() -> None:
    fast = Click(99, ClickType.PAGE, "home", int(time.time() * 1000) + 3_000_000, "Firefox")
    bench = Scripted(
        *handed(ahead(AHEAD_MS), ahead(AHEAD_MS + 1), ahead(9_000, ClickType.ACTION)),
        *handed(fast, first=3, at=fast.timestamp),
        *handed(ahead(AHEAD_MS), first=4),
    )
    on_delivery(bench)
    assert bench.log == [
        ("rejected", 1, AHEAD), ("rejected", 3, Reason.AHEAD.value), "closed"
    ], "the others are not late, and no second is complete"  # fmt: skip


def test_two_partitions_under_one_key_are_refused_before_the_wrong_number_is_told() -> None:
    """It was 5 page views for 35: each partition told its part of second 0, and the last won."""
    bench = Scripted(*handed(*[0] * 30, 1), *handed(*[0] * 5, 1, place=1))
    with pytest.raises(SeveralPartitions):
        on_delivery(bench)
    assert bench.log == [("sent", 0, 30), "closed", ("commit", 30)]
