"""Opens what a notebook needs besides Kafka's client and Spark, and closes all of it at its end."""

from __future__ import annotations

import html
import inspect
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import pandas as pd
from IPython import get_ipython
from IPython.display import display
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from workbook.classroom.errors import Watched, failure_watch, follow_errors
from workbook.classroom.questions import Prediction
from workbook.errors import QueryFailed
from workbook.kafka.application import Loop
from workbook.kafka.readers import read_dead_letters
from workbook.kafka.require import require_topic
from workbook.kafka.tail import Tail
from workbook.stack.addresses import kafka
from workbook.stack.client import lease
from workbook.stack.process import end_now, family, spawn
from workbook.stack.spares import PAUSE_S
from workbook.streams.generators.clicks import ClickStream
from workbook.streams.generators.visits import Kind, VisitStream
from workbook.streams.stream_producer import BackgroundStream, ClickProducer, generate
from workbook.topics import new_compacted_topic, new_topic
from workbook.views import charts, live, pipeline, tables
from workbook.views.cell_clock import keep_the_current_cell, running_cell, say, time_cells
from workbook.views.picture import Picture
from workbook.views.pipeline import Box
from workbook.views.shop import Shop
from workbook.views.tape import LoopAt, click_name, drawn

if TYPE_CHECKING:
    from ipywidgets import Widget
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming import StreamingQuery

T = TypeVar("T")


class Chapter:
    """The topics, shop, visitors, views and Spark session of a notebook, until ``close``.

    ``config`` holds the settings for confluent-kafka's clients, ``spark_options`` the same for
    Spark's Kafka source and sink; ``broker`` is the server, as functions of the package want it.
    A second chapter of the same name, as after a run of all cells, ends what the first one left
    running. Errors of Kafka and Spark are followed by a line that says what to do (``errors``).
    With ``spark`` the session starts in the background, so that ``spark()`` finds it ready. Raises
    as ``kafka`` does where no broker answers. A notebook shows its pipeline.
    """

    of_name: ClassVar[dict[str, Chapter]] = {}

    def __init__(self, name: str, *, spark: bool = False) -> None:
        former: Chapter | None = Chapter.of_name.pop(name, None)
        if former is not None:
            former._open.close()
        self.name, self.broker = name, kafka()
        self.config, self.spark_options = self.broker.client_config(), self.broker.spark_options()
        self._open: ExitStack = ExitStack()
        self._loops: list[Loop] = []
        self._programs: dict[str, subprocess.Popen[bytes]] = {}
        self._spark: SparkSession | None = None
        self._asked: dict[tuple[str | None, ...], Prediction] = {}
        Chapter.of_name[name] = self
        follow_errors(name)
        keep_the_current_cell()
        time_cells()
        self._starting = threading.Thread(target=_start_spark, daemon=True)
        if spark:
            import_module("pyspark.sql")  # a cell that imports it while the thread does would fail
            self._starting.start()
        _show_pipeline(name)

    def topic(self, stream: str, partitions: int = 1, *, compacted: bool = False) -> str:
        """Create a topic of this run, and ``NAME.dead-letters`` beside it; return its name.

        With ``compacted`` it keeps each key's latest record.
        """
        make = new_compacted_topic if compacted else new_topic
        made = make(stream, self.name, partitions)
        self.broker.create(made, made.dead_letters)
        return made.name

    def shop(self, topic: str) -> Shop:
        """Return a shop whose buttons each send a click to the topic."""
        producer = ClickProducer(self.config, topic)
        self._open.callback(producer.close)
        return Shop(producer.send)

    def visitors(self, topic: str, rate: float, **stream: Any) -> BackgroundStream:
        """Let visitors click in the background, ``rate`` times a second, until ``stop()``.

        ``stream`` are further parameters of ``ClickStream``: ``seed``, ``partitions``, ….
        """
        crowd = ClickStream(rate=rate, **stream).ending_by(_now_ms(), 1, speed=1)
        coming = BackgroundStream(self.config, topic, crowd)
        self._open.callback(coming.stop)
        return coming

    def generate(self, topic: str, count: int, rate: float, **stream: Any) -> pd.DataFrame:
        """Send ``count`` generated clicks at once, the last of them of now.

        Returns what a ledger knows of them, a row per event (``expected`` of their stream).
        """
        return self._send(topic, ClickStream(rate=rate, **stream), count)

    def _send(self, topic: str, stream: Any, count: int, ending: int | None = None) -> pd.DataFrame:
        placed = stream.ending_by(_now_ms() if ending is None else ending, count)
        generate(self.config, topic, placed, count)
        expected: pd.DataFrame = placed.expected(0, count)
        return expected

    def visits(self, tracking: str, orders: str, count: int = 200) -> pd.DataFrame:
        """Send generated visits to two topics at once, the last of them of now.

        ``count`` visits with their tracking messages to the one, as many orders to the other, and
        heartbeats to both. Returns as ``generate``.
        """
        partitions = require_topic(self.config, tracking)
        pages = VisitStream(rate=50.0, partitions=partitions, visit_s=10.0)
        bought = replace(pages, kind=Kind.ORDERS, rate=10.0, tracking_rate=50.0)
        sent = self._send(tracking, pages, pages.pages * count), self._send(orders, bought, count)
        return pd.concat(sent, ignore_index=True)

    def actions(
        self,
        topic: str,
        registry: str,
        count: int,
        rate: float,
        *,
        ending: int | None = None,
        **stream: Any,
    ) -> pd.DataFrame:
        """Send ``count`` generated ad actions at once, the last of them of now or ``ending`` (ms).

        Their schemas are registered under the subject ``TOPIC-value``. Returns as ``generate``.
        """
        from workbook.streams.generators.ad_actions import AdActionStream, prepare

        stream |= {"partitions": require_topic(self.config, topic), **prepare(topic, registry)}
        return self._send(topic, AdActionStream(rate=rate, **stream), count, ending)

    def loop(
        self, work: Callable[[Any, Callable[[], bool]], None], reader: Any, name: str = ""
    ) -> Loop:
        """Run ``work(reader, until)`` in the background until ``until()`` is true.

        A second loop of the same name, by default that of its work, ends the first one.
        """
        running = Loop(work, reader, name)
        self._loops.append(running)
        self._open.callback(running.end)
        return running

    def watch(
        self,
        draw: Callable[[], live.Shown],
        query: StreamingQuery | None = None,
        *,
        beside: Widget | None = None,
    ) -> live.Live:
        """Draw a picture or HTML again and again, while the query runs or until ``stop()``.

        It stands on the left of ``beside``, such as the shop.
        """
        running = None if query is None else Watched(query)
        view = live.Live(draw, running=running, beside=beside)
        self._open.callback(view.replace)
        return view

    def tape(self, topic: str, group: str, loop: Callable[[], LoopAt]) -> Callable[[], Picture]:
        """Return what draws the tape of partition 0 as it is now, with a group and a loop.

        ``loop`` returns the offset of the first record that it has counted, or None, and its next
        offset.
        """
        tail = Tail(self.config, topic, group, click_name)
        self._open.callback(tail.close)
        return lambda: drawn(tail.look(), group, *loop())

    def table(
        self,
        rows: Callable[[], list[Mapping[str, Any]]],
        caption: str,
        query: StreamingQuery | None = None,
    ) -> live.Live:
        """Watch rows as a table."""
        return self.watch(lambda: tables.table(rows(), caption), query)

    def bars(
        self,
        counts: Callable[[], Mapping[str, int]],
        caption: str,
        query: StreamingQuery | None = None,
        *,
        total: str = "",
        beside: Widget | None = None,
    ) -> live.Live:
        """Watch counts by name as bars, and with ``total`` their sum as one large number.

        Those that change say by how much.
        """
        before, now = dict[str, int](), dict[str, int]()

        def draw() -> str:
            nonlocal before, now
            if (found := dict(counts())) != now:
                before, now = now, found
            return tables.bars(now, caption, before, total)

        return self.watch(draw, query, beside=beside)

    def chart(
        self,
        series: Callable[[], Mapping[str, Mapping[int, int]]],
        caption: str,
        query: StreamingQuery | None = None,
        *,
        beside: Widget | None = None,
    ) -> live.Live:
        """Watch counts per second by name as lines."""
        return self.watch(lambda: charts.per_second(series(), caption), query, beside=beside)

    def wait(self, until: Callable[[], T], what: str, seconds: float = 100) -> T:
        """Wait until something is true and return it; raise TimeoutError after ``seconds``.

        The line below the cell says what is waited for. Raises what made a query or a program of
        the notebook fail, if one has failed meanwhile, and in the end BrokerUnreachable where the
        broker is away, or what has ended a loop.
        """
        found: list[T] = []
        check_queries = failure_watch()

        def asked() -> T:
            found[:] = [until()]
            if not found[0]:
                check_queries()
                self._check_programs()
            return found[0]

        say(f"waiting for {what}")
        try:
            live.wait(asked, timeout=seconds, what=what)
        except TimeoutError:
            self.broker.check()  # a query waits in silence where it's away
            for loop in self._loops:
                loop.check()
            raise
        finally:
            say("")
        return found[0]

    def predict(self, question: str, *options: object, why: str = "") -> Prediction:
        """Ask for a prediction, by buttons or, without options, in a field; never required.

        ``why`` explains the answer, once the run has given it. A cell that runs again shows what it
        has recorded.
        """
        cell = running_cell()
        asked = (cell, question, *map(str, options))
        if cell is None or asked not in self._asked:
            self._asked[asked] = Prediction(question, [str(option) for option in options], why)
        return self._asked[asked]

    def topology(self, query: StreamingQuery) -> Picture:
        """Draw sources, operators, state, shuffles and sink of a query, from its last plan."""
        from workbook.spark.topology import topology

        return pipeline.topology(topology(query))

    def source(self, *things: FunctionType | type) -> Source:
        """Show the source of functions of the package, folded."""
        return Source(*things)

    def dead_letters(self, topic: str) -> pd.DataFrame:
        """Read the dead letters of a topic, a row per record (``read_dead_letters``)."""
        return read_dead_letters(self.config, f"{topic}.dead-letters")

    def spark(self) -> SparkSession:
        """Start Spark with its Kafka source, or return the session that runs or is starting."""
        from workbook.spark.session import spark_session

        self._spark = spark_session(brief=True)
        return self._spark

    def program(self, log: str, *words: str, **variables: str) -> subprocess.Popen[bytes]:
        """Run ``python -m workbook WORDS`` in a process of its own, which writes to ``log``.

        It ends by kill -9, with all that it has started: by ``close``, when a second program writes
        the same file, or when this process ends. Its Spark gets 1 GB of memory, and the program
        further ``variables`` of the environment.
        """
        if log in self._programs:
            _end(self._programs[log])
        command = [sys.executable, "-m", "workbook", *words]
        env = {**os.environ, "SPARK_DRIVER_MEMORY": "1g", **variables}
        started = spawn(command, Path(log), env=env)
        self._open.callback(_end, started)
        self._programs[log] = started
        return started

    def _check_programs(self) -> None:
        """Raise ``QueryFailed`` with the last words of a program that has ended by an error."""
        for log, program in self._programs.items():
            if (program.poll() or 0) > 0:  # a negative code is that of a kill
                said = Path(log).read_text(errors="replace").strip()[-800:]
                raise QueryFailed(f"The program has ended. Start it again in its cell.\n{said}")

    def checkpoint(self) -> str:
        """Make a fresh folder for a query's checkpoint; return its path."""
        from workbook.spark.session import checkpoint

        return str(checkpoint(self.name))

    def close(self) -> None:
        """End views, loops, visitors, producers, queries and Spark; print what it does."""
        print("Closing what the chapter opened ...")
        self._open.close()
        self._stop_spark()
        print("Closed.")

    def _stop_spark(self) -> None:
        """Stop Spark, also where it was started early and nobody has asked for it."""
        if self._spark is None and self._starting.ident is None:
            return
        from workbook.spark.session import running_session, stop_spark

        if self._starting.ident is not None:
            self._starting.join()
        spark = self._spark or running_session()
        if spark is not None:
            stop_spark(spark)
        self._spark = None


def _show_pipeline(chapter: str) -> None:
    """Display the pipeline that a chapter declares; nothing without one, or outside a notebook."""
    paths = declared(chapter)
    if paths and hasattr(get_ipython(), "kernel"):
        display(pipeline.pipeline(*paths))


def declared(chapter: str) -> tuple[tuple[Box, ...], ...]:
    """Return the paths of a chapter such as ``02_views_per_second``; () where it has none."""
    stem = chapter.partition("_")[2]
    if not stem.isidentifier() or not find_spec(f"workbook.lessons.{stem}"):
        return ()
    paths: tuple[tuple[Box, ...], ...] = getattr(
        import_module(f"workbook.lessons.{stem}"), "paths", ()
    )
    return paths


def _start_spark() -> None:
    """Start Spark early, without a word; what keeps it from starting is ``spark()``'s to say.

    From then on the lab keeps a spare, for this chapter's next kernel or for the next chapter.
    """
    from workbook.spark.cluster import is_local
    from workbook.spark.session import spark_session

    with suppress(Exception):
        spark_session(quiet=True, brief=True)
        if is_local():
            lease().ask("keep a spare", env=dict(os.environ), after=PAUSE_S)


def _end(program: subprocess.Popen[bytes]) -> None:
    """Kill a program and all that it has started, but nobody who has got its number since."""
    if program.poll() is None:
        end_now(family(program.pid))


def _now_ms() -> int:
    return int(time.time() * 1000)


class Source:
    """The text of functions or classes: folded in a notebook, plain in a terminal."""

    def __init__(self, *things: FunctionType | type) -> None:
        self.names = ", ".join(thing.__qualname__ for thing in things)
        self.text = "\n\n".join(inspect.getsource(thing).rstrip() for thing in things)

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        code = highlight(self.text, PythonLexer(), HtmlFormatter(noclasses=True, nobackground=True))
        lines = len(self.text.splitlines())
        summary = f"The source of <code>{html.escape(self.names)}</code>, {lines} lines"
        return f"<details><summary>{summary}</summary>{code}</details>"
