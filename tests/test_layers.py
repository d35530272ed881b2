"""The rooms of the package from the lowest floor up: an import only points down, none grows."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "workbook"
CEILINGS = {
    "errors": 200, "topics": 100, "kafka": 2_762, "stack": 2_750, "streams": 4_059, "spark": 2_190,
    "sources": 1_985, "sinks": 1_810, "tables": 1_450, "pipelines": 1_410, "views": 3_690,
    "classroom": 3_529, "lessons": 7_865, "systems": 1_970, "explore": 1_433, "crashtest": 1_634,
    "crashlab": 2_270, "cli": 1_555,
}  # fmt: skip
"""The most lines of each room. What a room gains, it pays for by what goes."""

HOUSE = tuple(CEILINGS)


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


@pytest.mark.parametrize("name", ROOMS)
def test_no_room_grows_beyond_its_ceiling(name: str) -> None:
    paths = [path for path in PACKAGE.rglob("*.py") if room(path) == name]
    lines = sum(len(path.read_text().splitlines()) for path in paths)
    assert lines <= CEILINGS[name], f"{name} has {lines:,} lines: let something go for what came"
