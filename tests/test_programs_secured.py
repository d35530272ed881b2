"""The six programs on a secured cluster: a certificate, and the rights of docs/own-servers.md."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import test_programs
from secured import KEY_PASSWORD, Secured
from test_programs import (  # noqa: F401 (they run here with the broker below)
    test_another_copy_takes_over_and_no_second_is_lost,
    test_each_action_is_counted_once,
    test_every_message_is_in_a_visit,
    test_lag_is_the_end_minus_the_commit,
    test_seconds_are_counted_in_full,
    test_the_table_has_what_is_true_now,
)

from workbook.kafka.broker import Broker

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[1] / "docs" / "own-servers.md"
ROWS = [line.split("|")[1:5] for line in re.findall(r"^\| `\w+\.py.*", PAGE.read_text(), re.M)]
AT = {"GROUP": "programs-", "TOPIC": "workbook-"}
FILE = """\
security.protocol=SSL
ssl.ca.location={0}/ca.pem
ssl.keystore.location={0}/learner.p12
ssl.keystore.password={1}
ssl.key.password={1}
"""


@pytest.fixture
def broker(secured: Secured) -> Broker:
    """The same broker as somebody has it who may do everything."""
    return Broker(secured.at["open"])


@pytest.fixture(autouse=True)
def learner(secured: Secured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Start each program as a user with exactly the rights of its row."""
    file, plain = tmp_path / "client.properties", test_programs.command
    file.write_text(FILE.format(secured.folder, KEY_PASSWORD))

    def command(program: str, options: dict[str, Any]) -> list[str]:
        [row] = [row for row in ROWS if f"`{program}.py`" in row[0]]
        for cell, right in zip(row[1:], ("READ", "WRITE", "READ"), strict=True):
            for name in re.findall("`--(.+?)`", cell):
                kind = "GROUP" if name == "group" else "TOPIC"
                secured.allow("learner", options[name], right, kind=kind)
        if "DESCRIBE on the groups" in row[3]:
            for kind in AT:
                secured.allow("learner", AT[kind], "DESCRIBE", kind=kind, prefix=True)
        return plain(program, {**options, "servers": secured.at["tls"], "config": file})

    monkeypatch.setattr(test_programs, "command", command)
    yield
    secured.forbid("learner")
