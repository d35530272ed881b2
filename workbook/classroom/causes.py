"""Calls an answer, and names likely causes of a wrong one that show in one call."""

import copy
import inspect
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from typing import Any

from workbook.classroom.advice import advice
from workbook.classroom.render import LONGEST, error_line, in_full, show, type_name
from workbook.classroom.sandbox import HOLDERS, LIMIT_SECONDS, ROOM, Large, bounded, guarded


@dataclass(frozen=True)
class Attempt:
    """The outcome of one call: a value or an error, its printed output, or that it was stopped.

    A value that is too large to work with is a ``Large``. ``afterwards`` are the arguments if the
    call has changed them. ``second`` shows what the same call returned again, if that differs.
    """

    value: Any = None
    error: BaseException | None = None
    printed: str = ""
    timed_out: bool = False
    afterwards: tuple[Any, ...] | None = None
    second: str = ""

    @property
    def result(self) -> Any:
        """Return the value, or the error if there is none."""
        return self.error if self.error is not None else self.value

    @property
    def shown(self) -> str:
        """Return the outcome as text for a card."""
        if self.timed_out:
            return "none in time"
        gave = f"raised {error_line(self.error)}" if self.error is not None else show(self.value)
        return f"{gave}\nand the second time {self.second}" if self.second else gave

    @property
    def too_much(self) -> bool:
        """Return True if it took too long or its value was too large: it isn't called again."""
        return self.timed_out or isinstance(self.value, Large)


def attempt(function: Callable[..., Any], *args: Any, seconds: float = LIMIT_SECONDS) -> Attempt:
    """Call an answer: errors and prints are caught, and an endless loop is interrupted."""
    out = _Capped()
    with redirect_stdout(out):
        ended = guarded(function, *args, seconds=seconds)
    return Attempt(bounded(ended.value), ended.error, out.getvalue(), ended.timed_out)


def attempt_twice(answer: Callable[..., Any], args: tuple[Any, ...]) -> Attempt:
    """Call an answer with copies, twice, to see whether it changes its input or keeps anything."""
    mine, again = copy.deepcopy(args), copy.deepcopy(args)
    first = attempt(answer, *mine)
    first = replace(first, value=_kept(first.value))
    if first.error is None and not same(mine, args):
        first = replace(first, afterwards=mine)
    if first.too_much:
        return first
    second = attempt(answer, *again)
    shown = "" if alike(first.result, second.result) else second.shown
    return replace(first, timed_out=second.timed_out, second=shown)


def _kept(value: Any) -> Any:
    """Copy a value if possible: the answer may keep what it returned, and change it."""
    made = guarded(copy.deepcopy, value)
    return value if made.error is not None or made.timed_out else made.value


def same(left: Any, right: Any) -> bool:
    """Return True if two values are equal; those that refuse to say (arrays, frames) are not."""
    return guarded(lambda: bool(left == right)).value is True


def alike(left: Any, right: Any) -> bool:
    """Return True if two values are equal or look equal; errors equal only themselves."""
    return same(left, right) or (type(left) is type(right) and in_full(left) == in_full(right))


class _Capped(io.StringIO):
    """Collects the printed output of an answer, and cuts that of an endless loop."""

    def write(self, text: str) -> int:
        if self.tell() < LONGEST:
            super().write(text[:LONGEST])
        return len(text)


# --- causes ------------------------------------------------------------------------------------

NO_RETURN = (
    "It returns None, whatever the input: no `return` is reached, or what follows it is None, as "
    "with `append`, `update` or `sort`, which change a value and return nothing."
)
_KEPT = (
    "Does it keep something from call to call, in a global or in a default argument? Or does it "
    "ask a clock, or draw by chance?"
)
LEFT_BEHIND = f"Called with this input alone, it gives another value. {_KEPT}"
KEPT = f"The same input gives another value the second time. {_KEPT}"
PRINTS = "It prints the value and returns nothing. Give it back with `return`."


def usual_cause(tried: Attempt) -> str:
    """Return the likely cause that shows in how a call went, whatever the exercise; or ''."""
    if tried.timed_out:
        return "It does not come to an end in time: does its loop reach the last element, or wait?"
    if isinstance(tried.error, MemoryError):
        return (
            f"It asks for more than {ROOM >> 30} GB of memory. Which of its values grows so large? "
            "(`bytes(n)` with a number gives n zero bytes, and `[x] * n` has n elements.)"
        )
    if tried.error is not None:
        line = error_line(tried.error)
        return f"It raised {line}. {advice(tried.error, line)}".rstrip()
    if tried.afterwards is not None:
        return "It changes the input it was given. Build a new value and leave the input alone."
    return KEPT if tried.second else _cause_of_value(tried)


def _cause_of_value(tried: Attempt) -> str:
    value = tried.value
    if isinstance(value, Large):
        return f"It gives far more than is asked for: {value.size}."
    if value is None and tried.printed:
        return PRINTS
    if inspect.isgenerator(value):
        return (
            "It has a `yield`, or a comprehension in round brackets, so it returns a generator. "
            "Collect, and `return` once at the end."
        )
    if inspect.iscoroutine(value):
        return "It is an `async def`, so calling it only returns a coroutine. Write a plain `def`."
    if isinstance(value, Iterator):
        return (
            f"It returns an iterator (of type {type_name(value)}), which hands out its elements "
            "once, and only when it is asked. Make it a value with `list(...)`."
        )
    if value is ...:
        return "It still returns `...` for this input: one place is left to fill in."
    if callable(value):
        return "It returns a function or a class, no value: is a call missing its parentheses?"
    return ""


TEXT, WHOLE = "text", "whole number"

MOST_MATCHED = 500
"""Up to this number of elements without an order, each is compared with each."""


def other_type(value: Any, expected: Any, others: Sequence[type] = ()) -> str:
    """Return the cause where a value has the expected contents in another form, or another type.

    A value of one of the ``others`` is of a type that is right elsewhere.
    """
    if value is None or expected is None or isinstance(value, Large):
        return ""
    asked, found = _in_words(expected), _in_words(value)
    if forms := forms_of(value, expected):
        mine, wanted = forms[0]
        if (TEXT, WHOLE) in forms:
            return (
                "Right contents, but a number stands as text or bytes in it, where a whole number "
                "(int) is expected: leave out the `str(...)`, or put `int(...)` around the text."
            )
        if mine.startswith("numpy.") and mine != "numpy.float64" and wanted == WHOLE:
            return f"This is a {mine}, which `json.dumps` refuses: put `int(...)` around it."
        if wanted == WHOLE:
            return f"Right values, of type {mine} where a whole number (int) is expected."
        if not _related(value, expected):
            return f"Right contents in a {found}; a {asked} is expected."
        return f"Right contents, but a {mine} stands for a {wanted} in it."
    numbers = isinstance(value, (int, float)) and isinstance(expected, (int, float))
    if numbers or _related(value, expected) or isinstance(value, tuple(others)):
        return ""
    if isinstance(value, (list, tuple)) and len(value) == 1 and same(value[0], expected):
        return f"The right value lies inside a {found}. Give it back by itself."
    return f"Its value is of type {found}, where one of type {asked} is expected."


def _in_words(value: Any) -> str:
    """Return a type's name as the tasks have it."""
    return "dictionary" if isinstance(value, dict) else type_name(value)


def forms_of(value: Any, expected: Any) -> list[tuple[str, str]] | None:
    """Return the types (found, asked) in which equal contents differ; None for other contents."""
    forms: list[tuple[str, str]] | None = guarded(_forms, value, expected).value
    return forms


def _forms(value: Any, expected: Any) -> list[tuple[str, str]] | None:
    if type(expected) is int:
        text = value.decode("latin-1") if isinstance(value, bytes) else value
        if isinstance(text, str):
            return [(TEXT, WHOLE)] if text.removeprefix("+") == str(expected) else None
        whole = isinstance(value, int) and not isinstance(value, bool)
        return None if value != expected else [] if whole else [(type_name(value), WHOLE)]
    both = [(type_name(value), type_name(expected))]
    if not (isinstance(value, HOLDERS) and isinstance(expected, HOLDERS)):
        numpys = type_name(value).startswith("numpy.") and not _related(value, expected)
        return both * (numpys or isinstance(expected, HOLDERS)) if same(value, expected) else None
    found = [] if _related(value, expected) or value == expected else both
    mine, asked = (list(v.items() if isinstance(v, dict) else v) for v in (value, expected))
    if len(mine) != len(asked):
        return None
    if all(isinstance(v, (list, tuple)) for v in (value, expected)):
        inside = [_forms(*pair) for pair in zip(mine, asked, strict=True)]
        return None if None in inside else found + [form for each in inside for form in each or ()]
    if len(mine) > MOST_MATCHED:
        return None
    for each in asked:
        equal = [mine.index(each)] if each in mine else []
        tries = ((n, _forms(mine[n], each)) for n in [*equal, *range(len(mine))])
        place, forms = next(((n, forms) for n, forms in tries if forms is not None), (0, None))
        if forms is None:
            return None
        found += forms
        del mine[place]
    return found


def by_part(value: Any, expected: Any, why: str) -> str:
    """Return the cause of the part in which two values of one form differ; ``why`` of the whole."""
    path, mine, asked = _the_difference(value, expected)
    if path and mine is not None and asked is not None and not _related(mine, asked):
        found, wanted = _in_words(mine), _in_words(asked)
        return f"In your value, `{path}` is of type {found}, and type {wanted} is asked for."
    return f"{why} Your value differs at `{path}`." if path else why


def _the_difference(value: Any, expected: Any, path: str = "") -> tuple[str, Any, Any]:
    """Walk into values that have the same named parts, as long as a single one differs."""
    differing = [part for part in _named_parts(value, expected) if not same(*part[1:])]
    if len(differing) != 1:
        return path, value, expected
    [(name, mine, asked)] = differing
    return _the_difference(mine, asked, f"{path}{name}".removeprefix("."))


def _named_parts(value: Any, expected: Any) -> Iterator[tuple[str, Any, Any]]:
    if type(value) is (kind := type(expected)) and (fields := getattr(kind, "__match_args__", ())):
        yield from ((f".{f}", getattr(value, f), getattr(expected, f)) for f in fields)
    elif isinstance(value, dict) and isinstance(expected, dict):
        if value.keys() == expected.keys() and all(isinstance(key, str) for key in expected):
            yield from ((f"[{key!r}]", value[key], asked) for key, asked in expected.items())
    elif type(value) is tuple and type(expected) is tuple and len(value) == len(expected):
        pairs = enumerate(zip(value, expected, strict=True))
        yield from ((f"[{place}]", *pair) for place, pair in pairs)


def _related(value: Any, expected: Any) -> bool:
    return isinstance(value, type(expected)) or isinstance(expected, type(value))
