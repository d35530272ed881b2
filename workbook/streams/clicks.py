"""Sends the shop's single clicks to Kafka."""

from __future__ import annotations

from workbook.kafka.producer import Landed, RecordProducer
from workbook.streams.events.clicks import Click


class ClickProducer(RecordProducer):
    """Sends the shop's single clicks, each delivered before ``send`` returns."""

    def send(self, click: Click) -> Landed:
        """Send one click, keyed by its tab id; says where it landed.

        Raises BrokerUnreachable when the broker does not take it within ten seconds.
        """
        key = click.tab_id.encode() if click.tab_id is not None else None
        return self.send_bytes(click.to_json(), key)
