"""Chapter 06: Hand over the open seconds."""

from workbook.classroom.exercise import case, exercise, wrong

SECOND = 1_700_000_000


def hand_over(opened, leaving):
    offsets = {}
    for partition in leaving:
        if partition in opened:
            offsets[partition] = opened[partition]["first"]
    return offsets


def handed(opened, leaving, offset=lambda now: now["first"]):
    """Return an offset for each open partition that leaves. Wrong answers vary it."""
    return {p: offset(opened[p]) for p in leaving if p in opened}


def filled(value):
    return lambda opened, leaving: {p: opened.get(p, {"first": value})["first"] for p in leaving}


def only(place):
    return lambda opened, leaving: dict(list(handed(opened, leaving).items())[place])


def of(offset):
    return lambda opened, leaving: handed(opened, leaving, offset)


def now(first, views, records=None, after=0):
    """Return an open second whose page views began at an offset; actions are records, too."""
    end = first + (records or views)
    return {"second": SECOND + after, "first": first, "next": end, "views": views}


def draw(random, size):
    """Draw partitions, some of them open and some leaving, in any order."""
    partitions = random.sample(range(40), size)
    opened = {}
    for partition in random.sample(partitions, random.randint(0, size)):
        views, first = random.randrange(1, 30), random.choice((0, 1, 7, 10**6))
        records = views + random.randrange(9)
        opened[partition] = now(first, views, records, random.randrange(3))
    return opened, random.sample(partitions, random.randint(0, size))


open_seconds = exercise(
    hand_over,
    name="Hand over the open seconds",
    task="A reader counts each of its partitions by itself, and publishes a second when the next "
    "one begins. `opened` maps each partition to what is open there: in "
    '`{3: {"second": 1700000011, "first": 40, "next": 45, "views": 4}}` the page views of that '
    "second began at offset 40, four of them have been read, and 45 is the next offset to read. "
    "All earlier seconds are published and delivered.\n\n"
    "Now the group takes away the partitions in the list `leaving`. Return a dictionary from "
    "partition to the offset to commit, `{3: 40}` or another, so that the next reader counts each "
    "open second right. Only partitions in `leaving` belong in it, and only those that are in "
    "`opened`: of the others nothing was read. Leave `opened` as it is.",
    cases=[
        case("The open second began at offset 40. A reader that begins there counts all its page "
             "views.", {3: now(40, 4, 5)}, [3]),
        case("Partitions 0 and 2 leave, each with an offset of its own. Partition 1 stays.",
             {0: now(10, 2), 1: now(20, 3), 2: now(30, 4)}, [0, 2]),
        case("Nothing has been read of partition 5, so there is nothing to commit for it. What the "
             "group committed there before still holds.", {0: now(10, 2)}, [0, 5]),
        case("Partitions 0 and 4 leave, and their open seconds began at 0 and 7. Offset 0 is one "
             "like any other, and so is a second with one page view.",
             {0: now(0, 3), 4: now(7, 1)}, [0, 4]),
        case("Each partition has offsets of its own: 80 and 500 have nothing to do with each "
             "other.", {2: now(500, 9, 30, 1), 1: now(80, 2, 3)}, [1, 2]),
        case("Nothing leaves: there is nothing to commit.", {0: now(10, 2)}, []),
        case("Nothing has been read yet: there is nothing to commit.", {}, [0, 1, 2]),
    ],
    draw=draw,
    right=[lambda opened, leaving: {p: at["first"] for p, at in opened.items() if p in leaving}],
    wrong=[
        wrong("It commits for the partitions that stay, too, or for these alone. Only those in "
              "`leaving` go to another reader.",
              lambda opened, leaving: handed(opened, list(opened)),
              lambda opened, leaving: handed(opened, [p for p in opened if p not in leaving])),
        wrong("It takes each partition in `leaving` for one that has an open second. A reader may "
              "lose a partition before it has read anything of it: ask first whether it is in "
              "`opened`.", lambda opened, leaving: {p: opened[p]["first"] for p in leaving}),
        wrong("A partition of which nothing was read gets a value, too. Leave it out: what the "
              "group committed there before still holds.", filled(None), filled(0), filled(-1)),
        wrong("Offset 0 or partition 0 is left out. Both are numbers like any other. Does an `if` "
              "ask whether the number is true?",
              lambda opened, leaving: {p: at for p, at in handed(opened, leaving).items() if at},
              lambda opened, leaving: handed(opened, [p for p in leaving if p])),
        wrong("It commits an offset behind page views that this reader has counted. The next "
              "reader doesn't have that count, so it has to count the second from its first page "
              "view.", of(lambda now: now["next"]), of(lambda now: now["next"] - 1),
              of(lambda now: now["first"] + now["views"])),
        wrong("It's one record off. A committed offset is the first one that will be read, and "
              "that has to be the first page view of the open second.",
              of(lambda now: now["first"] + 1), of(lambda now: now["first"] - 1)),
        wrong("It never commits anything. Then the next reader begins at an older commit, and "
              "reads everything since then again.", lambda opened, leaving: {}),
    ],
    hints=(
        "The next reader begins with an empty map, at the offset that you commit. What must it "
        "read, so that its count of the open second is the whole one?",
        "Walk over the partitions that leave. Each one that has an open second gets the offset at "
        "which that second began.",
        '`opened[partition]["first"]` is the offset. Ask `if partition in opened:` before you '
        "take it.",
    ),
    discussion="The records of the open second are read twice, and counted once: the first "
    "reader's part dies with its map, and the second reader's count is the whole.\n\n"
    "It holds because all earlier seconds are delivered: the handler has to wait for that first. "
    "And the handler must come to an end. The whole group waits for it, and after "
    "`max.poll.interval.ms` (five minutes) the group goes on without this reader.",
)  # fmt: skip
