"""The command line: lab, doctor, up, down, stop, start, generate, run, metrics, crash, and more."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from workbook.errors import WorkbookError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    for stream in (sys.stdout, sys.stderr):  # under LC_ALL=C a tick or an umlaut must not end us
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    words = sys.argv[1:] if arguments is None else list(arguments)
    options = _parser(words).parse_args(words)
    try:
        return int(options.command(options) or 0)
    except WorkbookError as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # as in `workbook metrics | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for Python's last flush
        return 1


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="workbook", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    lab = commands.add_parser("lab", help="start Kafka and JupyterLab; Ctrl-C ends both")
    lab.add_argument("--no-browser", action="store_true", help="print the address only")
    lab.set_defaults(command=_later("lab", "lab"))

    doctor = commands.add_parser("doctor", help="look for what keeps the lab from working")
    doctor.set_defaults(command=_doctor)

    prefetch = commands.add_parser("prefetch", help="fetch the jars; then no network is needed")
    prefetch.set_defaults(command=_prefetch)

    up = commands.add_parser("up", help="start Kafka and keep it until `workbook down`")
    up.set_defaults(command=_up)

    down = commands.add_parser("down", help="end this checkout's servers and clear leftovers")
    down.set_defaults(command=_down)

    for word, what in (
        ("stop", "stop the lab's broker alone, to see an outage; it keeps its topics"),
        ("start", "start the broker that was stopped, on its port"),
    ):
        one = commands.add_parser(word, help=what)
        one.add_argument("server", choices=["kafka"])
        one.set_defaults(command=_later("servers", word))

    _add_generate(commands.add_parser("generate", help="send a generated stream to a topic"))
    _add_run(commands.add_parser("run", help="run a pipeline on Spark, without a notebook"))

    store = commands.add_parser("store", help="ask the store of a running table, or of a past one")
    store.add_argument("file", help="as `workbook run share_holders` says")
    store.add_argument("key", nargs="?", help="one row; default: all, a line of JSON each")
    store.set_defaults(command=_later("store", "ask"))

    metrics = commands.add_parser("metrics", help="print a metrics topic as it grows")
    metrics.add_argument("topic")
    metrics.add_argument("--seconds", type=positive, help="end after so long; default: Ctrl-C")
    metrics.set_defaults(command=_later("metrics", "follow"))

    crash = commands.add_parser("crash", help="kill a pipeline at a named point, and judge it")
    if "crash" in words:  # its arguments stand in a module that takes a while to import
        from workbook import faults

        faults.add_arguments(crash)
        crash.set_defaults(command=faults.command)
    return parser


def _add_generate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("stream", choices=["clicks", "positions"])
    parser.add_argument("--topic", help="default: the name of the stream; created where missing")
    parser.add_argument(
        "--rate", type=positive, default=1000, help="events per second of the stream"
    )
    parser.add_argument("--seconds", type=positive, default=60, help="length of the stream")
    parser.add_argument("--partitions", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--speed", type=positive, help="1 is real time; default: as fast as can be")
    parser.add_argument("--duplicate-share", type=float, default=0, metavar="0..1")
    parser.add_argument("--bad-share", type=float, default=0, metavar="0..1")
    clicks = parser.add_argument_group("clicks only")
    clicks.add_argument("--late-share", type=float, default=0, metavar="0..1")
    clicks.add_argument("--late-by-ms", type=int, default=30_000)
    clicks.add_argument("--gap-every-s", type=float, default=0)
    clicks.add_argument("--gap-s", type=float, default=0)
    positions = parser.add_argument_group("positions only")
    positions.add_argument("--positions", type=int, help="so many ids; default: 1000")
    positions.add_argument("--clients", type=int, help="who holds them; default: 200")
    for share, what in (("closed", "0.05"), ("moved", "0.1"), ("swapped", "0.1")):
        positions.add_argument(
            f"--{share}-share", type=float, metavar="0..1", help=f"default: {what}"
        )
    parser.set_defaults(command=_later("generate", "generate"))


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pipeline", choices=["page_views", "share_holders"])
    parser.add_argument(
        "--in", dest="source", metavar="TOPIC", help="what to read; default: clicks, or positions"
    )
    parser.add_argument(
        "--out",
        metavar="TOPIC",
        help="page_views: the page views of each second (default: a table of pages on this "
        "terminal); share_holders: who holds what, compacted (default: the store alone)",
    )
    parser.add_argument("--dead-letters", help="default: the topic with .dead-letters behind it")
    parser.add_argument(
        "--checkpoint",
        metavar="FOLDER",
        help="keep offsets and state here, to go on next time; all of a cluster must see it",
    )
    parser.add_argument(
        "--lateness",
        help="page_views: so far behind the newest click a second stays open; default: 5 seconds",
    )
    parser.add_argument(
        "--by-partition",
        action="store_true",
        help="page_views: count each partition of the clicks for itself",
    )
    parser.add_argument(
        "--store",
        metavar="FILE",
        help="share_holders: where the table can be asked for; default: store.db in the checkpoint",
    )
    parser.add_argument(
        "--every",
        type=positive,
        metavar="SECONDS",
        help="share_holders: at most one micro-batch in so long; default: as fast as can be",
    )
    parser.add_argument("--seconds", type=positive, help="end after so long; default: Ctrl-C")
    parser.set_defaults(command=_later("run", "run"))


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
    from workbook.stack import client, home, started

    if client.is_running():
        lease = client.lease("down")
        lease.ask("end")
        lease.close()
        home.gone(30)
        print("The servers of this lab have ended.")
        return
    found, others = started.clear()
    print("Cleared leftovers: " + ", ".join(found) if found else "No server of this lab runs.")
    if others:
        print("Left alone, since the lab did not start them: " + ", ".join(others))


def _later(module: str, function: str) -> Callable[[argparse.Namespace], int | None]:
    """A command whose module, and with it Kafka's client or Spark, is imported when it runs."""

    def command(options: argparse.Namespace) -> int | None:
        result: int | None = getattr(import_module(f"workbook.commands.{module}"), function)(
            options
        )
        return result

    return command


def positive(text: str) -> float:
    """A number above 0, for argparse."""
    number = float(text)
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"must be above 0, got {text}")
    return number
