"""A pipeline that changes what its checkpoints hold or count raises its version."""

import ast
import hashlib
import re
from pathlib import Path

import pytest

from workbook.systems import SYSTEMS

PACKAGE = Path(__file__).parents[1] / "workbook"
ROOMS = tuple(f"workbook.{room}." for room in ("streams.events", "sources", "tables", "pipelines"))
ACCEPTED: dict[str, tuple[int, str]] = {
    "page_views": (2, "755b4b1c16a7"),
    "event_time_merge": (2, "f34cab4c9602"),
    "share_holders": (3, "a42d4a734a39"),
    "active_groups": (3, "744f760ff52e"),
    "replicate": (1, "24b439f89022"),
    "ad_statistics": (3, "6298ce8cbe2d"),
    "archive": (2, "368987f1cb1f"),
}
"""Of each system the version, and the hash of what its pipeline is made of."""


def made_of(module: str, found: dict[str, str]) -> dict[str, str]:
    """The code, without texts and comments, of a module and what it imports from ``ROOMS``."""
    path = PACKAGE.parent / module.replace(".", "/")
    for file in sorted(path.glob("*.py")) if path.is_dir() else [path.with_suffix(".py")]:
        name, source = str(file.relative_to(PACKAGE)), file.read_text()
        if name not in found and file.stem != "by_hand":
            found[name] = re.sub(
                r'""".*?"""|^ *#.*$|\s+', "", source, flags=re.DOTALL | re.MULTILINE
            )
            froms = (n.module for n in ast.walk(ast.parse(source)) if isinstance(n, ast.ImportFrom))
            for other in (each for each in froms if each and each.startswith(ROOMS)):
                made_of(other, found)
    return found


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=list(SYSTEMS))
def test_a_changed_pipeline_has_another_version(system) -> None:
    parts = made_of(f"workbook.pipelines.{system.name}", {})
    source = (PACKAGE / f"systems/{system.name}.py").read_text()  # names how its records are read
    for module in re.findall(r"^ +from (workbook\.sources\.\w+) import", source, re.MULTILINE):
        made_of(module, parts)
    digest = hashlib.sha256("".join(v for _, v in sorted(parts.items())).encode()).hexdigest()[:12]
    assert ACCEPTED.get(system.name) == (system.version, digest), (
        f"The pipeline of {system.name}, or a module below it, has changed: raise its VERSION if "
        "an old checkpoint would give other results now, and accept the new hash here: "
        f"{(system.version, digest)}."
    )
