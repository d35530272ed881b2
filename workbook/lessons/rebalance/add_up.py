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
    """Add up views; with ``last_of``, only the last record of each key. Wrong answers vary it."""
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
    task="Two consumers share the partitions, so each of them counts only a part of a second's "
    'views. The key of a metric contains the second and the partition, such as `b"1700000000/3"`, '
    "and its value is the number of views of that second in that partition. Write the reader. It "
    "gets a list of records with `.key` and `.value`, both bytes, in the order of the topic. It "
    "returns a dictionary from second to views, both integers: take the last value of each key, "
    "and add up these values over the partitions of a second.\n\n"
    'An example: `b"10/0"` with `b"3"`, `b"10/1"` with `b"4"`, and once more `b"10/0"` with '
    '`b"3"` make `{10: 7}`. All records are well formed.',
    cases=[
        case("Two partitions counted views in second 10.", of((10, 0, 3), (10, 1, 4), (11, 0, 5))),
        case("The metric 10/0 was delivered twice. It counts once.",
             of((10, 0, 3), (10, 1, 4), (10, 0, 3))),
        case("The last values are 6 for 10/0 and 0 for 10/1.",
             of((10, 0, 2), (10, 1, 4), (10, 0, 6), (10, 1, 0))),
        case("2, 12 and 22 are three partitions.", of((10, 2, 5), (10, 12, 7), (10, 22, 1))),
        case("10/1 and 10/10 are two keys.", of((10, 1, 5), (10, 10, 7))),
        case("Only the slash shows where the second ends.", of((1, 23, 4), (12, 3, 5))),
        case("Two partitions have equal counts, and both count.", of((10, 3, 4), (10, 7, 4))),
        case("A count may be 0: the second is in the dictionary all the same.", of((10, 0, 0))),
        case("For an empty topic, the dictionary is empty.", []),
    ],
    draw=draw,
    right=[nested, lambda rs: Counter(nested(rs))],
    wrong=[
        wrong("It adds up all records, so a metric that is delivered twice counts twice. First "
              "keep only the last value of each key, and then add.", added),
        wrong("It keeps only one value per second. Add up the values of all partitions of that "
              "second.", lambda rs: added(rs, second), lambda rs: added(by_views(rs), second)),
        wrong("It keeps the first or the largest value of each key. Keep the last one, because it "
              "may correct an earlier one.", lambda rs: added(rs[::-1], whole),
              lambda rs: added(by_views(rs), whole)),
        wrong("It drops equal values or records. A record replaces only those with the same key.",
              lambda rs: added(set(rs)), lambda rs: added(rs, lambda r: (second(r), r.value))),
        wrong("It cuts the key at a fixed position. Cut it at the slash.",
              lambda rs: added(rs, lambda r: (second(r), r.key[-1])),
              lambda rs: added(rs, whole, lambda key: int(key[:10].split(b"/")[0]))),
        wrong("The last values are right, but they aren't added up. Each second needs one number.",
              lambda rs: added(rs, whole, bytes.decode), lambda rs: added(rs, whole, bytes)),
        wrong("It counts records or partitions. Add up their views instead.",
              lambda rs: added(rs, views=bool), lambda rs: added(rs, whole, views=bool)),
    ],
    hints=(
        "Some values replace an earlier value, and others are added up. What do you have to do "
        "first, and for which values?",
        "First build a dictionary from the whole key to its last value. Then cut each of its keys "
        "at the slash, and add up the values of each second.",
        "`last = {record.key: int(record.value) for record in records}` is the first step.",
    ),
    discussion="A newer record replaces the older one with the same key, so only one consumer may "
    "write that key. If the key were only the second, two consumers would overwrite each other's "
    "counts. With the partition in the key, each key has one writer at a time, also after a "
    "rebalance.\n\nThe reader doesn't know whether all partitions have reported a second. Until "
    "they have, its sum is too small, but nothing shows that.",
)  # fmt: skip
