"""Writes a reference as the text of a cell: with the imports and definitions that it needs."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from types import CodeType
from typing import Any

from workbook.classroom.showing import show


def as_a_cell(reference: Any, stub: str) -> str:
    """Return a reference as text that runs in the notebook, under the name in the stub.

    It begins with the imports, constants and functions of the reference's module that it uses.
    """
    if not inspect.isfunction(reference):
        return f"{stub_name(stub)} = {show(reference)}"
    defined = _definitions(inspect.getsource(sys.modules[reference.__module__]))
    needed, waiting = set[str](), [reference.__name__]
    while waiting:
        text = defined[waiting.pop()]
        needed.add(text)
        used = set(_names(compile(text, "<solution>", "exec", dont_inherit=True)))
        waiting += (name for name in used if name in defined and defined[name] not in needed)
    in_order = [text for text in dict.fromkeys(defined.values()) if text in needed]
    imports = [text for text in in_order if text.startswith(("import ", "from "))]
    rest = [text for text in in_order if text not in imports]
    return "\n\n\n".join(part for part in ("\n".join(imports), *rest) if part)


def stub_name(stub: str) -> str:
    """Return the name that a stub defines: of its function, or of its variable."""
    defined = ast.parse(stub).body[-1]
    if isinstance(defined, ast.Assign):
        return ast.unparse(defined.targets[0])
    return str(getattr(defined, "name", "answer"))


def _definitions(source: str) -> dict[str, str]:
    """Return the text at the top of a module that defines each name."""
    defined: dict[str, str] = {}
    for node in ast.parse(source).body:
        text = ast.get_source_segment(source, node) or ""
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                origin = f"from {node.module} " if isinstance(node, ast.ImportFrom) else ""
                name = (alias.asname or alias.name).partition(".")[0]
                defined[name] = f"{origin}import {ast.unparse(alias)}"
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            defined[node.name] = text
        elif isinstance(node, ast.Assign):
            names = (n.id for target in node.targets for n in ast.walk(target)
                     if isinstance(n, ast.Name))  # fmt: skip
            defined |= dict.fromkeys(names, text)
    return defined


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that code uses, and the code of the functions in it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
