"""Chapter 33: Seconds behind."""

from workbook.classroom.exercise import case, exercise, wrong


def seconds_behind(samples, committed, now):
    if committed >= samples[-1][1]:
        return 0
    passed = [second for second, end in samples if end <= committed]
    return now - passed[-1] if passed else None


def looked_up(find, caught_up=lambda samples, now: 0, unknown=lambda samples, now: None):
    """Return an answer that looks up the age of a sample in another way."""

    def answer(samples, committed, now):
        if committed >= samples[-1][1]:
            return caught_up(samples, now)
        found = find(samples, committed)
        return unknown(samples, now) if found is None else now - found

    return answer


def last(samples, committed):
    return max((second for second, end in samples if end <= committed), default=None)


def first_at_that_end(samples, committed):
    known = [end for _, end in samples if end <= committed]
    return next((s for s, end in samples if end == max(known)), None) if known else None


def first_beyond(samples, committed):
    if committed < samples[0][1]:
        return None
    return next(second for second, end in samples if end > committed)


def the_very_end(samples, committed):
    return max((second for second, end in samples if end == committed), default=None)


def by_rate(samples, committed, now):
    (began, low), (until, high) = samples[0], samples[-1]
    if low <= committed < high:
        return (high - committed) * (until - began) / (high - low)
    return None if committed < low else 0


def draw(random, size):
    second, end, samples = random.randrange(100), random.randrange(1000), []
    for _ in range(1 + size // 4):
        samples.append((second, end))
        second, end = second + random.randrange(1, 5), end + random.choice((0, 0, 1, 10, 100))
    committed = random.randrange(max(samples[0][1] - 20, 0), samples[-1][1] + 2)
    if random.random() < 0.4:
        committed = random.choice(samples)[1]
    return samples, committed, samples[-1][0] + random.randrange(3)


DAY = [(0, 100), (10, 200), (20, 300), (30, 400)]
NIGHT = [(0, 100), (10, 200), (20, 200), (30, 200), (40, 300)]

how_long_behind = exercise(
    seconds_behind,
    name="Seconds behind",
    task="`samples` is a list of (second, end offset) of one partition, at least one, oldest "
    "first. `committed` is the offset that a group has committed there, and `now` is the current "
    "second. Return for how many seconds the group has been behind:\n\n"
    "- Take the last sample whose end isn't beyond `committed`, and return `now` minus its "
    "second.\n"
    "- If even the first sample's end is beyond `committed`, return `None`: nobody sampled that "
    "far back.\n"
    "- But if `committed` has reached the end of the last sample, return 0.\n\n"
    "`seconds_behind([(0, 100), (10, 200), (20, 300)], 250, 21)` is 11.",
    cases=[
        case("The end was 200 in second 10, and beyond 250 in second 20. So it's 31 - 10.",
             DAY, 250, 31),
        case("The end was exactly 300 in second 20, and 300 isn't beyond 300: it's 31 - 20.",
             DAY, 300, 31),
        case("The group has read everything: 0.", DAY, 400, 35),
        case("The group has committed after the last sample, so it's beyond that end: 0.",
             DAY, 420, 31),
        case("Nobody has sampled when the end was 99.", DAY, 99, 31),
        case("Nothing was written from second 10 to second 30. The record that the group has yet "
             "to read was written after second 30: 41 - 30.", NIGHT, 200, 41),
        case("The end was 100 in second 0 and beyond 150 in second 10: it's 41 - 0.",
             NIGHT, 150, 41),
        case("There's one sample, and the group has reached its end.", [(7, 40)], 40, 9),
        case("There's one sample, and its end is beyond `committed`.", [(7, 40)], 39, 9),
    ],
    draw=draw,
    right=[looked_up(last)],
    wrong=[
        wrong("It takes the first of several samples with the same end. While nothing is written, "
              "nobody falls behind: take the last one.", looked_up(first_at_that_end)),
        wrong("It takes the first sample whose end is beyond `committed`. The record may have been "
              "written before that sample: take the one before it.", looked_up(first_beyond)),
        wrong("It needs a sample whose end is exactly `committed`. Most offsets are between two "
              "samples.", looked_up(the_very_end)),
        wrong("It returns a number when the first sample's end is already beyond `committed`. "
              "Nobody knows that number: return `None`.",
              looked_up(last, unknown=lambda samples, now: 0),
              looked_up(last, unknown=lambda samples, now: now - samples[0][0])),
        wrong("It returns the sample's second. Return how long ago that was.",
              lambda samples, committed, now:
                  0 if committed >= samples[-1][1] else last(samples, committed)),
        wrong("It divides the backlog by an average rate. Records don't arrive at an average rate, "
              "so look up when the end was at `committed`.", by_rate),
    ],
    hints=(
        "Which samples have an end that isn't beyond `committed`? Which of them do you need, and "
        "what if there are none?",
        "Handle the group that has reached the last end first. Then a list of the matching "
        "samples' seconds is enough, because `samples` is in order.",
        "`passed = [second for second, end in samples if end <= committed]`, and its last element "
        "is the second that you need.",
    ),
    discussion="The first record that the group hasn't read was written between the sample that "
    "you found and the next one. So your answer is too large by at most the time between two "
    "samples. This workbook's dashboard also interpolates between the two.\n\n"
    "No record had to be read, so it doesn't matter what times a producer puts into its records: "
    "the end offset shows when a record arrived.",
)  # fmt: skip
