"""The options of the commands that work on topics, each with its meaning and its default."""

import argparse
from collections.abc import Callable
from importlib import import_module
from typing import Any

from workbook.cli.console import typed, waiting_for
from workbook.crashlab.crashes import CRASHES
from workbook.crashlab.crashes.base import Variant
from workbook.crashtest.words import FAULTS, PROMISES
from workbook.streams.events.legacy_counts import LEGACY
from workbook.systems import STREAMS, SYSTEMS
from workbook.systems.options import (
    SECONDS,
    Option,
    compared,
    day,
    megabytes,
    ms,
    path,
    positive,
    schema_name,
    share,
    topic,
    whole,
)

GENERATE_OPTIONS = (
    Option("--rate", positive, "events per second of the stream", default=1000),
    Option("--seconds", positive, "length: rate times seconds events", default=60),
    Option("--speed", positive, "1 is real time, 10 ten times as fast", "as fast as possible"),
    Option("--partitions", whole, "partitions of a new topic", default=1),
    Option("--seed", int, "the same seed gives the same events", default=1),
    Option("--duplicate-share", float, "share sent twice", "0, ad_actions 0.02", argparse.SUPPRESS),
    Option("--bad-share", float, "share unreadable", "0, ad_actions 0.005", argparse.SUPPRESS),
)
"""The options of every stream, besides --topic."""

EXPLORE_OPTIONS = (
    Option("--last", ms, "what arrived within this time", "1 hour; if nothing has, the newest"),
    Option("--records", whole, "the most records, the newest", default=1_000_000),
    Option("--time", str, "the field with the event time, or `record`", "what looks most like one"),
    Option("--key", str, "the field with the key", "the record's key"),
    Option("--id", str, "the field that identifies an event", "the whole value"),
    Option("--window", ms, "the length of the windows", "1 minute", 60_000),
    Option("--loss", share, "the share that a watermark may lose", "0.1%", 0.001),
    Option(
        "--at-most", megabytes, "the most to read per second, such as 20MB/s", "as fast as possible"
    ),
    Option("--html", path, "write the report as a page as well", "none"),
    Option("--json", path, "write the report as JSON as well", "none"),
    Option("--program", path, "write a PySpark program for this topic", "none"),
)

CRASH_TEST_OPTIONS = (
    Option("--records", whole, "the most records of the input, the newest", default=100_000),
    Option("--last", ms, "how far back --in is read", "1 hour; if empty, the newest records"),
    Option("--kills", whole, "how often it is killed", default=30),
    Option("--seed", int, "the same seed draws the same faults", default=7),
    Option("--quiet", ms, "results are all there after so long without one", "10s", 10_000),
    Option("--start-within", ms, "the longest wait for a first result", "60s", 60_000),
    Option(
        "--compare", compared,
        "table (last value per key), bag (each as often) or id:FIELD",
        "what fits two runs without a kill",
    ),
    Option("--out-table", str, "results are the rows of this SQL query", "a topic, {out}"),
    Option("--out-folder", None, "results are Parquet files in the folder {out}", "a topic, {out}"),
    Option("--dirt", None, "feed it hostile records, too", "only the input"),
    Option("--html", path, "write the report as a page as well", "none"),
)  # fmt: skip

TABLE = Option("--table", str, "the old table, KEYSPACE.TABLE of Cassandra", default=LEGACY)

LEGACY_DOES = "an old table of counts to Cassandra, for `run migrate`"
LEGACY_EXAMPLE = "generate legacy_counts --ads 1000 --days 60"
LEGACY_OPTIONS = (
    TABLE,
    Option("--ads", whole, "number of ads", default=200),
    Option("--days", whole, "days with counts", default=30),
    Option("--last", day, "the last of these days", "today"),
    Option("--seed", int, "the same seed gives the same rows", default=1),
)

MIGRATE_DOES = "migrate an old table of counts out of Cassandra into PostgreSQL, once"
MIGRATE_EXAMPLE = "run migrate"
MIGRATE_OPTIONS = (
    TABLE,
    Option("--schema", schema_name, "the database's schema for tables", default="ad_statistics"),
    Option("--ranges", whole, "token ranges of a new migration", default=64),
    Option("--before", day, "migrate the days before this one", "all; required beside new counts"),
    Option("--rate", positive, "rows a second, at most, of all tasks", "as fast as possible"),
    Option("--again", None, "delete what was migrated, and start from the beginning", "continue"),
)

Command = Callable[[argparse.Namespace], int | None]


class Parser(argparse.ArgumentParser):
    """Reports an error in one line, instead of printing the whole usage."""

    def __init__(self, *, traceback: bool = True, **how: Any) -> None:
        super().__init__(**how)
        if traceback:
            self.add_argument(
                "--traceback",
                action="store_true",
                default=argparse.SUPPRESS,
                help="show the whole traceback of an error; default: its cause and the next step",
            )

    def error(self, message: str) -> None:  # type: ignore[override]
        """End the program."""
        self.exit(2, f"{message}\nFor all that it takes: {self.prog} --help\n")


def add_to(parser: Parser, command: str) -> None:
    """Add what a command of ``workbook`` takes."""
    match command:
        case "generate":
            add_generate(parser)
        case "run":
            add_run(parser)
        case "crash":
            add_crash(parser)
        case "lab":
            says = "print the address; default: open a browser too"
            parser.add_argument("--no-browser", action="store_true", help=says)
        case "stop" | "start":
            names = ["kafka", "registry", "postgres", "cassandra"]
            parser.add_argument("server", choices=names, help="which server of the lab")
        case "store":
            _with_examples(parser, "store state/share_holders/store.db c00017")
            parser.add_argument("file", type=path, help="the store's file: `run` prints its path")
            says = "the client, page or group of one row; default: all, a line of JSON each"
            parser.add_argument("key", nargs="?", metavar="KEY", help=says)
        case "explore":
            _with_examples(parser, "explore clicks", "explore orders --last 1d --time created_at")
            says = "the topic: it's only read, and nothing is created or committed"
            parser.add_argument("topic", type=topic, help=says)
            for option in EXPLORE_OPTIONS:
                option.add_to(parser)
        case "crash-test":
            add_crash_test(parser)
        case "metrics":
            _with_examples(parser, "metrics metrics")
            says = "the topic that `run page_views --out` writes"
            parser.add_argument("topic", type=topic, help=says)
            SECONDS.add_to(parser)


def add_generate(parser: argparse.ArgumentParser) -> None:
    """Add a subparser per stream to ``workbook generate``."""
    streams = parser.add_subparsers(required=True, metavar="STREAM")
    for name, stream in STREAMS.items():
        made = _added(streams, name, stream.does, f"Send {stream.does}.", stream=name)
        _with_examples(made, stream.example)
        Option("--topic", topic, "the topic to write", default=name).add_to(made)
        for option in (*GENERATE_OPTIONS, *stream.options):
            option.add_to(made)
    send = later("migrate.generate")
    made = _added(streams, "legacy_counts", LEGACY_DOES, f"Send {LEGACY_DOES}.", command=send)
    _with_examples(made, LEGACY_EXAMPLE)
    for option in LEGACY_OPTIONS:
        option.add_to(made)
    _with_examples(parser, *(stream.example for stream in STREAMS.values()), LEGACY_EXAMPLE)


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add a subparser per system to ``workbook run``."""
    systems = parser.add_subparsers(required=True, metavar="SYSTEM")
    for name, system in SYSTEMS.items():
        made = _added(systems, name, system.does, _sentence(system.does), system=name)
        _with_examples(made, *system.examples)
        system.fill(made)
    command = later("migrate.migrate")
    made = _added(systems, "migrate", MIGRATE_DOES, _sentence(MIGRATE_DOES), command=command)
    _with_examples(made, MIGRATE_EXAMPLE)
    for option in MIGRATE_OPTIONS:
        option.add_to(made)
    _with_examples(parser, *(system.examples[0] for system in SYSTEMS.values()), MIGRATE_EXAMPLE)


def add_crash(parser: argparse.ArgumentParser) -> None:
    """Add a subparser per system to ``workbook crash``."""
    systems = parser.add_subparsers(required=True, metavar="SYSTEM")
    for name, crashes in CRASHES.items():
        says = f"Kill {name}, start it again, and judge its results."
        made = _added(systems, name, SYSTEMS[name].does, says, system=name)
        made.formatter_class = argparse.RawDescriptionHelpFormatter
        made.epilog = "\n".join(map(_points, crashes.variants))
        first, *_ = names = [variant.name for variant in crashes.variants]
        Option("--variant", str, f"one of {', '.join(names)}", default=first).add_to(made)
        points = Option("--point", str, "where kill -9 comes, of those below", "all, one by one")
        points.add_to(made, dest="points", action="extend", nargs="+")
        Option("--seed", int, "draws the input and each kill's moment", default=7).add_to(made)
    _with_examples(parser, *(f"crash {name}" for name in CRASHES))


def add_crash_test(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``workbook crash-test``, and the program's command."""
    _with_examples(
        parser,
        "crash-test --in clicks -- python programs/commit_on_delivery.py --servers {servers} "
        "--topic {in} --out {out} --group {run}",
    )
    parser.usage = "%(prog)s [options] -- COMMAND"
    parser.set_defaults(failed=2)  # 1 says that the program broke its promise
    says = "the topic with the input, which is only read, or two; default: clicks of our own"
    parser.add_argument(
        "--in", type=topic, dest="topics", action="append", metavar="TOPIC", help=says
    )
    says = "how the names of the topics for results begin; default: out"
    parser.add_argument("--out", type=topic, default="out", metavar="NAME", help=says)
    for option in CRASH_TEST_OPTIONS:
        option.add_to(parser)
    faults = Option("--faults", str, f"drawn at random, of {', '.join(FAULTS)}", default="kill")
    faults.add_to(parser, nargs="+", choices=FAULTS, default=["kill"])
    ignore = Option("--ignore", str, "a field of JSON results that doesn't count", "none")
    ignore.add_to(parser, action="append", metavar="FIELD")
    promise = Option("--promise", str, "what it must keep for exit code 0", default="at-least-once")
    promise.add_to(parser, choices=PROMISES, metavar="PROMISE")
    says = "the program's command; {in} {out} {run} {servers} {checkpoint} and so on are filled"
    parser.add_argument("words", nargs="*", metavar="COMMAND", help=says)


def _added(parsers: Any, name: str, does: str, says: str, **defaults: Any) -> Parser:
    """Add a subparser that ``does`` something, as a list of them says, and ``says`` so alone."""
    made: Parser = parsers.add_parser(name, help=does, description=says)
    made.set_defaults(parser=made, **defaults)
    made.usage = f"{made.prog} [options]"
    return made


def _sentence(does: str) -> str:
    return f"{does[0].upper()}{does[1:]}."


def _points(variant: Variant) -> str:
    lines = [f"  {point.name:<18}{point.says}" for point in variant.points]
    return "\n".join([f"points of {variant.name} ({variant.does}):", *lines, ""])


def _with_examples(parser: argparse.ArgumentParser, *examples: str) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "\n".join(["for example:", *(f"  {typed()} {words}" for words in examples)])


def later(name: str) -> Command:
    """Return a command that imports its module, and with it Kafka's client or Spark, when run."""

    def command(options: argparse.Namespace) -> int | None:
        module, function = name.split(".")
        with waiting_for("Loading Spark's and Kafka's clients"):
            loaded = import_module(f"workbook.cli.{module}")
        result: int | None = getattr(loaded, function)(options)
        return result

    return command
