"""What is read of a topic of merged visits, whoever else writes to it."""

from collections.abc import Callable

import pytest

from workbook.kafka.broker import Broker
from workbook.kafka.producer import DeliveringProducer
from workbook.streams.events.merged import Merged
from workbook.streams.events.visits import TrackingMessage
from workbook.streams.records import read_merged
from workbook.topics import Topic


def test_records_of_others_are_passed_over(broker: Broker, topic: Callable[..., Topic]) -> None:
    config, visits = broker.client_config(), topic("visits")
    visit = Merged("v1", (TrackingMessage(1, "v1", 5, "/"),))
    foreign = (None, b"{}", b"no JSON", b"[1]", b'{"ssid":"v0","tracking":[{}],"orders":[]}')
    with DeliveringProducer(config, visits.name) as producer:
        for value in (*foreign, visit.to_json()):
            producer.produce(value, b"v", 0)
    assert read_merged(config, visits.name) == [(0, visit)]


def test_a_visit_with_another_time_is_not_passed_over(
    broker: Broker, topic: Callable[..., Topic]
) -> None:
    visits = topic("visits")
    wrong = Merged("v1", (TrackingMessage(1, "v1", 5, "/"),)).to_json().replace(b":5", b":6", 1)
    with DeliveringProducer(broker.client_config(), visits.name) as producer:
        producer.produce(wrong, b"v1", 0)
    with pytest.raises(ValueError, match="newest message, 5, but got 6"):
        read_merged(broker.client_config(), visits.name)
