"""The command line: its commands, their help, and how each one ends."""

import argparse
import io
import os
import sys
from collections.abc import Sequence

from workbook.cli.arguments import Command, Parser, add_to, later
from workbook.cli.console import INTERRUPTED, as_typed, typed, waiting_for
from workbook.errors import NotRunning, WorkbookError, plain


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    for stream in (sys.stdout, sys.stderr):  # under LC_ALL=C a tick or an umlaut must not end us
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    words = sys.argv[1:] if arguments is None else list(arguments)
    if file := os.environ.get("KAFKA_CONFIG"):  # kernels run in another folder
        os.environ["KAFKA_CONFIG"] = os.path.abspath(file)
    parser = _parser()
    if not words:
        parser.print_help()
        return 2
    options, unknown = parser.parse_known_args(words)
    if unknown:
        options.parser.error(f"unknown: {' '.join(unknown)}")
    try:
        return int(options.command(options) or 0)
    except WorkbookError as error:
        if hasattr(options, "traceback"):
            raise
        said = as_typed(str(error)).expandtabs(4).split("\n")
        print("", *map(plain, said), sep="\n", file=sys.stderr)
        return int(getattr(options, "failed", 1))
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # as in `workbook metrics | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for Python's last flush
        return 1


def _parser() -> Parser:
    program = typed()
    parser = Parser(
        traceback=False,
        prog=program,
        description="Stateful stream processing on a real Kafka and a real Spark.",
        epilog=f"What each of them takes: {program} COMMAND --help",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, does, command in _commands(program):
        # The first letter is small in a list and large where the text stands alone.
        made = commands.add_parser(name, help=does, description=f"{does[0].upper()}{does[1:]}.")
        made.set_defaults(command=command, parser=made)
        add_to(made, name)
    return parser


def _commands(program: str) -> list[tuple[str, str, Command]]:
    """Return each command's name, what it does, and the function that runs it."""
    return [
        ("lab", "start Kafka and JupyterLab; Ctrl-C ends both", later("lab.lab")),
        ("doctor", "look for what keeps the lab from working", _doctor),
        ("prefetch", "fetch the jars; then no network is needed", _prefetch),
        ("up", f"start Kafka and keep it until `{program} down`", _up),
        ("down", "end this checkout's servers and clear leftovers", _down),
        ("stop", "stop a server of the lab, to see an outage", later("lab.stop")),
        ("start", "start a server that was stopped", later("lab.start")),
        ("generate", "send a generated stream", later("generate.generate")),
        ("run", "run a system on Spark, without a notebook", later("run.run")),
        ("store", "ask the store of a running or past table", later("results.ask")),
        ("explore", "look at any topic: its times, keys, and watermarks", later("explore.explore")),
        ("metrics", "print a metrics topic as it grows", later("results.follow")),
        ("crash-test", "kill any program of yours, judge it", later("crash_test.crash")),
        ("crash", "kill a system at a named point, judge it", later("run.crash")),
    ]


def _doctor(options: argparse.Namespace) -> int:
    from workbook.stack import doctor

    with waiting_for("Looking at this machine and the lab"):
        report = doctor.examine()
    print(as_typed(str(report)))
    return 0 if report.healthy else 1


def _prefetch(options: argparse.Namespace) -> None:
    from workbook.stack import cassandra, jars

    fetched = jars.prefetch(among=jars.locked())
    jars.unpacked("registry")
    cassandra.own_java()
    print(f"{len(jars.locked())} jars are in the cache, {fetched} of them fetched now.")
    print("Done: from here on no network is needed.")


def _up(options: argparse.Namespace) -> None:
    from workbook.stack import addresses, client, jars

    jars.prefetch()
    address = addresses.kafka("up").bootstrap
    client.lease().ask("pin", value=True)
    print(f"Kafka stays on {address} until: {typed()} down")


def _down(options: argparse.Namespace) -> None:
    from workbook.stack import client, folders, process

    try:
        lease = client.Lease("down", start=False)
    except NotRunning:
        found = process.clear()
        print("Cleared leftovers: " + ", ".join(found) if found else "No server of this lab runs.")
        return
    with waiting_for("Ending the servers"):
        lease.ask("end")
        lease.close()
        ended = folders.gone(30)
    still = f"A server of this lab still runs after 30 s. Look again with: {typed()} down"
    print("The servers of this lab have ended." if ended else still)
