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
    task="A reader publishes a second of a partition when the partition's next second begins. "
    "`opened` maps each partition to its open second: in "
    '`{3: {"second": 1700000011, "first": 40, "next": 45, "views": 4}}` the first page view of '
    "that second has offset 40, four page views have been read, and 45 is the next offset to read. "
    "All earlier seconds are delivered.\n\n"
    "Now the group takes away the partitions in the list `leaving`. Return a dictionary from "
    "partition to the offset to commit, such as `{3: 45}` or `{3: 40}`, so that the next reader "
    "counts each open second right. It contains only partitions that are in `leaving` and also in "
    "`opened`; nothing was read of the others. Don't change `opened`.",
    cases=[
        case("The open second began at offset 40. A reader that begins there counts all of its "
             "page views.", {3: now(40, 4, 5)}, [3]),
        case("Partitions 0 and 2 leave, each with its own offset. Partition 1 stays.",
             {0: now(10, 2), 1: now(20, 3), 2: now(30, 4)}, [0, 2]),
        case("Nothing has been read of partition 5, so there is nothing to commit for it. The "
             "group's earlier commit there is still valid.", {0: now(10, 2)}, [0, 5]),
        case("Partitions 0 and 4 leave, and their open seconds began at offsets 0 and 7. Offset 0 "
             "is a valid offset, and a second may have a single page view.",
             {0: now(0, 3), 4: now(7, 1)}, [0, 4]),
        case("Each partition has its own offsets, so 80 and 500 have nothing to do with each "
             "other.", {2: now(500, 9, 30, 1), 1: now(80, 2, 3)}, [1, 2]),
        case("No partition leaves, so there is nothing to commit.", {0: now(10, 2)}, []),
        case("Nothing has been read yet, so there is nothing to commit.", {}, [0, 1, 2]),
    ],
    draw=draw,
    right=[lambda opened, leaving: {p: at["first"] for p, at in opened.items() if p in leaving}],
    wrong=[
        wrong("It commits for partitions that stay. Only those in `leaving` get another reader.",
              lambda opened, leaving: handed(opened, list(opened)),
              lambda opened, leaving: handed(opened, [p for p in opened if p not in leaving])),
        wrong("It expects an open second in each partition of `leaving`. A reader may lose a "
              "partition before it has read anything of it, so ask first whether it is in "
              "`opened`.", lambda opened, leaving: {p: opened[p]["first"] for p in leaving}),
        wrong("It leaves out offset 0 or partition 0, but both are valid numbers. Does an `if` ask "
              "whether the number is true?",
              lambda opened, leaving: {p: at for p, at in handed(opened, leaving).items() if at},
              lambda opened, leaving: handed(opened, [p for p in leaving if p])),
        wrong("It commits an offset after page views that this reader has counted. The next reader "
              "doesn't have that count, so it must count the second from its first page view.",
              of(lambda now: now["next"]), of(lambda now: now["next"] - 1),
              of(lambda now: now["first"] + now["views"])),
        wrong("Its offset is one too large or too small. A committed offset is the first one to "
              "be read, and that must be the first page view of the open second.",
              of(lambda now: now["first"] + 1), of(lambda now: now["first"] - 1)),
        wrong("It never commits anything. Then the next reader begins at an older commit, and "
              "reads everything after it again.", lambda opened, leaving: {}),
    ],
    hints=(
        "The next reader begins at the offset that you commit, and it has counted nothing yet. "
        "Which records must it read to count the whole open second?",
        "Go through the partitions that leave. For each one that has an open second, return the "
        "offset at which that second began.",
        'The offset is `opened[partition]["first"]`. Ask `if partition in opened:` before you use '
        "it.",
    ),
    discussion="The records of the open second are read twice and published once: the first reader "
    "forgets its part of the count, and the second reader counts the whole second.\n\n"
    "This is right only if all earlier seconds are delivered, so the callback has to wait for that "
    "first. But it must not wait without a limit, because the whole group waits for it.",
)  # fmt: skip
