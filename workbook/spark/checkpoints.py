"""Record what a checkpoint was made for, and lock it for one process at a time.

An identity maps names to JSON values, for example ``{"system": "share_holders", "version": 1,
"reads": {"positions": "the topic's id"}}``. ``workbook run`` compares identities before Spark
starts.
"""

import fcntl
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from workbook.errors import CannotGoOn

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
    return known, _last(query / "commits"), _last(query / "offsets")


def _last(folder: Path) -> int:
    return max((int(file.name) for file in folder.glob("[0-9]*")), default=-1)


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
