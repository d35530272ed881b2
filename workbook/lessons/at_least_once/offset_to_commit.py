"""Chapter 04: The offset to commit."""

from dataclasses import dataclass
from itertools import takewhile

from workbook.classroom.exercise import case, exercise, wrong


@dataclass
class Send:
    """A metric that was sent: where a restart may begin once it is delivered, and whether it is."""

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
    task="The loop has produced metrics, and delivery reports arrive later, one by one. Write the "
    "function that returns the offset that may be committed now. It gets `sends`, a list in the "
    "order of production. Each send has two attributes. `.next_offset` is where a restart may "
    "begin once this metric is delivered: the first record of the next second. `.delivered` is "
    "`True`, or `False` if the delivery failed, or `None` if there is no report yet. Return "
    "`None` if nothing may be committed. Leave `sends` as it is.\n\n"
    "An example: three sends have the next offsets 120, 250 and 380. The first and the third are "
    "delivered, and the second has no report yet. The answer is 120, because a restart at 380 "
    "would never send the second metric again.",
    cases=[
        case("The second metric has no report yet. Only the one before it is safe.",
             of(True, None, True)),
        case("All three are delivered, so a restart may begin after the last of them.",
             of(True, True, True)),
        case("The third metric failed. A restart at 510 would never send it again.",
             of(True, True, False, True)),
        case("Only the first metric is delivered without a gap before it.",
             of(True, None, False, True)),
        case("The first metric failed, so nothing may be committed, although a later one was "
             "delivered.", of(False, True)),
        case("The first metric has no report yet, so nothing may be committed.",
             of(None, True)),
        case("The second metric failed. It has to be sent again before an offset after it may be "
             "committed.", of(True, False, None)),
        case("Nothing is delivered yet.", of(None)),
        case("Nothing was sent, so there is nothing to commit.", []),
    ],
    draw=draw,
    right=[lambda sends: last(run(sends))],
    wrong=[
        wrong("It takes the newest delivered metric, and so it skips a metric that failed or has "
              "no report yet. No restart would send that one again.",
              lambda sends: last([*filter(delivered, sends)])),
        wrong("It takes the newest metric, whether it is delivered or not. A metric that was sent "
              "may still fail.", last),
        wrong("It skips a metric without a report. `None` doesn't mean `True`: that metric may "
              "still fail.", passing(False)),
        wrong("It commits the offset of the first metric that isn't delivered. But that "
              "`next_offset` is the end of the undelivered second. The safe offset is that of the "
              "metric before it.", first_open),
        wrong("It commits only when all metrics are delivered. On a busy topic one of them never "
              "has its report yet, so nothing would ever be committed.", all_or_nothing),
        wrong("It returns a number although nothing is safe. Offset 0 is a real place, and "
              "committing it moves the group there: return `None`.",
              lambda sends: last(run(sends), 0), lambda sends: last(run(sends), -1)),
        wrong("It adds or subtracts one. A committed offset is the next record to read, and "
              "`next_offset` is exactly that.",
              lambda sends: last(run(sends)) + 1 if run(sends) else None),
    ],
    hints=(
        "A restart reads from the committed offset. Which metrics would it send again, and which "
        "would it never send again?",
        "Walk along the sends from the beginning, and keep the last offset that is safe. Two "
        "things make you stop. Which?",
        "`if not send.delivered:` is true for a failed metric and for one without a report. Stop "
        "there, even if later metrics are delivered.",
    ),
    discussion="A committed offset is a promise: everything before it is done. A single number "
    "can't express that all metrics but the second are done, so it stops in front of the gap. The "
    "price is small: after a crash some metrics are sent again, with the same key.\n\n"
    "A failed metric holds back all later commits until it has been sent again and delivered. "
    "That's right, but somebody has to send it: a loop that never retries never commits again.",
)  # fmt: skip
