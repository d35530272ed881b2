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


def draw(random, size):
    low, size = random.choice((0, 7, 40_000, 7_000_000_000)), size // 2
    visits = {}
    for offset in sorted(random.sample(range(low, low + 60), min(3 * size, 40))):
        visits.setdefault(f"v{random.randrange(size)}", []).append(offset)
    names = random.sample(sorted(visits), len(visits))
    done = random.sample(names, random.randint(0, len(names)))
    return {name: visits[name] for name in names}, done, low + 60


NONE_IS_SAFE = "No visit is safe before the whole batch is written."

what_to_carry = exercise(
    carried,
    name="What an emitted message carries",
    task="A loop reads one partition in batches. Return the offset that all records emitted by "
    "this batch carry: the smallest offset that a restart without state would have to read "
    "again. A visit is safe only when the whole batch is in the sink, because the batch's records "
    "may be written in any order.\n\n"
    "- `visits` maps every visit that may not be in the sink yet, including those in `done`, to "
    "the ascending offsets of its messages. The visits are in no order.\n"
    "- `done` lists the visits that this batch emits.\n"
    "- `next_offset` is the offset to read after the batch, or `None` if no record has ever "
    "arrived. Without visits, return it, even if it's `None`.\n\n"
    "You may not need every argument. "
    '`carried({"v2": [1, 4], "v3": [2]}, [], 7)` returns `1`.',
    cases=[
        case("`v2` and `v3` are open. Without state, both must be read from their first message.",
             {"v2": [1, 4], "v3": [2]}, [], 7),
        case("The smallest offset is 0, which is an offset like any other.",
             {"v1": [0, 3], "v2": [1]}, [], 4),
        case(f"This batch emits `v1` and `v2`. {NONE_IS_SAFE}",
             {"v1": [0, 3], "v2": [1, 4], "v3": [2]}, ["v1", "v2"], 5),
        case(f"This batch emits one visit, `v4`. {NONE_IS_SAFE}",
             {"v4": [5, 6], "v5": [7]}, ["v4"], 8),
        case("`v3` is the oldest open visit: its first message has offset 2.",
             {"v3": [2, 9], "v4": [5, 6], "v5": [7]}, ["v4"], 10),
        case("The visits are in no order: `v6` was opened before `v7`.",
             {"v7": [12], "v6": [8, 11]}, [], 13),
        case("`v8` was opened before `v1`, whatever their names are: its first offset is 4.",
             {"v1": [9], "v8": [4, 6]}, ["v1"], 10),
        case("No visit is open, and the batch is empty: a restart may begin at 12.", {}, [], 12),
        case("Nothing has been read yet, and the first offset to read is 0.", {}, [], 0),
        case("No record of this topic has ever arrived, so no offset is known: return `None`.",
             {}, [], None),
    ],
    draw=draw,
    right=[first_messages, chosen()],
    wrong=[
        wrong("Your function leaves out the visits that this batch emits. If the loop is killed "
              "before the whole batch is written, those not yet in the sink would be lost.",
              chosen(of=still_open)),
        wrong("Your function looks only at the emitted visits. The visits that stay open aren't "
              "in the sink at all.", chosen(of=emitted)),
        wrong("Your function returns the next offset to read. The messages of the open visits are "
              "before it, and the state that held them is gone.",
              lambda visits, done, next_offset: next_offset),
        wrong("Your function looks at the newest message of each visit. The older messages belong "
              "to the visit, too, and the state that held them is gone.",
              chosen(each=lambda offsets: offsets[-1:])),
        wrong("Your function picks one visit by its place in the dictionary or by its name. "
              "Neither tells its offsets: compare all visits.",
              chosen(lambda offsets: offsets[0]),
              chosen(of=lambda visits, done: {n: visits[n] for n in sorted(visits)[:1]})),
        wrong("Without visits your function returns a number or a None of its own. A restart may "
              "begin at `next_offset`.", lambda visits, done, next_offset: carried(visits, done, 0),
              lambda visits, done, next_offset: carried(visits, done, None)),
    ],
    hints=(
        "The loop is killed when one record of the batch, whichever it is, is in the sink. Which "
        "visits may then be nowhere but in the source?",
        "All records of the batch get the same offset, before the first of them is written. Is "
        "any visit in `done` safe at that moment? And what does `min` do with no numbers?",
        "`min(..., default=next_offset)` over all offsets of all lists in `visits.values()`.",
    ),
    discussion="You don't need `done`. A visit counts as open until all records of "
    "its batch are written, and no record can know whether the records after it will be.\n\n"
    "The price is that a restart emits the visits of the last batch again. And a visit that stays "
    "open for an hour holds the offset back for an hour: one more reason for a maximum age.\n\n"
    "A loop that merges two topics needs an offset for each of them.",
)  # fmt: skip
