"""Chapter 40: Remember for ten minutes."""

from workbook.classroom.exercise import case, exercise, wrong

MINUTE, HOUR = 60_000, 3_600_000


def is_new(slices, digest, arrival):
    times = [hashes[digest] for hashes in slices.values() if digest in hashes]
    if times and arrival - max(times) <= 600_000:
        return False
    slices.setdefault(arrival // 60_000, {})[digest] = arrival
    if len(slices) > 12:
        del slices[min(slices)]
    return True


def of_records(answer):
    def new(records):
        slices = {}
        found = [answer(slices, *record) for record in records]
        return {"new": found, "slices": kept(slices) if slices or not any(found) else EMPTY}

    return new


EMPTY, ELSEWHERE = "still empty", "a hash isn't with its arrival in the slice of its minute"


def kept(slices):
    for minute, hashes in slices.items():
        if not isinstance(hashes, dict) or any(t // MINUTE != minute for t in hashes.values()):
            return ELSEWHERE
    return "twelve at most" if len(slices) <= 12 else str(len(slices))


def notices(value, expected):
    if value["slices"] == EMPTY:
        return (
            "Nothing is in `slices` afterwards. Does it make a new dictionary, as `slices = {...}` "
            "does? Your calls must fill the one that they get."
        )
    if value["slices"] == ELSEWHERE:
        return (
            "`slices[minute]` isn't what the task asks for: `minute` is `arrival // 60_000`, and "
            "`slices[minute]` is a dictionary from hash to arrival."
        )
    return ""


def remembering(
    most=12, gone=min, within=600_000, renews=False, before=None, left=12, age=lambda ms: ms
):
    """Build an answer; with the defaults it's right. ``gone`` chooses what is forgotten."""

    def answer(slices, digest, arrival):
        minute = arrival // MINUTE
        now = max([*slices, minute]) if before == "newest" else minute
        for old in [old for old in slices if before and old < now - 10]:
            del slices[old]
        times = [hashes[digest] for hashes in slices.values() if digest in hashes]
        new = not times or age(arrival - max(times)) > within
        if new or renews:
            slices.setdefault(minute, {})[digest] = arrival
        if len(slices) > most:
            while len(slices) > left:
                slices.clear() if gone is None else slices.pop(gone(slices))
        return new

    return answer


def seconds(*records):
    return [(digest, int(1000 * second)) for digest, second in records]


def minutes(first, last):
    return [(f"minute {minute}", 60 * minute + 30) for minute in range(first, last)]


AHEAD = ("an hour ahead", 3_900)


def draw(random, size):
    now, records = random.randrange(100 * HOUR), []
    for _ in range(size):
        now += random.choice((0, 900, 20_000, 59_000, 60_000, 61_000, 200_000, 590_000))
        records.append((random.choice("abcdef"), now))
    if size > 5 and random.random() < 0.5:
        place = random.randrange(size)
        records.insert(place, ("an hour ahead", records[place][1] + HOUR))
    return (records,)


ten_minutes = exercise(
    is_new,
    rehearse=of_records,
    notices=notices,
    name="Remember for ten minutes",
    task="Write `is_new(slices, digest, arrival)`, which is called for each record of a "
    "partition. A record is a duplicate if an earlier call with the same hash (`digest`) returned "
    "True, and the `arrival` of that call is at most 600,000 ms (ten minutes) smaller than this "
    "one. It may even be larger, because a clock may be ahead. Return False for a duplicate, and "
    "don't remember it. Any other record counts: remember it in `slices[minute]`, a dictionary "
    "from hash to arrival, where `minute` is `arrival // 60_000`, and return True. `slices` is an "
    "empty dictionary at the first call, and your calls fill it.\n\n"
    "If there is now a thirteenth slice, forget the oldest minute: the whole slice with the "
    "smallest number. Why twelve? Ten minutes touch eleven slices, and one more is for a record "
    "from a machine whose clock is an hour ahead.",
    cases=[
        case("`a` and `b` are new, and then `a` isn't.", seconds(("a", 5), ("b", 6), ("a", 7))),
        case("Exactly ten minutes later it's still a duplicate.", seconds(("a", 30), ("a", 630))),
        case("Ten minutes and a millisecond later it counts.", seconds(("a", 30), ("a", 630.001))),
        case("The third `a` arrives twelve minutes after the first, the last one that counted.",
             seconds(("a", 0), ("a", 360), ("a", 720))),
        case("The second `a` counts again, so the third doesn't.",
             seconds(("a", 0), ("a", 660), ("a", 700))),
        case("A new hash arrives in each of thirty minutes.", seconds(*minutes(0, 30))),
        case("One record is an hour ahead.", seconds(("a", 295), AHEAD, ("a", 301))),
        case("The hash was ahead, and arrives again with the right time: it's a duplicate.",
             seconds(AHEAD, ("an hour ahead", 301))),
        case("One record is an hour ahead, and each minute has one. Ten minutes need eleven "
             "slices.",
             seconds(AHEAD, *minutes(0, 12), ("minute 1", 690))),
        case("The hash that was ahead arrives an hour later, now with the right time.",
             seconds(("a", 295), AHEAD, *minutes(6, 18), ("an hour ahead", 3_960))),
        case("A clock is behind: its minute is the thirteenth slice and has the smallest number, "
             "so it's forgotten at once.",
             seconds(*minutes(20, 32), ("behind", 330), ("minute 20", 1_740))),
    ],
    draw=draw,
    right=[remembering()],
    wrong=[
        wrong("It forgets the hashes that are old when compared with the present record, or with "
              "the newest one so far. But for a record that is an hour ahead, every other hash is "
              "old.", remembering(before="this"), remembering(before="newest")),
        wrong("It never forgets, so its memory grows for as long as it runs.",
              remembering(most=10**9)),
        wrong("It forgets all slices, or the one that was made first, which may be that of the "
              "record ahead. Forget one: the smallest minute.", remembering(gone=None),
              remembering(gone=lambda slices: next(iter(slices)))),
        wrong("It keeps too few slices. The last ten minutes are in eleven slices, and a record "
              "that is ahead needs one more.", remembering(most=11, left=11),
              remembering(most=10, left=10), remembering(left=11)),
        wrong("It calls each hash that is still remembered a duplicate. But a slice is kept for "
              "longer than ten minutes, so compare the two arrivals.", remembering(within=10**12)),
        wrong("It compares with a span other than 600,000 ms. `arrival` is in ms, and a record "
              "exactly 600,000 ms later is still a duplicate.",
              *(remembering(within=ms) for ms in (599_999, 600, 10))),
        wrong("An earlier record has a larger `arrival` if its clock was ahead. The difference is "
              "negative then, and this record is a duplicate.", remembering(age=abs),
              remembering(age=lambda ms: ms if ms >= 0 else HOUR)),
        wrong("It remembers duplicates, too. A record that is sent again every nine minutes would "
              "never count again.", remembering(renews=True)),
    ],
    hints=(
        "There are three steps: look for the hash in all slices; if it isn't a duplicate, remember "
        "it; if there are too many slices now, forget one. Which slice no longer matters?",
        "A hash that counted twice may be in two slices, and only its newest arrival matters. "
        "Don't choose the slice to forget by `arrival`: the present record may be the one that is "
        "ahead.",
        "`if len(slices) > 12:` `del slices[min(slices)]` forgets a slice.",
    ),
    discussion="A second record that is ahead, in another minute, would need one more slice. So "
    "the operator on Spark has a clock for each partition: the 10th percentile of the arrivals of "
    "its last 1,000 records. A few records that are ahead can't move this clock.\n\n"
    "The memory is limited in minutes, and not in hashes. So a flood of new records makes the "
    "slices large.",
)  # fmt: skip
