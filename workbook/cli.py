"""The command line: lab, doctor, prefetch, up, down, generate, run."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import signal
import sys
import time
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbook.errors import NoSuchStream, WorkbookError

# Set by hand, because a script that starts us in the background has Ctrl-C ignored.
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    for stream in (sys.stdout, sys.stderr):  # under LC_ALL=C a tick or an umlaut must not end us
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    options = _parser().parse_args(arguments)
    try:
        return int(options.command(options) or 0)
    except WorkbookError as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="workbook", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    lab = commands.add_parser("lab", help="start Kafka and JupyterLab; Ctrl-C ends both")
    lab.add_argument("--no-browser", action="store_true", help="print the address only")
    lab.set_defaults(command=_lab)

    doctor = commands.add_parser("doctor", help="look for what keeps the lab from working")
    doctor.set_defaults(command=_doctor)

    prefetch = commands.add_parser("prefetch", help="fetch the jars; then no network is needed")
    prefetch.set_defaults(command=_prefetch)

    up = commands.add_parser("up", help="start Kafka and keep it until `workbook down`")
    up.set_defaults(command=_up)

    down = commands.add_parser("down", help="end this checkout's servers and clear leftovers")
    down.set_defaults(command=_down)

    _add_generate(commands.add_parser("generate", help="send a generated stream to a topic"))
    _add_run(commands.add_parser("run", help="run a pipeline on Spark, without a notebook"))
    return parser


def _add_generate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("stream", choices=["clicks"])
    parser.add_argument("--topic", help="default: the name of the stream; created where missing")
    parser.add_argument(
        "--rate", type=positive, default=1000, help="events per second of the stream"
    )
    parser.add_argument("--seconds", type=positive, default=60, help="length of the stream")
    parser.add_argument("--partitions", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--speed", type=positive, help="1 is real time; default: as fast as can be")
    parser.add_argument("--late-share", type=float, default=0, metavar="0..1")
    parser.add_argument("--late-by-ms", type=int, default=30_000)
    parser.add_argument("--duplicate-share", type=float, default=0, metavar="0..1")
    parser.add_argument("--bad-share", type=float, default=0, metavar="0..1")
    parser.add_argument("--gap-every-s", type=float, default=0)
    parser.add_argument("--gap-s", type=float, default=0)
    parser.set_defaults(command=_generate)


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pipeline", choices=["page_views"])
    parser.add_argument("--in", dest="source", default="clicks", help="topic to read")
    parser.add_argument("--dead-letters", help="default: the topic with .dead-letters behind it")
    parser.add_argument("--seconds", type=positive, help="end after so long; default: Ctrl-C")
    parser.set_defaults(command=_run)


def _lab(options: argparse.Namespace) -> None:
    from workbook.stack import broker, client, copies, home, jars, jupyter

    # However this process is asked to end, it first gives back what it holds.
    for number in ENDINGS:
        signal.signal(number, signal.default_int_handler)
    jars.prefetch()
    lease = client.lease("lab")
    try:
        broker.kafka("lab")
        print("Starting JupyterLab ...", flush=True)
        mine = Path(os.environ.get("WORKBOOK_NOTEBOOKS") or home.ROOT / "my_notebooks")
        folder = copies.refresh(home.ROOT / "notebooks", mine)
        lab = jupyter.start(lease, folder)
        others = [u for u in lease.ask("status")["users"] if u["role"] == "lab"]
        if others:
            print(f"It shares Kafka and the notebooks with the lab of process {others[0]['pid']}.")
        print(f"\nThe lab is open: {lab.url}")
        print("Ctrl-C ends it and everything that only it uses.", flush=True)
        jupyter.prepare_spark(lease)
        if not options.no_browser:
            webbrowser.open(lab.url)
        lease.wait_for_end()
        print("The lab's servers have ended.", flush=True)
    except KeyboardInterrupt:
        pass
    finally:
        _leave(lease)


def _leave(lease: object) -> None:
    from workbook.stack import client, home, supervisor

    assert isinstance(lease, client.Lease)
    for number in ENDINGS:
        signal.signal(number, signal.SIG_IGN)  # a second Ctrl-C must not cut the clearing short
    print("\nEnding the lab (its kernels first, which may take ten seconds) ...", flush=True)
    status: dict[str, Any] = {"users": [], "pinned": False}
    with contextlib.suppress(WorkbookError, OSError):  # the supervisor was killed
        status = lease.ask("leave")
        # Kernels have just ended with JupyterLab; the supervisor hears of it in a moment.
        deadline = time.monotonic() + 2
        while status["users"] and time.monotonic() < deadline:
            time.sleep(0.05)
            status = lease.ask("status")
    others = [f"{user['role']} (process {user['pid']})" for user in status["users"]]
    if others or status["pinned"]:
        print(f"The servers stay for: {', '.join(others) or '`workbook up`'}.")
        return
    lease.close()
    if not home.gone(30):
        supervisor.clear()
    print("Everything the lab started has ended.")


def _doctor(options: argparse.Namespace) -> int:
    from workbook.stack import doctor

    report = doctor.examine()
    print(report)
    return 0 if report.healthy else 1


def _prefetch(options: argparse.Namespace) -> None:
    from workbook import session
    from workbook.stack import jars

    fetched = jars.prefetch()
    print(f"{len(jars.locked())} jars are in the cache, {fetched} of them fetched now.")
    if not session.class_archive().exists():
        print("Preparing Spark's classes for quick starts (about a minute) ...", flush=True)
        session.make_class_archive()
    print("Done: from here on no network is needed.")


def _up(options: argparse.Namespace) -> None:
    from workbook.stack import broker, client, jars

    jars.prefetch()
    address = broker.kafka("up").bootstrap
    client.lease().ask("pin", value=True)
    print(f"Kafka stays on {address} until: python -m workbook down")


def _down(options: argparse.Namespace) -> None:
    from workbook.stack import client, home, supervisor

    if client.is_running():
        lease = client.lease("down")
        lease.ask("end")
        lease.close()
        home.gone(30)
        print("The servers of this lab have ended.")
    elif found := supervisor.clear():
        print("Cleared leftovers: " + ", ".join(found))
    else:
        print("No server of this lab is running.")


def _generate(options: argparse.Namespace) -> None:
    from workbook.generators.clicks import ClickStream
    from workbook.sources.checks import require_topic
    from workbook.sources.producer import Sent, generate
    from workbook.stack.broker import kafka
    from workbook.topics import Topic

    wanted = (
        "seed rate partitions late_share late_by_ms duplicate_share bad_share gap_every_s gap_s"
    )
    stream = ClickStream(**{name: getattr(options, name) for name in wanted.split()})
    broker, count = kafka("generate"), round(options.rate * options.seconds)
    topic = Topic(options.topic or options.stream, options.partitions)
    broker.create(topic)
    found = require_topic(broker.client_config(), topic.name)
    if found != options.partitions:
        raise NoSuchStream(
            f"Topic {topic.name} exists and has {found} partitions, and topics are never resized. "
            f"Use --partitions {found}, or another --topic."
        )
    stream = stream.ending_by(int(time.time() * 1000), count, options.speed)

    def show(sent: Sent) -> None:
        _line(f"{sent.events:,} of {count:,} events, {sent.rate:,.0f} messages/s")

    sent = generate(
        broker.client_config(), topic.name, stream, count, speed=options.speed, progress=show
    )
    _line(f"{sent.events:,} events in {sent.messages:,} messages sent to {topic.name} ", end="\n")
    print(f"in {sent.seconds:.1f} s: {sent.rate:,.0f} messages/s")


def _run(options: argparse.Namespace) -> None:
    from workbook import session
    from workbook.pipelines import page_views
    from workbook.pipelines.clicks import parse
    from workbook.sinks.dead_letters import DeadLetters
    from workbook.sinks.running import start_counting
    from workbook.sinks.tables import LocalTable
    from workbook.sources.checks import require_topic
    from workbook.sources.spark import kafka_stream
    from workbook.stack.broker import kafka
    from workbook.topics import Topic

    for number in ENDINGS:
        signal.signal(number, signal.default_int_handler)
    broker, topic = kafka("run"), Topic(options.source)
    letters = Topic(options.dead_letters or topic.dead_letters.name)
    require_topic(broker.client_config(), topic.name)  # before a slip of the pen makes a topic
    broker.create(letters)
    spark = session.spark_session("page_views")
    rejects = DeadLetters(broker.client_config(), letters.name)
    parsed = parse(kafka_stream(spark, broker, topic.name), rejects)
    views, began = LocalTable("name"), time.monotonic()
    counts, place = page_views.page_views(parsed), session.checkpoint("page_views")
    with start_counting(counts, views, place) as running:
        try:
            while not running.wait(0.5) and time.monotonic() - began < (options.seconds or 1e9):
                total = sum(row["views"] for row in views.rows())
                _line(f"{total:,} page views on {len(views)} pages")
        except KeyboardInterrupt:
            pass
    print("\n" + (views.to_pandas().to_string(index=False) if len(views) else "no page views yet"))
    spark.stop()


def positive(text: str) -> float:
    """A number above 0, for argparse."""
    number = float(text)
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"must be above 0, got {text}")
    return number


def _line(text: str, end: str = "") -> None:
    """Write over the current line of a terminal; a plain line where it is none."""
    if sys.stdout.isatty():
        columns = os.get_terminal_size().columns
        print("\r" + text[: columns - 1].ljust(columns - 1), end=end, flush=True)
    else:
        print(text, flush=True)
