"""``workbook generate``: which stream the options describe, and which topic it makes."""

import re
import signal
from argparse import Namespace
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType
from labs import end, read_until, workbook

from workbook.cli.generate import generate, stream_of
from workbook.cli.main import main
from workbook.errors import NoSuchStream, WorkbookError
from workbook.kafka.readers import read_all
from workbook.topics import new_topic

PLAIN = {
    "topic": None, "rate": 1000.0, "seconds": 1.0, "partitions": 1, "seed": 1, "speed": None,
    "duplicate_share": 0.0, "bad_share": 0.0,
}  # fmt: skip


pytestmark = pytest.mark.usefixtures("signals_as_before")


def options(stream: str, **more: Any) -> Namespace:
    return Namespace(**{"stream": stream, **PLAIN, **more})


def test_an_option_of_another_stream_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["generate", "positions", "--late-share", "1"])
    said = capsys.readouterr().err
    assert said.startswith("unknown: --late-share")
    assert "\nFor all that it takes: " in said
    assert "workbook generate positions --help" in said


def test_what_describes_no_stream_is_named_as_it_was_typed() -> None:
    with pytest.raises(NoSuchStream, match=r"^--late-by-ms must be at least 1, got 0"):
        stream_of(options("clicks", late_by_ms=0))


def test_positions_do_not_go_where_they_would_be_gone_after_a_while(broker: Any) -> None:
    clicks = new_topic("clicks", "test-generate")
    broker.create(clicks)
    with pytest.raises(WorkbookError, match=f"'{clicks.name}' to be compacted, since it holds a"):
        generate(options("positions", topic=clicks.name))
    assert read_all(broker.client_config(), clicks.name).empty


def test_positions_go_to_a_compacted_topic(broker, capsys, monkeypatch) -> None:
    monkeypatch.setattr("workbook.cli.generate.kafka", lambda role: broker)
    topic = new_topic("positions", "test-generate").name
    given = options("positions", topic=topic, partitions=2, positions=50, bad_share=0.1)
    generate(given)
    assert f"1,000 events in 1,000 messages sent to {topic}" in capsys.readouterr().out
    resource = ConfigResource(ResourceType.TOPIC, topic)
    admin = AdminClient(broker.client_config())
    [found] = admin.describe_configs([resource]).values()
    assert found.result()["cleanup.policy"].value == "compact"
    sent = stream_of(given).block(0, 1000).to_pylist()
    there = read_all(broker.client_config(), topic)
    assert set(zip(there["key"], there["value"], strict=True)) == {
        (row["key"], row["value"]) for row in sent
    }
    with pytest.raises(NoSuchStream, match="with 2 partitions"):
        generate(options("positions", topic=topic, partitions=3))


def test_asked_to_end_it_says_how_far_it_came(broker: Any) -> None:
    topic = new_topic("clicks", "test-generate").name
    paced = ("--rate", "200", "--seconds", "600", "--speed", "1", "--topic", topic)
    process = workbook("generate", "clicks", *paced)
    read_until(process, "of 120,000 events")
    said = end(process, signal.SIGTERM, 130)
    line = rf"^([\d,]+) of 120,000 events in [\d,]+ messages sent to {topic}"
    found = re.search(line, said, re.M)
    assert found is not None, said
    assert 0 < int(found[1].replace(",", "")) < 100_000
    assert len(read_all(broker.client_config(), topic)) > 0
