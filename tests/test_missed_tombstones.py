"""A table isn't continued where tombstones may be gone that its checkpoint hasn't read."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import Producer

from workbook.errors import CannotGoOn
from workbook.kafka.broker import Broker
from workbook.kafka.compaction import DAY_MS
from workbook.spark.offset_log import last_read
from workbook.systems import SYSTEMS
from workbook.systems.active_groups import ActiveGroups
from workbook.systems.refusals import require_tombstones
from workbook.topics import COMPACTED, CONSUMER_OFFSETS, Topic

HOUR_MS = DAY_MS // 24
KEPT = {"delete.retention.ms": str(2 * HOUR_MS)}


def now() -> int:
    return int(time.time() * 1000)


Sent = Callable[..., Topic]


@pytest.fixture
def sent(broker: Broker) -> Sent:
    """A new topic of two partitions, with records of these ages (ms) in partition 1."""

    def create(*ages: int, **config: str) -> Topic:
        settings = {**COMPACTED, **KEPT, **{n.replace("_", "."): v for n, v in config.items()}}
        topic = Topic(f"missed-{secrets.token_hex(4)}", 2, settings)
        broker.create(topic)
        producer = Producer(broker.client_config())
        for age in ages:
            producer.produce(topic.name, b"x", b"key", partition=1, timestamp=now() - age)
        assert producer.flush(60) == 0
        return topic

    return create


def planned(checkpoint: Path, topic: str, ends: dict[int, int], age: int, number: int = 7) -> None:
    """Note in a checkpoint that a micro-batch was planned so long ago (ms), and has finished."""
    text = ["v1", json.dumps({"batchWatermarkMs": 0, "batchTimestampMs": now() - age, "conf": {}})]
    for folder, lines in (("offsets", [*text, json.dumps({topic: ends})]), ("commits", ["v1"])):
        (checkpoint / "0" / folder).mkdir(parents=True, exist_ok=True)
        (checkpoint / "0" / folder / str(number)).write_text("\n".join(lines))


# --- what decides ---------------------------------------------------------------------------------


def test_the_last_finished_micro_batch_counts(tmp_path: Path) -> None:
    assert last_read(tmp_path / "0", "clicks") is None
    for number in (9, 10):
        planned(tmp_path, "clicks", {0: number}, age=number * HOUR_MS, number=number)
    (tmp_path / "0" / "offsets" / "11").write_text("v1\n{half")
    found = last_read(tmp_path / "0", "clicks")
    assert found is not None
    assert found[0] == {0: 10}
    assert found[1] == pytest.approx(now() - 10 * HOUR_MS, abs=60_000)
    (tmp_path / "0" / "commits" / "11").write_text("v1")
    assert last_read(tmp_path / "0", "clicks") is None


# --- what is refused, and what goes on ------------------------------------------------------------


@pytest.mark.parametrize(
    ("ages", "read", "age", "config"),
    [
        ((5 * HOUR_MS, 3 * HOUR_MS, 0), 1, HOUR_MS, {}),  # it was down for an hour
        ((5 * HOUR_MS, 3 * HOUR_MS), 2, 4 * HOUR_MS, {}),  # nothing has come since
        ((5 * HOUR_MS, 0), 1, 4 * HOUR_MS, {}),  # idle for hours, and now something came
        ((5 * HOUR_MS, 3 * HOUR_MS, 0), 1, 4 * HOUR_MS, {"cleanup_policy": "delete"}),
    ],
)
def test_what_can_have_missed_nothing_goes_on(
    broker: Broker,
    sent: Sent,
    tmp_path: Path,
    ages: tuple[int, ...],
    read: int,
    age: int,
    config: dict[str, str],
) -> None:
    topic = sent(*ages, **config)
    planned(tmp_path, topic.name, {0: 0, 1: read}, age=age)
    require_tombstones(broker.client_config(), topic.name, str(tmp_path))


def test_a_new_partition_and_a_new_checkpoint_have_missed_nothing(
    broker: Broker, sent: Sent, tmp_path: Path
) -> None:
    topic = sent(5 * HOUR_MS, 3 * HOUR_MS)
    config = broker.client_config()
    require_tombstones(config, topic.name, None)
    require_tombstones(config, topic.name, str(tmp_path))
    planned(tmp_path, topic.name, {0: 0}, age=4 * HOUR_MS)
    require_tombstones(config, topic.name, str(tmp_path))


def test_a_new_table_of_groups_wants_an_empty_topic(
    broker: Broker, sent: Sent, tmp_path: Path
) -> None:
    """Else what is deleted by now would stay in it, for the new query knows nothing of it."""
    system, former, empty = ActiveGroups(), sent(0), sent()
    for checkpoint in ([], ["--checkpoint", str(tmp_path)]):
        with pytest.raises(CannotGoOn, match=f"Expected {former.name} to be empty"):
            system.check_topics(broker, system.options(["--out", former.name, *checkpoint]))
        system.check_topics(broker, system.options(["--out", empty.name, *checkpoint]))
        system.check_topics(broker, system.options(["--out", "not-there-yet", *checkpoint]))
    planned(tmp_path, CONSUMER_OFFSETS, {0: 0}, age=0)
    system.check_topics(
        broker, system.options(["--out", former.name, "--checkpoint", str(tmp_path)])
    )


@pytest.mark.parametrize("name", ["share_holders", "active_groups"])
def test_run_asks_it_of_each_system_with_a_table(
    broker: Broker, sent: Sent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    topic, system = sent(5 * HOUR_MS, 3 * HOUR_MS, 0), SYSTEMS[name]
    monkeypatch.setattr("workbook.systems.active_groups.CONSUMER_OFFSETS", topic.name)
    planned(tmp_path, topic.name, {0: 0, 1: 1}, age=4 * HOUR_MS)
    words = ["--in", topic.name] if system.reads else []
    options = system.options([*words, "--checkpoint", str(tmp_path)])
    said = rf"go on with {topic.name} within 2:00:00 .* is 4:00:0.* in 1 of 2 partitions"
    with pytest.raises(CannotGoOn, match=said):
        system.check_topics(broker, options)
