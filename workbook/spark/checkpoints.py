"""A query's checkpoint: what it was made for, who holds it, its files, and how far it has read.

An identity maps names to JSON values, for example ``{"system": "share_holders", "version": 1,
"reads": {"positions": "the topic's id"}}``. ``workbook run`` compares identities before Spark
starts.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO
from urllib.parse import unquote, urlparse

from workbook.errors import CannotGoOn

if TYPE_CHECKING:
    from pyspark.sql.streaming import StreamingQuery

Identity = Mapping[str, Any]

FILE = "identity.json"
_HELD: dict[Path, TextIO] = {}


def begun(checkpoint: Path) -> bool:
    """Return True if a query has begun to read in this checkpoint folder."""
    return any(checkpoint.glob("[0-9]*/offsets/[0-9]*"))


def require(checkpoint: Path, identity: Identity) -> None:
    """Refuse to continue a checkpoint that was made for something else.

    A checkpoint in which no query has begun fits every identity. Raises ``CannotGoOn`` if the
    identities differ, or if a query has begun and the checkpoint's identity is missing or
    unreadable.
    """
    if not begun(checkpoint):
        return
    made_for, asked = _recorded(checkpoint), json.loads(json.dumps(identity))
    differing = [
        f"\n  {name}: made for {_text(made_for.get(name))}, came {_text(asked.get(name))}"
        for name in dict.fromkeys([*made_for, *asked])
        if made_for.get(name) != asked.get(name)
    ]
    if differing:
        raise CannotGoOn(
            f"Expected the query that the checkpoint {checkpoint} was made for, but another one "
            f"came:{''.join(differing)}\nAsk for the same again, or use a new folder for the "
            "checkpoint: its query starts as one without."
        )


def record(checkpoint: Path, identity: Identity) -> None:
    """Record the identity of a checkpoint before its first start."""
    checkpoint.mkdir(parents=True, exist_ok=True)
    unfinished = checkpoint / f"{FILE}.unfinished"
    unfinished.write_text(json.dumps(identity, indent=1, ensure_ascii=False), encoding="utf-8")
    unfinished.replace(checkpoint / FILE)


def hold(checkpoint: Path) -> TextIO:
    """Lock a checkpoint against other processes, until ``release`` or until this process ends.

    It's a file lock, so ``kill -9`` frees it. On a network file system it may have no effect.
    Raises ``CannotGoOn`` if another process holds the lock. A second call in this process does
    nothing.
    """
    folder = checkpoint.resolve()
    if folder in _HELD:
        return _HELD[folder]
    folder.mkdir(parents=True, exist_ok=True)
    lock = (folder / "lock").open("a")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        raise CannotGoOn(
            f"Expected the checkpoint {checkpoint} to be free, but another process runs a query "
            "on it, and two would overwrite each other's offsets. End that one first."
        ) from None
    except OSError:  # a file system without locks
        pass
    _HELD[folder] = lock
    return lock


def release(lock: TextIO) -> None:
    """Let other processes have the checkpoint of a lock; harmless if it was released before."""
    for folder in [folder for folder, held in _HELD.items() if held is lock]:
        del _HELD[folder]
    lock.close()


def place(checkpoint: Path) -> tuple[str, int, int]:
    """Return the query's id, and the numbers of its last committed and planned micro-batch.

    The id is empty, and a number -1, where there's none.
    """
    query = checkpoint / "0"
    metadata = query / "metadata"
    known = str(json.loads(metadata.read_text())["id"]) if metadata.is_file() else ""
    return known, newest(query / "commits"), newest(query / "offsets")


def newest(log: Path) -> int:
    """Return the newest number in a folder with a log of Spark's; -1 where there's none."""
    names = (file.name.split(".")[0] for file in log.glob("[0-9]*"))  # some are compacted
    return max((int(name) for name in names if name.isdecimal()), default=-1)


def _recorded(checkpoint: Path) -> dict[str, Any]:
    try:
        return dict(json.loads((checkpoint / FILE).read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError) as error:
        came = "there is none" if isinstance(error, FileNotFoundError) else "it cannot be read"
        raise CannotGoOn(
            f"Expected {checkpoint / FILE} to say what this checkpoint was made for, but {came}: "
            "it is of an older version, or was damaged, and might give wrong results. Use a new "
            "folder for the checkpoint: its query starts as one without."
        ) from None


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} ({_text(of)})" for name, of in value.items()) or "nothing"
    return "nothing" if value is None else str(value)


# --- its files. ``recentProgress`` keeps a hundred reports, which an idle query fills in a quarter
# of an hour; the log keeps the last micro-batches (``minBatchesToRetain``), however long the query
# is silent. Its format is Spark's own: a version, a line of settings, a line for each source.

KINDS = ("offsets", "state", "commits")
"""In the order in which a micro-batch writes them."""

Logged = tuple[dict[int, int], int]
"""The next offset of each partition, and a time in ms."""

_STATE = (".delta", ".changelog", ".zip")
"""What the tasks of a micro-batch write; snapshots come later, from a thread of their own."""

_UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError)


def checkpoint_files(query: Path) -> list[tuple[str, int, float]]:
    """Return kind, micro-batch and time (seconds since 1970) of each file in a query's folder.

    The state that a micro-batch leaves behind is version n + 1. Files that Spark removes meanwhile
    are left out; without a folder there are none.
    """
    numbered = [(kind, *each) for kind in ("offsets", "commits") for each in _numbered(query, kind)]
    found = []
    for kind, batch, path in [*numbered, *_state(query)]:
        with suppress(OSError):
            found.append((kind, batch, path.stat().st_mtime))
    return found


def _numbered(query: Path, kind: str) -> Iterator[tuple[int, Path]]:
    for path in (query / kind).glob("[0-9]*"):
        if path.name.isdigit():
            yield int(path.name), path


def _state(query: Path) -> Iterator[tuple[str, int, Path]]:
    for path in (query / "state").rglob("[0-9]*.*"):
        version = path.name.partition(".")[0].partition("_")[0]
        snapshot = path.suffix == ".zip" and path.with_suffix(".changelog").exists()
        if path.suffix in _STATE and version.isdigit() and not snapshot:
            yield "state", int(version) - 1, path


def offset_log(query: StreamingQuery, topic: str) -> dict[int, Logged]:
    """Return what the query's finished micro-batches have read of a topic, by their number.

    The time is the watermark, 0 before the first one. Empty where the checkpoint is gone, or lies
    where this process can't read it.
    """
    try:
        root: str = query._jsq.streamingQuery().resolvedCheckpointRoot()
    except Exception:  # Spark is closed, or elsewhere
        return {}
    return read_log(Path(unquote(urlparse(root).path)), topic)


def read_log(query: Path, topic: str) -> dict[int, Logged]:
    """Read the log in a query's folder, as ``offset_log``; a file that isn't whole is left out."""
    found = {}
    for number, _ in _numbered(query, "commits"):
        with suppress(*_UNREADABLE):
            settings, ends = _plan(query, number, topic)
            found[number] = ends, int(settings["batchWatermarkMs"])
    return found


def last_read(query: Path, topic: str) -> Logged | None:
    """Return how far the last finished micro-batch has read a topic, and when it was planned.

    The time is the one in the log, not the file's, which a copy would lose. None where no
    micro-batch has finished, or where the log can't be read.
    """
    with suppress(*_UNREADABLE):
        settings, ends = _plan(
            query, max(number for number, _ in _numbered(query, "commits")), topic
        )
        return ends, int(settings["batchTimestampMs"])
    return None


def planned(query: Path, topic: str) -> dict[int, int]:
    """Return up to which offset each micro-batch reads a topic of one partition, as far as noted.

    Of more partitions nothing: an offset of one of them says too little.
    """
    found = {}
    for number, _ in _numbered(query, "offsets"):
        with suppress(*_UNREADABLE):
            [found[number]] = planned_ends(query, number, topic).values()
    return found


def began(query: Path) -> str:
    """Return the offsets at which Spark's own Kafka source began, as JSON; "" if it hasn't."""
    with suppress(OSError):
        found = (query / "sources" / "0" / "0").read_text(encoding="utf-8", errors="replace")
        return found[found.index("{") :]
    return ""


def planned_ends(query: Path, number: int, topic: str) -> dict[int, int]:
    """Return the next offset of each partition of a topic after a planned micro-batch."""
    return _plan(query, number, topic)[1]


def _plan(query: Path, number: int, topic: str) -> tuple[dict[str, Any], dict[int, int]]:
    """Read the plan of a micro-batch: its settings, and where a topic's partitions end."""
    lines = (query / "offsets" / str(number)).read_text(encoding="utf-8").splitlines()
    settings, *sources = (json.loads(line) for line in lines[1:] if line.startswith("{"))
    ends: dict[int, int] = {}
    for source in sources:
        offsets = source["offsets"] if "tops" in source else source  # the clamped source's, or not
        ends |= {int(partition): end for partition, end in offsets.get(topic, {}).items()}
    return settings, ends
