"""Sends a stream in real time from a thread of its own, while a notebook goes on."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from typing import Any

from workbook.streams.stream_producer import Sent, Stream, generate

ENDLESS = 2**40
RANDOM_END = re.compile(r"\.[0-9a-f]{4}$")
"""The suffix by which ``topics.new_topic`` distinguishes the topics of two runs."""


class BackgroundStream:
    """A stream whose events arrive in real time, from a thread of its own, until ``stop``.

    Where a cell is run again they would be twice as many: new visitors end those that still come
    to a topic of the same stream and notebook, which only differs in its random end.
    ``sent`` says how many events and messages are in the topic; a stream of now starts by
    ``stream.ending_by(now, count, speed=1)``. Raises as ``generate``, from ``stop``.
    """

    def __init__(self, config: Mapping[str, Any], topic: str, stream: Stream) -> None:
        self.sent = Sent(0, 0, 0.0)
        self._over = threading.Event()
        self._error: list[Exception] = []
        self._work = (config, topic, stream)
        self._thread = threading.Thread(target=self._send, daemon=True)
        stem = RANDOM_END.sub("", topic)
        if stem in _coming:
            _coming[stem]._over.set()
        _coming[stem] = self
        self._thread.start()

    def stop(self) -> Sent:
        """Stop the stream; on return all its events have been delivered."""
        self._over.set()
        self._thread.join()
        if self._error:
            raise self._error[0]
        return self.sent

    def _send(self) -> None:
        try:
            self.sent = generate(
                *self._work, ENDLESS, speed=1, progress=self._hear, until=self._over.is_set
            )
        except Exception as error:
            self._error.append(error)

    def _hear(self, sent: Sent) -> None:
        self.sent = sent


_coming: dict[str, BackgroundStream] = {}
"""Topic without its random end to the latest visitors."""
