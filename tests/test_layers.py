"""An import only points left: each package names what it may import, and no more."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "workbook"
LEFT_OF: dict[str, set[str]] = {
    "buckets": set(),
    "errors": set(),
    "topics": set(),
    "sources": set(),  # others may lift it out
    "events": {"errors"},
    "decoding": {"errors", "events"},
    "kafka": {"errors", "events"},
    "generators": {"errors", "events", "kafka"},
    "ledgers": {"errors", "events"},
    "views": {"errors", "events"},
    "classroom": {"errors", "events"},
    "lessons": {"classroom", "events", "views"},
    "stack": {"errors", "kafka"},
    "spark": {"errors", "kafka", "sources", "stack"},
    "sinks": {"errors", "events", "kafka", "spark"},
    "tables": {"buckets", "errors"},
    "pipelines": {"buckets", "decoding", "errors", "events", "tables"},
    "systems": {
        "decoding",
        "errors",
        "events",
        "generators",
        "kafka",
        "ledgers",
        "pipelines",
        "sinks",
        "sources",
        "spark",
        "stack",
        "topics",
    },
    "crashlab": {"errors", "kafka", "spark", "stack", "systems", "topics", "views"},
    "commands": {
        "crashlab",
        "errors",
        "events",
        "kafka",
        "sinks",
        "spark",
        "stack",
        "systems",
        "topics",
    },
    "chapter": {"classroom", "errors", "generators", "kafka", "spark", "stack", "topics", "views"},
    "kernel_start": {"chapter", "views"},
    "cli": {"commands", "errors", "spark", "stack"},
}


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


LAYERS = sorted({layer(path) for path in PACKAGE.rglob("*.py")} - {"__init__", "__main__"})


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_imports_what_it_may_and_no_more(name: str) -> None:
    assert name in LEFT_OF, f"{name} is a new layer: say here what it imports"
    files = [path for path in PACKAGE.rglob("*.py") if layer(path) == name]
    found = set().union(*map(imported, files)) - {name}
    assert found == LEFT_OF[name], f"{name} imports {sorted(found)}"


def test_every_import_points_left() -> None:
    order = list(LEFT_OF)
    for number, (name, imports) in enumerate(LEFT_OF.items()):
        right = imports - set(order[:number])
        assert not right, f"{name} imports {sorted(right)}, which stand right of it"
