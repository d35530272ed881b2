"""Versions are pinned in pyproject.toml; everything else repeats them."""

import re
from pathlib import Path

import pins
import pytest

from workbook.stack import jars

PROJECT = pins.pins()
PINNED = [
    *PROJECT["project"]["dependencies"],
    *PROJECT["project"]["optional-dependencies"]["test"],
]


def test_every_pin_is_exact() -> None:
    assert all(re.fullmatch(r"[\w.-]+(\[[\w,]+\])?==[\w.]+( ; .+)?", pin) for pin in PINNED)


@pytest.mark.parametrize("pin", PINNED)
def test_the_lock_carries_the_pin(pin: str) -> None:
    locked = pins.locked_packages(pins.PYTHON_LOCK.read_text())
    plain = re.sub(r"\[.+\]| ;.+", "", pin)  # uv drops extras, and writes markers its own way
    assert plain in [line.partition(" ;")[0] for line in locked]


@pytest.mark.parametrize(("of", "lock"), [("book", pins.BOOK_LOCK), ("java", pins.JAVA_LOCK)])
def test_the_lock_of_a_group_carries_its_pins(of: str, lock: Path) -> None:
    assert {*PROJECT["dependency-groups"][of]} <= {*pins.locked_packages(lock.read_text())}


@pytest.mark.parametrize("lock", [pins.PYTHON_LOCK, pins.BOOK_LOCK, pins.JAVA_LOCK])
def test_every_locked_package_has_a_hash(lock) -> None:
    entries = re.split(r"\n(?=\S)", lock.read_text().strip())
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []


def test_conda_carries_the_same_versions() -> None:
    expected = pins.environment_yml(pins.PYTHON_LOCK.read_text())
    assert pins.CONDA.read_text() == expected, "run: make lock"


@pytest.mark.parametrize("group", PROJECT["tool"]["workbook"]["jars"])
def test_the_jar_lock_carries_the_coordinates(group: str) -> None:
    wanted = set(PROJECT["tool"]["workbook"]["jars"][group])
    assert wanted <= {jar.coordinate for jar in jars.locked(group)}


def test_spark_and_its_connectors_are_of_one_minor_version() -> None:
    spark = next(pin.split("==")[1] for pin in PINNED if pin.startswith("pyspark=="))
    ours = [j.coordinate.split(":") for j in jars.locked("spark") if "apache.spark" in j.coordinate]
    assert len(ours) == 3
    assert {version.rpartition(".")[0] for *_, version in ours} == {spark.rpartition(".")[0]}
