"""A query whose Spark has been ended does not keep its cell from being run again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from py4j.protocol import Py4JNetworkError
from workbook.spark.queries import QueryGroup


@dataclass
class Query:
    """A query, and whether its Java process has ended."""

    gone: Exception | None = None
    active: bool = True

    def option(self, name: str, value: str) -> Query:
        return self

    def start(self) -> Query:
        return self

    @property
    def isActive(self) -> bool:  # noqa: N802
        self._ask()
        return self.active

    def stop(self) -> None:
        self._ask()
        self.active = False

    def exception(self) -> None:
        self._ask()

    def _ask(self) -> None:
        if self.gone:
            raise self.gone


@pytest.mark.parametrize(
    "gone", [ConnectionRefusedError("refused"), Py4JNetworkError("Gateway is not connected.")]
)
def test_a_cell_runs_again_after_spark_has_ended(gone: Exception, tmp_path: Path) -> None:
    first, second = Query(), Query()
    before = QueryGroup([first], tmp_path / "name" / "1")
    first.gone = gone
    again = QueryGroup([second], tmp_path / "name" / "2")
    assert not before.is_active
    before._watcher.join(5)
    assert not before._watcher.is_alive()
    assert again.is_active
    again.stop()
    assert not second.active
