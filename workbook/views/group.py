"""A topic's partitions in lines: which keys they have; who reads them, and who did so before."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from workbook.views.picture import Picture, number
from workbook.views.strip import Look, Strip

WRITES = "Who writes where: find each key, and its partition"
READS = "Who reads what: each partition has one reader of the group"
STEP_BY_STEP = f"{READS}. The squares: who had it, step by step; hatched: nobody"
BUSIEST, STEPS = 12, 16
"""Keys that are drawn, those with the most records; a group's steps that are drawn, the newest."""

TORN, LETTERS = "⇉ ", 16
"""The sign of a key in several partitions, and letters of a key that are drawn."""

Key = str | None
"""A record's key as text; None where a record has none."""

Step = tuple[str, str, Collection[int]]
"""A callback of a rebalance: a member, "assigned", "revoked" or "lost", and the partitions."""

Held = Mapping[str, Collection[int]]
"""The partitions of each member."""


def who_writes(
    written: Iterable[tuple[str | bytes | None, int]], partitions: int, *, mark: Key = None
) -> Picture:
    """Draw each partition with its keys, from the key and partition of each record.

    Of many keys the twelve with the most records are drawn, and ``mark`` in any case, with a sign.
    """
    records, of_key, of_partition = Counter[tuple[Key, int]](), Counter[Key](), Counter[int]()
    for (key, partition), count in Counter(written).items():
        text = key.decode(errors="backslashreplace") if isinstance(key, bytes) else key
        records[text, partition] += count
        of_key[text] += count
        of_partition[partition] += count
    if not records:
        return Picture(Strip(1), WRITES)
    partitions = max(partitions, *(partition + 1 for _, partition in records))
    named = sorted((key for key in of_key if key is not None), key=lambda key: (-of_key[key], key))
    torn = {key for key, homes in Counter(key for key, _ in records).items() if homes > 1} - {None}
    drawn: list[Key] = [*named[:BUSIEST]]
    marked = mark is not None and mark in of_key
    if marked and mark not in drawn:
        drawn[-1] = mark
    strip, rows, most = Strip(2, widest=20), [], max(of_partition.values())
    _head(strip, "keys · records", "partition", "records")
    for partition in range(partitions):
        count = of_partition[partition]
        there = [key for key in [*drawn, None] if records[key, partition]]
        keys = [_named(key, records[key, partition], key in torn, mark) for key in there]
        _partition(strip, partition, ", ".join(keys))
        strip.text(1, f"{'█' * round(8 * count / most)} {count:,}", align="left")
        rows.append({"partition": partition, "records": count, "keys": ", ".join(keys) or "–"})
    if torn:
        strip.note(f"{TORN}a key in several partitions")
    words = (
        f"{number(of_key.total(), 'record')} in {number(partitions, 'partition')}, "
        f"{number(len(named), 'key')}; keys in several partitions: {len(torn):,}."
    )
    if len(named) > len(drawn):
        words += f" Drawn: the {len(drawn)} with the most records{' and yours' * marked}."
    return Picture(strip, WRITES, words, rows)


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
    words = _read(owned, partitions)
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


def _named(key: Key, count: int, torn: bool, mark: Key) -> str:
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
    """Say who reads what: "A reads 0, 1, 2; nobody reads 3."."""
    unread = [p for p in range(partitions) if not _holders(owned, p)]
    its = {**owned, **({"nobody": unread} if unread else {})}
    said = (
        f"{name} reads {', '.join(map(str, sorted(of))) or 'nothing'}" for name, of in its.items()
    )
    return "; ".join(said) + "."
