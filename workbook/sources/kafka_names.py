"""Names of Kafka's Java clients, which Spark's users know, in words of librdkafka."""

from __future__ import annotations

from collections.abc import Mapping

RENAMED = {
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "request.timeout.ms": "socket.timeout.ms",
    "send.buffer.bytes": "socket.send.buffer.bytes",
    "socket.connection.setup.timeout.max.ms": "socket.connection.setup.timeout.ms",
    "ssl.cipher.suites": "ssl.cipher.suites",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
    "ssl.truststore.certificates": "ssl.ca.pem",
}
"""Settings that librdkafka has by another name. What isn't in these tables keeps its own."""

WITHOUT_MEANING = frozenset(
    {
        "allow.auto.create.topics",
        "auto.include.jmx.reporter",
        "default.api.timeout.ms",
        "exclude.internal.topics",
        "interceptor.classes",
        "max.poll.interval.ms",
        "max.poll.records",
        "metric.reporters",
        "metrics.num.samples",
        "metrics.recording.level",
        "metrics.sample.window.ms",
        "ssl.enabled.protocols",
        "ssl.keymanager.algorithm",
        "ssl.protocol",
        "ssl.provider",
        "ssl.secure.random.implementation",
        "ssl.trustmanager.algorithm",
    }
)
"""Settings that say nothing here: they're left out, with a warning."""

REFUSED = {
    "auto.offset.reset": "the option startingOffsets",
    "enable.auto.commit": "the checkpoint: this source commits no offsets",
    "key.deserializer": "a cast in the query: keys and values come as bytes",
    "value.deserializer": "a cast in the query: keys and values come as bytes",
    "sasl.jaas.config": "kafka.sasl.username and kafka.sasl.password",
    "sasl.client.callback.handler.class": "kafka.sasl.username and kafka.sasl.password",
    "sasl.login.callback.handler.class": "kafka.sasl.oauthbearer.method and .config",
    "sasl.login.class": "kafka.sasl.oauthbearer.method and .config",
    "security.providers": "the OpenSSL that librdkafka brings",
    "ssl.engine.factory.class": "kafka.ssl.engine.location",
    "ssl.keystore.type": "kafka.ssl.certificate.location and kafka.ssl.key.location, PEM files",
    "ssl.truststore.location": "kafka.ssl.ca.location, a PEM file",
    "ssl.truststore.password": "kafka.ssl.ca.location, a PEM file: it needs no password",
    "ssl.truststore.type": "kafka.ssl.ca.location, a PEM file",
}
"""Settings that can't be translated, with what to use instead."""

_NO_CHECK = {"ssl.endpoint.identification.algorithm": {"": "none"}}


def translated(settings: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return settings for librdkafka, and the names of those that say nothing here.

    Raises ValueError for one that can't be translated, with what to use instead.
    """
    refused = sorted(set(settings) & set(REFUSED))
    if refused:
        instead = "; ".join(f"instead of kafka.{name} use {REFUSED[name]}" for name in refused)
        raise ValueError(
            f"Expected settings that librdkafka knows, but kafka.{refused[0]} is for Kafka's Java "
            f"clients only: {instead}."
        )
    found = {
        RENAMED.get(name, name): _NO_CHECK.get(name, {}).get(value, value)
        for name, value in settings.items()
        if name not in WITHOUT_MEANING
    }
    return found, sorted(set(settings) & WITHOUT_MEANING)
