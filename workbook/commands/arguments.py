"""The options of the commands that deal with topics, each with its meaning and its default."""

from __future__ import annotations

import argparse

from workbook.commands.console import typed
from workbook.commands.values import place, positive, span, topic, whole

FOREVER = "default: until Ctrl-C or SIGTERM"


class Parser(argparse.ArgumentParser):
    """Says in a line what is wrong, and where more is told, instead of all that can be typed."""

    def error(self, message: str) -> None:  # type: ignore[override]
        """End the program."""
        self.exit(2, f"{message}\nFor all that it takes: {self.prog} --help\n")


def add_generate(parser: argparse.ArgumentParser) -> None:
    """What ``workbook generate`` takes."""
    parser.usage = f"{parser.prog} clicks|positions [options]"
    _with_examples(
        parser,
        "generate clicks --rate 500 --seconds 600 --speed 1",
        "generate positions --positions 5000 --clients 1000",
    )
    parser.add_argument("stream", choices=["clicks", "positions"], help="which kind of events")
    parser.add_argument(
        "--topic",
        type=topic,
        help="where to; it is created if it isn't there. Default: clicks, or positions",
    )
    parser.add_argument(
        "--rate",
        type=positive,
        default=1000,
        metavar="EVENTS",
        help="events in a second of the stream; default: 1000",
    )
    parser.add_argument(
        "--seconds",
        type=positive,
        default=60,
        help="how many seconds of the stream, so rate times seconds events; default: 60",
    )
    parser.add_argument(
        "--speed",
        type=positive,
        help="seconds of the stream in a second of yours: 1 is real time, 10 is ten times as "
        "fast; default: as fast as the broker takes them, all dated in the past",
    )
    parser.add_argument(
        "--partitions",
        type=whole,
        default=1,
        metavar="N",
        help="partitions of the topic; must be right for one that exists. Default: 1",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=1,
        metavar="N",
        help="draws the events: the same seed and options give the same ones. Default: 1",
    )
    _share(parser, "duplicate", "of the good events, how many are sent twice; default: 0", 0)
    _share(parser, "bad", "of all events, how many are malformed or impossible; default: 0", 0)
    _add_clicks(parser.add_argument_group("clicks only"))
    _add_positions(parser.add_argument_group("positions only"))


def _add_clicks(group: argparse._ArgumentGroup) -> None:
    _share(group, "late", "of the good clicks, how many arrive late; default: 0", 0)
    group.add_argument(
        "--late-by-ms",
        type=whole,
        default=30_000,
        metavar="MS",
        help="a late click is late by so much at most; default: 30000",
    )
    group.add_argument(
        "--gap-every-s",
        type=float,
        default=0,
        metavar="SECONDS",
        help="with --gap-s, how often nobody clicks for a while; default: 0, never",
    )
    group.add_argument(
        "--gap-s",
        type=float,
        default=0,
        metavar="SECONDS",
        help="how long nobody clicks then, less than --gap-every-s; default: 0",
    )


def _add_positions(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--positions", type=whole, metavar="N", help="how many there are; default: 1000"
    )
    group.add_argument(
        "--clients", type=whole, metavar="N", help="how many clients hold them; default: 200"
    )
    _share(group, "closed", "of the good events, how many close a position; default: 0.05")
    _share(group, "moved", "how often a position goes to another client; default: 0.1")
    _share(group, "swapped", "how often it becomes one in another share; default: 0.1")


def _share(
    group: argparse._ActionsContainer, name: str, says: str, default: float | None = None
) -> None:
    group.add_argument(f"--{name}-share", type=float, default=default, metavar="0..1", help=says)


def add_run(parser: argparse.ArgumentParser) -> None:
    """What ``workbook run`` takes."""
    parser.usage = f"{parser.prog} page_views|share_holders [options]"
    _with_examples(
        parser,
        "run page_views --in clicks",
        "run page_views --in clicks --out metrics --checkpoint state/page_views",
        "run share_holders --in positions --checkpoint state/share_holders",
    )
    parser.add_argument(
        "pipeline",
        choices=["page_views", "share_holders"],
        help="page_views counts clicks on pages; share_holders keeps the table of who holds US "
        "shares",
    )
    parser.add_argument(
        "--in",
        dest="source",
        type=topic,
        metavar="TOPIC",
        help="what to read, from its first record on or where the checkpoint ends; default: "
        "clicks, or positions",
    )
    parser.add_argument(
        "--out",
        type=topic,
        metavar="TOPIC",
        help="where to write; it is created if it isn't there. page_views: the page views of each "
        "second (default: none; the views of each page on this terminal instead). share_holders: "
        "who holds what, compacted (default: none; the store alone)",
    )
    parser.add_argument(
        "--dead-letters",
        type=topic,
        metavar="TOPIC",
        help="where records go that can't be read; default: what is read, with .dead-letters "
        "behind it",
    )
    parser.add_argument(
        "--checkpoint",
        type=place,
        metavar="FOLDER",
        help="keep offsets and state here, to go on next time; all of a cluster must see it. "
        "Default: a temporary one, so that each start begins with the first record",
    )
    parser.add_argument("--seconds", type=positive, help=f"end after so long; {FOREVER}")
    views = parser.add_argument_group("page_views with --out only")
    views.add_argument(
        "--lateness",
        type=span,
        metavar="TIME",
        help="how far every partition must be beyond the end of a second to complete it, such as "
        "'2 minutes'; default: '5 seconds'",
    )
    views.add_argument(
        "--by-partition",
        action="store_true",
        help="count each partition of the clicks for itself; default: all together",
    )
    holders = parser.add_argument_group("share_holders only")
    holders.add_argument(
        "--store",
        type=place,
        metavar="FILE",
        help="where the table can be asked for; default: store.db in the checkpoint",
    )
    holders.add_argument(
        "--every",
        type=positive,
        metavar="SECONDS",
        help="write at most once in so long; default: as often as can be",
    )


def add_store(parser: argparse.ArgumentParser) -> None:
    """What ``workbook store`` takes."""
    _with_examples(parser, "store state/share_holders/store.db c00017")
    parser.add_argument("file", type=place, help="the store's file, as `run` says")
    parser.add_argument(
        "key",
        nargs="?",
        metavar="KEY",
        help="one row, by its client or page; default: all, a line of JSON each",
    )


def add_metrics(parser: argparse.ArgumentParser) -> None:
    """What ``workbook metrics`` takes."""
    _with_examples(parser, "metrics metrics")
    parser.add_argument("topic", type=topic, help="what `run page_views --out` writes to")
    parser.add_argument("--seconds", type=positive, help=f"end after so long; {FOREVER}")


def _with_examples(parser: argparse.ArgumentParser, *examples: str) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "\n".join(["for example:", *(f"  {typed()} {words}" for words in examples)])
