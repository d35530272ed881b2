"""One run of a program over a copy of the input of its own: its lives, commits and results."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
from confluent_kafka import ConsumerGroupState, KafkaException
from confluent_kafka.admin import AdminClient, ConsumerGroupDescription

from workbook.crashtest.copies import ANY, Copy, Record
from workbook.crashtest.results import FolderResults, Results, Row, TableResults, TopicResults
from workbook.crashtest.victim import Victim, forget_members
from workbook.errors import CrashFailed, WorkbookError
from workbook.kafka.broker import Broker
from workbook.kafka.offsets import ask_committed, group_reader
from workbook.stack.addresses import database, registry
from workbook.topics import Topic

TICK_S = 0.005
COMMIT_LOOK_S = 0.03
REBALANCE_S = 60.0
ENDLESS_S = 900.0
"""A program that still writes this long after its last input is never quiet."""


@dataclass(frozen=True)
class Setup:
    """What all runs of a crash test have in common.

    ``words`` are the command with its ``PLACES``. ``reads`` (with their numbers of partitions) and
    ``writes`` begin the names of the topics. Results are those of ``query``, of a ``folder`` of
    Parquet, or of a topic.
    """

    broker: Broker
    words: tuple[str, ...]
    token: str
    home: Path
    reads: Sequence[tuple[str, int]]
    writes: str = "out"
    query: str = ""
    folder: bool = False
    quiet_s: float = 10.0
    start_within_s: float = 60.0

    def uses(self, place: str) -> bool:
        """Return True if the command has this placeholder."""
        return any(place in word for word in self.words)


class Trial:
    """A run: it makes its topics and folders, and ``close`` removes them.

    ``started`` and ``commits`` are moments (s since 1970), and so is ``stirred``: when it was last
    started, or its results were stopped by something else. ``start_s`` is how long the first start
    took until its first result.
    """

    def __init__(self, setup: Setup, name: str) -> None:
        self.setup, self.run = setup, f"crash-test-{setup.token}-{name}"
        self._reads = [f"{topic}.{setup.token}.{name}" for topic, _ in setup.reads]
        self._partitions = [number for _, number in setup.reads]
        self.writes = f"{setup.writes}.{setup.token}.{name}"
        self._home = setup.home / name
        self._home.mkdir(parents=True)
        self._log, self.checkpoint = self._home / "log", self._home / "checkpoint"
        self.started: list[float] = []
        self.commits: list[float] = []
        self.left_behind = 0
        self.stirred, self._sent_at = 0.0, 0.0
        self._victims: list[Victim] = []
        self._over = threading.Event()
        self._topics = list(self._reads)
        self._copies = [
            Copy(setup.broker, *each) for each in zip(self._reads, self._partitions, strict=True)
        ]
        if not setup.query and not setup.folder:
            setup.broker.create(Topic(self.writes, self._partitions[0], ANY))
            self._topics.append(self.writes)
        self._known = self._all_topics()
        self._words, self._database = self._filled()
        self.results = self._watched()
        self._watcher = threading.Thread(target=self._watch_commits, daemon=True)
        self._watcher.start()

    # --- the program ------------------------------------------------------------------------------

    def start(self) -> Victim:
        """Start a copy of the program."""
        self._forget_the_dead()
        self.stirred = time.time()
        self.started.append(self.stirred)
        victim = Victim(self._words, self._log)
        self._victims.append(victim)
        return victim

    def kill(self, victim: Victim) -> None:
        """kill -9 to a copy, and all that it has started."""
        ended = victim.code is not None
        left = victim.kill()
        self.left_behind += left if ended else 0
        self._victims.remove(victim)

    def members(self) -> set[str]:
        """Return the ids of its group's members."""
        group = self._group()
        return {member.member_id for member in group.members} if group else set()

    def forget(self, dead: set[str]) -> None:
        """Let the copy that lives have the partitions of a dead one, and wait until it has them."""
        if not dead:
            return
        forget_members(self.setup.broker.bootstrap, self.run, [*dead])
        deadline = time.time() + REBALANCE_S
        while time.time() < deadline:
            group = self._group()
            if group and group.state == ConsumerGroupState.STABLE and not dead & self.members():
                break
            time.sleep(0.1)
        self.stirred = time.time()

    def send(self, chosen: Iterable[Record]) -> None:
        """Send a part of the input."""
        part = list(chosen)
        for source, copy in enumerate(self._copies):
            copy.send(record for record in part if record.source == source)
        self._sent_at = time.time()

    def settle(self, victim: Victim, patience_s: float) -> bool:
        """Wait until the results are quiet, or the program has ended.

        Returns False if none has come within ``patience_s`` since it was ``stirred``. Raises
        ``CrashFailed`` for a program that never gets quiet.
        """
        began, quiet = time.time(), self.setup.quiet_s
        while True:
            self.results.rows()  # raises if they can't be read
            since = max(self.stirred, self._sent_at)
            come = [at for at in self.results.times[-1:] if at > self.stirred]
            calm = time.time() - max([since, *come])
            if victim.code is not None and calm > 1:
                return bool(come)
            if come and calm > quiet and not self.results.held_back():
                return True
            if not come and calm > max(patience_s, quiet):
                return False
            if time.time() - began > ENDLESS_S:
                raise CrashFailed(
                    f"It still writes {ENDLESS_S / 60:.0f} minutes after the last input. Results "
                    "that come by the clock can't be compared: let it write only what the input "
                    "brings, or give a shorter --quiet."
                )
            time.sleep(0.05)

    def wait(self, victim: Victim, until: Callable[[], bool], seconds: float) -> bool:
        """Wait for a condition; return False if the time is over, or the program has ended."""
        deadline = time.time() + seconds
        while not until():
            if time.time() > deadline or victim.code is not None:
                return False
            time.sleep(TICK_S)
        return True

    @property
    def start_s(self) -> float:
        """Return the seconds from the first start to the first result."""
        return self.results.times[0] - self.started[0] if self.results.times else 0.0

    @property
    def place(self) -> str:
        """Return where results are expected."""
        setup = self.setup
        return setup.query or (f"the folder {self._home / 'out'}" if setup.folder else self.writes)

    def elsewhere(self) -> str:
        """Say which topics have come since this run began."""
        more = sorted(self._all_topics() - self._known)
        return f", but meanwhile the topic {' and '.join(more)} came" if more else ""

    def rows(self) -> list[Row]:
        """Return the results so far."""
        return self.results.rows()

    def close(self) -> None:
        """End the program, and remove the topics, the schema and the group of this run."""
        for victim in list(self._victims):
            self.kill(victim)
        self._over.set()
        self.results.close()
        self._watcher.join(10)
        with suppress(WorkbookError, KafkaException):
            own = {name for name in self._all_topics() if self.run in name}  # changelogs
            self.setup.broker.delete([*self._topics, *own])
        with suppress(KafkaException):
            admin = AdminClient({**self.setup.broker.client_config(), "log_level": 0})
            for done in admin.delete_consumer_groups([self.run], request_timeout=10).values():
                done.result()
        if self._database:
            with suppress(psycopg.Error), psycopg.connect(self._database) as connection:
                connection.execute(f'DROP SCHEMA IF EXISTS "{self.run}" CASCADE'.encode())

    # --- inside -----------------------------------------------------------------------------------

    def _all_topics(self) -> set[str]:
        admin = AdminClient({**self.setup.broker.client_config(), "log_level": 0})
        return {name for name in admin.list_topics(timeout=10).topics if name[:2] != "__"}

    def _filled(self) -> tuple[list[str], str]:
        """Return the command with its places filled, and the URL of this run's own schema."""
        setup, url = self.setup, ""
        if setup.query or setup.uses("{database}"):
            url = database("crash-test")
            with psycopg.connect(url) as connection:
                connection.execute(f'CREATE SCHEMA "{self.run}"'.encode())
            path = quote(f'-csearch_path="{self.run}"')
            url += f"{'&' if '?' in url else '?'}options={path}"
        out = self.run if setup.query else str(self._home / "out") if setup.folder else self.writes
        places = {
            "{in}": self._reads[0], "{in2}": self._reads[-1], "{out}": out,
            "{run}": self.run, "{database}": url,
            "{servers}": setup.broker.bootstrap, "{checkpoint}": str(self.checkpoint),
            "{registry}": registry("crash-test") if setup.uses("{registry}") else "",
        }  # fmt: skip
        words = []
        for word in setup.words:
            for place, text in places.items():
                word = word.replace(place, text)
            words.append(word)
        return words, url

    def _watched(self) -> Results:
        if self.setup.query:
            return TableResults(self._database, self.setup.query)
        if self.setup.folder:
            return FolderResults(self._home / "out")
        config = self.setup.broker.client_config()
        return TopicResults(config, self.writes, self._partitions[0])

    def _forget_the_dead(self) -> None:
        """Let the group wait for no member that was killed, unless another copy lives."""
        if not self._victims and self.started:
            forget_members(self.setup.broker.bootstrap, self.run, [*self.members()])

    def _group(self) -> ConsumerGroupDescription | None:
        if self.setup.uses("{run}"):
            with suppress(KafkaException):
                admin = AdminClient({**self.setup.broker.client_config(), "log_level": 0})
                [asked] = admin.describe_consumer_groups([self.run], request_timeout=10).values()
                return asked.result()
        return None

    def _watch_commits(self) -> None:
        """Note when the group commits, and when the checkpoint gets a commit."""
        last: Any = None
        reader = group_reader(self.setup.broker.client_config(), self.run)
        places = [
            (topic, number)
            for topic, partitions in zip(self._reads, self._partitions, strict=True)
            for number in range(partitions)
        ]
        while not self._over.wait(COMMIT_LOOK_S):
            seen: Any = None
            with suppress(KafkaException, WorkbookError):
                files = [*self.checkpoint.glob("commits/[0-9]*"),
                         *self.checkpoint.glob("*/commits/[0-9]*")]  # fmt: skip
                group = self.setup.uses("{run}")  # what is at {checkpoint} may not be Spark's
                config = self.setup.broker.client_config()
                seen = len(files), group and ask_committed(reader, config, places)
            if seen is not None and last is not None and seen != last:
                self.commits.append(time.time())
            last = last if seen is None else seen
        reader.close()
