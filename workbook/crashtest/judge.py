"""Compares the results of a killed program with those of runs that nobody killed."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from workbook.crashtest.results import Row
from workbook.crashtest.words import AT_LEAST, AT_MOST, EXACTLY, NEITHER
from workbook.errors import CrashFailed
from workbook.views.picture import number

TABLE, BAG, ID = "table", "bag", "id:"
TOMBSTONE = "(tombstone)"
EXAMPLES = 5

ALIKE = 0.9
"""Of two calm runs' results, the part that both have if they can be compared as a bag."""

Ident = tuple[str, ...]
"""What a result is known by: a record's key, the fields that were named, else its whole value."""


Values = Mapping[Ident, list[str]]
"""By ident the values, in the order in which they came."""


@dataclass(frozen=True)
class Compare:
    """Compare results as a ``table``, as a ``bag``, by an ``id:FIELD``, or as they fit.

    ``ignored`` are fields of JSON values that don't count.
    """

    how: str = ""
    ignored: Sequence[str] = ()

    def read(self, rows: Iterable[Row], strict: bool = True) -> dict[Ident, list[str]]:
        """Return by ident the values in their order.

        A missing field raises ``CrashFailed``; if this isn't ``strict``, the whole value counts.
        """
        found: dict[Ident, list[str]] = defaultdict(list)
        for row in rows:
            value = self._value(row.value)
            found[self._ident(row, value, strict)].append(value)
        return dict(found)

    def _value(self, value: bytes | None) -> str:
        if value is None:
            return TOMBSTONE
        if self.ignored:
            try:
                fields = json.loads(value)
                kept = {n: v for n, v in fields.items() if n not in self.ignored}
                return json.dumps(kept, sort_keys=True, ensure_ascii=False)
            except (ValueError, AttributeError):
                pass  # another kind of value: all of it counts
        return value.decode(errors="backslashreplace")

    def _ident(self, row: Row, value: str, strict: bool) -> Ident:
        if self.how.startswith(ID):
            names = self.how.removeprefix(ID).split(",")
            try:
                fields = json.loads(row.value or b"")
                return tuple(str(fields[name]) for name in names)
            except (ValueError, KeyError, TypeError):
                if not strict:
                    return (value,)
                raise CrashFailed(
                    f"Expected JSON with the field {' and '.join(names)} in each result, but got: "
                    f"{value[:200]}. Name other fields by --compare, or compare as a bag."
                ) from None
        if row.key is None:
            return (value,)
        return (row.key.decode(errors="backslashreplace"),)


@dataclass(frozen=True)
class Truth:
    """Hold what the program does when nobody kills it, from two runs.

    ``unstable`` are the idents in which the two runs differ by themselves: no kill is blamed for
    these. ``moving`` are those with another last value. ``by`` is how it's compared: table or bag.
    ``loose`` is how many results only one of the runs has: as many new ones aren't blamed.
    """

    values: Mapping[Ident, Sequence[str]]
    unstable: frozenset[Ident]
    moving: frozenset[Ident]
    by: str
    why: str
    loose: int = 0

    @property
    def judged(self) -> int:
        """Return how many idents can be judged; 0 if these are less than half."""
        stable = len(self.values.keys() - self.unstable)
        return stable if 2 * stable >= len(self.values.keys() | self.unstable) else 0


def truth_of(compare: Compare, first: Sequence[Row], second: Sequence[Row]) -> Truth:
    """Return what two runs without a kill have in common.

    Unless it's said how to compare: as a bag where both runs had nearly the same records as often,
    else as a table where each record has a key.
    """
    for name in compare.ignored:
        forms = f'"{name}"'.encode(), json.dumps(name).encode()
        if not any(form in (row.value or b"") for row in first for form in forms):
            raise CrashFailed(f"No result has the field {name} that --ignore names.")
    one, two = compare.read(first), compare.read(second)
    differing = {way: _differing(one, two, way) for way in (BAG, TABLE)}
    keyed = all(row.key is not None for row in first)
    if compare.how == TABLE and not keyed:
        raise CrashFailed("Only results with a key are a table: compare by id:FIELD, or as a bag.")
    if compare.how:
        by, why = (TABLE if compare.how == TABLE else BAG), "as you asked"
    elif not differing[BAG]:
        by, why = BAG, "two runs without a kill wrote the same"
    elif _shared(one, two) > ALIKE * max(len(first), len(second)):
        by, why = BAG, "two runs without a kill wrote nearly the same"
    elif keyed:
        by, why = TABLE, "two runs without a kill differ in how often they write a key"
    else:
        by, why = BAG, "no keys"
    loose = max(sum(len(a[ident]) for ident in a.keys() - b) for a, b in ((one, two), (two, one)))
    moving = frozenset(differing[TABLE])
    return Truth(one, frozenset(differing[by]), moving, by, why, loose)


def _differing(one: Values, two: Values, by: str) -> set[Ident]:
    def seen(values: Sequence[str]) -> object:
        return _last(values) if by == TABLE else Counter(values)

    return {ident for ident in {*one, *two} if seen(one.get(ident, ())) != seen(two.get(ident, ()))}


def _last(values: Sequence[str]) -> list[str]:
    """Return a key's last value; none where there is no such key, or no more."""
    return [value for value in values[-1:] if value != TOMBSTONE]


def _shared(one: Values, two: Values) -> int:
    return sum((Counter(its) & Counter(two.get(ident, ()))).total() for ident, its in one.items())


@dataclass
class Verdict:
    """Count what a killed run has lost, written twice, changed, and what nobody expected of it.

    ``examples`` name some of each. ``last_same``: who reads the last value of each key sees no
    difference; None where results have no key.
    """

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    judged: int = 0
    last_same: bool | None = None
    repeats_seen: bool = True

    @property
    def kept(self) -> str:
        """Return what the program kept in this run: a word of ``words.KINDS``."""
        lost, changed = self.counts["lost"], self.counts["changed"]
        more = self.counts["twice"] + self.counts["unexpected"] + self.counts["new"]
        if not lost and not changed and (self.last_same or not self.counts["unexpected"]):
            return AT_LEAST if more or not self.repeats_seen else EXACTLY
        return AT_MOST if lost and not changed and not more else NEITHER

    def note(self, kind: str, number: int, example: str) -> None:
        """Count, and keep a few examples."""
        self.counts[kind] += number
        if len(self.examples[kind]) < EXAMPLES:
            self.examples[kind].append(example)


def judge(truth: Truth, compare: Compare, rows: Sequence[Row], *, whole: bool = True) -> Verdict:
    """Compare results with the truth; what isn't the ``whole`` of them can't have lost any."""
    found = compare.read(rows, strict=False)
    keyed = bool(rows) and all(row.key is not None for row in rows)
    verdict = Verdict(judged=truth.judged, repeats_seen=truth.by == BAG)
    same, new = True, 0
    for ident in {**truth.values, **found}:
        if ident in truth.unstable:
            continue
        expected, got = list(truth.values.get(ident, ())), found.get(ident, [])
        name = "/".join(ident)
        if truth.loose and not expected:
            new += len(got)
            if new > truth.loose:
                verdict.note("new", min(len(got), new - truth.loose), name)
            continue
        if ident not in truth.moving and _last(expected) != _last(got):
            same = False
        if truth.by == TABLE:
            expected, got = _last(expected), _last(got)
        missing, more = Counter(expected) - Counter(got), Counter(got) - Counter(expected)
        if not whole:
            missing.clear()
        known = set(expected)
        again = sum(number for value, number in more.items() if value in known)
        other = [value for value in more.elements() if value not in known]
        changed = min(missing.total(), len(other))
        if changed:
            instead = f"{name}: {other[-1]} in place of {next(iter(missing))}"
            verdict.note("changed", changed, instead)
        if lost := missing.total() - changed:
            verdict.note("lost", lost, f"{name}: {next(iter(missing))}")
        if again:
            verdict.note("twice", again, f"{name}: {number(again, 'time')} more")
        if len(other) > changed:
            verdict.note("unexpected", len(other) - changed, f"{name}: {other[-1]}")
    verdict.last_same = same if keyed else None
    return verdict
