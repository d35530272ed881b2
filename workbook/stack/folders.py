"""The folders of the lab: a cache that stays, and a run folder that ends with the lab."""

import fcntl
import hashlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from workbook.errors import JarsMissing, ServerFailed

ROOT = Path(__file__).resolve().parents[2]
"""The checkout: the folder that holds the package."""

if _chosen := os.environ.get("WORKBOOK_CACHE"):  # servers run in other folders than the user
    os.environ["WORKBOOK_CACHE"] = os.path.abspath(_chosen)

TAKEN_FROM = "WORKBOOK_TAKEN_FROM"
"""Names the link to the folder of the process that has taken a warm Spark, see ``spark.spare``."""

LONGEST_SOCKET = 99
"""Bytes: macOS takes 103, Linux 107, and while the supervisor starts, the name is 4 longer."""


def cache_dir() -> Path:
    """Return the folder for jars; ``WORKBOOK_CACHE`` moves it."""
    chosen = os.environ.get("WORKBOOK_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(chosen) if chosen else Path(base) / "workbook"


@contextmanager
def room_in_cache() -> Iterator[Path]:
    """Make a folder in the cache for what is not yet complete; ``JarsMissing`` if it can't."""
    try:
        cache_dir().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache_dir()) as scratch:
            yield Path(scratch)
    except OSError as error:
        raise JarsMissing(
            f"The cache {cache_dir()} cannot be written ({error.strerror}). "
            f"Make it writable, free some space, or set WORKBOOK_CACHE to a writable folder."
        ) from None


def lab_name() -> str:
    """Name the lab after its checkout, so that clones share no servers, or by ``WORKBOOK_LAB``."""
    return os.environ.get("WORKBOOK_LAB") or hashlib.sha256(bytes(ROOT)).hexdigest()[:8]


def run_dir() -> Path:
    """Return this lab's temporary folder: socket, logs, server data, Spark's scratch space.

    Raises ``ServerFailed`` unless TMPDIR is a folder: ``gettempdir`` would find another lab's.
    """
    chosen = os.environ.get("TMPDIR") or "/tmp"
    if not os.path.isabs(chosen) or not os.path.isdir(chosen):
        raise ServerFailed(
            f"Expected TMPDIR to be the full path of a folder, but it is {chosen!r}. "
            "Create that folder, or set TMPDIR to another one, for example /tmp."
        )
    # Short, because the path of a Unix socket may not exceed about 100 characters.
    return Path(chosen) / f"workbook-{os.getuid()}-{lab_name()}"


def socket_path() -> str:
    """Return where the supervisor listens; raise ``ServerFailed`` if that path is too long."""
    path = str(run_dir() / "socket")
    if len(os.fsencode(path)) > LONGEST_SOCKET:
        raise ServerFailed(
            f"The folder for temporary files has too long a name for a socket: {path}. "
            f"Set TMPDIR to a shorter one, for example /tmp."
        )
    return path


def claim(folder: Path) -> int | None:
    """Lock the run folder for this process, making it where needed; None if another holds it.

    The lock sits on the folder itself, so that no lock file can be left behind, and it ends with
    the process however that ends. Returns the open folder; raises ``ServerFailed`` if it is not
    this user's alone.
    """
    while True:
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        try:
            held = _open(folder)
        except FileNotFoundError:
            continue  # its last holder removed it between our mkdir and our look
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(held)
            return None
        if folder.exists() and os.path.samestat(os.lstat(folder), os.fstat(held)):
            return held
        os.close(held)  # its last holder removed it between our mkdir and our lock


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file beside its place, then move it there: nobody ever finds a half of it."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_bytes(content if isinstance(content, bytes) else content.encode())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def require_own(folder: Path) -> None:
    """Raise ``ServerFailed`` if there is such a folder and it is not this user's alone."""
    with suppress(FileNotFoundError):
        os.close(_open(folder))


def empty(held: int) -> list[str]:
    """Remove what is in an open folder, without following a link; returns the names."""
    names = sorted(os.listdir(held))
    for name in names:
        with suppress(FileNotFoundError):
            if stat.S_ISDIR(os.lstat(name, dir_fd=held).st_mode):
                shutil.rmtree(name, dir_fd=held, ignore_errors=True)
            else:
                os.unlink(name, dir_fd=held)
    return names


def remove(folder: Path, held: int) -> None:
    """Remove the claimed run folder with its content."""
    empty(held)
    with suppress(OSError):  # somebody wrote into it meanwhile; the next lab clears it
        folder.rmdir()


def gone(within: float) -> bool:
    """Wait for the run folder to disappear, ``within`` seconds at most."""
    deadline = time.monotonic() + within
    while run_dir().exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    return not run_dir().exists()


def _open(folder: Path) -> int:
    """Open a folder that belongs to this user alone; a link to one, and any other, is refused.

    Whoever may write to the folder for temporary files could plant one under the name of ours.
    One of ours that others may only read is closed to them: it is left of a lab that has ended.
    """
    try:
        held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except FileNotFoundError:
        raise
    except OSError:  # a link, a file, or another user's
        raise foreign(folder) from None
    found = os.fstat(held)
    if found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o022:
        os.close(held)
        raise foreign(folder)
    if stat.S_IMODE(found.st_mode) & 0o077:
        os.fchmod(held, 0o700)
    return held


def foreign(folder: Path) -> ServerFailed:
    """Return the error for a run folder that another user may have planted."""
    return ServerFailed(
        f"{folder} should be a folder of yours alone (no link, its mode 700), but it isn't. "
        "Remove it, or set TMPDIR to a folder of your own."
    )
