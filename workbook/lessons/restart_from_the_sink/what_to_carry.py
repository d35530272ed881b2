"""Chapter 13: What an emitted message carries."""

from workbook.classroom.exercise import case, exercise, wrong


def carried(visits, done, next_offset):
    return min((offset for offsets in visits.values() for offset in offsets), default=next_offset)


def first_messages(visits, done, next_offset):
    return min(offsets[0] for offsets in visits.values()) if visits else next_offset


def chosen(choose=min, each=lambda offsets: offsets, of=lambda visits, done: visits):
    """Make an answer of its parts; with the defaults it's right."""

    def answer(visits, done, next_offset):
        kept = of(visits, done).values()
        offsets = [offset for offsets in kept for offset in each(offsets)]
        return choose(offsets) if offsets else next_offset

    return answer


def still_open(visits, done):
    return {name: offsets for name, offsets in visits.items() if name not in done}


def emitted(visits, done):
    return {name: offsets for name, offsets in visits.items() if name in done}


def by_truth(visits, done, next_offset):
    smallest = None
    for offsets in visits.values():
        if not smallest or offsets[0] < smallest:
            smallest = offsets[0]
    return smallest or next_offset


def draw(random, size):
    low, size = random.choice((0, 7, 40_000, 7_000_000_000)), size // 2
    visits = {}
    for offset in sorted(random.sample(range(low, low + 60), min(3 * size, 40))):
        visits.setdefault(f"v{random.randrange(size)}", []).append(offset)
    names = random.sample(sorted(visits), len(visits))
    done = random.sample(names, random.randint(0, len(names)))
    return {name: visits[name] for name in names}, done, low + 60


NONE_IS_SAFE = "No visit counts as safe before the whole batch is written."

what_to_carry = exercise(
    carried,
    name="What an emitted message carries",
    task="A loop reads one partition in batches. `visits` maps each visit that was open when the "
    "batch began, or got a message in it, to the list of its messages' offsets, in the order in "
    "which they came; the visits are in any order. `done` are those that this batch emits. "
    "`next_offset` is where reading goes on after the batch, or `None` while nothing has come.\n\n"
    "Write the function that returns the offset that each record of this batch carries: the "
    "smallest one that a start without state must read again, since it isn't safe in the sink. "
    "No visit of a batch counts as safe before the whole batch is written: its records may "
    "be written in any order, and all carry the same offset. With no visits it's `next_offset`, "
    "also if that is `None`: no number stands for it here.\n\n"
    '`{"v2": [1, 4], "v3": [2]}` with `[]` and 7 gives `1`.',
    cases=[
        case("`v2` and `v3` are open. Without state both must be read from their first message.",
             {"v2": [1, 4], "v3": [2]}, [], 7),
        case("The smallest offset is 0. That's an offset like any other.",
             {"v1": [0, 3], "v2": [1]}, [], 4),
        case(f"This batch emits `v1` and `v2`. {NONE_IS_SAFE}",
             {"v1": [0, 3], "v2": [1, 4], "v3": [2]}, ["v1", "v2"], 5),
        case(f"Both visits are emitted by this batch. {NONE_IS_SAFE}",
             {"v4": [5, 8], "v5": [6, 7]}, ["v5", "v4"], 9),
        case(f"This batch emits one visit, `v4`. {NONE_IS_SAFE}",
             {"v4": [5, 6], "v5": [7]}, ["v4"], 8),
        case("`v3` was opened first, and is still open: its first message has offset 2.",
             {"v3": [2, 9], "v4": [5, 6], "v5": [7]}, ["v4"], 10),
        case("The visits are in any order: `v6` was opened before `v7`.",
             {"v7": [12], "v6": [8, 11]}, [], 13),
        case("`v8` was opened before `v1`, whatever they're called: its first offset is 4.",
             {"v1": [9], "v8": [4, 6]}, ["v1"], 10),
        case("Of `v6` two messages have come. The first one, of offset 8, is needed, too.",
             {"v6": [8, 14], "v7": [12, 13]}, [], 15),
        case("Nothing is open, and the batch has no messages: reading may go on at 12.",
             {}, [], 12),
        case("Nothing has been read yet, and the first offset to read is 0.", {}, [], 0),
        case("Nothing has ever come of this topic, so no offset is known: it's `None`.",
             {}, [], None),
        case("One visit is open, and its only message was the last one.",
             {"v9": [40_000]}, [], 40_001),
    ],
    draw=draw,
    right=[first_messages, chosen()],
    wrong=[
        wrong("It leaves out what this batch emits. None of it counts as safe before the whole "
              "batch is written: the records that aren't in the sink when it's killed would be "
              "lost.", chosen(of=still_open)),
        wrong("It leaves out one visit of `done`, as if its record were written first. The records "
              "may be written in any order.",
              chosen(of=lambda visits, done: still_open(visits, done[:1]))),
        wrong("It looks at the emitted visits only. Those that stay open aren't in the sink at "
              "all.", chosen(of=emitted)),
        wrong("It's where reading goes on. The open visits are before it, in a state that the new "
              "release can't read.", lambda visits, done, next_offset: next_offset),
        wrong("It looks at the newest message of each visit. The older ones belong to it, too, and "
              "the state that held them is gone.", chosen(each=lambda offsets: offsets[-1:])),
        wrong("It takes one visit, by its place in the dictionary or by its name. Neither says "
              "anything about its offsets: compare all.",
              chosen(lambda offsets: offsets[0]),
              chosen(of=lambda visits, done: {n: visits[n] for n in sorted(visits)[:1]})),
        wrong("Offset 0 is taken for nothing. Does an `or` or an `if` ask whether the number is "
              "true?", by_truth),
        wrong("With no visits it gives a number or a None of its own. Reading may go on at "
              "`next_offset`.", lambda visits, done, next_offset: carried(visits, done, 0),
              lambda visits, done, next_offset: carried(visits, done, None)),
    ],
    hints=(
        "One record of the batch is in the sink, whichever it is, then the loop is killed. Which "
        "visits may be nowhere but in the source?",
        "All records of the batch are given their offset before the first of them is written. Does "
        "any visit in `done` count as safe by then? And what does the smallest of no numbers give?",
        "`min(..., default=next_offset)` over `offset for offsets in visits.values() for offset in "
        "offsets`.",
    ),
    discussion="`done` is a trap: it isn't needed. What the batch emits counts as open until all "
    "its records are written, and a record can't know whether those after it will be.\n\n"
    "The price is that a restart reads a little too much: whatever the last batch emitted is "
    "emitted again. And one visit that stays open for long holds the offset back for as long, "
    "which is one more reason for a maximum age.\n\n"
    "A loop that merges two topics needs an offset for each of them.",
)  # fmt: skip
