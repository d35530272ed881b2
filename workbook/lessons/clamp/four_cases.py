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


four_cases = exercise(
    goes_on,
    name="May it be read on?",
    task="The function decides for one partition, which has a counterpart of the same number in "
    "the other topic. `own` is the top of our partition, and `other` is the top of its "
    "counterpart. A top is `None` as long as no record of its partition has been read. All times "
    "have the same unit. Return `True` if our partition may be read further, and `False` if it "
    "must wait. Each of the two tops is known or missing. Three facts decide these four cases:\n\n"
    "1. Only reading gives a partition its first top, so a partition without one never waits.\n"
    "2. A partition with a top waits as long as nobody knows by how much it leads.\n"
    "3. A lead of up to `max_lead` is allowed.\n\n"
    "`goes_on(30, 5, 10)` returns `False`, and `goes_on(5, 30, 10)` returns `True`.",
    cases=[
        case("It leads by 7, and 10 are allowed: it's read.", 12, 5, 10),
        case("It leads by exactly 10, and 10 are allowed: it's read.", 15, 5, 10),
        case("It leads by 11, and only 10 are allowed: it waits.", 16, 5, 10),
        case("It's 25 behind, so it must be read to catch up.", 5, 30, 10),
        case("None of its own records has been read yet: it's read.", None, 5, 10),
        case("The counterpart has no top, so the lead is unknown: wait.", 5, None, 10),
        case("Neither has a top, and one of them must begin: it's read.", None, None, 10),
        case("Its own top is 0, a time like any other. The other has none: wait.", 0, None, 10),
        case("The counterpart's top is 0, a time like any other: the lead is 8.", 8, 0, 10),
        case("Here a lead of 1,000 is allowed.", 500, 5, 1_000),
    ],
    draw=draw,
    right=[by_error, ruled()],
    wrong=[
        wrong("Your function reads on if only the counterpart has no top. Our partition may be an "
              "hour ahead, so wait for the first record of the counterpart.",
              ruled(tops=(True, True, True)), ruled(tops=(True, True, False))),
        wrong("Your function treats time 0 as a missing top: test `is None`.",
              lambda own, other, max_lead: goes_on(own or None, other or None, max_lead),
              lambda own, other, max_lead: goes_on(own or None, other, max_lead),
              lambda own, other, max_lead: goes_on(own, other or None, max_lead)),
        wrong("Your function looks at the distance, not at the direction. A partition that is far "
              "behind must be read, or it never catches up.",
              ruled(lambda own, other, most: abs(own - other) <= most)),
        wrong("Your function stops the partition that is behind and reads the leader. Is the "
              "difference the wrong way round?",
              ruled(lambda own, other, most: other - own <= most)),
        wrong("The comparison is inverted: a partition waits if its lead is larger than allowed.",
              ruled(lambda own, other, max_lead: own - other > max_lead)),
    ],
    hints=(
        "Write a table of four rows: each of the two tops is known or missing. In which row can a "
        "lead be computed at all? For the other rows ask the first fact, and then the second.",
        "`is None` tells whether a top is missing. A lead is negative if our partition is behind.",
        "If both tops are known, one comparison is enough: `own - other <= max_lead`.",
    ),
    discussion="The first fact comes before the second. If neither partition has a top, each "
    "may read one record; otherwise neither would ever begin.\n\n"
    "The second fact is strict: an empty topic stops the other one after its first record, even "
    "if it stays empty for ever. The rule can't tell 'empty' from 'late', but heartbeats can.",
)  # fmt: skip
