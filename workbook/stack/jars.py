"""The jars of the servers and of Spark's sources: resolved once, checked at every start."""

import hashlib
import os
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from threading import Event, Thread
from urllib.parse import urlsplit

from workbook.errors import JarsDamaged, JarsMissing
from workbook.stack.folders import cache_dir, room_in_cache
from workbook.stack.java import find_java

LOCK = Path(__file__).with_name("jars.lock")
Progress = Callable[[str], None]

ON_DEMAND = ("registry", "cassandra")
"""The groups that the lab opens without: they are large, and fetched when first asked for."""

SAY_EVERY = 3.0
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
    def path(self) -> Path:
        return cache_dir() / "jars" / self.file_name


def locked(group: str | None = None) -> list[Jar]:
    """Return the jars of jars.lock, of one group (``kafka``, ``spark``, ...) or of all."""
    lines = LOCK.read_text().splitlines()
    jars = [Jar(*line.split()) for line in lines if line and not line.startswith("#")]
    return [jar for jar in jars if group in (None, jar.group)]


def needed() -> list[Jar]:
    """Return the jars without which the lab does not open."""
    return [jar for jar in locked() if jar.group not in ON_DEMAND]


def megabytes(jars: Iterable[Jar]) -> int:
    """Return the size of jars in MB, as in messages."""
    return round(sum(int(jar.size) for jar in jars) / 1e6)


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
    """Fetch which of these (else of the needed) jars are missing or damaged; returns how many."""
    among = needed() if among is None else among
    missing = (j for j in among if not j.path.exists() or _sha256(j.path) != j.sha256)
    wanted = [*{jar.coordinate: jar for jar in missing}.values()]  # two groups may share a jar
    if not wanted:
        return 0
    with room_in_cache() as scratch:
        wanted[0].path.parent.mkdir(exist_ok=True)
        _fetch(wanted, scratch, progress)
        fetched = {jar: scratch / "jars" / jar.file_name for jar in wanted}
        _refuse_other_sums(fetched)
        for jar, file in fetched.items():
            shutil.move(file, jar.path)
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


def resolve(
    module: str, scratch: Path, *, pattern: str = "[artifact]-[revision](-[classifier]).[ext]"
) -> Iterator[str]:
    """Run Ivy on an ivy.xml text; yield its output, leave the files in ``scratch/jars``."""
    description = scratch / "ivy.xml"
    description.write_text(module)
    settings = os.environ.get("WORKBOOK_IVY_SETTINGS")
    command = [
        *(str(find_java().command), *_proxy_flags(), "-cp", str(ivy_jar())),
        *("org.apache.ivy.Main", "-ivy", str(description), "-cache", str(scratch / "ivy")),
        *(("-settings", settings) if settings else ()),
        *("-confs", "default", "-retrieve", str(scratch / "jars" / pattern)),
    ]
    ivy = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert ivy.stdout is not None
    lines = []
    try:
        for line in ivy.stdout:
            lines.append(line)
            yield line
    except GeneratorExit:  # who asked has heard enough
        ivy.kill()
        raise
    if ivy.wait() != 0:
        problems = [line.strip() for line in lines if "UNRESOLVED" in line or "FAILED" in line]
        what = f" ({problems[0]})" if problems else ""
        raise JarsMissing(
            f"Jars could not be fetched{what}. Is there a network? Behind a proxy set HTTPS_PROXY; "
            "with a mirror of your own set WORKBOOK_IVY_SETTINGS to an Ivy settings file. "
            "Then run: python -m workbook prefetch"
        )


def ivy_module(coordinates: Iterable[str], *, transitive: bool) -> str:
    """Return an ivy.xml that asks for Maven coordinates, see ``Jar``."""
    archives = defaultdict[tuple[str, ...], list[tuple[str, ...]]](list)
    for group, artifact, version, *archive in (c.split(":") for c in coordinates):
        archives[group, artifact, version].append((artifact, *(archive or ("jar", ""))))
    wants = "".join(
        f'<dependency org="{group}" name="{artifact}" rev="{version}" '
        f'transitive="{str(transitive).lower()}" '
        f'conf="default->{"default" if transitive else "master"}">'
        + ("" if transitive else "".join(_archive(*each) for each in files))
        + "</dependency>"
        for (group, artifact, version), files in archives.items()
    )
    # Two groups may hold two versions of a jar: among exact coordinates none evicts another.
    conflicts = "" if transitive else '<conflicts><manager name="all"/></conflicts>'
    return (
        '<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">'
        '<info organisation="workbook" module="jars"/>'
        f'<configurations><conf name="default"/></configurations>'
        f"<dependencies>{wants}</dependencies>{conflicts}</ivy-module>"
    )


def ivy_jar() -> Path:
    """Return the path of the resolver that PySpark ships."""
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise JarsMissing("PySpark is not installed in this Python. Run: make lab")
    return next((Path(spec.origin).parent / "jars").glob("ivy-*.jar"))


def _archive(name: str, kind: str, classifier: str) -> str:
    """Return the part of an ivy.xml that asks for one file of a dependency."""
    of = classifier and f' m:classifier="{classifier}"'
    return f'<artifact name="{name}" type="{kind}" ext="{kind}"{of}/>'


def _fetch(wanted: Sequence[Jar], scratch: Path, progress: Progress) -> None:
    size, fetched = megabytes(wanted), Event()
    progress(f"Fetching {size} MB of jars ...")

    def report() -> None:
        while not fetched.wait(SAY_EVERY):  # Ivy itself says nothing before a file is complete
            now = round(_bytes_in(scratch / "ivy") / 1e6)
            progress(f"Fetching jars: {min(now, size)} of {size} MB")

    Thread(target=report, daemon=True).start()
    try:
        by_name = ivy_module((jar.coordinate for jar in wanted), transitive=False)
        for _ in resolve(by_name, scratch):
            pass
    finally:
        fetched.set()


def _bytes_in(folder: Path) -> int:
    found = 0
    for file in folder.rglob("*"):
        with suppress(OSError):  # renamed meanwhile
            found += file.stat().st_size
    return found


def _refuse_other_sums(fetched: dict[Jar, Path]) -> None:
    for jar, file in fetched.items():
        if not file.exists() or _sha256(file) != jar.sha256:
            raise JarsDamaged(
                f"{jar.coordinate} came with another SHA-256 sum than the recorded one. Nothing "
                f"was installed. Try again; if it stays, your mirror serves a different file."
            )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _proxy_flags() -> list[str]:
    proxy = urlsplit(os.environ.get("HTTPS_PROXY") or os.environ.get("https_proxy") or "")
    if not proxy.hostname:
        return []
    return [f"-Dhttps.proxyHost={proxy.hostname}", f"-Dhttps.proxyPort={proxy.port or 443}"]
