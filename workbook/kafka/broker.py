"""A Kafka broker: its address, its login, and its topics."""

import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec
from confluent_kafka.cimpl import NewTopic

from workbook.errors import BrokerUnreachable, NotOurServer, RightMissing, WorkbookError
from workbook.kafka import config, protocol
from workbook.kafka.require import ABSENT, ANSWER_S, not_allowed, topic_ids
from workbook.topics import Topic

CREATED_WITHIN = 15.0
"""Seconds until a new topic must be visible."""


@dataclass(frozen=True)
class Broker:
    """A Kafka broker: its address, its login, and whether the lab started it.

    ``security`` holds librdkafka's settings; ``ours`` allows what deletes or breaks things.
    """

    bootstrap: str
    security: Mapping[str, str] = field(default_factory=dict, repr=False)
    ours: bool = False

    def client_config(self) -> dict[str, str]:
        """Return the settings for confluent-kafka's clients."""
        return config.masked({"bootstrap.servers": self.bootstrap, **self.security})

    def spark_options(self) -> dict[str, str]:
        """Return the options for Spark's Kafka source and sink."""
        options = config.java(self.client_config())
        return config.masked({f"kafka.{name}": value for name, value in options.items()})

    def create(self, *topics: Topic) -> None:
        """Create the topics that are missing, and wait until the broker knows all of them.

        Raises ``RightMissing`` for a user who may not WRITE one, or not CREATE one that is missing.
        """
        mine, names = self.client_config(), {topic.name for topic in topics}
        known, admin = topic_ids(mine, [], names), self._admin()
        missing = [topic for topic in topics if known[topic.name] == ABSENT]
        plans = [NewTopic(t.name, t.partitions, config=t.config) for t in missing]
        asked = admin.create_topics(plans, request_timeout=15) if plans else {}
        for topic in missing:
            try:
                asked[topic.name].result()
            except KafkaException as error:
                problem = error.args[0]
                if problem.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
                    raise self._may_not_create(topic) from None
                if problem.code() != KafkaError.TOPIC_ALREADY_EXISTS:
                    raise WorkbookError(
                        f"Topic {topic.name} was not created: {problem.str()}"
                    ) from None
        self._wait_for(names, admin)
        if missing:
            topic_ids(mine, [], names)

    def _may_not_create(self, topic: Topic) -> RightMissing:
        settings = "".join(f" --config {name}={at}" for name, at in topic.config.items())
        return not_allowed(
            self.client_config(),
            *("CREATE", topic.name, "has no such topic and refuses to create it"),
            f", or for the topic: kafka-topics --bootstrap-server {self.bootstrap} --create "
            f"--topic {topic.name} --partitions {topic.partitions}{settings}",
        )

    def _wait_for(self, names: set[str], admin: AdminClient) -> None:
        """Wait until each partition answers: metadata names its leader before the leader works."""
        deadline = time.monotonic() + CREATED_WITHIN

        def answers() -> bool:
            topics = admin.list_topics(timeout=ANSWER_S).topics
            found = [topics[name].partitions for name in names if name in topics]
            if len(found) < len(names) or not all(found):
                return False
            places = [TopicPartition(name, p) for name in names for p in topics[name].partitions]
            asked = dict.fromkeys(places, OffsetSpec.latest())
            ends = admin.list_offsets(asked, request_timeout=ANSWER_S).values()
            return not any(end.exception() for end in ends)

        while not answers():
            if time.monotonic() > deadline:
                raise WorkbookError(f"The broker does not show the new topics {sorted(names)}.")
            time.sleep(0.02)

    def delete(self, names: Iterable[str]) -> None:
        """Delete topics of the lab's own broker; raise ``NotOurServer`` on any other."""
        if not self.ours:
            raise NotOurServer(
                f"Will not delete topics on {self.bootstrap}: the lab did not start this broker. "
                f"Unset {config.SERVERS} and {config.FILE} to use the lab's own."
            )
        admin = self._admin()
        for done in admin.delete_topics(list(names), request_timeout=15).values():
            done.result()

    def check(self, within: float = ANSWER_S) -> None:
        """Raise ``BrokerUnreachable`` with the likely cause unless the broker lets us work.

        Takes ``within`` seconds for its answer, and a few more to look who it is.
        """
        if not self.ours:
            protocol.require_kafka(self.bootstrap, within / 2, self.security)
        problems: list[KafkaError] = []
        try:
            admin = self._admin(error_cb=problems.append)
        except KafkaException as error:
            raise WorkbookError(f"{error.args[0].str()}. Correct this setting.") from None
        try:
            known = admin.list_topics(timeout=within).brokers.values()
        except KafkaException as error:
            admin.poll(0)
            raise self._unreachable([*problems, error.args[0]]) from None
        members = [(str(member.host), int(member.port)) for member in known]
        if not any(protocol.listens(*member) for member in members[:3]):
            raise self._sends_on([f"{host}:{port}" for host, port in members])

    def _sends_on(self, addresses: Iterable[str]) -> BrokerUnreachable:
        return BrokerUnreachable(
            f"The broker at {self.bootstrap} sends its clients on to {', '.join(addresses)}, where "
            "nobody answers. Correct advertised.listeners in the broker's settings."
        )

    def _unreachable(self, problems: list[KafkaError]) -> BrokerUnreachable:
        login = [p for p in problems if p.code() == KafkaError._AUTHENTICATION]
        # librdkafka names a broker that it heard of from another by its number.
        numbered = (re.match(r"(?:\w+://)?(\S+:\d+)/\d+: Connect to", p.str()) for p in problems)
        elsewhere = dict.fromkeys(m[1] for m in numbered if m and m[1] not in self.bootstrap)
        if elsewhere and not login:
            return self._sends_on(elsewhere)
        causes = [p for p in problems if p.code() != KafkaError._ALL_BROKERS_DOWN]
        why = (login or causes)[0].str().replace(". ", ", ")
        if "current SASL state" in why:
            return BrokerUnreachable(
                f"The broker at {self.bootstrap} wants no login there. Set "
                f"{config.typed('security.protocol')} to SSL or PLAINTEXT, or check the port."
            )
        if login:
            return BrokerUnreachable(
                f"The broker at {self.bootstrap} refuses the login ({why}). Check "
                f"{config.typed('sasl.username', 'sasl.password', 'sasl.mechanism')}."
            )
        if self.ours:
            return BrokerUnreachable(
                f"The lab's broker at {self.bootstrap} does not answer: it is stuck or stopped "
                f"({why}). If somebody stopped it, run: python -m workbook start kafka. Otherwise "
                "end it by `python -m workbook down`, then restart the kernel or the lab."
            )
        return BrokerUnreachable(
            f"The broker at {self.bootstrap} does not let us work ({why}). Check "
            f"{config.typed('bootstrap.servers', 'security.protocol')}, and that the broker runs."
        )

    def _admin(self, **more: Any) -> AdminClient:
        return AdminClient({**self.client_config(), "log_level": 0, **more})


def external() -> Broker | None:
    """Return the broker of KAFKA_BOOTSTRAP_SERVERS or KAFKA_CONFIG, if one is named."""
    security = config.settings()
    return Broker(security.pop("bootstrap.servers"), security) if security else None
