"""An import inside an answer may take its time: only the calls themselves are limited."""

from __future__ import annotations

import sys

import pytest

from workbook.classroom.guard import LIMIT_SECONDS
from workbook.classroom.imports import import_for
from workbook.classroom.judging import Case, by_cases

diagnose = by_cases([Case((1,), 2, "One more.")])


@pytest.fixture
def slow_module(tmp_path, monkeypatch):
    """A package whose submodule takes longer to import than a call may."""
    (tmp_path / "slow_to_import").mkdir()
    (tmp_path / "slow_to_import" / "__init__.py").write_text("")
    (tmp_path / "slow_to_import" / "adding.py").write_text(
        f"import time\nprint('loading')\ntime.sleep({LIMIT_SECONDS + 0.3})\nONE = 1\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield "slow_to_import"
    for name in [name for name in sys.modules if name.startswith("slow_to_import")]:
        del sys.modules[name]


def imports(n):
    import slow_to_import.adding

    return n + slow_to_import.adding.ONE


def takes_from_a_package(n):
    from slow_to_import import adding

    return n + adding.ONE


def calls_another(n):
    return takes_from_a_package(n)


@pytest.mark.parametrize("answer", [imports, takes_from_a_package, calls_another])
def test_a_slow_import_inside_an_answer_is_not_counted(answer, slow_module, capsys):
    assert diagnose(answer) is None
    assert capsys.readouterr().out == ""


def missing(n):
    import there_is_no_such_module

    return there_is_no_such_module


def test_an_import_that_fails_is_told_as_the_answers_own_error():
    found = diagnose(missing)
    assert "No module named 'there_is_no_such_module'" in found.cause


def test_functions_that_name_each_other_are_looked_at_once():
    import_for(calls_itself)
    import_for(len)
    import_for(None)


def calls_itself(n):
    return calls_itself(n - 1) if n else diagnose
