"""Derives the locks from the pins in pyproject.toml: ``make lock`` calls it.

For those who work on the project. Writes both requirements.lock, java.lock, environment.yml and
both jars.lock. It stands beside the tests that compare them, since no lab needs it.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from workbook.stack.folders import ROOT
from workbook.stack.jars import LOCK, Jar, download, ivy, repository
from workbook.stack.java import LOCK as JAVA_LOCK
from workbook.stack.java import find_java

PYTHON_LOCK = ROOT / "requirements.lock"
BOOK_LOCK = ROOT / "docs" / "site" / "requirements.lock"
CONDA = ROOT / "environment.yml"
PEERS_LOCK = ROOT / "benchmarks" / "peers" / "jars.lock"
LOCKS = (PYTHON_LOCK, BOOK_LOCK, JAVA_LOCK, CONDA, LOCK, PEERS_LOCK)
WRITTEN_BY = "Written by `make lock` from pyproject.toml"

ALONE = ("spark", "tools", "registry")
"""Groups without their dependencies: Spark brings its own, Kafka's tools find theirs among the
broker's, and the registry's archive has them in it."""

IVY = """<ivy-module version="2.0"><info organisation="workbook" module="jars"/>
<configurations><conf name="default"/></configurations>
<dependencies>{wanted}</dependencies></ivy-module>"""

WANTED = '<dependency org="{}" name="{}" rev="{}" conf="default-&gt;default"/>'

SETTINGS = """<ivysettings><settings defaultResolver="maven"/>
<resolvers><ibiblio name="maven" m2compatible="true" root="{root}"/></resolvers></ivysettings>"""

PATTERN = "[organisation]#[artifact]#[revision](#[ext]#[classifier]).[ext]"


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
        f"# {WRITTEN_BY}. Do not edit by hand.\n"
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


def jar_lock(groups: dict[str, list[str]]) -> str:
    """Return every jar with its group, SHA-256 sum and bytes."""
    lines = [f"# {WRITTEN_BY}: group, coordinate, SHA-256, bytes."]
    for group, pinned in groups.items():
        found = _alone(pinned) if group in ALONE else _with_dependencies(pinned)
        for coordinate in sorted(found, key=lambda name: f"{name.replace(':', '#')}.jar"):
            content = found[coordinate]
            digest = hashlib.sha256(content).hexdigest()
            lines.append(f"{group} {coordinate} {digest} {len(content)}")
    return "\n".join(lines) + "\n"


def _alone(coordinates: list[str]) -> dict[str, bytes]:
    return {c: b"".join(download(Jar("", c, "", ""))) for c in coordinates}


def _with_dependencies(coordinates: list[str]) -> dict[str, bytes]:
    """Resolve Maven coordinates by the Ivy that PySpark ships."""
    wanted = "".join(WANTED.format(*coordinate.split(":")) for coordinate in coordinates)
    proxy = urlsplit(os.environ.get("HTTPS_PROXY") or "")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "ivy.xml").write_text(IVY.format(wanted=wanted))
        (folder / "settings.xml").write_text(SETTINGS.format(root=repository()))
        command = [
            *(str(find_java().command), f"-Dhttps.proxyHost={proxy.hostname or ''}"),
            *(f"-Dhttps.proxyPort={proxy.port or 443}", "-cp", str(ivy()), "org.apache.ivy.Main"),
            *("-settings", "settings.xml", "-ivy", "ivy.xml", "-cache", str(folder / "cache")),
            *("-confs", "default", "-retrieve", f"jars/{PATTERN}"),
        ]
        subprocess.run(command, cwd=folder, check=True, stdout=sys.stderr)
        return {_coordinate(file): file.read_bytes() for file in (folder / "jars").iterdir()}


def _coordinate(file: Path) -> str:
    return file.name.removesuffix(".jar").replace("#", ":")


def main() -> None:
    """Write all of them."""
    PYTHON_LOCK.write_text(python_lock())
    BOOK_LOCK.write_text(python_lock("--group", f"{ROOT / 'pyproject.toml'}:book"))
    JAVA_LOCK.write_text(python_lock("--group", f"{ROOT / 'pyproject.toml'}:java"))
    CONDA.write_text(environment_yml(PYTHON_LOCK.read_text()))
    ours = pins()["tool"]["workbook"]
    LOCK.write_text(jar_lock(ours["jars"]))
    PEERS_LOCK.write_text(jar_lock(ours["peers"]))
    print(f"wrote {', '.join(str(lock.relative_to(ROOT)) for lock in LOCKS)}", file=sys.stderr)


if __name__ == "__main__":
    main()
