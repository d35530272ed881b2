"""A table isn't continued where tombstones may be gone that its checkpoint hasn't read."""

import json
import secrets
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from brokers import produce

from workbook.errors import CannotGoOn, WorkbookError
from workbook.kafka.broker import Broker
from workbook.systems import SYSTEMS
from workbook.systems.preflight import require_tombstones
from workbook.topics import COMPACTED, Topic

HOUR_MS = 3_600_000


def now() -> int:
    return int(time.time() * 1000)


Sent = Callable[..., Topic]


@pytest.fixture
def sent(broker: Broker) -> Sent:
    """A new topic of two partitions, with records of these ages (hours) in partition 1."""

    def create(*ages: int, policy: str = "compact") -> Topic:
        kept = {"delete.retention.ms": str(2 * HOUR_MS), "cleanup.policy": policy}
        topic = Topic(f"missed-{secrets.token_hex(4)}", 2, {**COMPACTED, **kept})
        broker.create(topic)
        rows = ((b"x", b"key", 1, now() - age * HOUR_MS) for age in ages)
        produce(broker.client_config(), topic.name, *rows)
        return topic

    return create


def planned(checkpoint: Path, topic: str, ends: dict[int, int], age: int) -> None:
    """Note in a checkpoint that a micro-batch was planned so long ago (hours), and has finished."""
    settings = {"batchWatermarkMs": 0, "batchTimestampMs": now() - age * HOUR_MS, "conf": {}}
    text = ["v1", json.dumps(settings), json.dumps({topic: ends})]
    for folder, lines in (("offsets", text), ("commits", ["v1"])):
        (checkpoint / "0" / folder).mkdir(parents=True, exist_ok=True)
        (checkpoint / "0" / folder / "7").write_text("\n".join(lines))


@pytest.mark.parametrize("name", ["share_holders", "active_groups"])
def test_what_came_longer_ago_than_tombstones_are_kept_is_refused(
    broker: Broker, sent: Sent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    topic, system = sent(5, 3, 0), SYSTEMS[name]
    monkeypatch.setattr("workbook.systems.active_groups.CONSUMER_OFFSETS", topic.name)
    planned(tmp_path, topic.name, {0: 0, 1: 1}, age=4)
    words = ["--in", topic.name] if system.reads else []
    options = system.options([*words, "--checkpoint", str(tmp_path)])
    with pytest.raises(CannotGoOn, match=f"{topic.name} within 2:00:00 .* new folder for --check"):
        system.check_topics(broker, options)


@pytest.mark.parametrize(
    ("ages", "ends", "age", "policy"),
    [
        ((5, 3, 0), {0: 0, 1: 1}, 1, "compact"),  # it was down for an hour
        ((5, 3), {0: 0, 1: 2}, 4, "compact"),  # nothing has come since
        ((5, 0), {0: 0, 1: 1}, 4, "compact"),  # idle for hours, and now something came
        ((5, 3), {0: 0}, 4, "compact"),  # partition 1 is new
        ((5, 3, 0), {0: 0, 1: 1}, 4, "delete"),
    ],
)
def test_what_can_have_missed_nothing_goes_on(
    broker: Broker, sent: Sent, tmp_path: Path, ages, ends, age, policy
) -> None:
    topic = sent(*ages, policy=policy)
    require_tombstones(broker.client_config(), topic.name, str(tmp_path))
    planned(tmp_path, topic.name, ends, age)
    require_tombstones(broker.client_config(), topic.name, str(tmp_path))


def test_a_new_table_wants_an_empty_topic(broker: Broker, sent: Sent, tmp_path: Path) -> None:
    """Else what is deleted by now would stay in it, for the new query knows nothing of it."""
    system, source, former, empty = SYSTEMS["share_holders"], sent(0), sent(0), sent()
    plain = sent(policy="delete")

    def check(out: str) -> None:
        words = ["--in", source.name, "--out", out, "--checkpoint", str(tmp_path)]
        system.check_topics(broker, system.options(words))

    with pytest.raises(CannotGoOn, match=f"Expected {former.name} to be empty"):
        check(former.name)
    with pytest.raises(WorkbookError, match=f"Expected '{plain.name}' to be compacted"):
        check(plain.name)
    check(empty.name)
    check("not-there-yet")
    planned(tmp_path, source.name, {0: 0, 1: 1}, age=0)
    check(former.name)


def test_a_copy_without_its_checkpoint_or_too_far_behind_for_real_time_is_refused(
    broker: Broker, sent: Sent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else records would be copied again that ad_statistics has forgotten."""
    system, source, former, empty = SYSTEMS["replicate"], sent(0, 0), sent(0), sent()

    def check(out: Topic, *more: str) -> None:
        words = ["--in", source.name, "--out", out.name, "--checkpoint", str(tmp_path), *more]
        system.check_topics(broker, system.options(words))

    monkeypatch.setattr("os.cpu_count", lambda: 2)
    with pytest.raises(CannotGoOn, match="--in would be copied again"):
        check(former)
    check(empty, "--real-time")
    planned(tmp_path, source.name, {0: 0, 1: 1}, age=0)
    check(former, "--real-time")
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    with pytest.raises(WorkbookError, match="it has 2 and this machine 1"):
        check(former, "--real-time")
    monkeypatch.setattr(type(system), "most", 0)
    with pytest.raises(WorkbookError, match="at most 0 records to wait with --real-time, but 1 do"):
        check(former, "--real-time")
    check(former)
