"""Chapter 06: Add up the partitions."""

from collections import Counter
from typing import NamedTuple

from workbook.classroom.exercise import case, exercise, wrong


class Record(NamedTuple):
    key: bytes
    value: bytes


def views_by_second(records):
    last = {record.key: int(record.value) for record in records}
    views = Counter()
    for key, counted in last.items():
        views[int(key.split(b"/")[0])] += counted
    return dict(views)


def nested(records):
    known = {}
    for record in records:
        second, partition = map(int, record.key.split(b"/"))
        known.setdefault(second, {})[partition] = int(record.value)
    return {second: sum(parts.values()) for second, parts in known.items()}


def added(records, last_of=None, by=lambda key: int(key.split(b"/")[0]), views=int):
    """Add up views, of each key (``last_of``) the last record's only: what wrong answers vary."""
    views_of = Counter()
    for record in records if last_of is None else {last_of(r): r for r in records}.values():
        views_of[by(record.key)] += views(record.value)
    return dict(views_of)


def whole(record):
    return record.key


def second(record):
    return record.key.split(b"/")[0]


def by_views(records):
    return sorted(records, key=lambda record: int(record.value))


def of(*metrics):
    return [Record(f"{s}/{p}".encode(), str(views).encode()) for s, p, views in metrics]


def draw(random, size):
    seconds, partitions = (9, 10, 123, 1_700_000_000, 12_345_678_901), (0, 3, 13, 27, 103)
    views = (1, 3, 3, 120)
    some = (map(random.choice, (seconds, partitions, views)) for _ in range(size))
    return (of(*some),)


add_up = exercise(
    views_by_second,
    name="Add up the partitions",
    task="Two consumers now share the partitions, and each knows only a part of a second. So the "
    'key of a metric is second and partition, such as `b"1700000000/3"`, and the value is the '
    "views of that second in that partition. Write the reader: it gets a list of records with "
    "`.key` and `.value`, both bytes, in the order of the topic, and returns a dictionary from "
    "second to views, whole numbers both: the last value of each key, added up over the "
    "partitions.\n\n"
    '`b"10/0"` with `b"3"`, `b"10/1"` with `b"4"`, and once more `b"10/0"` with `b"3"` give '
    "`{10: 7}`. All records are well formed here.",
    cases=[
        case("Two partitions counted views in second 10.", of((10, 0, 3), (10, 1, 4), (11, 0, 5))),
        case("The metric 10/0 was delivered twice. It counts once.",
             of((10, 0, 3), (10, 1, 4), (10, 0, 3))),
        case("6 and 1 are the last values.", of((10, 0, 2), (10, 1, 4), (10, 0, 6), (10, 1, 1))),
        case("Partitions 2, 12 and 22 are three.", of((10, 2, 5), (10, 12, 7), (10, 22, 1))),
        case("As a decimal, 10.1 and 10.10 would be one.", of((10, 1, 5), (10, 10, 7))),
        case("Only the slash says where the second ends.", of((1, 23, 4), (12, 3, 5))),
        case("Two partitions happen to have as many views.", of((10, 3, 4), (10, 7, 4))),
        case("An empty topic gives an empty dictionary.", []),
    ],
    draw=draw,
    right=[nested, lambda rs: Counter(nested(rs))],
    wrong=[
        wrong("It adds up every record. A metric that is delivered twice counts twice: first let "
              "the last value of each key win, then add.", added),
        wrong("One value of the second wins, whatever its partition: the partitions have to be "
              "added up.", lambda rs: added(rs, second), lambda rs: added(by_views(rs), second)),
        wrong("The first value of each key wins, or the largest. Take the last one: it may "
              "correct an earlier one.", lambda rs: added(rs[::-1], whole),
              lambda rs: added(by_views(rs), whole)),
        wrong("It drops records that are equal. The key tells records apart, not the value.",
              lambda rs: added(set(rs)), lambda rs: added(rs, lambda r: (second(r), r.value))),
        wrong("It cuts the key at a fixed place. Cut it at the slash.",
              lambda rs: added(rs, lambda r: (second(r), r.key[-1])),
              lambda rs: added(rs, whole, lambda key: int(key[:10].split(b"/")[0]))),
        wrong("The last values are right, but nothing is added up: a second has one number.",
              lambda rs: added(rs, whole, bytes.decode), lambda rs: added(rs, whole, bytes)),
        wrong("It counts records, or partitions. Their views are to be added up.",
              lambda rs: added(rs, views=bool), lambda rs: added(rs, whole, views=bool)),
    ],
    hints=(
        "Two things happen to values: some replace each other, others are added. Which is which, "
        "and which has to be done first?",
        "First a dictionary with the whole key, in which the last value wins. Then a second walk "
        "over it, which cuts the keys at the slash.",
        "`last = {record.key: int(record.value) for record in records}` is the first walk.",
    ),
    discussion="What is replaced must be exactly what one writer writes. With the second alone as "
    "key, two consumers would overwrite each other's parts; with the partition in it, each part "
    "has one owner, also after a rebalance.\n\nThe reader cannot tell whether all partitions have "
    "reported yet. Until the last one has, the sum of a second is too small and looks final.",
)  # fmt: skip
