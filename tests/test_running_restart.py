"""A query that has ended, or whose Spark has, and what is done to it then."""

from pathlib import Path
from typing import Any
from unittest.mock import Mock

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


def test_leaving_the_with_block_starts_no_query_again(tmp_path: Path) -> None:
    query, spark, started = Mock(id="1", isActive=False), Mock(), list[str]()
    running = Running(query, spark, hold(tmp_path), Progress())
    running.progress.ended.set()
    running.again = started.append  # type: ignore
    with pytest.raises(ValueError, match="NewSchema"), running:
        query.exception.return_value = ValueError("NewSchema")
    assert started == []
