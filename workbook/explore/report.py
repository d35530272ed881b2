"""Shows the figures: as tables of a terminal, as an HTML file, as JSON. No value of a record."""

import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from rich import box
from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from workbook.errors import plain
from workbook.explore.figures import SHARES, TIMED, TOLD_S, Figures, recommended
from workbook.explore.plan import Plan
from workbook.explore.rows import AHEAD, EMPTY, REASONS, Choice
from workbook.explore.sample import AVRO, JSON, Field, Sample

BARS = " ▁▂▃▄▅▆▇█"
WIDEST, MOST_OTHERS = 36, 12
"""Bars of a chart: its line fits into 80 columns; and fields that a list names."""

SETTINGS = {
    "cleanup.policy": "cleaned up by", "retention.ms": "kept for",
    "compression.type": "compression", "message.timestamp.type": "the records' timestamps",
}  # fmt: skip


@dataclass(frozen=True)
class Report:
    """What is known of a topic. Times are in ms, shares between 0 and 1."""

    plan: Plan
    sample: Sample
    choice: Choice
    figures: Figures
    window_ms: int
    loss: float

    @property
    def advice(self) -> str:
        """Return which delay to take, and what it costs, as a sentence."""
        best = recommended(self.figures.watermarks, self.loss)
        if not self.figures.watermarks:
            if self.figures.reasons[REASONS[EMPTY]] == self.figures.reasons["records"]:
                return "No record has a value, so there is nothing to count in windows."
            if self.figures.reasons[REASONS[AHEAD]]:
                return (
                    "All times are more than five minutes ahead of their arrival: a time without a "
                    "zone is taken for UTC. Look with --time record."
                )
            return "No record has a time that can be read: name another field by --time."
        if best is None:
            return (
                f"No watermark up to 30 days loses at most {share(self.loss)} here: look at the "
                "lateness within the partitions, or choose another --time."
            )
        delay, records = span(1000 * best["delay_s"]), self.figures.reasons["records"]
        few = f" But {records:,} records are too few to tell a loss of {share(self.loss)}."
        few = few if records * self.loss < 1 else ""
        return (
            f"A watermark of {delay} loses {share(best['live'])} of the records read as they "
            f"arrived ({share(best['backlog'])} of a backlog, {share(best['clocks'])} with a clock "
            f"per partition), and keeps at most {best['groups']:,} windows of a key open.{few}"
        )

    def to_json(self) -> str:
        """Return all of it as JSON."""
        best = recommended(self.figures.watermarks, self.loss)
        known = {
            "topic": self.plan.topic, "partitions": self.plan.partitions,
            "ranges": {str(n): [*at] for n, at in self.plan.ranges.items()},
            "settings": {name: self.plan.settings.get(name) for name in SETTINGS},
            "format": self.sample.format, "formats": dict(self.sample.formats),
            "fields": {f.name: dict(f.types) for f in self.sample.fields.values()},
            "sampled": self.sample.records,
            "time": _name(self.choice.time), "key": _name(self.choice.key),
            "id": _name(self.choice.id), "window_ms": self.window_ms, "loss": self.loss,
            "recommended_s": None if best is None else best["delay_s"], **asdict(self.figures),
        }  # fmt: skip
        return json.dumps(known, indent=1)  # half a surrogate is no UTF-8

    def html(self) -> str:
        """Return it as a page without scripts."""
        drawn = console(record=True, width=110, file=io.StringIO())
        drawn.print(format_of(self.sample), *self.parts())
        return drawn.export_html(inline_styles=True)

    def parts(self) -> list[Any]:
        """Return the tables and sentences of the report but those of ``format_of``, in order."""
        made = [self._topic(), self._times(), self._keys(), self._repeats()]
        if self.figures.table is not None:
            made.append(self._table())
        return [*made, self._watermarks(), Padding(Text(self.advice, style="bold"), (1, 0))]

    def _topic(self) -> Group:
        figures, plan = self.figures, self.plan
        records, places = figures.reasons["records"], figures.partitions
        gaps, moved = plan.offsets - records, sum(each["bytes"] for each in places)
        first, last = min(each["first"] for each in places), max(each["last"] for each in places)
        lacking = [f"{n:,} {words}" for why, words in REASONS.items()
                   if why != AHEAD and (n := figures.reasons[words])]  # fmt: skip
        done = "decoded" if self.sample.format in (JSON, AVRO) else "taken as they are"
        pace = figures.minutes
        told = [f"{bars(pace)} {min(pace):,} to {max(pace):,}"] if pace else []
        headers = [f"{name} ({n:,})" for name, n in self.sample.headers.most_common(8)]
        rows = [
            ("records", f"{records:,} of {plan.held:,} offsets; {gaps:,} offsets had none"),
            (done, ", ".join([f"{figures.reasons['decoded']:,}", *lacking])),
            ("arrived", f"{moment(first)} to {moment(last)} UTC"),
            ("partitions", f"{plan.partitions:,}; {_busiest(figures)}"),
            ("longest silence", _silence(figures)),
            ("timestamps that go back", self._share(sum(each["backwards"] for each in places))),
            ("bytes", f"{moved:,}; a record {_quantiles(figures.sizes, size)}"),
            *(("records a minute", words) for words in told),
            ("without a key", self._share(figures.reasons["no key"])),
            ("headers in the sample", ", ".join(headers) or "none"),
        ]
        for name, words in SETTINGS.items():
            if name == "retention.ms" and plan.settings.get("cleanup.policy") == "compact":
                continue  # it doesn't apply
            if value := plan.settings.get(name):
                for_ever = name == "retention.ms" and value == "-1"
                shown = span(int(value)) if name == "retention.ms" else value
                rows.append((words, "ever" if for_ever else shown))
        return _section(f"2 · What is in {plan.topic}", _pairs(rows))

    def _times(self) -> Group:
        figures = self.figures
        table = _columns("", "least", *(f"p{100 * q:g}" for q in SHARES), "most")
        rows = {"delay": figures.delay, "lateness": figures.lateness}
        for words, found in rows.items():
            if found:
                table.add_row(words, *(span(value) for value in found.values()))
        told = [f"{self._share(n)} {words}" for words, n in figures.times.items() if words != TIMED]
        notes = [
            "delay: arrival − event time; lateness: newest event time so far in the partition "
            "− event time.",
            f"Shares of the records: {', '.join(told)}.",
            *_others("time", self.sample.times, self.choice.time),
        ]
        if any(late := figures.late):
            when = f"{bars(late)} {min(late):,} to {max(late):,} a minute"
            notes.insert(1, f"Arrivals of the records later than p99: {when}.")
        name = _name(self.choice.time) or "the record's timestamp"
        return _section(f"3 · Event time: {name}", table, *notes)

    def _keys(self) -> Group:
        keys = self.figures.keys
        shares = "  ".join(share(each) for each in keys["shares of the first ten"])
        rows = [
            ("different", f"{keys['different']:,} in {keys['of records']:,} records"),
            ("shares of the first ten", shares or "–"),
            ("in several partitions", f"{keys['in several partitions']:,} of them"),
        ]
        name = _name(self.choice.key) or "the record's key"
        others = _others("key", self.sample.keys, self.choice.key)
        return _section(f"4 · Keys: {name}", _pairs(rows), *others)

    def _repeats(self) -> Group:
        repeats, of = self.figures.repeats, _name(self.choice.id) or "values"
        rows = [("repeated", f"{n:,}, {self._share(n)}" if (n := repeats["again"]) else "none")]
        if repeats["apart"]:
            rows.append(("time between repeats", _quantiles(repeats["apart"], span)))
        return _section(f"5 · Repeats: equal {of}", _pairs(rows))

    def _table(self) -> Group:
        found = self.figures.table or {}
        rows = [
            ("rows now", f"{found['rows now']:,} of the {found['keys']:,} keys that were read"),
            ("changes per key", f"{found['changes per key'] or 0:.1f}"),
        ]
        return _section("The topic is compacted: it holds a table", _pairs(rows))

    def _watermarks(self) -> Group:
        table = _columns("watermark", "live", "backlog", "clocks", "windows", "windows of a key")
        best = recommended(self.figures.watermarks, self.loss)
        for each in self.figures.watermarks:
            if each["delay_s"] in TOLD_S or each is best:
                lost = (share(each[way]) for way in ("live", "backlog", "clocks"))
                kept = (f"{each[kind]:,}" for kind in ("windows", "groups"))
                delay = "▶ " * (each is best) + span(1000 * each["delay_s"])
                table.add_row(delay, *lost, *kept)
        return _section(
            f"6 · What a watermark costs, for windows of {span(self.window_ms)}",
            table,
            "Records lost: live, read as they arrived, in micro-batches of a second; backlog, read "
            "in a hundred micro-batches with one clock, as on Spark; clocks, the same with a clock "
            "per partition. Windows: the most that are open at once, live; each window of a key is "
            "a row of Spark's state.",
        )

    def _share(self, number: int) -> str:
        return share(number / max(self.figures.reasons["records"], 1))


def format_of(sample: Sample) -> Group:
    """Return the part that a sample alone tells: format and fields."""
    table = _columns("field", "there in", "types", "may be the")
    for field in sample.fields.values():
        many = len(field.types) > 1
        kinds = field.types.most_common()
        unit = f"time ({field.unit})" if field in sample.times else ""
        table.add_row(
            plain(field.name),
            share(field.there / max(sample.formats[sample.format], 1)),
            ", ".join(f"{k} {share(n / field.there)}" if many else k for k, n in kinds),
            unit,
        )
    notes = [
        f"✗ {sample.formats[form]:,} of the sample: {form}; one is at partition {at[0]}, "
        f"offset {at[1]}."
        for form, at in sample.odd.items()
    ]
    title = f"1 · Format: {sample.format}, by a sample of {sample.records:,} records"
    return _section(title, *([table] if sample.fields else []), *notes)


def console(**how: Any) -> Console:
    """Return a console that takes texts as they are: others choose the names of fields."""
    return Console(markup=False, highlight=False, emoji=False, **how)


def _section(title: str, *below: Any) -> Group:
    lines = (plain(each) if isinstance(each, str) else each for each in below)
    return Group("", Text(plain(title), style="bold"), *lines)


def _pairs(rows: Sequence[tuple[str, str]]) -> Table:
    table = Table(show_header=False, box=box.SIMPLE)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(name, plain(value))
    return table


def _columns(first: str, *names: str) -> Table:
    table = Table(box=box.SIMPLE)
    table.add_column(first, overflow="fold")
    for name in names:
        table.add_column(name, justify="left" if name in ("types", "may be the") else "right")
    return table


def _others(option: str, found: Sequence[Field], chosen: Field | None) -> list[str]:
    names = [field.name for field in found if field is not chosen]
    more = ", ..." * (len(names) > MOST_OTHERS)
    told = f"{', '.join(names[:MOST_OTHERS])}{more}"
    return [f"Other fields that look like a {option} (--{option}): {told}"] if names else []


def _name(field: Field | None) -> str | None:
    return None if field is None else field.name


def _busiest(figures: Figures) -> str:
    most = max(figures.partitions, key=lambda each: each["records"])
    part = share(most["records"] / max(figures.reasons["records"], 1))
    return f"the busiest, number {most['partition']}, has {part} of the records"


def _silence(figures: Figures) -> str:
    known = [each for each in figures.partitions if each["silence"] is not None]
    if not known:
        return "–"
    most = max(known, key=lambda each: each["silence"])
    return f"{span(most['silence'])}, of partition {most['partition']}"


def _quantiles(found: Mapping[str, float], form: Callable[[float], str]) -> str:
    return ", ".join(f"{name} {form(found[name])}" for name in ("p50", "p99", "most"))


def share(part: float) -> str:
    """Format a share: ``0``, ``0.0012 %``, ``12 %``."""
    return f"{100 * part:.2g} %" if part and part < 0.1 else f"{100 * part:.0f} %" if part else "0"


def span(ms: float) -> str:
    """Format a time span in its largest unit: ``250 ms``, ``1.5 s``, ``2 min``, ``4 d``."""
    sign, ms = ("−" if ms < 0 else ""), abs(ms)
    for unit, size_ in (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000)):
        if ms >= size_:
            return f"{sign}{ms / size_:.3g} {unit}"
    return f"{sign}{ms:.3g} ms"


def size(number: float) -> str:
    """Format a number of bytes, or of megabytes."""
    return f"{number:,.0f}" if number >= 1 or not number else "less than 1"


def moment(ms: int) -> str:
    """Format a time as date and time of day."""
    try:
        return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, OverflowError):
        return f"{ms} ms"


def bars(counts: Sequence[int]) -> str:
    """Draw counts as bars, of more than ``WIDEST`` the sum of some each."""
    step = -(-len(counts) // WIDEST)
    sums = [sum(counts[at : at + step]) for at in range(0, len(counts), step)]
    most = max(sums)
    return "".join(BARS[-(-8 * each // most)] for each in sums)
