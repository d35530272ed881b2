"""The ways in which Java can be wrong, told apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbook.errors import JavaUnusable
from workbook.stack.java import find_java

OLD = """
case "$*" in *add-modules*) echo "Unrecognized option: --add-modules" >&2; exit 1;; esac
echo 'openjdk version "1.8.0_402"' >&2
"""
CUT_DOWN = """
case "$*" in *add-modules*) echo "Module jdk.incubator.vector not found" >&2; exit 1;; esac
echo 'openjdk version "17.0.9" 2023-10-17' >&2
"""
ELEVEN = "echo 'openjdk version \"11.0.2\" 2019-01-15' >&2"
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
        (OLD, r"is Java 8, but Spark and Kafka need 17"),
        (ELEVEN, r"is Java 11, but Spark and Kafka need 17"),
        (CUT_DOWN, r"lacks the module jdk\.incubator\.vector"),
        (SILENT, r"does not say its version"),
    ],
    ids=["8", "11", "cut down", "silent"],
)
def test_a_java_that_cannot_run_spark_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, said: str
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java_home(tmp_path, script)))
    with pytest.raises(JavaUnusable, match=said) as told:
        find_java()
    assert "Install a JDK" in str(told.value)


def test_a_java_home_that_points_nowhere_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "gone"))
    with pytest.raises(JavaUnusable, match=r"JAVA_HOME is .*gone, but there is no bin/java"):
        find_java()


def test_no_java_at_all_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(JavaUnusable, match=r"no java on PATH and JAVA_HOME is not set"):
        find_java()


def test_java_home_wins_over_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java_home(tmp_path, TWENTY_ONE)))
    assert (find_java().major, find_java().command) == (21, tmp_path / "bin" / "java")
