"""Answers to "Add up the partitions", right and wrong, as learners may write them."""

from __future__ import annotations

from collections import Counter, defaultdict

from proof import Catalogue

from workbook.exercises.chapters.rebalance.add_up_mistakes import MISTAKES, SHORTCUTS


def parts(record):
    second, partition = map(int, record.key.split(b"/"))
    return second, partition, int(record.value)


def nested(records):
    known = defaultdict(dict)
    for record in records:
        second, partition, views = parts(record)
        known[second][partition] = views
    return {second: sum(by_partition.values()) for second, by_partition in known.items()}


def takes_back(records):
    """What a key said before is taken back, as chapter 21 will do."""
    last, views = {}, Counter()
    for record in records:
        second = int(record.key.decode().split("/")[0])
        views[second] += int(record.value) - last.get(record.key, 0)
        last[record.key] = int(record.value)
    return views


def sums_all(records):
    added = Counter()
    for record in records:
        added[int(record.key.split(b"/")[0])] += int(record.value)
    return added


def last_digit(records):
    last = {(record.key.split(b"/")[0], record.key[-1]): record for record in records}
    return sums_all(last.values())


def counts_records(records):
    return Counter(int(record.key.split(b"/")[0]) for record in records)


def counts_partitions(records):
    return counts_records({record.key: record for record in records}.values())


def returns_inside(records):
    views = Counter()
    for record in records:
        if not record.value:
            views[record.key] += 1
        return views
    return views


def prints_views(records):
    print(nested(records))


def ten_characters(records):
    last, views = {record.key: record.value for record in records}, Counter()
    for key, value in last.items():
        views[int(key[:10].split(b"/")[0])] += int(value)
    return views


def as_a_decimal(records):
    last = {float(record.key.replace(b"/", b".")): int(record.value) for record in records}
    views = Counter()
    for key, counted in last.items():
        views[int(key)] += counted
    return dict(views)


def modulo_24(records):
    last = {}
    for second, partition, views in map(parts, records):
        last[second, partition % 24] = views
    views_of = Counter()
    for (second, _), views in last.items():
        views_of[second] += views
    return views_of


def without_the_slash(records):
    return nested(list({record.key.replace(b"/", b""): record for record in records}.values()))


def skips_neighbours(records):
    """Only the record right before it is compared."""
    views = Counter()
    for before, record in zip([None, *records], records, strict=False):
        if before is None or before.key != record.key:
            views[int(record.key.split(b"/")[0])] += int(record.value)
    return dict(views)


catalogue = Catalogue(
    right=[nested, takes_back, lambda records: Counter(nested(records))],
    wrong=[
        (sums_all, "adds up every record"),
        (lambda records: sums_all(set(records)), "drops records that are equal"),
        (last_digit, "last digit"),
        (counts_partitions, "counts the partitions"),
        (counts_records, "counts the records"),
        (lambda records: list(nested(records).items()), "list of pairs"),
        (lambda records: sum(nested(records).values()), "adds up all seconds"),
        (returns_inside, "Nothing is ever known"),
        (lambda records: {int(r.key): int(r.value) for r in records}, "raised ValueError"),
        (lambda records: nested(records[:3]), "Both partitions were corrected"),
        (prints_views, "prints the value"),
        (lambda key, value: {key: value}, "Keep the parameters"),
        ({10: 7}, "without parentheses"),
        (ten_characters, "after ten characters"),
        (lambda records: {s: float(n) for s, n in nested(records).items()}, "of type float"),
    ],
    shortcuts=[
        (as_a_decimal, "Partitions 1, 10 and 100"),
        (without_the_slash, "only the slash says"),
        (skips_neighbours, "delivered twice"),
        (modulo_24, "drawn by chance"),
    ],
    models=[*MISTAKES, *SHORTCUTS],
)
