"""Chapter 60: What a delay would drop."""

from workbook.classroom.exercise import case, exercise, wrong

MINUTE = 60_000


def dropped(batches, delay):
    clock, lost = float("-inf"), 0
    for times in batches:
        ends = [(at // 60_000 + 1) * 60_000 for at in times]
        lost += sum(end <= clock - delay for end in ends)
        clock = max([clock, *times])
    return lost


def by_minutes(batches, delay):
    clock, lost = 0, 0
    for times in batches:
        lost += len([at for at in times if at // MINUTE < (clock - delay) // MINUTE])
        clock = max(clock, max(times, default=0))
    return lost


def varied(
    end=lambda at: (at // MINUTE + 1) * MINUTE, late=lambda end, watermark: end <= watermark,
    newest=max, keeps=True, own=False, count=len, unit=1,
):  # fmt: skip
    """Count as the reference does; wrong answers vary a part of it."""

    def answer(batches, delay):
        clock, lost, total = float("-inf"), [], 0
        for times in batches:
            before, total = clock, total + len(times)
            if times:
                clock = max(clock, newest(times)) if keeps else newest(times)
            mark = (clock if own else before) - delay * unit
            lost += [at for at in times if late(end(at), mark)]
        return count(lost) if count is not None else total - len(lost)

    return answer


def one_by_one(batches, delay):
    return varied()([[at] for times in batches for at in times], delay)


def per_batch(batches, delay):
    return sum(dropped([*batches[: n + 1]], delay) > dropped(batches[:n], delay)
               for n in range(len(batches)))  # fmt: skip


def windows(lost):
    return len({at // MINUTE for at in lost})


def draw(random, size):
    now, batches = random.choice((0, 1_790_000_000_000)), []
    for _ in range(size // 2 + 1):
        now += random.choice((0, 5_000, 20_000, 60_000, 200_000))
        behind = (0, 0, 1_000, 30_000, 61_000, 300_000)
        times = [now - random.choice(behind) for _ in range(random.randrange(4))]
        batches.append([max(at, 0) for at in times])
    return batches, random.choice((0, 0, 10_000, 60_000, 90_000))


def at(*seconds):
    return [1_000 * second for second in seconds]


dropped_by_a_delay = exercise(
    dropped,
    name="What a delay would drop",
    task="A query counts the readings of each minute. Write a function that returns how many "
    "readings it would drop. `batches` is a list of micro-batches in order, each of them a list of "
    "event times in ms; one may be empty. `delay` is the watermark's delay in ms.\n\n"
    "1. The clock of a micro-batch is the newest event time of all micro-batches before it. Its "
    "watermark is this clock minus `delay`.\n"
    "2. The window of a reading ends at the next full minute after its event time, which is at "
    "`(at // 60_000 + 1) * 60_000`.\n"
    "3. A reading is dropped if its window ends at the watermark or before it. The first "
    "micro-batch has no clock, and drops nothing.\n\n"
    "With a delay of 20,000, `[[10_000, 130_000], [50_000, 110_000]]` gives 1: the watermark of "
    "the second micro-batch is 110,000, and the windows end at 60,000 and 120,000.",
    cases=[
        case("The second micro-batch has a watermark of 130 s. The windows of 50 s and 110 s have "
             "ended by then.", [at(10, 130), at(50, 110)], 0),
        case("With a delay of 60 s the watermark is 70 s. Only the window of 50 s has ended.",
             [at(10, 130), at(50, 110)], 60_000),
        case("The reading of 10 s is late, but in the same micro-batch as a newer one. The clock "
             "is that of the micro-batches before.", [at(20), at(200, 10)], 0),
        case("The reading of 65 s is 50 s behind the clock, but its window ends at 120 s.",
             [at(115), at(65)], 0),
        case("The window ends exactly at the watermark, so it's over.", [at(120), at(100)], 0),
        case("The window ends a millisecond after the watermark.", [[119_999], at(100)], 0),
        case("The second micro-batch has only an old reading. The clock doesn't go back, so the "
             "last reading is dropped, too.", [at(300), at(290), at(100)], 60_000),
        case("The newest reading of a micro-batch needn't be its last one.",
             [at(300, 100), at(110)], 0),
        case("An empty micro-batch changes nothing.", [at(200), [], at(70), []], 0),
        case("The first micro-batches are empty, so there's no clock for a while.",
             [[], [], at(10, 200), at(20)], 0),
        case("Two readings of the same minute are dropped: readings are counted, and not windows.",
             [at(200), at(70, 80)], 0),
        case("All readings are in the first micro-batch.", [at(500, 10, 70)], 0),
        case("The reading at 60 s belongs to the window that ends at 120 s.",
             [at(110), at(60)], 0),
        case("Without readings none is dropped.", [], 10_000),
    ],
    draw=draw,
    right=[varied(), by_minutes],
    wrong=[
        wrong("Its clock includes the micro-batch's own readings. Spark decides by the "
              "micro-batches before.", varied(own=True), one_by_one),
        wrong("It compares the event time with the watermark. A reading is dropped only when "
              "its whole window has ended.", varied(end=lambda at: at),
              varied(end=lambda at: at, late=lambda at, mark: at < mark),
              varied(end=lambda at: at // MINUTE * MINUTE)),
        wrong("A window that ends exactly at the watermark is over, too.",
              varied(late=lambda end, mark: end < mark)),
        wrong("Its clock goes back: it knows only the micro-batch just before. Take the newest "
              "event time of all before.", varied(keeps=False)),
        wrong("It takes the last or the first event time of a micro-batch for the newest one.",
              varied(newest=lambda times: times[-1]), varied(newest=lambda times: times[0]),
              varied(newest=min)),
        wrong("It counts the readings that are kept.", varied(count=None)),
        wrong("It counts windows or micro-batches. Count the readings.", varied(count=windows),
              per_batch),
        wrong("It uses the delay in another unit, or not at all. All times are in ms.",
              varied(unit=1_000), varied(unit=0), varied(unit=-1)),
    ],
    hints=(
        "Go through the micro-batches in order, and keep one number from each to the next.",
        "For each micro-batch, first count the readings that are dropped, with the clock as it is. "
        "Move the clock afterwards, and never back.",
        "`sum((at // 60_000 + 1) * 60_000 <= clock - delay for at in times)` counts those of a "
        "micro-batch.",
    ),
    discussion="Your function is a model of Spark's rule, and it leaves out one thing. If "
    "micro-batches follow each other without a pause, Spark decides what is late by the watermark "
    "of the micro-batch before, so its clock is one more micro-batch behind, and it drops a little "
    "less.\n\n"
    "What is dropped depends on how the records are cut into micro-batches: the longer they are, "
    "the less is behind the clock. So a loss that was measured with one trigger is only an "
    "estimate for another.",
)  # fmt: skip
