"""Chapter 12: May it be read on?"""

from workbook.classroom.exercise import case, exercise, wrong


def goes_on(own, other, max_lead):
    if own is None:
        return True
    if other is None:
        return False
    return own - other <= max_lead


def by_error(own, other, max_lead):
    try:
        return own - other <= max_lead
    except TypeError:
        return own is None


def ruled(fine=lambda own, other, max_lead: own - other <= max_lead, tops=(True, False, True)):
    """Make an answer; with the defaults it's right.

    ``tops`` are its values without an own top, without the other's, and without both.
    """

    def answer(own, other, max_lead):
        if own is not None and other is not None:
            return fine(own, other, max_lead)
        return tops[0] if other is not None else tops[1] if own is not None else tops[2]

    return answer


def draw(random, size):
    max_lead = random.choice((0, 1, 10, 10, 1_000, 60_000))
    other = random.choice((None, 0, 0, 7, 2_000, 1_700_000_000_000))
    leads = (0, 1, max_lead - 1, max_lead, max_lead, max_lead + 1, 2 * max_lead, 10**10)
    own = max(0, (other or 0) + random.choice((1, 1, -1)) * random.choice(leads))
    return random.choice((own, own, own, own, 0, None)), other, max_lead


AT, MINUTE, DAY = 1_700_000_000_000, 60_000, 86_400_000

four_cases = exercise(
    goes_on,
    name="May it be read on?",
    task="Two partitions of the same number, one of each topic. `own` is the top of the one that "
    "we ask about, `other` the top of its counterpart; a top is `None` while nothing of its "
    "partition has been read. All times have the same unit. Return `True` if our partition may be "
    "read on, and `False` if it must wait; the first case that fits decides:\n\n"
    "1. Our partition has no top yet: it goes on.\n"
    "2. The counterpart has no top yet: ours waits.\n"
    "3. Our partition leads by more than `max_lead`: it waits.\n"
    "4. Else it goes on.\n\n"
    "`goes_on(30, 5, 10)` gives `False`, and `goes_on(5, 30, 10)` gives `True`.",
    cases=[
        case("It leads by 7, and 10 are allowed: it goes on.", 12, 5, 10),
        case("It leads by 25, and 10 are allowed: it waits.", 30, 5, 10),
        case("It leads by exactly 10, and 10 are allowed: it goes on.", 15, 5, 10),
        case("It leads by 11: that's one too many.", 16, 5, 10),
        case("It's behind by 25, and must catch up.", 5, 30, 10),
        case("Both stand at the same time: it goes on.", 7, 7, 10),
        case("Nothing of its own has been read yet: it goes on.", None, 5, 10),
        case("The other one has given nothing yet, so nobody knows the lead: wait.", 5, None, 10),
        case("Both have given nothing. Somebody has to begin, or nothing is ever read.",
             None, None, 10),
        case("Its own top is 0, which is a time. The other one has given nothing: it waits.",
             0, None, 10),
        case("The other's top is 0. That's a time like any other: the lead is 8.", 8, 0, 10),
        case("The other's top is 0. That's a time like any other: the lead is 40.", 40, 0, 10),
        case("Its own top is 0. It's behind, and goes on.", 0, 8, 10),
        case("No lead is allowed, and it has none: it goes on.", 7, 7, 0),
        case("No lead is allowed, and it leads by 1: it waits.", 8, 7, 0),
        case("Here a lead of 1,000 is allowed.", 500, 5, 1_000),
        case("It leads by 50 ms, and a minute is allowed: it goes on.", AT + 50, AT, MINUTE),
        case("It leads by thirty days, and a minute is allowed: it waits.",
             AT + 30 * DAY, AT, MINUTE),
        case("It's behind by thirty days: it must catch up.", AT - 30 * DAY, AT, MINUTE),
    ],
    draw=draw,
    right=[by_error, ruled()],
    wrong=[
        wrong("A partition without a top of its own must go on, or it never begins.",
              ruled(tops=(False, False, False)), ruled(tops=(False, False, True)),
              ruled(tops=(False, True, True))),
        wrong("Where neither has a top, your function waits. Then neither is ever read: the first "
              "record is read in any case.", ruled(tops=(True, False, False))),
        wrong("Your function goes on where only the other one has no top yet. Ours may lead by an "
              "hour: wait for the other one's first record.",
              ruled(tops=(True, True, True)), ruled(tops=(True, True, False))),
        wrong("Time 0 is taken for no top. It's a time like any other: ask `is None`.",
              lambda own, other, max_lead: goes_on(own or None, other or None, max_lead),
              lambda own, other, max_lead: goes_on(own or None, other, max_lead),
              lambda own, other, max_lead: goes_on(own, other or None, max_lead)),
        wrong("A lead of exactly `max_lead` is allowed: only a larger one waits.",
              ruled(lambda own, other, max_lead: own - other < max_lead)),
        wrong("It looks at the distance and not at who leads. A partition far behind must go on, "
              "or it never catches up.", ruled(lambda own, other, most: abs(own - other) <= most)),
        wrong("It stops the one that is behind, and lets the leader go on. Is the difference the "
              "wrong way round?", ruled(lambda own, other, most: other - own <= most)),
        wrong("The comparison is inverted: a lead that is larger than allowed waits.",
              ruled(lambda own, other, max_lead: own - other > max_lead)),
    ],
    hints=(
        "Make a table of four rows: each of the two tops is there, or missing. For which row can a "
        "lead be computed at all? For the others the task names the answer.",
        "`is None` asks whether there's a top. A lead has a sign: it's negative behind the other.",
        "The last two cases are one comparison: `own - other <= max_lead`.",
    ),
    discussion="The order of the first two cases matters. Where neither has a top, both may read "
    "a record, or neither would begin.\n\n"
    "The second case is strict: a topic that is empty stops the other after its first record, even "
    "where it's empty for good. The rule can't know. Heartbeats help.",
)  # fmt: skip
