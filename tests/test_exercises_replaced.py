"""`import *` from Spark's functions is named at once, and not by a cell far below."""

from __future__ import annotations

from typing import Any

import pytest

from workbook.classroom.core import Problem
from workbook.classroom.judging import NotYet
from workbook.classroom.render import Card


def checked(cell: str, verdict: NotYet | None) -> Card:
    """The card of an answer that a notebook's cell defines."""
    notebook: dict[str, Any] = {}
    exec(cell, notebook)
    problem = Problem("Name", "Task", "def f(x):\n    ...\n", lambda f: verdict, (), len, "Fine.")
    return problem.check(notebook["f"])


@pytest.mark.parametrize("verdict", [None, NotYet("It is wrong.")])
def test_functions_of_python_s_own_that_were_replaced_are_named(verdict: NotYet | None) -> None:
    cell = "from pyspark.sql.functions import *\ndef f(x):\n    return x.agg(count('*'))"
    told = checked(cell, verdict).part("Mind")
    for name in ("max", "min", "sum", "abs"):
        assert f"`{name}`" in told
    notebook: dict[str, Any] = {}
    exec(cell, notebook)
    exec(told.split("run `")[1].split("`")[0], notebook)
    assert eval("max(1, 2) + sum([3])", notebook) == 5


@pytest.mark.parametrize(
    "cell",
    [
        "from pyspark.sql import functions as F\ndef f(x):\n    return x.agg(F.count('*'))",
        "from pyspark.sql.functions import col\ndef f(x):\n    return col(x)",
        "def max(x):\n    return x\ndef f(x):\n    return max(x)",
        "class C:\n    def __call__(self, x):\n        return x\nf = C()",
    ],
)
def test_nothing_is_said_otherwise(cell: str) -> None:
    assert checked(cell, None).part("Mind") == ""
