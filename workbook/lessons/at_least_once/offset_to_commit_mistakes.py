"""Wrong answers to "The offset to commit", from sends to the offset that may be committed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from workbook.classroom.mistakes import Mistake, same_idea


@dataclass
class Send:
    """A metric on its way: where a restart may begin once it is delivered, and whether it is."""

    next_offset: int
    delivered: bool | None = None


def _run(sends: Sequence[Send]) -> list[Send]:
    """Return the sends before the first that isn't delivered."""
    return list(takewhile(lambda send: bool(send.delivered), sends))


def _last(sends: Sequence[Send], nothing: Any = None) -> Any:
    return sends[-1].next_offset if sends else nothing


def _delivered(sends: Sequence[Send]) -> list[Send]:
    return [send for send in sends if send.delivered]


def _until(sends: Sequence[Send], stop: bool | None) -> list[Send]:
    """Return the sends before the first one in this state."""
    return list(takewhile(lambda send: send.delivered is not stop, sends))


def _first_open(sends: Sequence[Send]) -> int | None:
    """Return the first undelivered send's offset, or the last one's if all are delivered."""
    still_open = sends[len(_run(sends)) :]
    return still_open[0].next_offset if still_open else _last(sends)


def _newest_only(sends: Sequence[Send]) -> int | None:
    return _last(sends) if sends and sends[-1].delivered else None


def _before_the_first_open(sends: Sequence[Send]) -> int | None:
    """Return the offset of the send at index -1, the last one, where the first is open."""
    open_at = [at for at, send in enumerate(sends) if not send.delivered]
    if not open_at:
        return _last(sends)
    return sends[open_at[0] - 1].next_offset


MISTAKES = [
    *same_idea(
        lambda sends: _last(_delivered(sends)),
        lambda sends: max(_delivered(sends)).next_offset,  # type: ignore[type-var]
        _newest_only,
        cause="It takes the newest delivered metric, and commits past one that failed or is on its "
        "way. That one would never be sent again.",
    ),
    Mistake(
        _last,
        "It takes the newest metric, delivered or not. To have sent is not to have arrived.",
    ),
    Mistake(
        lambda sends: _last(_delivered(_until(sends, False))),
        "It stops at a failed metric, which is right, but passes one that is still on its way. "
        "That one may fail yet.",
    ),
    Mistake(
        lambda sends: _last(_until(sends, False)),
        "It stops at a failed metric only, and takes one that is on its way as delivered. `None` "
        "is not yet `True`.",
    ),
    Mistake(
        lambda sends: _last(_delivered(_until(sends, None))),
        "It waits for a metric on its way, which is right, but passes one that failed. Its second "
        "would be missing for ever.",
    ),
    Mistake(
        lambda sends: _last(_until(sends, None)),
        "It stops at a metric on its way only, and takes a failed one as delivered.",
    ),
    Mistake(
        _first_open,
        "It commits the offset of the first metric that is not delivered. That offset stands for "
        "the end of its second; the safe one is that of the metric before.",
    ),
    Mistake(
        lambda sends: _delivered(sends)[0].next_offset if _delivered(sends) else None,
        "It stays at the first delivered metric. As far as the run is unbroken, each further one "
        "moves the offset on.",
    ),
    *same_idea(
        lambda sends: _run(sends)[0].next_offset if _run(sends) else None,
        lambda sends: _run(sends[:1])[0].next_offset,
        cause="It stays at the first metric. As long as the next one is delivered too, the offset "
        "moves on.",
    ),
    Mistake(
        lambda sends: _last(sends) if len(_run(sends)) == len(sends) else None,
        "It commits only when all are delivered. On a busy topic one is always on its way, and "
        "nothing would ever be committed.",
    ),
    *same_idea(
        lambda sends: _last(_run(sends), 0),
        lambda sends: _last(_run(sends), -1),
        cause="Where nothing is safe it gives a number. Offset 0 is a place too, and committing it "
        "is a decision: return `None`.",
    ),
    *same_idea(
        lambda sends: _run(sends)[-1].next_offset,
        lambda sends: max(send.next_offset for send in _run(sends)),
        cause="Where nothing is safe it raises: there is no last one of none. Return `None` there.",
    ),
    Mistake(
        lambda sends: _last(_run(sends)) - 1 if _run(sends) else None,
        "It takes one off. A committed offset is the next record to be read, and `next_offset` is "
        "that already.",
    ),
    Mistake(
        lambda sends: _last(_run(sends)) + 1 if _run(sends) else None,
        "It adds one. A committed offset is the next record to be read, and `next_offset` is that "
        "already: the first view of the new second would be lost.",
    ),
    *same_idea(
        _before_the_first_open,
        lambda sends: _before_the_first_open(sends) or sends[-1].next_offset,
        cause="Where the first metric isn't delivered it takes the last one: index -1 is the end "
        "of the list. Nothing lies before the first, so nothing may be committed.",
    ),
    *same_idea(
        lambda sends: _last(sends[: len(_delivered(sends))]),
        lambda sends: sends[len(_delivered(sends)) - 1].next_offset if _delivered(sends) else None,
        cause="It counts the delivered metrics and goes so far from the beginning. With a gap "
        "among them that's too far.",
    ),
    Mistake(
        lambda sends: None if False in [s.delivered for s in sends] else _last(_run(sends)),
        "Where any metric failed it commits nothing. What lies before the failed one is safe.",
    ),
    Mistake(
        lambda sends: _run(sends)[-1] if _run(sends) else None,
        "It returns the whole send. The offset alone is asked for.",
    ),
    Mistake(
        lambda sends: [send.next_offset for send in _run(sends)] or None,
        "It returns all safe offsets. Only the last one of the run has to be committed.",
    ),
    Mistake(
        lambda sends: [send.next_offset for send in _run(sends)],
        "It returns a list of the safe offsets. Only the last one of the run has to be "
        "committed, and `None` if there is none.",
    ),
    Mistake(lambda sends: list(sends), "It returns the sends. One offset is asked for."),
    Mistake(
        lambda sends: len(_run(sends)),
        "It counts the delivered metrics. The offset of the last of them is asked for.",
    ),
    Mistake(
        lambda sends: next((s.next_offset for s in sends if s.delivered is False), None),
        "It commits the failed one. Is a condition inverted?",
    ),
    *same_idea(
        lambda sends: next((s.next_offset for s in sends if not s.delivered), None),
        lambda sends: min(s.next_offset for s in sends if not s.delivered),
        cause="It commits a metric that is not delivered. Is a condition inverted?",
    ),
    Mistake(
        lambda sends: min((s.next_offset for s in sends), default=None),
        "It takes the smallest offset, delivered or not.",
    ),
]
