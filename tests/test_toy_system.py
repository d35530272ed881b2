"""The crash lab judges a system whose results are in no topic."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from workbook.crashlab.lab import crash
from workbook.kafka.broker import Broker


def test_a_system_that_writes_to_a_file_is_killed_and_judged(
    broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import toy_system

    from workbook.systems import SYSTEMS
    from workbook.systems.crashes import CRASHES

    tests = Path(toy_system.__file__).parent
    (tmp_path / "sitecustomize.py").write_text("import toy_system\n")  # the killed process has it
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(tests)]))
    try:
        outcome = crash(broker, "to_lines", "spark", "before-checkpoint", seed=3)
    finally:
        SYSTEMS.pop("to_lines"), CRASHES.pop("to_lines")
    assert outcome.kept, str(outcome)
    assert outcome.counts["duplicated"] == 20, "the micro-batch that was killed came again"
    assert len(outcome.recoveries) == 1
