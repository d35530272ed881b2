"""Serves the figures of a running query to Prometheus, on this machine alone."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from workbook.errors import WorkbookError
from workbook.spark.progress import Progress
from workbook.stack.ports import LOOPBACK


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
