"""Chapter 44: Split the ring into ranges of tokens."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import wraps
from itertools import pairwise

from workbook.classroom.exercise import case, exercise, wrong
from workbook.sources.token_ranges import FIRST, LAST

TOKENS = LAST - FIRST


def split(n):
    bounds = [FIRST + 2**64 * part // n for part in range(n)] + [LAST]
    return [(bounds[part], bounds[part + 1]) for part in range(n)]


@dataclass(frozen=True)
class Ranges:
    """Ranges that an answer returned; those with the same fault are equal."""

    fault: str
    shown: str = field(compare=False)

    def __repr__(self):
        return f"{self.shown}\n{self.fault or 'each token is in exactly one of them'}"


def judged(answer):
    """Return a function of ``n``: it says what is wrong with the ranges, if anything is."""

    @wraps(answer)
    def tried(n):
        found = answer(n)
        if found is None or isinstance(found, Iterator):  # the engine has a word on these
            return found
        if not isinstance(found, (list, tuple)):
            return Ranges("not a list", f"{found!r:.200}")
        more = f", … ({len(found):,} in all)" if len(found) > 4 else ""
        return Ranges(fault(found, n), ", ".join(f"{each!r:.60}" for each in found[:4]) + more)

    return tried


def fault(found, n):
    if not all(isinstance(each, (list, tuple)) and len(each) == 2 for each in found):
        return "not each element is a pair (first, last)"
    if not all(type(token) is int for each in found for token in each):
        return "not each token is a whole number (int)"
    if len(found) != n:
        return f"{len(found)} instead of {n}"
    found = sorted(map(tuple, found))
    for number, (first, last) in enumerate(found, 1):
        if first >= last:
            return f"range {number}: the first token isn't smaller than the last one"
    for number, ((_, last), (first, _)) in enumerate(pairwise(found), 1):
        if first != last:
            what = "one token" if abs(first - last) == 1 else "many tokens"
            where = "none of them" if first > last else "both"
            return f"ranges {number} and {number + 1}: {what} in {where}"
    for what, is_, asked in (("begin", found[0][0], FIRST), ("end", found[-1][1], LAST)):
        if is_ != asked:
            return f"together they {what} too {'late' if is_ > asked else 'early'}"
    lengths = [last - first for first, last in found]
    return "their lengths differ by more than 1 %" if max(lengths) > 1.01 * min(lengths) else ""


def step_wise(n):
    firsts = [FIRST + part * (2**64 // n) for part in range(n)]
    return [[first, first + 2**64 // n if first < firsts[-1] else LAST] for first in firsts]


def moved(begin=0, end=0, lowest=FIRST, highest=LAST):
    """Move the bounds between ranges, and the ends of the ring: wrong answers vary them."""

    def answer(n):
        bounds = [lowest + (highest - lowest) * part // n for part in range(1, n)]
        firsts = [lowest, *(bound + begin for bound in bounds)]
        lasts = [*(bound + end for bound in bounds), highest]
        return list(zip(firsts, lasts, strict=True))

    return answer


def halved(n):
    ranges = [(FIRST, LAST)]
    while len(ranges) < n:
        first, last = ranges.pop(0)
        ranges += [(first, (first + last) // 2), ((first + last) // 2, last)]
    return ranges


def by_steps(step):
    return lambda n: [(FIRST + k * step(n), FIRST + (k + 1) * step(n)) for k in range(n)]


token_ring = exercise(
    split,
    name="Split the ring into ranges of tokens",
    task="A token is a whole number from `FIRST`, which is -2**63, to `LAST`, which is 2**63 - 1. "
    "The condition of a range is `token(ad) > first AND token(ad) <= last`. No row has the token "
    "`FIRST`.\n\n"
    "Write `split(n)`. It returns a list of n ranges, each a pair (first, last) of whole numbers. "
    "Each token but `FIRST` is in exactly one range. All are about equally long: the longest has "
    "at most 1 % more tokens than the shortest. `n` is any whole number from 1 to 1,000.\n\n"
    "For example, `split(2)` may return `[(-9223372036854775808, 0), (0, 9223372036854775807)]`.",
    cases=[
        case("Do they begin at `FIRST`, end at `LAST`, and does each begin where one ends?",
             2),
        case("One range is the whole ring: `(FIRST, LAST)`.", 1),
        case("2**64 can't be divided by 3. Are the three about equally long, and up to `LAST`?",
             3),
        *(case("Are there n ranges? Is each token in exactly one of them?", n)
          for n in (4, 7, 10, 12, 32, 64, 100, 999, 1000)),
    ],
    draw=lambda random, size: (1 + random.randrange(1, 3 + size**2 // 2),),
    right=[step_wise, moved(), lambda n: split(n)[::-1]],
    wrong=[
        wrong("One token between two ranges is in neither. `first` is excluded, so it's the same "
              "number as the `last` of the range before.", moved(begin=1), moved(end=-1)),
        wrong("One token is in two ranges. `first` is excluded and `last` is included, so they're "
              "the same number, without a `- 1` or `+ 1`.", moved(begin=-1), moved(end=1)),
        wrong("It begins after `FIRST`. Half of all tokens are negative, and `first` is excluded: "
              "begin with `FIRST` itself.", moved(lowest=FIRST + 1), moved(lowest=0),
              moved(lowest=0, highest=2**64)),
        wrong("It leaves out the largest token. `last` is included, so the last range ends at "
              "`LAST`, which is 2**63 - 1.", moved(highest=LAST - 1)),
        wrong("It ends at 2**63. The largest token is 2**63 - 1; Cassandra refuses a larger one. "
              "Did you divide by `/`? A float can't tell these two numbers apart: use `//`.",
              moved(highest=LAST + 1),
              lambda n: [tuple(map(int, each)) for each in by_steps(lambda n: 2**64 / n)(n)]),
        wrong("`/` makes a float. It has 53 bits for digits, so it can't tell 2**63 - 1 from "
              "2**63. Use `//`.", by_steps(lambda n: 2**64 / n)),
        wrong("Whole division leaves a remainder, and those tokens are in no range. Let the last "
              "range end at `LAST`.", by_steps(lambda n: TOKENS // n),
              by_steps(lambda n: 2**64 // n)),
        wrong("It begins before `FIRST`, which is the smallest of all tokens.",
              moved(lowest=FIRST - 1)),
        wrong("These are bounds. Make a pair of each bound and the next one.",
              lambda n: [*(first for first, _ in split(n)), LAST]),
        wrong("It returns one range only. Is `return` inside the loop?", lambda n: split(n)[:1]),
        wrong("It ignores n. The two ranges of the example are for n = 2.", lambda n: split(2)),
        wrong("It halves ranges, so they are about equally long only if n is a power of two.",
              halved),
        wrong("Return a list of pairs: `[(first, last), …]`.", lambda n: {}),
        wrong("In each pair, `first` and `last` are swapped: no token would be greater than "
              "`first` and at most `last`.", lambda n: [(last, first) for first, last in split(n)]),
        wrong("If n doesn't divide the ring, the remainder becomes one range too many. Add "
              "it to the last of the n ranges.",
              lambda n: [(a, min(a + TOKENS // n, LAST)) for a in range(FIRST, LAST, TOKENS // n)]),
    ],
    rehearse=judged,
    hints=(
        "n ranges have n + 1 bounds, the ends of the ring included. Which numbers are they?",
        "The first bound is `FIRST` and the last one is `LAST`. Part number k begins at `FIRST` "
        "plus k nth parts of the ring: multiply first, then divide by `//`.",
        "`bounds = [FIRST + 2**64 * part // n for part in range(n)] + [LAST]` has all bounds.",
    ),
    discussion="A range's `last` is the next one's `first`, so there's neither a gap nor an "
    "overlap, whatever n is. And ranges of the same length have about the same number of ads, "
    "since a hash spreads them evenly. They needn't have the same number of rows: a popular ad "
    "has more.",
)  # fmt: skip
