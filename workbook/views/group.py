"""A topic's partitions in lines: which keys they have; who reads them, and who did so before."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from workbook.views.picture import Picture, number, places, ranges
from workbook.views.strip import Look, Strip

WRITES = "Who writes where: find each key, and its partition"
READS = "Who reads what: each partition has one reader of the group"
STEP_BY_STEP = f"{READS}. The squares: who had it, step by step; hatched: nobody"
BUSIEST, NAMED, STEPS = 12, 3, 16
"""Keys that are drawn, those with the most records; keys that are named because they are in several
partitions; a group's steps that are drawn, the newest ones."""

TORN, LETTERS = "⇉ ", 16
"""The sign of a key in several partitions, and letters of a key that are drawn."""

Key = str | None
"""A record's key as text; None where a record has none."""

Step = tuple[str, str, Collection[int]]
"""A callback of a rebalance: a member, "assigned", "revoked" or "lost", and the partitions."""

Held = Mapping[str, Collection[int]]
"""The partitions of each member."""


def who_writes(
    written: Iterable[tuple[str | bytes | None, int]], partitions: int, *, mark: str = ""
) -> Picture:
    """Draw each partition with its keys, from the key and partition of each record.

    Of many keys the twelve with the most records are drawn, and ``mark`` in any case, with a sign.
    """
    records, of_key = Counter[tuple[Key, int]](), Counter[Key]()
    homes = defaultdict[Key, list[int]](list)
    for (key, partition), count in Counter(written).items():
        text = key.decode(errors="backslashreplace") if isinstance(key, bytes) else key
        homes[text] += [partition] * ((text, partition) not in records)
        records[text, partition] += count
        of_key[text] += count
    if not records:
        return Picture(Strip(1), WRITES)
    partitions = max(partitions, *(partition + 1 for _, partition in records))
    of_partition, keys = [0] * partitions, [0] * partitions
    for (key, partition), count in records.items():
        of_partition[partition] += count
        keys[partition] += key is not None
    busiest = sorted(key for key in homes if key is not None)
    busiest.sort(key=lambda key: -of_key[key])
    drawn: list[Key] = [*busiest[:BUSIEST]]
    if mark in homes and mark not in drawn:
        drawn[-1] = mark
    strip = Strip(2, widest=20)
    _head(strip, "keys · records", "partition", "records")
    for partition, count in enumerate(of_partition):
        names = [
            _named(key, records[key, partition], len(homes[key]) > 1, mark)
            for key in [*drawn, None]
            if records[key, partition]
        ]
        _partition(strip, partition, ", ".join(names))
        strip.text(1, f"{'█' * round(8 * count / max(of_partition))} {count:,}", align="left")
    if any(len(homes[key]) > 1 for key in busiest):
        strip.note(f"{TORN}a key in several partitions")
    words = _words(homes, of_key.total(), partitions, mark)
    rows = [
        {"partition": place, "records": count, "keys": keys[place]}
        for place, count in enumerate(of_partition)
    ]
    return Picture(strip, WRITES, words, rows)


def _words(homes: Mapping[Key, Sequence[int]], records: int, count: int, mark: str) -> str:
    """Say how many keys there are, which of them are torn apart, and where the marked one is."""
    named = [key for key in homes if key is not None]
    torn = [f"{key} in {ranges(homes[key])}" for key in named if len(homes[key]) > 1]
    more = ", …" * (len(torn) > NAMED)
    said = [
        f"{number(records, 'record')} in {number(count, 'partition')}, {number(len(named), 'key')}",
        f"keys in several partitions: {'; '.join(torn[:NAMED]) or 'none'}{more}",
    ]
    if None in homes:
        said.append(f"without a key: {places(homes[None])}")
    if mark in homes:
        said.append(f"{mark}: {places(homes[mark])}")
    return "; ".join(said) + "."


def who_reads(owned: Held, log: Sequence[Step], partitions: int) -> Picture:
    """Draw which member of a group owns which partitions, and what its callbacks were called with.

    ``log`` has member, "assigned", "revoked" or "lost", and partitions. Both may change meanwhile.
    """
    owned, log = {name: set(those) for name, those in dict(owned).items()}, list(log)
    seen = [partition for those in owned.values() for partition in those]
    partitions = max(partitions, max(seen, default=-1) + 1)
    history = _history(owned, log)[-STEPS:] if log else []
    strip = _draw_readers(owned, history, partitions)
    rows = []
    for partition in range(partitions):
        row = {"partition": str(partition), "read by": _holders(owned, partition) or "nobody"}
        if log:
            row["had by, step by step"] = " ".join(_holders(h, partition) or "–" for h in history)
        rows.append(row)
    words = _read(owned, partitions) + _handed(log)
    return Picture(strip, STEP_BY_STEP if log else READS, words, rows)


def _draw_readers(owned: Held, history: Sequence[Held], partitions: int) -> Strip:
    strip = Strip(2 + len(history), widest=20)
    _head(strip, "", "partition", "read by")
    if history:
        strip.bracket(2, 2 + len(history), "had by, step by step, until now")
    for partition in range(partitions):
        _partition(strip, partition)
        now = _holders(owned, partition)
        strip.cell(1, now or "✗\N{NO-BREAK SPACE}nobody", Look.ROUND if now else Look.HATCHED)
        for column, held in enumerate(history, 2):
            name = _holders(held, partition)
            title = f"partition {partition}: {name or 'nobody'}"
            strip.cell(column, name[:2], Look.PLAIN if name else Look.HATCHED, title=title)
    for name in (name for name, its in owned.items() if not its):
        strip.note(f"{name} reads nothing")
    return strip


def _head(strip: Strip, name: str, *titles: str) -> None:
    strip.next(name)
    for column, title in enumerate(titles):
        strip.text(column, title, bold=True)


def _partition(strip: Strip, partition: int, keys: str = "") -> None:
    strip.next(keys, bold=False)
    strip.cell(0, str(partition), title=f"partition {partition}", bold=True)


def _named(key: Key, count: int, torn: bool, mark: str) -> str:
    """Name a key with its signs and the number of its records."""
    if key is None:
        return f"no key · {count:,}"
    signs = TORN * torn + "▶ " * (key == mark)
    return f"{signs}{key[:LETTERS] or '(empty)'} · {count:,}"


def _history(owned: Held, log: Sequence[Step]) -> list[Held]:
    """Return who had which partitions: before the first step, and after each one."""
    states = [owned]
    for name, what, those in reversed(log):
        held = {each: set(its) for each, its in states[-1].items()}
        its = held.setdefault(name, set())
        held[name] = its - set(those) if what == "assigned" else its | set(those)
        states.append(held)
    return states[::-1]


def _holders(held: Held, partition: int) -> str:
    return "+".join(name for name, its in held.items() if partition in its)


def _read(owned: Held, partitions: int) -> str:
    """Say who reads what."""
    said = [f"{name} reads {places(its) if its else 'nothing'}" for name, its in owned.items()]
    unread = [p for p in range(partitions) if not _holders(owned, p)]
    said += [f"nobody reads {places(unread)}"] * bool(unread)
    return "; ".join(said) + "."


def _handed(log: Sequence[Step]) -> str:
    """Say how many partitions were taken away, and how many of them another member got."""
    former: dict[int, str] = {}
    taken = given = 0
    for name, what, those in log:
        for partition in those:
            if what != "assigned":
                former[partition], taken = name, taken + 1
            else:
                given += former.pop(partition, name) != name
    return f" Taken away: {taken:,}; given to another reader: {given:,}." if log else ""
