"""A function is known again in another process, and another one isn't taken for it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from workbook.errors import CannotFingerprint
from workbook.spark import fingerprints
from workbook.spark.fingerprints import fingerprint, plain

SYMBOLS = "{'NYSE', 'NASDAQ', 'AMEX', 'CBOE', 'XETRA', 'TSE'}"


def made(source: str) -> Callable[..., Any]:
    """The function ``f`` of a cell; ``helpers`` is a module of one's own, with ``HELPERS``."""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(source, names)
    helpers = ModuleType("helpers")
    exec(names.get("HELPERS", ""), vars(helpers))
    names["helpers"] = helpers
    return names["f"]  # type: ignore[no-any-return]


def of(source: str) -> str:
    return fingerprint(made(source))


# Each is another function where 1 stands for 7.
SEEN = {
    "a constant": "def f(s, r): return s + 7",
    "the constant of an inner function": "def f(s, r): return [x + 7 for x in s]",
    "what is caught": "def f(s, r):\n try: s = 7\n except KeyError: pass\n return s",
    "a default": "def f(s, r, step=7): return s + step",
    "a keyword-only default": "def f(s, r, *, step=7): return s + step",
    "a function as default": "def f(s, r, how=lambda x: x + 7): return how(s)",
    "an attribute of the function": "def f(s, r): return s + f.step\nf.step = 7",
    "a global": "STEP = 7\ndef f(s, r): return s + STEP",
    "a global of a function that is called": "N = 7\ndef g(): return N\ndef f(s, r): return g()",
    "a Decimal": "from decimal import Decimal\nD = Decimal(7)\ndef f(s, r): return s + D",
    "a pattern": "import re\nP = re.compile('7')\ndef f(s, r): return P.match(r)",
    "the method of a pattern": "import re\nm = re.compile('7').match\ndef f(s, r): return m(r)",
    "a date": "from datetime import date\nD = date(2024, 1, 7)\ndef f(s, r): return r > D",
    "a set in a dictionary": "D = {'a': {7, 2}}\ndef f(s, r): return D[r]",
    "a very large number": "D = [7 * 10**5000]\ndef f(s, r): return D[r]",
    "a Counter": "from collections import Counter\nD = Counter(a=7)\ndef f(s, r): return D[r]",
    "a class that extends set": "class S(set): n = 7\nD = S('ab')\ndef f(s, r): return D",
    "an itemgetter": "from operator import itemgetter\ng = itemgetter(7)\ndef f(s, r): return g(r)",
    "a module's constant": "HELPERS = 'RATE = 7'\ndef f(s, r): return s + helpers.RATE",
    "a module's function": "HELPERS = 'def g(s): return s + 7'\ndef f(s, r): return helpers.g(s)",
    "a module's module": 'import types\nHELPERS = \'import types; m = types.ModuleType("m"); '
    "m.RATE = 7'\ndef f(s, r): return s + helpers.m.RATE",
    "a closure": "def around(k):\n def f(s, r): return s + k\n return f\nf = around(7)",
    "a partial": "from functools import partial\nf = partial(lambda k, s, r: s + k, 7)",
    "a named partial": "from functools import partial\nf = partial(lambda s, r, k: s + k, k=7)",
    "a decorator": "import functools\ndef times(k):\n def way(g):\n  @functools.wraps(g)\n"
    "  def w(s, r): return g(s, r) * k\n  return w\n return way\n@times(7)\ndef f(s, r): return s",
    "what is decorated": "import functools\ndef twice(g):\n @functools.wraps(g)\n"
    " def w(s, r): return g(s, r) * 2\n return w\n@twice\ndef f(s, r): return s + 7",
    "what a library decorates": "from contextlib import contextmanager\n@contextmanager\n"
    "def f(s, r): yield s + 7",
    "what is cached": "from functools import cache\n@cache\ndef f(s, r): return s + 7",
    "the object of a bound method": "class A:\n def __init__(self, k): self.k = k\n"
    " def add(self, s, r): return s + self.k\nf = A(7).add",
    "a callable object's value": "class A:\n def __init__(self, k): self.k = k\n"
    " def __call__(self, s, r): return s + self.k\nf = A(7)",
    "a value in slots": "class A:\n __slots__ = 'k'\nx = A()\nx.k = 7\ndef f(s, r): return x.k",
    "a method": "class A:\n def x(self): return 7\ndef f(s, r): return A().x()",
    "a static method": "class A:\n @staticmethod\n def x(): return 7\ndef f(s, r): return A.x()",
    "a property": "class A:\n @property\n def x(self): return 7\ndef f(s, r): return A().x",
    "the method of a base": "class B:\n def x(self): return 7\nclass A(B): pass\n"
    "def f(s, r): return A().x()",
    "the value of a class": "class A: x = 7\ndef f(s, r): return A.x",
    "a dataclass": "from dataclasses import dataclass\n@dataclass\nclass A:\n x: int = 7\n"
    "def f(s, r): return A()",
    "a named tuple": "from collections import namedtuple\nA = namedtuple('A', 'x7')\n"
    "def f(s, r): return A(s)",
    "a member of an enum": "from enum import Enum\nclass E(Enum):\n a = 7\ndef f(s, r): return E.a",
    "functions that call each other": "def g(s): return h(s) + 7\ndef h(s): return g(s)\n"
    "def f(s, r): return h(s)",
    "a value far down": f"D = {'[' * 90}7{']' * 90}\ndef f(s, r): return D",
    "a value in a circle": "D = [7]\nD.append(D)\ndef f(s, r): return D",
}


@pytest.mark.parametrize("source", SEEN.values(), ids=SEEN.keys())
def test_another_function_is_another(source: str) -> None:
    assert of(source) == of(source)
    assert of(source) != of(source.replace("7", "1", 1))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("def f(s, *r): return s", "def f(s, **r): return s"),
        ("D = 1\ndef f(s, r): return D", "D = True\ndef f(s, r): return D"),
        ("D = [1]\ndef f(s, r): return D", "D = (1,)\ndef f(s, r): return D"),
        ("D = set()\ndef f(s, r): return D", "D = {}\ndef f(s, r): return D"),
        ("import math\ndef f(s, r): return math.sin(s)", "def f(s, r): return helpers.sin(s)"),
        ("from math import sin as f", "from cmath import sin as f"),
        ("f = len", "f = sum"),
        ("def f(s, r): return s + 1", "from functools import partial\nf = partial(lambda s: s, 1)"),
    ],
)
def test_what_is_alike_is_another_too(one: str, other: str) -> None:
    assert of(one) != of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("def f(s, r): return s", "\n\n# moved\ndef f(s, r):\n    return s"),
        ("def f(s, r): return s", "def f(s: int, r: dict) -> 'int': return s"),
        ("def f(s, r):\n 'One.'\n return None", "def f(s, r):\n 'Other.'\n return None"),
        ("def f(s, r):\n 'One.'\n return s, None, 5", "def f(s, r): return s, None, 5"),
        ("def f(s, r): return s", "from __future__ import annotations\ndef f(s, r): return s"),
        ("class A:\n 'One.'\ndef f(s, r): return A", "class A:\n 'Other.'\ndef f(s, r): return A"),
        ("a = 1\ndef f(s, r): return r.a", "a = 2\ndef f(s, r): return r.a"),
        ("D = {1: 1, 2: 2}\ndef f(s, r): return D", "D = {2: 2, 1: 1}\ndef f(s, r): return D"),
        ("HELPERS = 'a = b = 1'\ndef f(s, r): return helpers.a", "HELPERS = 'a = 1; b = 2'\n"
         "def f(s, r): return helpers.a"),
    ],
)  # fmt: skip
def test_what_does_not_matter_is_not_seen(one: str, other: str) -> None:
    assert of(one) == of(other)


def test_what_cannot_be_pickled_is_known_by_its_type() -> None:
    source = "import threading\nL = [threading.Lock()]\ndef f(s, r): return L"
    assert of(source) == of(source)
    assert of(source) != of(source.replace("Lock", "Condition"))


def test_what_a_function_imports_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "shop_one.py").write_text("RATE = 1")
    (tmp_path / "shop_two.py").write_text("RATE = 2")
    (tmp_path / "shop_three.py").write_text("RATE = 1")
    for text in ("from {} import RATE; return s + RATE", "import {} as shop; return shop.RATE"):
        source = f"def f(s, r): {text}"
        assert of(source.format("shop_one")) != of(source.format("shop_two"))
        assert of(source.format("no_such_module")) != of(source.format("shop_one"))


def test_more_than_can_be_compared_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    source = "D = [{'a': [n]} for n in range(50)]\ndef f(s, r): return D"
    assert of(source) == of(source)
    monkeypatch.setattr(fingerprints, "_MOST", 50)
    with pytest.raises(CannotFingerprint, match=r"Expected f to use at most 50 objects"):
        of(source)


def test_a_circle_that_is_too_long_is_an_error_at_once() -> None:
    source = "class A: pass\nD = [A() for _ in range(3000)]\nfor a, b in zip(D, D[1:] + D[:1]): "
    with pytest.raises(CannotFingerprint, match="Expected f to use"):
        of(f"{source}a.next = b\na = D[0]\ndef f(s, r): return a")


def test_many_functions_that_use_each_other_take_no_time() -> None:
    everybody = ", ".join(f"f{n}" for n in range(40))
    cells = "\n".join(f"def f{n}(s, r): return {everybody}" for n in range(40))
    assert of(f"{cells}\nf = f3") == of(f"{cells}\nf = f3")


# --- in another process -----------------------------------------------------------------------

RESTARTED = {
    "sets in containers": f"D = {{'US': {SYMBOLS}}}\nL = [{SYMBOLS}]\n"
    f"def f(s, r): return D, L, r in {SYMBOLS}",
    "a function as default": "def f(s, r, how=lambda x: x): return how(s)",
    "objects": "class A: pass\nD = [A(), A(), object()]\ndef f(s, r): return D",
    "sets of objects": f"from datetime import date\nclass S(set): pass\nD = S({SYMBOLS})\n"
    "E = {date(2024, 1, n): {date(2023, 1, n)} for n in {3, 4, 5}}\ndef f(s, r): return D, E",
    "a Counter": f"from collections import Counter\nD = Counter({SYMBOLS})\ndef f(s, r): return D",
    "functions in a set": "def g(s): return h(s), 1\ndef h(s): return g(s), D, k\n"
    "def k(s): return h, 3\nD = {g, h, k}\nE = dict.fromkeys(D)\ndef f(s, r): return D, E",
    "classes": "import abc, enum, dataclasses\nclass B(abc.ABC):\n"
    " @abc.abstractmethod\n def x(self): ...\n @abc.abstractmethod\n def y(self): ...\n"
    "class E(enum.Enum):\n a = 'a'\n b = 'b'\n"
    "@dataclasses.dataclass\nclass A:\n e: E = E.a\n"
    f" s: set = dataclasses.field(default_factory=lambda: {SYMBOLS})\n"
    " def other(self): return A(E.b), B\ndef f(s, r): return A().other()",
    "libraries": "import json, random\nfrom random import choice\nfrom pathlib import Path\n"
    "import polars as pl\nP = Path('a')\n"
    "def f(s, r): return json.dumps(P), random.random(), pl.col('a'), P",
}
RUN = """
import sys
from workbook.spark.fingerprints import fingerprint, plain
for source in {sources!r}:
    names = {{"__name__": "__main__"}}
    exec(compile(source, sys.argv[1], "exec"), names)
    print(fingerprint(names["f"]))
print(plain({{"b": {symbols}, "a": [{symbols}]}}))
"""


@pytest.fixture(scope="module")
def told() -> list[list[str]]:
    """What three processes of different hash seeds say of ``RESTARTED``, and of a start value."""
    code = RUN.format(sources=list(RESTARTED.values()), symbols=SYMBOLS)
    paths = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    runs = [
        subprocess.run(
            [sys.executable, "-c", code, f"cell {seed}"],
            env={**os.environ, **paths, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        )
        for seed in (1, 2, 3)
    ]
    return [run.stdout.splitlines() for run in runs]


@pytest.mark.parametrize("name", [*RESTARTED, "a start value"])
def test_after_a_restart_it_is_the_same(told: list[list[str]], name: str) -> None:
    at = [*RESTARTED, "a start value"].index(name)
    assert len({lines[at] for lines in told}) == 1


def test_it_is_the_same_in_a_module_and_in_a_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    source = f"{RESTARTED['classes']}\nfrom functools import cache\nf = cache(f)\n"
    (tmp_path / "moved_elsewhere.py").write_text(f"'''A module.'''\n\n{source}")
    assert fingerprint(__import__("moved_elsewhere").f) == of(source)


# --- a value as text --------------------------------------------------------------------------


def test_a_value_is_shown_as_it_is_written() -> None:
    values = [None, 1, True, 1.0, "1", b"1", [], (), {}, set(), [1], (1,), {1: [2]}, {1}]
    texts = [plain(value) for value in values]
    assert len(set(texts)) == len(texts)
    assert texts[:6] == ["None", "1", "True", "1.0", "'1'", "b'1'"]
    assert plain({"b": {2, 1}, "a": [None]}) == "{'a': [None], 'b': set(1, 2)}"


def test_other_values_are_shown_by_type_and_hash() -> None:
    assert plain(Decimal(1)).startswith("Decimal ")
    assert plain([Decimal(1)]) == plain([Decimal(1)]) != plain([Decimal(2)])
