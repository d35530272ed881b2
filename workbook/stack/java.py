"""Finds a Java that can run Spark and Kafka, or says exactly why there is none."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from workbook.errors import JavaUnusable

OLDEST = 17
PLAIN_LOCALE = {"LC_ALL": "C.UTF-8"}
INSTALL = (
    f"Install a JDK {OLDEST} or 21 (Debian: apt install openjdk-17-jdk-headless; "
    f"macOS: brew install openjdk@17; conda: it is in environment.yml)"
)


@dataclass(frozen=True, slots=True)
class Java:
    """A usable Java: the path of its command and its major version."""

    command: Path
    major: int


def find_java(within: float = 60) -> Java:
    """Find the Java of JAVA_HOME, else of PATH; raise ``JavaUnusable`` with the fix.

    ``within`` is how many seconds it may take to say its version.
    """
    command = _command()
    # Spark 4 needs the vector module, which cut-down runtimes leave out: ask for both at once.
    answer = _run(command, "--add-modules=jdk.incubator.vector", "-version", within=within)
    if answer.returncode == 0:
        return Java(command, _checked_major(command, answer.stderr))
    plain = _run(command, "-version", within=within)
    _checked_major(command, plain.stderr)
    raise JavaUnusable(
        f"{command} runs, but lacks the module jdk.incubator.vector that Spark needs "
        f"(a cut-down runtime?). {INSTALL}."
    )


def environment() -> dict[str, str]:
    """Return the environment for a Java process.

    Java takes letters of file names and rules of spelling from the locale (17 cannot open a folder
    with an umlaut under LC_ALL=C, and Turkish has another capital i): give it a plain one.
    """
    return {**os.environ, **PLAIN_LOCALE}


def _run(command: Path, *options: str, within: float) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            [command, *options], capture_output=True, text=True, errors="replace", timeout=within
        )
    except subprocess.TimeoutExpired:
        text = f"does not say its version within {within:.0f} s"
    except OSError as error:
        text = f"cannot be run on this machine ({error.strerror})"
    raise JavaUnusable(f"{command} {text}. {INSTALL}.")


def _command() -> Path:
    home = os.environ.get("JAVA_HOME")
    if home:
        command = Path(home) / "bin" / "java"
        if not os.access(command, os.X_OK):
            raise JavaUnusable(
                f"JAVA_HOME is {home}, but there is no bin/java in it. "
                f"Point JAVA_HOME at a JDK {OLDEST} or newer, or unset it to use the one on PATH."
            )
        return command
    found = shutil.which("java")
    if found is None:
        raise JavaUnusable(f"There is no java on PATH and JAVA_HOME is not set. {INSTALL}.")
    return Path(found)


def _checked_major(command: Path, text: str) -> int:
    match = re.search(r'version "(?:1\.)?(\d+)', text)
    if match is None:
        text = text.strip().splitlines()[0] if text.strip() else "nothing"
        raise JavaUnusable(f"{command} does not say its version, but: {text}. {INSTALL}.")
    major = int(match.group(1))
    if major < OLDEST:
        raise JavaUnusable(
            f"{command} is Java {major}, but Spark and Kafka need {OLDEST} or newer. {INSTALL}, "
            f"then set JAVA_HOME to it."
        )
    return major
