"""Lists the files of a query's checkpoint, with the micro-batch that each belongs to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

KINDS = ("offsets", "state", "commits")
"""In the order in which a micro-batch writes them."""

_STATE = (".delta", ".changelog", ".zip")
"""What the tasks of a micro-batch write; snapshots come later, from a thread of their own."""


def checkpoint_files(query: Path) -> list[tuple[str, int, float]]:
    """Return kind, micro-batch and time (seconds since 1970) of each file in a query's folder.

    The state that a micro-batch leaves behind is version n + 1. Files that Spark removes meanwhile
    are left out; without a folder there are none.
    """
    found = [*_numbered(query, "offsets"), *_state(query), *_numbered(query, "commits")]
    times = [(kind, batch, _written(path)) for kind, batch, path in found]
    return [(kind, batch, at) for kind, batch, at in times if at is not None]


def planned(query: Path, topic: str) -> dict[int, int]:
    """Return up to which offset each micro-batch reads a topic of one partition, as far as noted.

    Of more partitions nothing: an offset of one of them says too little.
    """
    ends = {}
    for _, batch, path in _numbered(query, "offsets"):
        for line in _lines(path):
            try:
                [(_, ends[batch])] = json.loads(line)[topic].items()
            except (
                ValueError,
                LookupError,
                TypeError,
                AttributeError,
            ):  # the head, or another source
                continue
    return ends


def bytes_below(folder: Path) -> int:
    """Return the bytes of all files in a folder; 0 where there is none."""
    return sum(_size(path) for path in folder.rglob("*"))


def _numbered(query: Path, kind: str) -> Iterator[tuple[str, int, Path]]:
    for path in (query / kind).glob("[0-9]*"):
        if path.name.isdigit():
            yield kind, int(path.name), path


def _state(query: Path) -> Iterator[tuple[str, int, Path]]:
    for path in (query / "state").rglob("[0-9]*.*"):
        version = path.name.partition(".")[0].partition("_")[0]
        snapshot = path.suffix == ".zip" and path.with_suffix(".changelog").exists()
        if path.suffix in _STATE and version.isdigit() and not snapshot:
            yield "state", int(version) - 1, path


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except OSError:  # removed meanwhile
        return []


def _written(path: Path) -> float | None:
    try:
        return path.stat().st_mtime
    except OSError:
        return None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:  # removed meanwhile
        return 0
