"""Chapter 13: Where to start."""

from workbook.classroom.exercise import case, exercise, wrong


def begin_at(said, first, end):
    if said is None:
        return -1
    if first <= said <= end:
        return said
    return -2


def in_a_range(said, first, end):
    return -1 if said is None else said if said in range(first, end + 1) else -2


def starting(there=lambda said, first, end: first <= said <= end,
             none=lambda said: said is None, unsaid=-1, gone=-2):  # fmt: skip
    """Make an answer of its parts; with the defaults it's right."""

    def answer(said, first, end):
        given = {"first": first, "end": end}
        if none(said):
            return given.get(unsaid, unsaid)
        return said if there(said, first, end) else given.get(gone, gone)

    return answer


def draw(random, size):
    first = random.choice((0, 3, 1_000, 70_000))
    end = first + random.choice((0, 1, 50, 9_000))
    near = (first - 2, first - 1, first, first + 1, end - 1, end, end + 1, end + 500)
    return random.choice([None, -2, *(offset for offset in near if offset >= 0)]), first, end


where_to_start = exercise(
    begin_at,
    name="Where to start",
    task="Return where a new release begins to read one partition of the source. `first` is the "
    "oldest offset that the partition still has, and `end` is the offset that its next record "
    "will get; they are equal if it's empty. `said` is the offset in the sink's last record:\n\n"
    "1. From `first` to `end`, both included: return `said`.\n"
    "2. Before `first`, because retention deleted it, or after `end`, because the topic was "
    "recreated: return -2 (earliest).\n"
    "3. -2: the sink's last record says nothing of this topic: nothing was read yet. Return -2.\n"
    "4. `None`, because no record in the sink carries an offset: return -1 (latest), as OTTO did. "
    "The discussion says what that costs.\n\n"
    "`begin_at(5, 0, 10)` returns `5`, and `begin_at(3, 5, 10)` returns `-2`.",
    cases=[
        case("Retention deleted offsets 3 and 4. Read the rest from the earliest record: -2.",
             3, 5, 10),
        case("The partition has offsets 0 to 9, and the sink says 5: begin at 5.", 5, 0, 10),
        case("The sink says 0, and the partition has it. 0 is an offset like any other.", 0, 0, 10),
        case("The sink says 0, but the oldest record left is 5. 0 is no exception.", 0, 5, 10),
        case("Offset 4 is deleted, because `first` is the oldest one left.", 4, 5, 10),
        case("Offset 5 is the oldest one left, and it's the one that the sink says.", 5, 5, 10),
        case("No record in the sink carries an offset: latest, -1.", None, 0, 10),
        case("The sink says the end: all records were read, and the next one will get offset 10.",
             10, 0, 10),
        case("The sink says 11, but the source ends at 10: somebody has deleted the topic and "
             "recreated it. All its records are new: -2.", 11, 0, 10),
        case("-2 says that no record of this topic had been read. Begin with the first record.",
             -2, 0, 10),
        case("The partition is empty, but no record that we need is deleted.", 10, 10, 10),
    ],
    draw=draw,
    right=[in_a_range, starting()],
    wrong=[
        wrong("Your function doesn't ask whether the source still has that offset. Retention also "
              "deletes records while nobody reads.", starting(there=lambda *_: True)),
        wrong("Your function looks only at `end`. Deleted records are the ones before `first`.",
              starting(there=lambda said, first, end: said <= end)),
        wrong("If the offset is deleted, your function skips all the records that are left. Begin "
              "with the earliest one: -2.", starting(gone=-1)),
        wrong("If the sink carries no offset, the task asks for -1: the end of the partition when "
              "the query starts.", starting(unsaid=-2), starting(unsaid=0), starting(unsaid="end")),
        wrong("Your function returns an offset instead of -2. That record may be deleted as well "
              "before the query starts, and -2 always means the earliest one then.",
              starting(gone="first"), starting(gone=0),
              lambda said, first, end: -1 if said is None else max(said, first)),
    ],
    hints=(
        "Draw the partition as a line from `first` to `end`. Where can `said` be: on the line, "
        "left or right of it? And what if it's no offset at all?",
        "Deal with `None` first, and test `is None`, because 0 is false as well.",
        "`first <= said <= end` is the remaining question: both ends of the line are fine.",
    ),
    discussion="`end` isn't too far: a sink says it if the partition was read to its end and no "
    "visit was open.\n\n"
    "An offset shows that a topic was recreated only while the new topic is shorter than that "
    "offset. So the workbook's merge also writes the ids of the topics, and the look-up ignores a "
    "record with another id.\n\n"
    "With `latest` a restart loses the visits that are open, if a release was killed before it "
    "had emitted anything, because the sink has no offset then. “Earliest” may emit old visits "
    "again, but it loses nothing.\n\n"
    "The header leaves out a topic for which `carried` returns `None`, and the look-up then passes "
    "-2 to your function.",
)  # fmt: skip
