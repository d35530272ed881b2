"""Sends single positions to Kafka; a ``BackgroundStream`` sends them all the time."""

from __future__ import annotations

from workbook.events.positions import Position
from workbook.kafka.record_producer import Landed, RecordProducer


class PositionProducer(RecordProducer):
    """Sends single positions, each delivered before ``send`` returns."""

    def send(self, position_id: str, position: Position | None) -> Landed:
        """Send what a position is now; None closes it. Says where the record landed.

        Raises BrokerUnreachable when the broker does not take it within ten seconds.
        """
        value = None if position is None else position.to_json()
        return self.send_bytes(value, position_id.encode())
