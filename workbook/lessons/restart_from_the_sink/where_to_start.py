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
    task="For one partition of the source, `first` is the first offset that it still has, and "
    "`end` the offset that its next record will get (both are equal where it's empty). "
    "`said` is what the sink's last record says: an offset, or -2 if nothing of this topic had "
    "come by then. (Such a record carries no offset of the topic, and the look-up makes that -2.) "
    "`said` is `None` only if the sink has no record that says anything. Write the function that "
    "returns where a new release begins:\n\n"
    "1. `said` is from `first` to `end`, both included: at `said`.\n"
    "2. `said` is deleted, or the topic ends before it, since it was created anew: -2 (earliest).\n"
    "3. `said` is -2: -2, as well.\n"
    "4. `said` is `None`: -1 (latest).\n\n"
    "`begin_at(5, 0, 10)` gives `5`, and `begin_at(3, 5, 10)` gives `-2`.",
    cases=[
        case("Offsets 3 and 4 are deleted by retention. Read what is left, from the earliest: -2.",
             3, 5, 10),
        case("The partition has the offsets 0 to 9, and the sink says 5: begin there.", 5, 0, 10),
        case("The sink says 0, and offset 0 is there. It's an offset like any other.", 0, 0, 10),
        case("Offset 0 is deleted, with 1 to 4. Read what is left, from the earliest: -2.",
             0, 5, 10),
        case("Offset 4 is deleted: `first` is the oldest one left.", 4, 5, 10),
        case("Offset 5 is the first that is left, and it's the one that we want.", 5, 5, 10),
        case("No record in the sink says where to begin: latest, -1.", None, 0, 10),
        case("Nothing is said, whatever was deleted: latest, -1.", None, 5, 10),
        case("The end is 10: all was read and emitted, and the next record will have offset 10.",
             10, 0, 10),
        case("The sink says 11, but the source ends at 10: somebody has deleted the topic and "
             "created it again. Its records are new: -2.", 11, 0, 10),
        case("-2 says: nothing of this topic had come yet. So begin with the first record.",
             -2, 0, 10),
        case("-2 says: nothing had come. What is left begins with the earliest record.",
             -2, 5, 10),
        case("Everything is deleted: the partition is empty, and its next record will have "
             "offset 10.", 3, 10, 10),
        case("The partition is empty, and nothing that we want is gone.", 10, 10, 10),
        case("A fresh partition, in which nothing has come yet: begin at 0, as the sink says.",
             0, 0, 0),
        case("Nothing is said, and nothing is there: latest, -1.", None, 0, 0),
        case("The sink says 7, and the source has nothing at all: it was made anew.", 7, 0, 0),
    ],
    draw=draw,
    right=[in_a_range, starting()],
    wrong=[
        wrong("It doesn't ask whether the source still has that offset. Retention goes on while "
              "nobody reads.", starting(there=lambda *_: True)),
        wrong("Offset 0 is taken for nothing. It's the first record of a partition: ask "
              "`is None`.", starting(none=lambda said: not said)),
        wrong("It looks at `first` only. The topic may have been created anew, and end before "
              "`said`.", starting(there=lambda said, first, end: first <= said)),
        wrong("It looks at `end` only. What retention has deleted lies before `first`.",
              starting(there=lambda said, first, end: said <= end)),
        wrong("`end` itself is fine: all was read, nothing is open, and the next record gets this "
              "offset. Your partition would be read again from its beginning.",
              starting(there=lambda said, first, end: first <= said < end)),
        wrong("Where the offset is gone, it passes over everything that is left. Begin with the "
              "earliest record: -2.", starting(gone=-1)),
        wrong("Where nothing is said it isn't latest. The task asks for -1, the latest when the "
              "query starts.", starting(unsaid=-2), starting(unsaid=0), starting(unsaid="end")),
        wrong("It names an offset where the earliest is asked for. Until the query starts, that "
              "record may be deleted, too: -2 is whatever is the earliest by then.",
              starting(gone="first"), starting(gone=0),
              lambda said, first, end: -1 if said is None else max(said, first)),
        wrong("-2 is taken for nothing said. It says that nothing had come: begin with the first.",
              starting(none=lambda said: said is None or said < 0)),
    ],
    hints=(
        "Draw the partition as a line from `first` to `end`. Where on it, or beside it, may `said` "
        "lie? And if it isn't there?",
        "Deal with `None` first, and ask for it by name: 0 is false, too.",
        "`first <= said <= end` is the question that is left: both ends of the line are fine.",
    ),
    discussion="`end` isn't too far: a partition that was read to its end, with nothing open, says "
    "just that.\n\n"
    "A recreated topic is noticed only as long as it's shorter than before. Once it has grown past "
    "the old offset, an offset alone can't show it. So `run` writes the ids of the topics beside "
    "the offsets, and a record with another id doesn't count.\n\n"
    "*Latest* is what OTTO chose for a sink in which no record says where to begin. It loses every "
    "visit that is open by then: a release that is killed before it has emitted anything leaves "
    "such a sink. `run` begins at the earliest record instead. It reads too much and emits old "
    "visits again, but it loses nothing.",
)  # fmt: skip
