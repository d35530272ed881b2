"""Chapter 42: The viewers of several days."""

import math
from itertools import chain

from workbook.classroom.exercise import case, exercise, wrong


def viewers_of(days, k):
    smallest = sorted({one for day in days for one in day})[:k]
    if len(smallest) < k:
        return len(smallest)
    return round((k - 1) / smallest[-1])


def by_union(days, k):
    hashes = set().union(*days)
    if len(hashes) < k:
        return len(hashes)
    largest = max(sorted(hashes)[:k])
    return round((k - 1) / largest)


def estimated(hashes, k, seen=None, lower=1):
    """Estimate from sorted hashes as the reference does; wrong answers vary it."""
    if len(hashes) < k:
        return len(hashes)
    return round(((seen or k) - lower) / hashes[-1])


def of_day(day, k):
    return estimated(sorted(day), k)


def summed(days, k):
    return sum(of_day(day, k) for day in days)


def listed(days, k):
    return estimated(sorted(one for day in days for one in day)[:k], k)


def uncut(days, k):
    every = sorted(set().union(*days))
    return estimated(every, k, seen=len(every))


def by(whole, hashes, k):
    return len(hashes) if len(hashes) < k else whole((k - 1) / hashes[-1])


def kept(days, k):
    return sorted(set().union(*days))[:k]


USERS = {name: (n * 37 + 11) % 101 / 101 for n, name in enumerate("abcdefghijklmnopqrstuvwxyz")}
"""A hash for each user."""


def day_of(users, k):
    """Make a day's sketch: the k smallest hashes of its users, sorted."""
    return sorted(USERS[user] for user in set(users))[:k]


def week(k, *days):
    return [day_of(day, k) for day in days], k


def draw(random, size):
    k = random.choice((3, 4, 6))
    days = (
        "".join(random.choices("".join(USERS), k=random.randrange(12))) for _ in range(size % 5)
    )
    return week(k, *days)


several_days = exercise(
    viewers_of,
    name="The viewers of several days",
    task="A day's sketch is a sorted list of the `k` smallest hashes of its users, or of all of "
    "them if there are fewer than `k`. Write a function that gets the sketches of several days (a "
    "list of lists, perhaps an empty one) and `k`, and returns how many different users viewed the "
    "ad on these days.\n\n"
    "Merge the sketches: the merged sketch has the `k` smallest hashes of all days' users. If it "
    "has fewer than `k`, return the number of users. Otherwise return `(k - 1) / largest`, "
    "rounded, where `largest` is its largest hash. Don't change the sketches.\n\n"
    "With `k = 3`, `[[0.1, 0.5], [0.5]]` gives 2, and `[[0.1, 0.2, 0.4], [0.1, 0.3]]` gives "
    "`round(2 / 0.3)`, which is 7.",
    cases=[
        case("Two users on one day.", *week(3, "ab")),
        case("The same user viewed the ad on both days, and counts once.", *week(6, "ab", "bc")),
        case("One day's sketch is full, so it's an estimate.", *week(4, "abcdefgh")),
        case("Neither day has k users, but together they have more.", *week(4, "abc", "def")),
        case("Both sketches are full, with different users. Each day has left out hashes that are "
             "larger than its k-th.", *week(4, "abcdefgh", "ijklmnopq")),
        case("Both sketches are full, and some users are in both.",
             *week(4, "abcdefgh", "efghijkl")),
        case("There are exactly k different users, so the sketch is full: estimate.",
             *week(4, "ab", "dg")),
        case("Nobody viewed the ad on the second day.", *week(4, "ab", "")),
        case("No day at all.", [], 4),
        case("The smallest hashes are in the last sketch.",
             [[0.5, 0.6, 0.7], [0.4, 0.8], [0.1, 0.2, 0.3]], 3),
    ],
    draw=draw,
    right=[by_union],
    wrong=[
        wrong("It adds up the days. A user who viewed the ad on two days counts twice: first "
              "merge the sketches, then count.", summed),
        wrong("It merges the lists, but a hash that is in two sketches stays there twice. The same "
              "hash is the same user.", listed,
              lambda days, k: estimated(sorted({*sorted(chain(*days))[:k]}), k)),
        wrong("It uses all hashes of the merged sketches. Only the k smallest are complete: "
              "each day may have left out larger ones.", uncut,
              lambda days, k: estimated(sorted(set().union(*days)), k)),
        wrong("It returns how many hashes are kept, and never more than k. A full sketch knows "
              "only the smallest hashes of its users: estimate how many there are.",
              lambda days, k: len(kept(days, k)), lambda days, k: min(k, len(set().union(*days)))),
        wrong("It divides k by the largest hash. That hash is the end of the range, and k - 1 "
              "hashes are below it: `(k - 1) / largest`.",
              lambda days, k: estimated(kept(days, k), k, lower=0)),
        wrong("It rounds the estimate down or up, or doesn't round it. `round` gives the nearest "
              "whole number.", lambda days, k: by(int, kept(days, k), k),
              lambda days, k: by(math.ceil, kept(days, k), k),
              lambda days, k: by(float, kept(days, k), k)),
        wrong("It estimates only if there are more than k users. With k hashes the sketch is full, "
              "so it may have left out larger ones.",
              lambda days, k: len(kept(days, k)) if len(set().union(*days)) <= k
              else estimated(kept(days, k), k)),
        wrong("It estimates even if there are fewer than k hashes. Then every user is known: count "
              "them.", lambda days, k: round((len(kept(days, k)) - 1) / kept(days, k)[-1])
              if kept(days, k) else 0,
              lambda days, k: round((k - 1) / kept(days, k)[-1]) if kept(days, k) else 0),
    ],
    hints=(
        "What does a hash that two sketches share stand for? And which hashes of the merged "
        "sketches can you trust to be complete?",
        "A set keeps each hash once. Sort it, cut it after k hashes, and count the hashes that "
        "are left before you estimate anything.",
        "`smallest = sorted({one for day in days for one in day})[:k]` is the merged sketch.",
    ),
    discussion="That is a theta sketch: the largest hash in it is called theta. Hashes are spread "
    "evenly between 0 and 1, so if the k-th smallest of n is at 0.01, a hundredth of all hashes "
    "are below it, and n is about 100 × k. Up to k - 1 users our sketch is exact. Apache's sketch "
    "stores theta beside its k hashes, so it is exact up to k. With k = 4,096 the standard error "
    "is 1.6 per cent: of 100 estimates, about 95 are at most 3.1 per cent wrong, whether there are "
    "ten thousand users or ten million.\n\n"
    "Merging loses nothing: the sketch of two days is the same as if one sketch had seen both. "
    "That is why it may be stored per day, and merged for any range of days later.",
)  # fmt: skip
