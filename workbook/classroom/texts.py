"""The text of answers: a reference as a cell, and solved exercises beyond a kernel.

Solved exercises are kept in the folder of the copies, where the lab names a file for them.
"""

import ast
import fcntl
import inspect
import json
import os
import sys
import textwrap
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import CodeType
from typing import Any

import msgspec

from workbook.classroom.render import show


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
            targets = [n for target in node.targets for n in ast.walk(target)]
            defined |= {n.id: text for n in targets if isinstance(n, ast.Name)}
    return defined


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that code uses, and the code of the functions in it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def text_of(answer: Any) -> str:
    """Return the text of an answer: its source, or its value; '' where the source isn't known."""
    if not inspect.isfunction(answer):
        return repr(answer)
    try:
        return textwrap.dedent(inspect.getsource(answer)).rstrip()
    except OSError:
        return ""


def remember(name: str, answer: Any) -> None:
    """Keep the text of an answer that has passed; only where the lab names a file for it."""
    file = _file()
    if file is None:
        return
    unfinished = file.with_suffix(".unfinished")
    with file.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two kernels may write at the same time
        kept = dict[str, Any]()
        try:
            kept = _kept(file)
        except ValueError:
            file.rename(file.with_suffix(".damaged"))
        kept = {**{other: kept[other] for other in kept if other != name}, name: text_of(answer)}
        unfinished.write_text(json.dumps(kept, indent=1, ensure_ascii=False), encoding="utf-8")
        unfinished.replace(file)


def solved(file: Path | None = None) -> dict[str, str]:
    """Return the answers that passed by the names of their exercises, the newest last.

    They are in ``file``, or in the one that the lab names.
    """
    file, kept = file or _file(), dict[str, Any]()
    with suppress(OSError, ValueError):
        kept = _kept(file) if file else {}
    return {name: text for name, text in kept.items() if isinstance(text, str)}


def _kept(file: Path) -> dict[str, Any]:
    """Return what a file holds, if there is one; raise ``ValueError`` where it was cut off."""
    return msgspec.json.decode(file.read_bytes(), type=dict[str, Any]) if file.exists() else {}


def _file() -> Path | None:
    named = os.environ.get("WORKBOOK_SOLVED")
    return Path(named) if named else None
