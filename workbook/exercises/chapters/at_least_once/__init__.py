"""Exercises of chapter 04: what if it crashes right now?"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator

from workbook.exercises.chapters.at_least_once import wrong_models
from workbook.exercises.chapters.at_least_once.wrong_models import Record, Send
from workbook.exercises.engine.choice import Option, choice
from workbook.exercises.engine.core import Problem
from workbook.exercises.engine.drawn import one_after_another, smallest_first
from workbook.exercises.engine.judging import Case, by_cases

SECOND = 1_700_000_000


def _record(after: int | str, value: bytes | None) -> Record:
    """Build a metric of the second so far ``after`` the first, or one with this text as key."""
    key = str(SECOND + after) if isinstance(after, int) else after
    return Record(key.encode(), value)


# --- the offset to commit -----------------------------------------------------------------------


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
        "The second metric is still on its way, so nothing behind it may be committed.",
    ),
    Case(
        ([Send(120, True), Send(250, True), Send(380, True)],),
        380,
        "All three are delivered, so a restart may begin behind the last of them.",
    ),
    Case(
        ([Send(120, True), Send(250, True), Send(380, False), Send(510, True)],),
        250,
        "The third metric failed. Whoever commits 510 will never send it again.",
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
    task="The loop has produced metrics, and Kafka reports later, and one by one, what became of "
    "them. Write the function that says what may be committed now. It gets `sends`, a list in the "
    "order of production. Each has `.next_offset`, the offset of the first record of the new "
    "second (a restart may begin there once this metric is delivered), and `.delivered`: `True`, "
    "`False` if it failed, `None` while it is on its way. Return an offset, or `None` if nothing "
    "may be committed yet.\n\n"
    "Next offsets 120, 250 and 380, of which the first and the third are delivered and the second "
    "is still on its way, give 120: after a restart at 380 nobody would send the second one again.",
    stub="def safe_offset(sends):\n    ...  # your code\n",
    diagnose=one_after_another(
        by_cases(_TEACHING_SENDS, wrong_models.OFFSET_TO_COMMIT),
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
    discussion="A committed offset is a promise: everything before it is done. One number cannot "
    "say that all but the second metric are done, so it has to stop in front of the gap. The price "
    "of stopping early is small: after a crash some metrics are sent again, with the same key.\n\n"
    "A failed send holds back all later commits until it is sent again and delivered. That is "
    "right, but somebody has to do it: a loop that never retries never commits again.",
)

# --- the reader ---------------------------------------------------------------------------------


def latest(records: Iterable[Record]) -> dict[int, int]:
    views_of: dict[int, int] = {}
    for record in records:
        try:
            second, views = int(record.key or b""), int(record.value or b"")
        except ValueError:
            continue
        if views >= 0:
            views_of[second] = views
    return views_of


def _drawn_records() -> Iterator[Case]:
    draw = random.Random(5)
    values = (b"0", b"7", b"7", b"42", b"1234567", b"", b"x7", b"-1", b"1.5", None)
    for size in range(1, 25):
        keys = [str(draw.choice((3, 10, SECOND)) + draw.randrange(3)).encode() for _ in range(size)]
        records = [Record(key, draw.choice(values)) for key in keys]
        yield Case(
            (records,),
            latest(records),
            "These records were drawn by chance. For each second, which is its last good value?",
        )


_TEACHING_RECORDS = [
    Case(
        ([_record(0, b"42"), _record(1, b"17"), _record(1, b"17")],),
        {SECOND: 42, SECOND + 1: 17},
        "The second metric was delivered again, with the same value. It is one second.",
    ),
    Case(
        ([_record(0, b"7"), _record(1, b"5"), _record(0, b"9")],),
        {SECOND: 9, SECOND + 1: 5},
        "The first second comes again with 9, so 9 is what holds.",
    ),
    Case(
        ([_record(0, b"9"), _record(0, b"100"), _record(0, b"12")],),
        {SECOND: 12},
        "The last one wins, be it larger or smaller than those before.",
    ),
    Case(
        ([_record(0, b"42"), _record(0, b"many"), _record(1, b"5")],),
        {SECOND: 42, SECOND + 1: 5},
        "`many` is no number. The 42 still holds, and the reader goes on.",
    ),
    Case(
        ([_record(0, b"42"), _record(0, b"-3"), _record(1, b"4.5"), _record(2, b"6")],),
        {SECOND: 42, SECOND + 2: 6},
        "There are no -3 page views, and no 4.5.",
    ),
    Case(
        ([_record(0, b"42"), _record(0, b""), _record(0, None), _record(1, b"5")],),
        {SECOND: 42, SECOND + 1: 5},
        "An empty value and no value at all are left out, as any other bad one.",
    ),
    Case(
        ([_record("noon", b"8"), Record(None, b"9"), Record(b"", b"4"), _record(3, b"1")],),
        {SECOND + 3: 1},
        "Three keys are no number, so nobody knows which second these values belong to.",
    ),
    Case(
        ([_record(0, b"3"), _record(0, b"0"), _record(1, b"\xff\xfe")],),
        {SECOND: 0},
        "0 is a whole number and not negative. The bytes of the other value are no text.",
    ),
    Case(([],), {}, "An empty topic gives an empty dictionary."),
]

last_value = Problem(
    name="The last value wins",
    task="After a crash a metric may stand in the topic twice. Write what a reader does about it. "
    'It gets a list of records with `.key`, such as `b"1700000000"`, and `.value`, such as '
    '`b"42"`, in the order of the topic. Return a dictionary from second to views, whole numbers '
    "both, in which the last value of a second wins.\n\n"
    "Others can write to this topic too. A record is left out if its value is no whole number, is "
    "negative, empty or `None`, or if its key is no number. It neither stops the reader nor "
    'removes what is known: `b"10"` with `b"3"` and then `b"10"` with `b"oops"` give `{10: 3}`.',
    stub="def latest(records):\n    ...  # your code\n",
    diagnose=one_after_another(
        by_cases(_TEACHING_RECORDS, wrong_models.LAST_VALUE),
        by_cases(smallest_first(_drawn_records())),
    ),
    hints=(
        "Which Python container keeps one value per key, and lets the last one win by itself?",
        "Make both numbers first, and only then change the dictionary. What does `int` do with "
        '`b"many"`, what with `None`, and what with `b"-3"`?',
        "Put `int(record.key or b'')` and its sister inside a `try`, with `except ValueError:` and "
        "`continue`. Then there is one more thing to ask about the views.",
    ),
    reference=latest,
    discussion="A reader like this does not mind duplicates: to hear 42 twice is to know 42. "
    "Writing to a key again, with the full value, is idempotent; adding would not be. That is why "
    "at least once is enough for these metrics.\n\n"
    "It trusts the order of the topic. If a second's partial value came after its full one, the "
    "partial value would win, so a writer must never begin in the middle of a second. And here a "
    "bad record disappears without a word; a careful reader counts it.",
)

# --- what is lost -------------------------------------------------------------------------------

_LOG = (10, 10, 10, 10, 11, 11, 11, 11, 12, 12)
"""The second of the page view at each offset."""


after_the_kill = choice(
    name="After the kill",
    task="Ten page views lie in one partition. Offsets 0 to 3 are of second 10, 4 to 7 of second "
    "11, and 8 and 9 of second 12. The loop with auto-commit has read up to offset 6. The metric "
    "of second 10 is delivered, three views of second 11 are in the map, and the client has just "
    "committed offset 7 by itself. Then comes kill -9, and we start the loop again with the same "
    "group. Which value is sent for second 11?",
    options=(
        Option(
            "4: all its views are counted again",
            "For this the loop would have to read again from offset 4. Who would tell it?",
        ),
        Option(
            "3: it goes on from where it was",
            "Three is what the map knew. Where did the map live, and what does kill -9 leave "
            "of it? And the view at offset 7 is still to be read.",
        ),
        Option("1: only the view at offset 7"),
        Option(
            "none: second 11 is never sent",
            "The view at offset 7 is read after the restart, and it is of second 11. What "
            "happens when offset 8 comes?",
        ),
        Option(
            "7: three from before and four again",
            "Nothing is read twice here, for the group goes on at offset 7; and the map is gone.",
        ),
    ),
    hints=(
        "Two things know how far we are: the group's offset in the broker, and the map in the "
        "program. Which of them survives?",
        "Begin again with an empty map at the committed offset, and do by hand what the loop does.",
        "The restart reads offsets 7, 8 and 9. At offset 8 the second changes.",
    ),
    discussion="Three page views are lost, and nothing looks wrong: second 11 has a number, it is "
    "only too small. Auto-commit says what was read, and we need to say what is done.\n\n"
    "The offset that would have been safe is 4, the first record of the second whose metric is "
    "not delivered yet. A restart from there counts second 11 in full, and sends 4.",
)

problems = (offset_to_commit, last_value, after_the_kill)
