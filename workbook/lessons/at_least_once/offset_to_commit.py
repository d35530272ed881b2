"""Chapter 04: The offset to commit."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator

from workbook.classroom.core import Problem
from workbook.classroom.drawn import one_after_another, smallest_first
from workbook.classroom.judging import Case, by_cases
from workbook.lessons.at_least_once.offset_to_commit_mistakes import MISTAKES, Send


def safe_offset(sends: Iterable[Send]) -> int | None:
    offset = None
    for send in sends:
        if not send.delivered:
            break
        offset = send.next_offset
    return offset


def _drawn_sends() -> Iterator[Case]:
    draw = random.Random(4)
    for size in range(1, 25):
        sends, offset = [], draw.choice((0, 7, 10**6))
        for _ in range(size):
            offset += draw.randrange(1, 200)
            sends.append(Send(offset, draw.choice((True, True, True, True, False, None))))
        yield Case(
            (sends,),
            safe_offset(sends),
            "These sends were drawn by chance. How far do they go without one that failed or is "
            "on its way?",
        )


_TEACHING_SENDS = [
    Case(
        ([Send(120, True), Send(250, None), Send(380, True)],),
        120,
        "The second metric is still on its way: what lies before it may be committed, and nothing "
        "behind it.",
    ),
    Case(
        ([Send(120, True), Send(250, True), Send(380, True)],),
        380,
        "All three are delivered, so a restart may begin behind the last of them.",
    ),
    Case(
        ([Send(120, True), Send(250, True), Send(380, False), Send(510, True)],),
        250,
        "The third metric failed. A restart at 510 never sends it again.",
    ),
    Case(
        ([Send(120, True), Send(250, None), Send(380, False), Send(510, True)],),
        120,
        "Only the first metric is surely in the topic, with none missing before it.",
    ),
    Case(
        ([Send(120, False), Send(250, True)],),
        None,
        "The first metric failed, so nothing may be committed, whatever came later.",
    ),
    Case(
        ([Send(120, None), Send(250, True)],),
        None,
        "The first metric is still on its way, so nothing may be committed yet.",
    ),
    Case(
        ([Send(120, True), Send(250, False), Send(380, None)],),
        120,
        "The second metric failed: it has to be sent again before anything behind it is committed.",
    ),
    Case(([Send(120, None)],), None, "Nothing is delivered yet."),
    Case(([],), None, "Where nothing was sent, there is nothing to commit."),
]

offset_to_commit = Problem(
    name="The offset to commit",
    task="The loop has produced metrics, and Kafka reports later, one by one, what became of them. "
    "Write the function that returns the offset that may be committed now. It gets `sends`, a list "
    "in the order of production. Each has `.next_offset`, where a restart may begin once this "
    "metric is delivered (the first record of the next second), and `.delivered`: `True`, `False` "
    "if it failed, `None` while it's on its way. Return an offset, or `None` if nothing may be "
    "committed yet.\n\n"
    "Next offsets 120, 250 and 380, of which the first and the third are delivered and the second "
    "is still on its way, give 120: a restart at 380 would never send the second one again.",
    stub="def safe_offset(sends):\n    ...  # your code\n",
    diagnose=one_after_another(
        by_cases(_TEACHING_SENDS, MISTAKES),
        by_cases(smallest_first(_drawn_sends())),
    ),
    hints=(
        "A restart reads from the committed offset on. Which metrics would it make again, and "
        "which would it never make again?",
        "Walk along the sends from the beginning, and keep the last offset that is safe. What are "
        "the two reasons to stop walking?",
        "`if not send.delivered:` is true for a failed one and for one on its way. There the run "
        "ends, also if more are delivered behind it.",
    ),
    reference=safe_offset,
    discussion="A committed offset is a promise: everything before it is done. One number can't "
    "express that all but the second metric are done, so it stops in front of the gap. The price "
    "is small: after a crash some metrics are sent again, with the same key.\n\n"
    "A failed send holds back all later commits until it's sent again and delivered. That's right, "
    "but somebody has to do it: a loop that never retries never commits again. And a loop that "
    "runs for a year forgets the sends before the committed offset.",
)
