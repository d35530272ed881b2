"""An import only points left: each package names what it may import, and no more."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "workbook"
LEFT_OF = {
    "errors": set(),
    "topics": set(),
    "events": {"errors"},
    "ledgers": {"errors", "events"},
    "generators": {"errors", "events"},
    "sources": {"errors", "events", "metrics", "topics", "checkpoints"},
    "pipelines": {"errors", "events", "metrics", "checkpoints", "fingerprints"},
    "sinks": {"errors", "events", "metrics", "topics", "checkpoints", "sources"},
    "views": {"errors", "events", "topics"},
    "systems": {
        *("errors", "topics", "checkpoints", "generators", "sources", "pipelines", "sinks")
    },
    "stack": {"errors"},
    "small_queries": set(),
    "session": {"errors", "small_queries", "stack"},
    "exercises": {"errors", "events", "topics", "ledger", "sources", "pipelines", "sinks"},
}
COMPOSE = {"cli", "commands", "faults", "__main__", "__init__"}


def layer(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """The layers of the package that a module imports, at its top or inside a function."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        found |= {n.split(".")[1] for n in names if n.startswith("workbook.")}
    return found


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE))
)
def test_imports_point_left(path: Path) -> None:
    here = layer(path)
    if here in COMPOSE:
        return
    assert here in LEFT_OF, f"{here} is a new layer: say here what it may import"
    wrong = imported(path) - LEFT_OF[here] - {here}
    assert not wrong, f"{path.name} imports {sorted(wrong)}, which stand right of {here}"


ENGINE = sorted((PACKAGE / "exercises" / "engine").glob("*.py"))


@pytest.mark.parametrize("path", ENGINE, ids=lambda path: path.name)
def test_the_engine_of_the_exercises_knows_no_chapter(path: Path) -> None:
    assert "workbook.exercises.chapters" not in path.read_text()
