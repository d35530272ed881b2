"""``workbook run`` and ``crash``: a system on Spark, without a notebook; and one that is killed."""

import errno
import re
import shlex
import sqlite3
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from workbook.cli.console import Ending, end_like_ctrl_c, typed, waiting_for
from workbook.cli.screen import Writes, follow
from workbook.crashlab.crashes import CRASHES
from workbook.crashlab.lab import crash as run_and_kill
from workbook.errors import BrokerUnreachable, SparkFailed, WorkbookError, plain
from workbook.kafka.broker import Broker
from workbook.kafka.offsets import EndOffsets
from workbook.kafka.require import not_taken, require_topic, topic_ids
from workbook.spark import checkpoints, cluster, session
from workbook.spark.checkpoints import Identity
from workbook.spark.failures import query_failed
from workbook.spark.progress import Progress
from workbook.stack.addresses import kafka
from workbook.stack.jars import prefetch
from workbook.stack.ports import LOOPBACK
from workbook.systems import SYSTEMS
from workbook.systems.base import Job, System, fill_in, letters_of
from workbook.systems.preflight import require_folder

EXPIRED = re.compile(r"Expiring \d+ record\(s\) for (\S+)-\d+:")
"""What Kafka's Java client says of records that no broker has taken in time."""


class Figures(Collector):
    """Collects the figures of ``progress`` when Prometheus asks; none before there is one."""

    def __init__(self, system: str) -> None:
        self.system = system
        self.progress: Progress | None = None

    def collect(self) -> Iterator[CounterMetricFamily | GaugeMetricFamily]:
        """Yield a metric per figure's name and unit, with a sample per ``of``."""
        families: dict[str, CounterMetricFamily | GaugeMetricFamily] = {}
        for figure in self.progress.figures() if self.progress else ():
            words = f"workbook {figure.name} {figure.unit.replace('/s', ' per second')}"
            name = re.sub(r"\W+", "_", words.strip())  # workbook_delay_seconds
            kind = CounterMetricFamily if figure.total else GaugeMetricFamily
            made = kind(name, "See docs/monitoring.md", labels=("system", "of"))
            families.setdefault(name, made).add_metric((self.system, figure.of), figure.value)
        yield from families.values()


@contextmanager
def serving(port: int | None, system: str) -> Iterator[Figures]:
    """Serve at ``http://127.0.0.1:PORT/metrics`` until the block ends; without a port, nothing."""
    figures = Figures(system)
    if port is None:
        yield figures
        return
    registry = CollectorRegistry()
    registry.register(figures)
    try:
        server, _ = start_http_server(port, LOOPBACK, registry)
    except OSError as error:
        raise WorkbookError(
            f"Expected to serve Prometheus on port {port} of {LOOPBACK} (--metrics-port), but the "
            f"system says: {error.strerror}. Another program, perhaps another run, has this port, "
            "or you may not use it: choose another one, above 1023."
        ) from None
    print(f"Prometheus can ask http://{LOOPBACK}:{port}/metrics", flush=True)
    try:
        yield figures
    finally:
        server.shutdown()
        server.server_close()


def run(options: Namespace) -> None:
    """Run the system until Ctrl-C, SIGTERM or the end of ``--seconds``."""
    end_like_ctrl_c()
    system = SYSTEMS[options.system]
    fill_in(options)
    system.check(options)
    checkpoint = Path(options.checkpoint) if options.checkpoint else None
    cluster.require_reachable(checkpoint)
    if checkpoint:
        require_folder(checkpoint)
    try:
        with serving(options.metrics_port, system.name) as figures:
            with waiting_for("Looking for Kafka"):
                broker = kafka("run")
            _run(broker, system, options, figures)
    except KeyboardInterrupt:
        print("\nEnded.")
    except (PySparkException, Py4JError, sqlite3.OperationalError) as error:
        raise query_failed(str(error)) from error
    except ConnectionError as error:
        raise SparkFailed(
            "Expected Spark's Java process to run, but it has ended: was it killed, for want of "
            "memory? SPARK_DRIVER_MEMORY sets its heap. Nothing is lost: start again, with the "
            "same --checkpoint if there was one."
        ) from error
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise query_failed(str(error)) from error


def _prepare(broker: Broker, system: System, options: Namespace) -> Callable[..., Identity]:
    """Refuse what doesn't fit, create missing topics; return how to ask for the identity.

    That question also names a right which this user lacks, or has no more.
    """
    config, letters = broker.client_config(), letters_of(options)
    sources = system.sources(options)
    topic_ids(config, sources)
    partitions = max(require_topic(config, source) for source in sources)
    results = system.results(options, partitions)
    names = [*sources, *(topic.name for topic in (*letters, *results))]
    if len(set(names)) < len(names):
        raise WorkbookError(
            f"Expected a topic each for what is read, written and rejected, but got {names}: what "
            "is written would be read again. Choose other names for --in, --out, --dead-letters."
        )
    made_for = partial(_identity, config, system, options, [topic.name for topic in results])
    known = made_for()
    checkpoint = Path(options.checkpoint) if options.checkpoint else None
    if checkpoint:
        checkpoints.hold(checkpoint)
        checkpoints.require(checkpoint, known)
    system.check_topics(broker, options)
    system.check_servers(options)
    if letters or results:
        broker.create(*letters, *results)
    if system.rereads:
        topic_ids(config, [topic.name for topic in results])
    if checkpoint:
        checkpoints.record(checkpoint, made_for())
    return made_for


def _identity(
    config: dict[str, str], system: System, options: Namespace, writes: list[str], *timeout: float
) -> Identity:
    """Return what a checkpoint is made for: offsets mean nothing in another topic or pipeline."""
    letters = [topic.name for topic in letters_of(options)]
    ids = topic_ids(config, reads := system.sources(options), [*letters, *writes], *timeout)
    return {
        "system": system.name,
        "version": system.version,
        "reads": {topic: ids[topic] for topic in reads},
        "writes": {topic: ids[topic] for topic in writes},
        **system.remembers(options),
    }


def _run(broker: Broker, system: System, options: Namespace, figures: Figures) -> None:
    made_for, config = _prepare(broker, system, options), broker.client_config()
    spark = session.spark_session(system.name)
    ending = Ending(options.seconds)  # after Spark, which has handlers of its own
    try:
        checkpoint = _checkpoint(system, options)
        if not options.checkpoint:
            checkpoints.record(checkpoint, made_for())
        writes = Writes(lambda timeout: checkpoints.require(checkpoint, made_for(timeout)))
        with waiting_for("Starting the query (about five seconds)"):
            started = system.start(Job(spark, broker, options, checkpoint, writes))
        figures.progress = started.running.progress
        if started.store is not None:
            print(f"Ask its store meanwhile: {typed()} store {shlex.quote(str(started.store))}")
        try:
            follow(started, writes, EndOffsets(config, *system.sources(options)), ending)
        except (PySparkException, BrokerUnreachable) as error:
            writes.ask()  # says it better if a topic was recreated, or a right taken away
            if (late := EXPIRED.search(str(error))) and isinstance(error, BrokerUnreachable):
                raise BrokerUnreachable(
                    f"Expected {broker.bootstrap} to take records into {late[1]!r} in time, but it "
                    f"did not ({not_taken(config, late[1])}). Then start again: with the same "
                    "--checkpoint nothing is lost."
                ) from error
            raise
        read = " and ".join(system.sources(options))
        print(f"Ended: {started.running.progress.messages:,} messages read from {read}.")
        print("\n".join(map(plain, started.summary())))
    except PySparkException as error:  # before Spark ends: its Java has the text
        raise query_failed(str(error)) from error
    finally:
        with waiting_for("Ending Spark"), suppress(ConnectionError, Py4JError):
            session.stop_spark(spark)


def _checkpoint(system: System, options: Namespace) -> Path:
    """Return the folder for offsets and state, and print it."""
    if options.checkpoint is None:
        print(f"{system.begins(options)}, in a fresh checkpoint (--checkpoint keeps one).")
        return session.checkpoint(options.system)
    checkpoint = Path(options.checkpoint)
    known = checkpoints.begun(checkpoint)
    print(
        f"It goes on where {checkpoint} ends."
        if known
        else f"{system.begins(options)}. Its new checkpoint is {checkpoint}."
    )
    return checkpoint


def crash(options: Namespace) -> int:
    """Crash, restart, judge; 0 if the variant kept what it promises."""
    variant = CRASHES[options.system].variant(options.variant)
    points = options.points or [point.name for point in variant.points]
    for point in points:
        variant.point(point)  # refuses, before anything starts
    end_like_ctrl_c()
    prefetch()
    try:
        outcome = run_and_kill(
            kafka("crash"),
            options.system,
            variant.name,
            *points,
            seed=options.seed,
            progress=lambda text: print(text, flush=True),
        )
    except KeyboardInterrupt:
        print("\nInterrupted: there's no verdict.")
        raise
    print(f"\n{outcome}")
    return 0 if outcome.kept else 1
