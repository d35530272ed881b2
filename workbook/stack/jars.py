"""The jars of the servers and of Spark's sources: fetched once, checked at every start."""

import hashlib
import os
import re
import shutil
import ssl
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cache
from http.client import HTTPException, IncompleteRead
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from urllib.parse import unquote, urlsplit, urlunsplit
from urllib.request import HTTPSHandler, Request, build_opener
from zipfile import ZipFile

import certifi

from workbook.errors import JarsDamaged, JarsMissing
from workbook.stack.folders import cache_dir, room_in_cache
from workbook.stack.server import shown

LOCK = Path(__file__).with_name("jars.lock")
Progress = Callable[[str], None]

ON_DEMAND = ("registry", "cassandra")
"""The groups that the lab opens without: they are large, and fetched when first asked for."""

MIRROR = "WORKBOOK_MAVEN"
"""The environment's variable with the address of another Maven repository."""

AT_ONCE, PATIENCE_S = 8, 30.0
"""Files that are fetched at once, and how long a server may take to send the next bytes."""

SAY_EVERY = 2.0
"""Seconds between two reports while jars are fetched."""


@dataclass(frozen=True, slots=True)
class Jar:
    """One line of jars.lock: who needs it, its coordinate, its file's SHA-256 sum and bytes.

    The coordinate of an archive ends with its type and classifier: ``:tar.gz:all``.
    """

    group: str
    coordinate: str
    sha256: str
    size: str

    @property
    def file_name(self) -> str:
        _, artifact, version, *archive = self.coordinate.split(":")
        kind, classifier = archive or ("jar", "")
        return f"{artifact}-{version}{classifier and f'-{classifier}'}.{kind}"

    @property
    def place(self) -> str:
        """Return the path of the file in a Maven repository."""
        group, artifact, version, *_ = self.coordinate.split(":")
        return f"{group.replace('.', '/')}/{artifact}/{version}/{self.file_name}"

    @property
    def path(self) -> Path:
        return cache_dir() / "jars" / self.file_name


def locked(group: str | None = None, lock: Path = LOCK) -> list[Jar]:
    """Return the jars of a lock, of one group (``kafka``, ``spark``, ...) or of all."""
    lines = lock.read_text().splitlines()
    jars = [Jar(*line.split()) for line in lines if line and not line.startswith("#")]
    return [jar for jar in jars if group in (None, jar.group)]


def needed() -> list[Jar]:
    """Return the jars without which the lab does not open."""
    return [jar for jar in locked() if jar.group not in ON_DEMAND]


def class_path(group: str) -> list[Path]:
    """Return a group's files, checked; raise ``JarsMissing`` or ``JarsDamaged`` with the fix."""
    jars = locked(group)
    missing = [jar for jar in jars if not jar.path.exists()]
    if missing:
        raise JarsMissing(
            f"{len(missing)} of {len(jars)} jars for {group} are not in {missing[0].path.parent}, "
            f"for example {missing[0].file_name}. Run: python -m workbook prefetch"
        )
    for jar in jars:
        if _sha256(jar.path) != jar.sha256:
            raise JarsDamaged(
                f"{jar.path} does not have its recorded SHA-256 sum: it is incomplete or was "
                f"changed. Run: python -m workbook prefetch"
            )
    return [jar.path for jar in jars]


def prefetch(progress: Progress = print, among: Sequence[Jar] | None = None) -> int:
    """Fetch which of these (else of the needed) jars are missing or damaged; returns how many.

    A file is in its place once it is complete and has its recorded sum: after an interruption the
    next call fetches the others. Raises ``JarsMissing`` or ``JarsDamaged`` with the fix.
    """
    among = needed() if among is None else among
    missing = (j for j in among if not j.path.exists() or _sha256(j.path) != j.sha256)
    wanted = [*{jar.coordinate: jar for jar in missing}.values()]  # two groups may share a jar
    if not wanted:
        return 0
    with room_in_cache() as scratch:
        wanted[0].path.parent.mkdir(exist_ok=True)
        _fetch(wanted, scratch, progress)
    return len(wanted)


def unpacked(group: str, progress: Progress = print) -> Path:
    """Return the folder with what is in a group's one archive, fetched and unpacked where needed.

    It appears as a whole, so that no kill leaves a half of it.
    """
    [archive] = locked(group)
    folder = cache_dir() / f"{group}-{archive.sha256[:12]}"
    if not folder.exists():
        prefetch(progress, [archive])
        with room_in_cache() as scratch:
            shutil.unpack_archive(archive.path, scratch / "all")
            try:
                (scratch / "all").rename(folder)
            except OSError:
                if not folder.exists():  # else another process was faster
                    raise
    return folder


def ivy() -> Path:
    """Return the path of the resolver that PySpark ships."""
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise JarsMissing("PySpark is not installed in this Python. Run: make lab")
    return next((Path(spec.origin).parent / "jars").glob("ivy-*.jar"))


@cache
def maven_central() -> str:
    """Return the address of Maven Central, which Ivy has built in."""
    resolver = ZipFile(ivy()).read("org/apache/ivy/plugins/resolver/IBiblioResolver.class")
    [address] = re.findall(rb"https://[\w./-]+/maven2/", resolver)
    return str(address.decode())


def repository() -> str:
    """Return the address of the mirror, if one is named, else of Maven Central."""
    return os.environ.get(MIRROR) or maven_central()


def download(jar: Jar) -> Iterator[bytes]:
    """Yield a file piece by piece; raise ``JarsMissing`` if the repository doesn't serve it."""
    root = repository()
    try:
        parts = urlsplit(f"{root.rstrip('/')}/{jar.place}")
        asked = Request(urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])))
        if parts.username:
            login = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
            asked.add_unredirected_header("Authorization", f"Basic {b64encode(login).decode()}")
        opener = build_opener(HTTPSHandler(context=_trust()))
        with opener.open(asked, timeout=PATIENCE_S) as answer:
            while piece := answer.read(2**18):
                yield piece
            if left := getattr(answer, "length", 0):  # bytes that haven't come
                raise IncompleteRead(b"", left)
    except (OSError, HTTPException, ValueError) as error:
        why = re.sub(r"[^\s'\"]*@", "…@", str(error))
        raise JarsMissing(
            f"{jar.file_name} could not be fetched from {shown(root)} ({why}). Is there a "
            "network? Behind a proxy set HTTPS_PROXY; with a mirror of your own set "
            f"{MIRROR} to its address. Then run: python -m workbook prefetch"
        ) from None


@cache
def _trust() -> ssl.SSLContext:
    """Return whom this machine trusts; it takes a while to read, so not for each file."""
    trusted = ssl.create_default_context()
    if not trusted.cert_store_stats()["x509_ca"]:  # as of Python's own installer on a Mac
        trusted.load_verify_locations(certifi.where())
    return trusted


def _fetch(wanted: Sequence[Jar], scratch: Path, progress: Progress) -> None:
    """Download files to ``scratch``, several at once, and move each to its place."""
    size = round(sum(int(jar.size) for jar in wanted) / 1e6)
    received, ended = list[int](), Event()
    progress(f"Fetching {size} MB of jars ...")

    def install(jar: Jar) -> None:
        file = scratch / jar.file_name
        with file.open("wb") as written:
            for piece in download(jar):
                if ended.is_set():
                    return
                written.write(piece)
                received.append(len(piece))
        if _sha256(file) != jar.sha256:
            raise JarsDamaged(
                f"{jar.coordinate} came with another SHA-256 sum than the recorded one, so it "
                "wasn't kept. Try again; if it stays, your mirror serves a different file."
            )
        file.replace(jar.path)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            largest_first = sorted(wanted, key=lambda jar: -int(jar.size))
            left = {pool.submit(install, jar) for jar in largest_first}
            while left:
                done, left = wait(left, SAY_EVERY, FIRST_EXCEPTION)
                for each in done:
                    each.result()
                if left:
                    progress(f"Fetching jars: {round(sum(received) / 1e6)} of {size} MB")
        finally:  # after Ctrl-C or an error the others end, too
            ended.set()
            pool.shutdown(cancel_futures=True)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
