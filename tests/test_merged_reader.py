"""What is read of a topic of merged visits, whoever else writes to it."""

from __future__ import annotations

from collections.abc import Callable

from workbook.events.merged import Merged
from workbook.events.visits import TrackingMessage
from workbook.kafka.broker import Broker
from workbook.kafka.merged_reader import read_merged
from workbook.kafka.producer import DeliveringProducer
from workbook.kafka.start_offsets import begin, headers
from workbook.topics import Topic


def test_markers_and_records_of_others_are_passed_over(
    broker: Broker, topic: Callable[..., Topic]
) -> None:
    config, visits, tracking = broker.client_config(), topic("visits"), topic("tracking")
    visit = Merged("v1", (TrackingMessage(1, "v1", 5, "/"),))
    begin(config, visits.name, 1, {tracking.name: {0: 0}})
    with DeliveringProducer(config, visits.name) as producer:
        producer.produce(b"{}", b"v0", 0)
        producer.produce(b"no JSON", b"v0", 0)
        producer.produce(visit.to_json(), b"v1", 0, headers=headers([tracking.name], [0]))
    assert read_merged(config, visits.name) == [(0, visit)]
