"""Shows one small picture of each kind, drawn from runs that were recorded."""

import html
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

import workbook
from workbook.views.checkpoint import checkpoint
from workbook.views.clocks import clocks
from workbook.views.event_time import event_time
from workbook.views.group import who_reads
from workbook.views.picture import Picture
from workbook.views.runs import MicroBatch, Run
from workbook.views.strip import Look
from workbook.views.table_change import Change, Update, table_change
from workbook.views.tape import Place, Span, tape

DATA = Path(workbook.__file__).parents[1] / "data"
WIDTH = 440
"""Two such pictures stand side by side on a page of 1,280 pixels."""

Recorded = Mapping[str, Any]


class Gallery:
    """Pictures beside each other, each below the chapters that draw it from your own run."""

    def __init__(self, pictures: Mapping[str, Picture]) -> None:
        self.pictures = dict(pictures)

    def __repr__(self) -> str:
        return "\n\n".join(f"{where}\n{picture!r}" for where, picture in self.pictures.items())

    def __str__(self) -> str:
        return self._repr_html_()

    def _repr_html_(self) -> str:
        drawn = "".join(_small(where, picture) for where, picture in self.pictures.items())
        return f'{_STYLE}<div style="display:flex; flex-wrap:wrap; gap:16px 28px">{drawn}</div>'


def gallery() -> Gallery:
    """Return a picture of each kind, drawn from ``data/pictures.json``."""
    recorded = json.loads((DATA / "pictures.json").read_text(encoding="utf-8"))
    return Gallery({where: draw(recorded) for where, draw in _DRAWN.items()})


_STYLE = (
    f"<style>.wb-small {{width:{WIDTH}px; max-width:100%; margin:0; overflow-x:auto}}"
    ".wb-small svg, .wb-small img {min-width:0 !important} .wb-small figcaption {font-size:13px}"
    ".wb-small > div {zoom:0.55}"
    ".wb-small:has(:checked) {width:100%} .wb-small:has(:checked) > div {zoom:1}</style>"
)


def _small(where: str, picture: Picture) -> str:
    caption = f"<b>{html.escape(where)}.</b> {html.escape(picture.caption)}"
    larger = f'<input type="checkbox" aria-label="larger: {html.escape(where)}"> larger'
    return (
        f'<figure class="wb-small">{picture.drawing.svg(picture.words)}'
        f"<figcaption>{caption} <label>{larger}</label></figcaption></figure>"
    )


def _tape(recorded: Recorded) -> Picture:
    its = recorded["tape"]
    spans = [Span(name, first, end, Look[look]) for name, first, end, look in its["spans"]]
    return tape(
        [Place(*its["place"])], its["end"], spans=spans, crash=its["crash"], caption=its["caption"],
    )  # fmt: skip


def _event_time(recorded: Recorded) -> Picture:
    its = recorded["event_time"]
    run = Run(pd.DataFrame(its["clicks"]), [MicroBatch(*each) for each in its["batches"]])
    return event_time(run)


def _checkpoint(recorded: Recorded) -> Picture:
    its = recorded["checkpoint"]
    planned = {int(batch): end for batch, end in its["planned"].items()}
    files = [(kind, batch, at) for kind, batch, at in its["files"]]
    return checkpoint(files, kills=its["kills"], starts=its["starts"], planned=planned)


def _clocks(recorded: Recorded) -> Picture:
    its = recorded["clocks"]
    records = pd.DataFrame(its["records"], columns=["partition", "timestamp"])
    return clocks(records, its["partitions"])


def _group(recorded: Recorded) -> Picture:
    its = recorded["group"]
    return who_reads(its["owned"], its["log"], its["partitions"])


def _table_change(recorded: Recorded) -> Picture:
    """Draw the seventh record of ``data/positions.jsonl``: a position goes from Bob to Alice."""
    lines = (DATA / "positions.jsonl").read_text(encoding="utf-8").splitlines()
    rows: dict[str, dict[str, Any]] = {}
    for record in map(json.loads, lines[:6]):
        rows[record["key"]] = json.loads(record["value"])
    moved = json.loads(lines[6])
    before, new = _shares(rows), json.loads(moved["value"])
    old, rows[moved["key"]] = rows[moved["key"]], new
    after = _shares(rows)
    changes = [
        Change(row["client"], sign, before.get(row["client"], ""), after.get(row["client"], ""))
        for row, sign in ((old, -1), (new, +1))
    ]
    words = ["{client}: {amount} {ticker}".format(**row) for row in (old, new)]
    return table_change(Update(f"position {moved['key']}", words[0], words[1], changes))


def _shares(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return which shares each client holds."""
    held: dict[str, list[str]] = {}
    for row in rows.values():
        held.setdefault(row["client"], []).append(row["ticker"])
    return {client: ", ".join(sorted(shares)) for client, shares in held.items()}


_DRAWN: Mapping[str, Callable[[Recorded], Picture]] = {
    "Chapters 01 and 04": _tape,
    "Chapter 04": _checkpoint,
    "Chapters 00 and 06": _group,
    "Chapters 20 and 21": _table_change,
    "Chapters 02 and 05": _event_time,
    "Chapter 05": _clocks,
}
"""Where each picture is drawn from one's own run, and how it's drawn here."""
