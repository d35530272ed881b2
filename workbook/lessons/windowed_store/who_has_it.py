"""Chapter 32: Who has it?"""

import struct
import zlib

from workbook.classroom.exercise import case, exercise, wrong


def partition_of(group, partitions):
    """Return the partition of `__consumer_offsets` that has a group, by Java's hash of its name."""
    data, hashed = group.encode("utf-16-be"), 0
    for unit in struct.unpack(f">{len(data) // 2}H", data):
        hashed = (31 * hashed + unit) % 2**32
    return min(hashed, 2**32 - hashed) % 2**31 % partitions  # without its sign; -2**31 becomes 0


def instance_of(group, instances, partitions):
    partition = partition_of(group, partitions)
    for name, reads in instances.items():
        if partition in reads:
            return name
    return None


def turned_round(group, instances, partitions):
    owners = {number: name for name, reads in instances.items() for number in reads}
    return owners.get(partition_of(group, partitions))


def where(find, number=partition_of):
    """Return an answer that finds an instance for the number of a group in another way."""
    return lambda group, instances, partitions: find(number(group, partitions), instances)


def owner(at, instances):
    return next((name for name, reads in instances.items() if at in reads), None)


def owner_by(number):
    return where(owner, number)


def of_the_first(at, instances):
    return next((name if at in reads else None for name, reads in instances.items()), None)


def between(at, instances):
    ends = {name: (min(reads), max(reads)) for name, reads in instances.items() if reads}
    return next((name for name, (low, high) in ends.items() if low <= at <= high), None)


def draw(random, size):
    group = "".join(random.choices("abcdefgh-01 CDé🚀", k=1 + size))
    partitions = random.choice((50, 50, 25, 8, 1))
    reads = {name: [] for name in random.sample("abcd", random.randrange(1, 5))}
    for number in range(partitions):
        reads[random.choice([*reads])].append(number)
    kinds = {name: random.choice((set, list, tuple))(its) for name, its in reads.items()}
    if random.random() < 0.3:
        del kinds[random.choice([*kinds])]
    return group, kinds, partitions


HALVES = {"a": range(25), "b": range(25, 50)}
EIGHT = {"a": range(4), "b": range(4, 8)}

who_has_it = exercise(
    instance_of,
    name="Who has it?",
    task="All records of a group are in one partition of `__consumer_offsets`. The broker chose "
    "it by Java's hash of the group's name, and `partition_of(group, partitions)` computes it. "
    "`partitions` is how many the topic has, usually 50.\n\n"
    "Write the function that finds a group's owner: the instance that reads the group's "
    "partition. `instances` has the instances that are up. It's a dictionary from a name to the "
    "partitions that this instance reads: a range, a set or a list of their numbers. Return the "
    "owner's name. If no instance that is up reads the partition, return `None`.\n\n"
    "`partition_of('billing', 50)` is 9. So `instance_of('billing', {'x': range(5), 'y': {9, 20}}, "
    "50)` gives `'y'`, and with `x` alone it gives `None`.",
    cases=[
        case("billing is in partition 9, which `a` reads.", "billing", HALVES, 50),
        case("dashboard is in partition 38, which `b` reads.", "dashboard", HALVES, 50),
        case("dashboard is in partition 38, and `even` reads it. The partitions of an instance "
             "needn't be neighbours.", "dashboard",
             {"odd": set(range(1, 50, 2)), "even": set(range(0, 50, 2))}, 50),
        case("billing is in partition 9. `b` reads it, though `a` reads more partitions.",
             "billing", {"a": [*range(9), *range(10, 50)], "b": [9]}, 50),
        case("polygenelubricants is in partition 0, the first one.",
             "polygenelubricants", HALVES, 50),
        case("billing is in partition 5 of 8, which `b` reads.", "billing", EIGHT, 8),
        case("billing is in partition 9. Its instance is down: `None`.",
             "billing", {"b": HALVES["b"]}, 50),
        case("dashboard is in partition 38. Its instance is down: `None`.",
             "dashboard", {"a": HALVES["a"]}, 50),
        case("No instance is up: `None`.", "billing", {}, 50),
        case("`a` reads no partition at the moment, and `b` reads all.",
             "billing", {"a": [], "b": range(50)}, 50),
    ],
    draw=draw,
    right=[turned_round, where(owner)],
    wrong=[
        wrong("It divides the groups among the instances that are up. The partitions are divided "
              "among the instances: look which one reads the group's partition.",
              where(lambda at, up: [*up][at % len(up)] if up else None)),
        wrong("It returns the partition. Which instance reads it?",
              where(lambda at, instances: at)),
        wrong("It asks whether the partition is between an instance's first and last one. Another "
              "instance may read it.", where(between)),
        wrong("If nobody reads the partition, it names an instance. That instance knows nothing of "
              "the group.", where(lambda at, up: owner(at, up) or next(iter(up))),
              where(lambda at, up: owner(at, up) or min(up, default=None))),
        wrong("If nobody reads the partition, it raises an error. Return `None`.",
              where(lambda at, up: next(name for name, reads in up.items() if at in reads)),
              where(lambda at, up: {n: name for name, reads in up.items() for n in reads}[at])),
        wrong("It returns `None` as soon as one instance doesn't read the partition. Ask all of "
              "them first.", where(of_the_first)),
        wrong("It takes partition 0 for none at all.",
              where(lambda at, instances: owner(at, instances) if at else None)),
        wrong("It takes another number of partitions: use `partitions`, and count from 0.",
              owner_by(lambda group, number: partition_of(group, 50)),
              owner_by(lambda group, number: partition_of(group, number) + 1)),
        wrong("It takes another hash than the broker did. Call `partition_of`.",
              owner_by(lambda group, number: hash(group) % number),
              owner_by(lambda group, number: zlib.crc32(group.encode()) % number)),
    ],
    hints=(
        "Two questions: which partition is the group in, and which instance reads this partition?",
        "`in` tells whether a range, a set or a list has a number. What do you return after the "
        "loop over the instances?",
        "`partition = partition_of(group, partitions)` is the first line, and `if partition in "
        "reads:` the test in a loop over `instances.items()`.",
    ),
    discussion="The owner of a key is the instance that reads the key's partition. Nothing is "
    "searched, so one question goes to one machine. `None` means that nobody can say anything "
    "about the group now. An owner without a row of the group means that there's no such group.\n\n"
    "In chapter 22 our own producer had chosen the partition, by CRC32. Here the broker has, and "
    "whoever asks must compute exactly as it does. The number of partitions was fixed when the "
    "first group joined (`offsets.topic.num.partitions`), so ask the topic for it.",
)  # fmt: skip
