"""An import only points down: the rooms of the package from the lowest floor up."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "workbook"
HOUSE = (
    *("errors", "topics", "kafka", "stack", "streams", "spark", "sources", "sinks", "tables"),
    *("pipelines", "views", "classroom", "lessons", "systems", "crashlab", "cli"),
)


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """The modules of the package that a module imports, at its top or inside a function."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name for name in found if name.startswith("workbook.")}


ROOMS = sorted({room(path) for path in PACKAGE.rglob("*.py")} - {"__init__", "__main__"})


@pytest.mark.parametrize("name", ROOMS)
def test_every_import_points_down(name: str) -> None:
    assert name in HOUSE, f"{name} is a new room: say here on which floor"
    allowed = HOUSE[: HOUSE.index(name) + 1]
    wrong = [
        f"{path.relative_to(PACKAGE)} imports {module}"
        for path in PACKAGE.rglob("*.py")
        if room(path) == name
        for module in sorted(imported(path))
        if module.split(".")[1] not in allowed
    ]
    assert not wrong, "\n".join(wrong)
