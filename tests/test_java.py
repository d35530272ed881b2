"""The ways in which Java can be wrong, told apart."""

import os
import subprocess
from pathlib import Path

import pytest

from workbook.errors import JavaUnusable
from workbook.stack import java
from workbook.stack.java import find_java

OLD = """
case "$*" in *add-modules*) echo "Unrecognized option: --add-modules" >&2; exit 1;; esac
echo 'openjdk version "1.8.0_402"' >&2
"""
CUT_DOWN = """
case "$*" in *add-modules*) echo "Module jdk.incubator.vector not found" >&2; exit 1;; esac
echo 'openjdk version "17.0.9" 2023-10-17' >&2
"""
ELEVEN = (
    "echo 'Picked up JAVA_TOOL_OPTIONS: -Xa' >&2; echo 'openjdk version \"11.0.2\" 2019-01-15' >&2"
)
TWENTY_ONE = "echo 'openjdk version \"21.0.2\" 2024-01-16' >&2"
SILENT = "exit 1"


def java_home(folder: Path, script: str) -> Path:
    command = folder / "bin" / "java"
    command.parent.mkdir(parents=True)
    command.write_text(f"#!/bin/sh\n{script}\n")
    command.chmod(0o755)
    return folder


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (OLD, "it says 'Unrecognized option"),
        (ELEVEN, "it says 'openjdk version .11"),
        (CUT_DOWN, r"it says 'Module jdk\.incubator\.vector not found"),
        (SILENT, "it says 'nothing"),
    ],
    ids=["8", "11", "cut down", "silent"],
)
def test_a_java_that_cannot_run_spark_is_named(tmp_path, monkeypatch, script, said) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java_home(tmp_path, script)))
    with pytest.raises(JavaUnusable, match=f"no complete Java 17 .*{said}.*Install a JDK"):
        find_java()


def test_a_java_home_that_points_nowhere_is_named(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "gone"))
    with pytest.raises(JavaUnusable, match=r"JAVA_HOME is .*gone, but there is no bin/java"):
        find_java()


@pytest.mark.parametrize("script", [OLD, None], ids=["8", "none"])
def test_without_a_java_that_does_one_is_fetched(script, tmp_path, monkeypatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("WORKBOOK_CACHE", str(tmp_path / "cache"))
    here = java_home(tmp_path, script).joinpath("bin") if script else tmp_path
    monkeypatch.setenv("PATH", f"{here}:/usr/bin:/bin" if script else str(here))
    with pytest.raises(JavaUnusable, match="run: python -m workbook prefetch"):
        find_java(fetch=False)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("PIP_RETRIES", "0")
    with pytest.raises(JavaUnusable, match=r"none could be fetched .*a network.*Install a JDK"):
        find_java()
    if script:
        return
    monkeypatch.delenv("WORKBOOK_CACHE")  # of all tests: 34 MB are fetched once
    monkeypatch.delenv("PIP_INDEX_URL")
    found = find_java()
    assert (found.major, found.fetched) == (21, "there is no java on PATH")
    monkeypatch.setenv("PATH", os.defpath)
    say = [found.command, java.VECTOR, "-version"]
    assert 'version "21' in subprocess.run(say, capture_output=True, text=True).stderr


def test_java_home_wins_over_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java_home(tmp_path, TWENTY_ONE)))
    assert (find_java().major, find_java().command) == (21, tmp_path / "bin" / "java")
