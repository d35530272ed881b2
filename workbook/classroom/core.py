"""The exercise: a task, a stub, a check with a diagnosis, hints, a reference and its discussion.

After learntools (outcomes are rendered, never raised) and rustlings (tests prove every stub,
hint and solution: ``tests/test_lessons.py``). The answer is passed in; nothing is bound by magic.
"""

import ast
import dis
import inspect
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from workbook.classroom.judging import Mistake, NotYet
from workbook.classroom.place import remember, solved
from workbook.classroom.render import Card, Part, State, show
from workbook.errors import CheckBroke

SILENT_SECONDS = 2.0
STILL_CHECKING = "The check is still trying your answer; it may take up to half a minute …\r"


@dataclass
class Problem:
    """One exercise of a chapter.

    ``stub`` is the source that the learner's cell starts with: a function with ``...`` as its
    body, or ``answer = ...``. ``diagnose`` takes the answer (and what ``check`` is given besides)
    and returns ``None`` if it is right. Of up to three ``hints`` each comes closer, and the first
    two hold no line of the solution. ``reference`` is a right answer, and ``discussion`` names its
    weaknesses. ``right`` and ``wrong`` are more answers: an exercise in one declaration has them.
    """

    name: str
    task: str
    stub: str
    diagnose: Callable[..., NotYet | None]
    hints: tuple[str, ...]
    reference: Any
    discussion: str
    right: Sequence[Any] = ()
    wrong: Sequence[Mistake] = ()
    _hints_shown: int = field(default=0, init=False, repr=False)
    _checked: Any = field(default=..., init=False, repr=False)
    _passed: bool = field(default=False, init=False, repr=False)
    _skipped: bool = field(default=False, init=False, repr=False)

    def check(self, answer: Any = ..., **given: Any) -> Card:
        """Return one of three outcomes: not attempted, not yet (with the likely cause), correct."""
        if self.untouched(answer):
            return self._open()
        waiting = threading.Timer(SILENT_SECONDS, sys.stdout.write, (STILL_CHECKING,))
        waiting.daemon = True
        waiting.start()
        try:
            found = self.diagnose(answer, **given)
        except Exception as error:  # a check that breaks must not end the notebook
            said = error if isinstance(error, CheckBroke) else f"{type(error).__name__}: {error}"
            found = NotYet(f"The check itself broke: {said}")
        finally:
            if not waiting.is_alive():  # it has spoken: blanks overwrite its words
                sys.stdout.write(f"{'':{len(STILL_CHECKING)}}\r")
            waiting.cancel()
            waiting.join()
        self._checked, self._passed, self._skipped = answer, found is None, False
        if found is None:
            parts = Part("Discussion", self.discussion), *self._remember(answer)
            return Card(State.CORRECT, self.name, parts)
        return Card(State.NOT_YET, self.name, found.parts())

    def hint(self) -> Card:
        """Show the next hint."""
        if self._hints_shown == len(self.hints):
            return Card(State.HINT, self.name, (Part("", _NO_MORE_HINTS),))
        self._hints_shown += 1
        number = f"{self.name}, {self._hints_shown} of {len(self.hints)}"
        return Card(State.HINT, number, (Part("", self.hints[self._hints_shown - 1]),))

    def solution(self) -> Card:
        """Show the reference, folded in a notebook."""
        text = as_a_cell(self.reference, self.stub)
        return Card(State.SOLUTION, self.name, (Part("", text, code=True),))

    def skip(self) -> Card:
        """Take the reference for this exercise; ``check`` yours later to continue with it."""
        self._skipped = True
        return Card(State.SKIPPED, self.name, (Part("", STANDS_IN),))

    def resolve(self, answer: Any) -> Any:
        """Return the learner's answer if it has passed its check, else the reference.

        Then one printed line says that the reference stands in, and until when. So the cells behind
        an exercise run whatever was written in it.
        """
        if answer is self._checked and self._passed and not self._skipped:
            return answer
        print(f"{self.name}: {STANDS_IN}")
        return self.reference

    @property
    def answer(self) -> Any:
        """Return what was checked last, or `...`."""
        return self._checked

    @property
    def stands(self) -> bool:
        """Return True while an answer of the learner's own has passed and isn't skipped."""
        return self._passed and not self._skipped and self._checked is not self.reference

    def untouched(self, answer: Any) -> bool:
        """Return True if nothing was written yet: ``...``, the stub's own body, or no step at all.

        Compiled code is compared, so a docstring, a comment or a renamed parameter is no attempt,
        and a single ``print`` is one.
        """
        if answer is ...:
            return True
        if not inspect.isfunction(answer):
            return False
        return _steps(answer.__code__) in (*_NOTHING, *_stub_steps(self.stub))

    def __repr__(self) -> str:
        return repr(Card(State.TASK, self.name, (Part("", self.task),)))

    def _repr_html_(self) -> str:
        return Card(State.TASK, self.name, (Part("", self.task),))._repr_html_()

    def _remember(self, answer: Any) -> tuple[Part, ...]:
        try:
            remember(self.name, text_of(answer))
        except Exception as error:  # a full disk, a folder that is gone: the answer stays right
            why = f"{type(error).__name__}: {error}"
            return (Part("Mind", f"The next kernel won't know that you've solved it ({why})."),)
        return ()

    def _open(self) -> Card:
        before = solved().get(self.name)
        if before is None:
            return Card(State.NOT_ATTEMPTED, self.name, (Part("", _STILL_EMPTY),))
        return Card(State.SOLVED_BEFORE, self.name, (Part("Your answer", before, code=True),))


_STILL_EMPTY = "Replace the three dots in the cell above, and run it again."

_NO_MORE_HINTS = "That was the last hint. `solution()` on the exercise shows our answer."

STANDS_IN = (
    "The reference stands in for your answer. Once yours has passed `check`, run the cells that "
    "use it again: they continue with yours."
)

Steps = list[tuple[str, Any]]


def _steps(code: CodeType) -> Steps:
    """Return a code object's instructions without their places, so that equal bodies are equal."""
    return [
        (i.opname, _steps(i.argval) if isinstance(i.argval, CodeType) else i.argrepr)
        for i in dis.get_instructions(code)
        if i.opname not in ("RESUME", "NOP")
    ]


_NOTHING = (_steps((lambda: None).__code__), _steps((lambda: ...).__code__))


def _stub_steps(stub: str) -> list[Steps]:
    """Compile the bodies in a stub, without running it: names in its annotations may not exist."""
    module = compile(stub, "<stub>", "exec", dont_inherit=True)
    codes = (c for c in module.co_consts if isinstance(c, CodeType))
    return [_steps(c) for c in codes if not c.co_name.startswith("__")]


# --- the text of a reference, and of an answer --------------------------------------------------


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
