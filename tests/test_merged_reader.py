"""What is read of a topic of merged visits, whoever else writes to it."""

import json
from collections.abc import Callable

import pytest

from workbook.kafka.broker import Broker
from workbook.kafka.producer import DeliveringProducer
from workbook.streams.events.visits import Merged, TrackingMessage
from workbook.streams.ledgers.merges import read_merged
from workbook.topics import Topic


def test_records_of_others_are_passed_over_and_a_visit_with_another_time_is_not(
    broker: Broker, topic: Callable[..., Topic]
) -> None:
    config, visits = broker.client_config(), topic("visits")
    message = {"event_id": 1, "timestamp": 5, "page": "/"}
    visit = {"ssid": "v1", "timestamp": 5, "fragment": 0, "tracking": [message], "orders": []}
    foreign = (None, b"{}", b"no JSON", b"[1]", b'{"ssid":"v0","tracking":[{}],"orders":[]}')
    with DeliveringProducer(config, visits.name) as producer:
        for value in (*foreign, json.dumps(visit).encode()):
            producer.produce(value, b"v", 0)
    found = Merged("v1", (TrackingMessage(1, "v1", 5, "/"),))
    assert read_merged(config, visits.name) == [(0, found)]
    with DeliveringProducer(config, visits.name) as producer:
        producer.produce(json.dumps({**visit, "timestamp": 6}).encode(), b"v1", 0)
    with pytest.raises(ValueError, match="newest message, 5, but got 6"):
        read_merged(config, visits.name)
