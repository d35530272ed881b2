"""Chapter 04: The offset to commit."""

from dataclasses import dataclass
from itertools import takewhile

from workbook.classroom.exercise import case, exercise, wrong


@dataclass
class Send:
    """A metric on its way: where a restart may begin once it is delivered, and whether it is."""

    next_offset: int
    delivered: bool | None = None


def safe_offset(sends):
    offset = None
    for send in sends:
        if not send.delivered:
            break
        offset = send.next_offset
    return offset


def delivered(send):
    return bool(send.delivered)


def run(sends):
    return list(takewhile(delivered, sends))


def last(sends, nothing=None):
    return sends[-1].next_offset if sends else nothing


def first(sends):
    return sends[0].next_offset if sends else None


def passing(stop):
    """Make an answer that stops only at a send in this state."""
    return lambda sends: last(
        [*filter(delivered, takewhile(lambda send: send.delivered is not stop, sends))]
    )


def first_open(sends):
    return first([send for send in sends if not send.delivered])


def all_or_nothing(sends):
    return last(sends) if len(run(sends)) == len(sends) else None


def of(*states, offsets=range(120, 10_000, 130)):
    return [Send(offset, state) for offset, state in zip(offsets, states, strict=False)]


def draw(random, size):
    offset, offsets = random.choice((1, 1, 7, 10**6)), []
    for _ in range(size):
        offsets.append(offset)
        offset += random.randrange(1, 200)
    begins = [True] * random.choice((0, size // 3, size // 2, size))
    others = random.choices((True, True, True, False, None), k=size - len(begins))
    return (of(*begins, *others, offsets=offsets),)


offset_to_commit = exercise(
    safe_offset,
    name="The offset to commit",
    task="The loop has produced metrics, and Kafka reports later, one by one, what became of them. "
    "Write the function that returns the offset that may be committed now. It gets `sends`, a list "
    "in the order of production. Each has `.next_offset`, where a restart may begin once this "
    "metric is delivered (the first record of the next second), and `.delivered`: `True`, `False` "
    "if it failed, `None` while it's on its way. Return an offset, or `None` if nothing may be "
    "committed yet.\n\n"
    "Next offsets 120, 250 and 380, of which the first and the third are delivered and the second "
    "is still on its way, give 120: a restart at 380 would never send the second one again.",
    cases=[
        case("The second metric is still on its way: what lies before it may be committed, and "
             "nothing behind it.", of(True, None, True)),
        case("All three are delivered, so a restart may begin behind the last of them.",
             of(True, True, True)),
        case("The third metric failed. A restart at 510 never sends it again.",
             of(True, True, False, True)),
        case("Only the first metric is surely in the topic, with none missing before it.",
             of(True, None, False, True)),
        case("The first metric failed, so nothing may be committed, whatever came later.",
             of(False, True)),
        case("The first metric is still on its way, so nothing may be committed yet.",
             of(None, True)),
        case("The second metric failed: it has to be sent again before anything behind it is "
             "committed.", of(True, False, None)),
        case("Nothing is delivered yet.", of(None)),
        case("Where nothing was sent, there is nothing to commit.", []),
    ],
    draw=draw,
    right=[lambda sends: last(run(sends))],
    wrong=[
        wrong("It takes the newest delivered metric, and commits past one that failed or is on its "
              "way. That one would never be sent again.",
              lambda sends: last([*filter(delivered, sends)])),
        wrong("It takes the newest metric, delivered or not. To have sent is not to have arrived.",
              last),
        wrong("It passes a metric that is still on its way. `None` is not yet `True`: that one may "
              "fail yet.", passing(False)),
        wrong("It passes a metric that failed. Its second would be missing for ever.",
              passing(None)),
        wrong("It commits the offset of the first metric that is not delivered. That offset stands "
              "for the end of its second; the safe one is that of the metric before.",
              first_open),
        wrong("It commits only when all are delivered. On a busy topic one is always on its way, "
              "and nothing would ever be committed.", all_or_nothing),
        wrong("Where nothing is safe it gives a number. Offset 0 is a place too, and committing it "
              "is a decision: return `None`.", lambda sends: last(run(sends), 0),
              lambda sends: last(run(sends), -1)),
        wrong("Where nothing is safe it raises: there is no last one of none. Return `None` there.",
              lambda sends: run(sends)[-1].next_offset),
        wrong("It adds one, or takes one off. A committed offset is the next record to be read, "
              "and `next_offset` is that already.",
              lambda sends: last(run(sends)) + 1 if run(sends) else None),
    ],
    hints=(
        "A restart reads from the committed offset on. Which metrics would it make again, and "
        "which would it never make again?",
        "Walk along the sends from the beginning, and keep the last offset that is safe. What are "
        "the two reasons to stop walking?",
        "`if not send.delivered:` is true for a failed one and for one on its way. There the run "
        "ends, also if more are delivered behind it.",
    ),
    discussion="A committed offset is a promise: everything before it is done. One number can't "
    "express that all but the second metric are done, so it stops in front of the gap. The price "
    "is small: after a crash some metrics are sent again, with the same key.\n\n"
    "A failed send holds back all later commits until it's sent again and delivered. That's right, "
    "but somebody has to do it: a loop that never retries never commits again. And a loop that "
    "runs for a year forgets the sends before the committed offset.",
)  # fmt: skip
