"""A topic in the middle: who writes where on its left, who reads what on its right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from workbook.views.drawing import BLUE, GREEN, GREY, INK, ORANGE, PAPER, Drawing, wide
from workbook.views.picture import Picture, number
from workbook.views.shares import Key, Shares, Step, described, ranges, shares

WRITES = "Who writes where: follow each key to its partition"
READS = "Who reads what: each partition has one reader of the group"
STEP_BY_STEP = f"{READS}. The squares: who had it, step by step; hatched: nobody"
COLOURS = (BLUE, GREEN, ORANGE)
SIDE, HEAD, KEYS, PARTITION, MEMBER, GAP = 8, 26, 150, 170, 90, 120
KEY_ROW, STEP = 20, 18
BUSIEST = 12
"""So many keys are drawn at most, those with the most records."""

STEPS = 16
"""So many steps of a group are drawn at most, the newest ones."""


def who_writes(
    written: Iterable[tuple[str | bytes | None, int]],
    partitions: int,
    *,
    mark: str = "",
    caption: str = WRITES,
) -> Picture:
    """Draw the key and partition of each record: keys on the left, partitions on the right.

    Of many keys the twelve with the most records are drawn, and ``mark`` in any case, in bold. Of
    more than 100,000 records a sample is counted.
    """
    return group(shares(partitions, written), caption, mark)


def who_reads(
    owned: Mapping[str, Collection[int]],
    log: Sequence[Step],
    partitions: int,
    *,
    written: Iterable[tuple[str | bytes | None, int]] = (),
    caption: str = "",
) -> Picture:
    """Draw which member of a group owns which partitions, and what its callbacks were called with.

    ``log`` has member, "assigned", "revoked" or "lost", and partitions. Both may change meanwhile.
    """
    caption = caption or (STEP_BY_STEP if log else READS)
    return group(shares(partitions, written, owned, log), caption)


@dataclass(frozen=True)
class _Page:
    """Where things stand on the sheet."""

    keys: Sequence[Key]
    more: int
    partitions: int
    members: Sequence[str]
    steps: int

    @property
    def row(self) -> float:
        return 30 if self.partitions <= 12 else 22

    @property
    def height(self) -> float:
        left = len(self.keys) + (self.more > 0)
        rows = max(left * KEY_ROW, self.partitions * self.row, len(self.members) * 40.0, 40)
        return HEAD + rows + SIDE

    @property
    def box(self) -> float:
        """Return where the partitions' boxes begin."""
        return SIDE + (KEYS + GAP if self.keys else 0)

    @property
    def member(self) -> float:
        return self.box + PARTITION + GAP

    @property
    def squares(self) -> float:
        return self.member + MEMBER + 30

    @property
    def width(self) -> float:
        if not self.members:
            return self.box + PARTITION + GAP
        return (self.squares + STEP * self.steps if self.steps else self.member + MEMBER) + SIDE

    def key_at(self, index: int) -> float:
        return self._middle(index, len(self.keys) + (self.more > 0))

    def partition_at(self, index: int) -> float:
        return self._middle(index, self.partitions)

    def member_at(self, index: int) -> float:
        return self._middle(index, len(self.members))

    def _middle(self, index: int, count: int) -> float:
        return HEAD + (self.height - HEAD - SIDE) * (index + 0.5) / count


def group(all_of: Shares, caption: str, mark: str = "") -> Picture:
    """Draw keys, partitions and members, as far as there are any."""
    keys = _drawn_keys(all_of, mark)
    named = [key for key in keys if key is not None]
    page = _Page(
        keys,
        all_of.keys - len(named),
        all_of.partitions,
        list(all_of.reads or ()),
        min(len(all_of.log) + 1, STEPS) if all_of.log else 0,
    )
    drawing = Drawing(page.width, page.height)
    _draw_keys(drawing, page, all_of, mark)
    _draw_members(drawing, page, all_of)
    _draw_partitions(drawing, page, all_of)
    _draw_history(drawing, page, all_of)
    return Picture(drawing, caption, described(all_of, len(named), mark), _rows(all_of))


def _drawn_keys(all_of: Shares, mark: str) -> list[Key]:
    """Return the busiest keys in the order of their partitions, and None for what has none."""
    busiest = all_of.busiest(BUSIEST)
    if mark and mark in all_of.homes and mark not in busiest:
        busiest[-1] = mark
    ordered: list[Key] = sorted(busiest, key=lambda key: (sorted(all_of.homes[key]), key))
    return [*ordered, None] if None in all_of.homes else ordered


def _draw_keys(drawing: Drawing, page: _Page, all_of: Shares, mark: str) -> None:
    if page.keys:
        drawing.text(SIDE + KEYS, 14, "keys", anchor="end", bold=True)
    for index, key in enumerate(page.keys):
        y = page.key_at(index)
        places = all_of.homes[key]
        label = "no key" if key is None else _short(key) or "(empty)"
        label, bold = f"{label} · {all_of.of_key[key]:,}", bool(mark) and key == mark
        drawing.text(SIDE + KEYS, y + 4, label, anchor="end", size=11, bold=bold)
        for place in places:
            drawing.line(
                [(SIDE + KEYS + 6, y), (page.box, page.partition_at(place))],
                colour=COLOURS[place % 3], thick=2.5 if len(places) > 1 and key else 1.2,
                dashed=key is None,
            )  # fmt: skip
    if page.more:
        y = page.key_at(len(page.keys))
        drawing.text(SIDE + KEYS, y + 4, f"… and {page.more:,} more", anchor="end", size=11)


def _draw_partitions(drawing: Drawing, page: _Page, all_of: Shares) -> None:
    drawing.text(page.box, 14, "partitions", bold=True)
    most = max(all_of.of_partition.values(), default=0)
    for partition in range(page.partitions):
        count, y = all_of.of_partition[partition], page.partition_at(partition)
        height = page.row - 4
        top = y - height / 2
        drawing.box(page.box, top, PARTITION, height, fill=PAPER, title=f"partition {partition}")
        drawing.text(page.box + 8, y + 4, str(partition), bold=True)
        if all_of.records:
            words = number(count, "record")
            drawing.text(page.box + PARTITION - 8, y + 4, words, anchor="end", size=11)
            drawing.box(
                page.box, top + height - 4, PARTITION * count / most, 4, fill=BLUE, edge=BLUE
            )
        if partition in all_of.unread:
            drawing.cross(page.box + PARTITION + 12, y)
            drawing.text(page.box + PARTITION + 22, y + 4, "nobody reads it", size=10)


def _draw_members(drawing: Drawing, page: _Page, all_of: Shares) -> None:
    if page.members:
        drawing.text(page.member, 14, "members", bold=True)
    for index, name in enumerate(page.members):
        y, its = page.member_at(index), (all_of.reads or {})[name]
        for partition in sorted(its):
            drawing.line(
                [(page.box + PARTITION, page.partition_at(partition)), (page.member, y)],
                colour=COLOURS[index % 3], thick=2, dashed=index % 2 == 1,
            )  # fmt: skip
        drawing.box(page.member, y - 17, MEMBER, 34, fill=PAPER, corner=17, title=name)
        drawing.text(page.member + MEMBER / 2, y - 2, _short(name), anchor="middle", bold=True)
        words = f"reads {ranges(its)}" if its else "reads nothing"
        words = words if wide(words, 10) < MEMBER else f"reads {len(its)}"
        drawing.text(page.member + MEMBER / 2, y + 11, words, anchor="middle", size=10)


def _draw_history(drawing: Drawing, page: _Page, all_of: Shares) -> None:
    """Draw a square per partition and step, with the first letters of who had it then."""
    for column, held in enumerate(all_of.history[-page.steps :] if page.steps else ()):
        x = page.squares + STEP * column
        newest = column == page.steps - 1
        if newest:
            drawing.text(x + STEP, 14, "now", anchor="end", size=10)
        for partition in range(page.partitions):
            names = [name for name, its in held.items() if partition in its]
            drawing.box(
                x, page.partition_at(partition) - STEP / 2, STEP, STEP, "+".join(names)[:2],
                hatched=not names, edge=INK if newest else GREY, size=10,
                title=f"partition {partition}: {' and '.join(names) or 'nobody'}",
            )  # fmt: skip


def _short(name: str) -> str:
    return name if len(name) <= 13 else f"{name[:12]}…"


def _rows(all_of: Shares) -> list[dict[str, str | int]]:
    rows: list[dict[str, str | int]] = []
    keys = Counter(partition for key, partition in all_of.records if key is not None)
    for partition in range(all_of.partitions):
        row: dict[str, str | int] = {"partition": partition}
        if all_of.records:
            row["records"] = all_of.of_partition[partition]
            row["keys"] = keys[partition]
        if all_of.reads is not None:
            row["read by"] = ", ".join(all_of.readers_of(partition)) or "nobody"
        if all_of.log:
            row["had by, step by step"] = " ".join(
                "+".join(n for n, its in held.items() if partition in its) or "–"
                for held in all_of.history[-STEPS:]
            )
        rows.append(row)
    return rows
