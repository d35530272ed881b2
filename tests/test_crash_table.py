"""The table of share holders under kill -9; the whole matrix is benchmarks/table_crashes.py."""

from __future__ import annotations

import argparse

import pytest
from workbook.faults.plan import WHERE_IN_TABLE
from workbook.faults.table import crash_table

from workbook import faults
from workbook.errors import NoSuchCrash
from workbook.kafka.broker import Broker


@pytest.mark.parametrize(
    "points",
    [
        pytest.param(["mid-batch", "before-checkpoint"], id="two points"),
        pytest.param(list(WHERE_IN_TABLE), id="every point", marks=pytest.mark.slow),
    ],
)
def test_the_table_equals_a_recomputation_after_crashes(broker: Broker, points: list[str]) -> None:
    said: list[str] = []
    outcome = crash_table(broker, points, seed=5, progress=said.append)
    assert outcome.kept, str(outcome)
    assert outcome.rejected > 20
    assert len(outcome.recoveries) == len(points)
    assert str(outcome).startswith(f"✓ share holders, killed {len(points)} times")
    assert len(said) == 2 + len(points)


def test_a_point_that_there_is_not_is_refused(broker: Broker) -> None:
    with pytest.raises(NoSuchCrash, match=r"does not pass 'before-send'.*before-store"):
        crash_table(broker, ["before-send"])


def test_the_command_knows_the_points_of_the_table() -> None:
    parser = argparse.ArgumentParser()
    faults.add_arguments(parser)
    assert all(point in parser.format_help() for point in WHERE_IN_TABLE)
    options = parser.parse_args(["share_holders", "--variant", "spark"])
    with pytest.raises(NoSuchCrash, match="has no variant 'spark'"):
        faults.command(options)
