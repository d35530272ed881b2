"""Derives the locks from the pins in pyproject.toml: ``python -m workbook.stack.pins``.

For those who work on the project. Writes both requirements.lock, java.lock, environment.yml and
jars.lock.
"""

import hashlib
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from workbook.stack.folders import ROOT
from workbook.stack.jars import LOCK, ivy_module, resolve
from workbook.stack.java import LOCK as JAVA_LOCK

PYTHON_LOCK = ROOT / "requirements.lock"
BOOK_LOCK = ROOT / "docs" / "site" / "requirements.lock"
CONDA = ROOT / "environment.yml"


def pins() -> dict[str, Any]:
    """Parse pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def locked_packages(lock: str) -> list[str]:
    """Return the requirement lines of a lock, environment markers kept, hashes dropped."""
    lines = [line.removesuffix("\\").strip() for line in lock.splitlines()]
    return [line for line in lines if line and not line.startswith(("#", "--hash"))]


def environment_yml(lock: str) -> str:
    """Return a conda environment with the pinned Python and Java and every package of the lock."""
    ours = pins()["tool"]["workbook"]
    packages = "".join(f'      - "{line}"\n' for line in locked_packages(lock))
    return (
        "# Written by `python -m workbook.stack.pins` from pyproject.toml. Do not edit by hand.\n"
        "# conda env create -f environment.yml && conda activate workbook\n"
        "# python -m workbook lab\n"
        "name: workbook\n"
        "channels:\n  - conda-forge\n"
        "dependencies:\n"
        f"  - python={ours['python']}\n  - openjdk={ours['java']}\n  - pip\n"
        f"  - pip:\n{packages}      - --editable .\n"
    )


def python_lock(*of: str) -> str:
    """Return every Python package of pyproject.toml, or ``of`` a group, with hashes."""
    command = [
        *("uv", "pip", "compile", "--quiet", "--universal", "--generate-hashes", "--no-annotate"),
        *("--no-header", "--python-version", pins()["tool"]["workbook"]["python"]),
        *(of or ("--all-extras", str(ROOT / "pyproject.toml"))),
    ]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def jar_lock() -> str:
    """Return every jar with its group, SHA-256 sum and bytes.

    Kafka needs its dependencies too. Spark brings its own, Kafka's tools find theirs among the
    broker's, and the registry's archive has them in it, so these come alone.
    """
    lines = ["# Written by `python -m workbook.stack.pins`: group, coordinate, SHA-256, bytes."]
    for group, coordinates in pins()["tool"]["workbook"]["jars"].items():
        with tempfile.TemporaryDirectory() as scratch:
            alone = group in ("spark", "tools", "registry")
            module = ivy_module(coordinates, transitive=not alone)
            pattern = "[organisation]#[artifact]#[revision](#[ext]#[classifier]).[ext]"
            for _ in resolve(module, Path(scratch), pattern=pattern):
                pass
            for file in sorted((Path(scratch) / "jars").iterdir()):
                coordinate = file.name.removesuffix(".jar").removesuffix(".tar.gz")
                content = file.read_bytes()
                digest = hashlib.sha256(content).hexdigest()
                lines.append(f"{group} {coordinate.replace('#', ':')} {digest} {len(content)}")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the five files."""
    PYTHON_LOCK.write_text(python_lock())
    BOOK_LOCK.write_text(python_lock("--group", f"{ROOT / 'pyproject.toml'}:book"))
    JAVA_LOCK.write_text(python_lock("--group", f"{ROOT / 'pyproject.toml'}:java"))
    CONDA.write_text(environment_yml(PYTHON_LOCK.read_text()))
    LOCK.write_text(jar_lock())
    print(
        f"wrote {PYTHON_LOCK.name}, that of docs/site, {JAVA_LOCK.name}, {CONDA.name}, {LOCK.name}",
        file=sys.stderr,
    )


if __name__ == "__main__":
    main()
