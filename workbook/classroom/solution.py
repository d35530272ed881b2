"""Writes a reference as the text of a cell: with its imports, without annotations."""

from __future__ import annotations

import ast
import builtins
import dis
import inspect
import sys
import textwrap
from collections.abc import Iterator
from types import CodeType
from typing import Any

from workbook.classroom.showing import show


def as_a_cell(reference: Any, stub: str) -> str:
    """Return a reference as text that runs in the notebook, under the name in the stub.

    What it takes from its own module comes with it: as the import that stands there, or as the
    line (or the function) that defines it there.
    """
    name = stub_name(stub)
    if not inspect.isfunction(reference):
        return f"{name} = {show(reference)}"
    text = without_annotations(textwrap.dedent(inspect.getsource(reference)))
    text = _renamed(text, reference.__name__, name).rstrip()
    module = _Module(inspect.getsource(sys.modules[reference.__module__]))
    return "\n\n\n".join(part for part in (*module.needed(text), text) if part)


def stub_name(stub: str) -> str:
    """Return the name that a stub defines: of its function, or of its variable."""
    defined = ast.parse(stub).body[-1]
    if isinstance(defined, ast.Assign):
        return ast.unparse(defined.targets[0])
    return str(getattr(defined, "name", "answer"))


class _Module:
    """The imports and definitions of a module, by name."""

    def __init__(self, text: str) -> None:
        self._imports: dict[str, tuple[str, str]] = {}
        self._definitions: dict[str, str] = {}
        for node in ast.parse(text).body:
            segment = ast.get_source_segment(text, node) or ""
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self._imports |= _imported(node)
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                self._definitions[node.name] = segment
            elif isinstance(node, ast.Assign):
                self._definitions |= {ast.unparse(target): segment for target in node.targets}
            elif isinstance(node, ast.AnnAssign):
                self._definitions[ast.unparse(node.target)] = segment

    def needed(self, text: str) -> list[str]:
        """Return the imports, as one piece of text, and the definitions that a text lacks."""
        imports: dict[str, set[str]] = {}
        definitions: dict[str, str] = {}
        waiting = [text]
        while waiting:
            for name in _unknown(waiting.pop()) - definitions.keys():
                if name in self._imports:
                    source, alias = self._imports[name]
                    imports.setdefault(source, set()).add(alias)
                elif name in self._definitions:
                    definitions[name] = without_annotations(self._definitions[name])
                    waiting.append(definitions[name])
        lines = [f"{source} {', '.join(sorted(names))}" for source, names in imports.items()]
        in_order = sorted(definitions, key=list(self._definitions).index)
        return ["\n".join(sorted(lines, key=_as_isort)), *(definitions[name] for name in in_order)]


def _as_isort(line: str) -> tuple[bool, bool, str]:
    """Return a sort key that puts Python's own modules first, as in the notebooks' cells."""
    own = line.split()[1].partition(".")[0] in sys.stdlib_module_names
    return not own, line.startswith("from"), line


def _imported(node: ast.Import | ast.ImportFrom) -> dict[str, tuple[str, str]]:
    """Map each name that an import defines to the words before it, and to its text there."""
    source = f"from {node.module} import" if isinstance(node, ast.ImportFrom) else "import"
    return {
        (alias.asname or alias.name).partition(".")[0]: (source, ast.unparse(alias))
        for alias in node.names
    }


def _unknown(text: str) -> set[str]:
    """Return the names that a text takes from outside."""
    module = compile(text, "<solution>", "exec", dont_inherit=True)
    defined = {i.argval for i in dis.get_instructions(module) if i.opname == "STORE_NAME"}
    return set(_global_names(module)) - defined - set(dir(builtins))


def _global_names(code: CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _global_names(constant)


def without_annotations(text: str) -> str:
    """Remove the annotations from a function or an assignment; all else stays as written."""
    cuts = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.arg) and node.annotation is not None:
            named = _place(text, node.lineno, node.col_offset) + len(node.arg)
            cuts.append((named, _end(text, node.annotation), ""))
        elif isinstance(node, ast.FunctionDef) and node.returns is not None:
            begins = _place(text, node.returns.lineno, node.returns.col_offset)
            cuts.append((text.rindex("->", 0, begins) - 1, _end(text, node.returns), ""))
        elif isinstance(node, ast.AnnAssign):
            value = "" if node.value is not None else " = None"
            cuts.append((_end(text, node.target), _end(text, node.annotation), value))
    return _edited(text, cuts)


def _renamed(text: str, old: str, new: str) -> str:
    """Rename the function that the text defines, also where it calls itself."""
    cuts = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.name == old:
            at = text.index(old, _place(text, node.lineno, node.col_offset) + len("def"))
            cuts.append((at, at + len(old), new))
        elif isinstance(node, ast.Name) and node.id == old:
            at = _place(text, node.lineno, node.col_offset)
            cuts.append((at, at + len(old), new))
    return _edited(text, cuts)


def _edited(text: str, cuts: list[tuple[int, int, str]]) -> str:
    for begin, end, instead in sorted(cuts, reverse=True):
        text = text[:begin] + instead + text[end:]
    return text


def _end(text: str, node: ast.expr) -> int:
    return _place(text, node.end_lineno or 0, node.end_col_offset or 0)


def _place(text: str, line: int, column: int) -> int:
    """Return the place of a line and a column in a text; `ast` counts columns in bytes."""
    lines = text.splitlines(keepends=True)
    return len("".join(lines[: line - 1])) + len(lines[line - 1].encode()[:column].decode())
