"""What reads a topic in the background: a loop in a thread, or an application in a process."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from threading import Event, Thread
from typing import Any, ClassVar, Self

from confluent_kafka import Consumer, KafkaException

COMMIT_EVERY_S = 0.5

Until = Callable[[], bool]


class Loop:
    """``work(reader, until)`` in a thread of its own, until ``stop``, its end or its error.

    The reader is closed at the end (``close``), however that comes. Nobody else should call it:
    since confluent-kafka 2.16 another thread waits, maybe for minutes, while the loop polls. A
    second loop of the same name, by default that of its work, ends the first one: running a cell
    again does not leave a forgotten reader in the group.
    """

    running: ClassVar[dict[str, "Loop"]] = {}

    def __init__(self, work: Callable[[Any, Until], None], reader: Any, name: str = "") -> None:
        name = name or work.__name__
        former = Loop.running.pop(name, None)
        if former is not None:
            former.end()
        self._error: Exception | None = None
        self._over = Event()
        self._thread = Thread(target=self._run, args=(work, reader), daemon=True)
        self._thread.start()
        Loop.running[name] = self

    def stop(self) -> None:
        """End the loop, and raise what ended it before, if something did."""
        self.end()
        self.check()

    def check(self) -> None:
        """Raise what ended the loop, if something did."""
        if self._error:
            raise self._error

    def exception(self, timeout: float) -> Exception | None:
        """Wait for the loop to end by itself and say with which error; TimeoutError if it runs."""
        self._thread.join(timeout)
        if self._thread.is_alive():
            raise TimeoutError(f"Expected the loop to end, but it still runs after {timeout} s.")
        return self._error

    def end(self) -> None:
        """End the loop; an error that ended it before is not raised."""
        self._over.set()
        self._thread.join()

    def _run(self, work: Callable[[Any, Until], None], reader: Any) -> None:
        try:
            work(reader, self._over.is_set)
        except Exception as error:
            self._error = error
        finally:
            reader.close()


class Application:
    """A consumer of topics in a process of its own: it joins a group, reads, and commits.

    ``protocol`` is Kafka's ``group.protocol``: "classic", or "consumer" for the new one (KIP-848).
    It takes ``slow_s`` for each record. ``stop`` lets it leave its group; after ``kill`` (kill -9)
    the group notices by the session time-out: ``session_ms``, in the new protocol the broker's own.
    It ends with the process that started it. An application of the same ``name`` (by default the
    group's) ends the one that is running.
    """

    running: ClassVar[dict[str, "Application"]] = {}

    def __init__(
        self,
        config: Mapping[str, Any],
        group: str,
        *topics: str,
        client_id: str | None = None,
        protocol: str = "classic",
        slow_s: float = 0.0,
        session_ms: int = 6000,
        name: str = "",
    ) -> None:
        self.group = group
        settings: dict[str, Any] = {**config, "group.id": group, "group.protocol": protocol}
        if client_id is not None:
            settings["client.id"] = client_id
        if protocol == "classic":
            settings["session.timeout.ms"] = session_ms
        former = Application.running.pop(name or group, None)
        if former is not None:
            former.stop()
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__], stdin=subprocess.PIPE, start_new_session=True
        )
        assert self._process.stdin is not None
        line = json.dumps({"settings": settings, "topics": topics, "slow_s": slow_s})
        self._process.stdin.write(f"{line}\n".encode())
        self._process.stdin.flush()  # and left open: its end is the application's
        Application.running[name or group] = self

    @property
    def runs(self) -> bool:
        """Return whether its process lives."""
        return self._process.poll() is None

    def stop(self) -> None:
        """End it as a shutdown does: it commits, and leaves its group."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End it by kill -9; harmless when it has ended."""
        self._process.kill()
        self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()


def stop_all() -> None:
    """Stop every application that this process has started."""
    while Application.running:
        _, application = Application.running.popitem()
        application.stop()


def main() -> None:
    """Read and commit until standard input ends."""
    asked = json.loads(sys.stdin.readline())
    over: list[bool] = []

    def wait_for_the_end() -> None:
        sys.stdin.read()
        over.append(True)

    Thread(target=wait_for_the_end, daemon=True).start()
    settings = {"auto.offset.reset": "earliest", "enable.auto.commit": False, "log_level": 0}
    consumer = Consumer({**settings, **asked["settings"]})
    consumer.subscribe(list(asked["topics"]))
    due = time.monotonic()
    while not over:
        message = consumer.poll(0.1)
        if message is not None and message.error() is None and asked["slow_s"]:
            time.sleep(asked["slow_s"])
        if time.monotonic() >= due:
            due = time.monotonic() + COMMIT_EVERY_S
            _commit(consumer)
    _commit(consumer)
    consumer.close()


def _commit(consumer: Consumer) -> None:
    try:
        consumer.commit(asynchronous=False)
    except KafkaException:  # nothing read yet, or its partitions were just taken away
        return


if __name__ == "__main__":
    main()
