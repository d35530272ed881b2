"""A query whose Spark has been ended does not keep its cell from being run again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JNetworkError

from workbook.spark.checkpoints import hold
from workbook.spark.progress import Progress
from workbook.spark.runner import Running


class Gone:
    """A query whose Java process has ended."""

    id = "1"

    def __init__(self, error: Exception) -> None:
        self.error = error

    def stop(self) -> None:
        raise self.error

    @property
    def isActive(self) -> bool:  # noqa: N802
        raise self.error


@pytest.mark.parametrize(
    "gone", [ConnectionRefusedError("refused"), Py4JNetworkError("Gateway is not connected.")]
)
def test_a_query_can_be_stopped_after_spark_has_ended(gone: Exception, tmp_path: Path) -> None:
    spark: Any = None
    running = Running(Gone(gone), spark, hold(tmp_path), Progress())  # type: ignore
    assert not running.is_active
    running.stop()
