"""``workbook crash-test``: kill any program, and see what its results lack."""

import math
import re
import secrets
import shlex
import shutil
import time
from argparse import Namespace
from difflib import get_close_matches
from pathlib import Path

from workbook.cli.console import INTERRUPTED, end_like_ctrl_c, require_writable, say, waiting_for
from workbook.crashtest import report
from workbook.crashtest.copies import Record, read_input
from workbook.crashtest.dirt import Dirty, feed
from workbook.crashtest.judge import Compare
from workbook.crashtest.runs import Found, crash_test
from workbook.crashtest.trial import Setup
from workbook.crashtest.victim import end_strays
from workbook.crashtest.words import PLACES
from workbook.errors import CrashFailed, WorkbookError, plain
from workbook.explore.plan import plan
from workbook.kafka.broker import Broker
from workbook.stack.addresses import kafka
from workbook.stack.client import lease, scratch_dir
from workbook.streams.generators.clicks import ClickStream
from workbook.streams.stream_producer import Drawn

PLACE = re.compile(r"\{\w+\}")
RATE, PARTITIONS = 100, 4
"""Of our own clicks: events a second, and the partitions that they are in."""


def crash(options: Namespace) -> int:
    """Kill a program again and again, and judge it; 0 if it kept its promise, 2 for no verdict."""
    end_like_ctrl_c()
    words = tuple(options.words[1:] if options.words[:1] == ["--"] else options.words)
    _require(words, options)
    require_writable(options.html)
    with waiting_for("Looking for Kafka"):
        broker = Broker(str(lease("crash-test").ask("server", name="kafka")), ours=True)
    reads, chosen = _input(options)
    end_strays()
    home = scratch_dir() / "crash-test"
    shutil.rmtree(home, ignore_errors=True)
    token = secrets.token_hex(3)
    setup = Setup(
        *(broker, words, token, home, reads),
        *(options.out, options.out_table or "", options.out_folder),
        *(options.quiet / 1000, options.start_within / 1000),
    )
    compare = Compare(options.compare or "", tuple(options.ignore or ()))
    found, dirty, kinds = Found(setup, options.seed, len(chosen)), list[Dirty](), 0
    interrupted, failure = False, ""
    try:
        crash_test(
            *(setup, chosen), kills=options.kills, seed=options.seed, faults=options.faults,
            compare=compare, found=found, say=say,
        )  # fmt: skip
        if options.dirt:
            kinds = feed(setup, chosen, compare, dirty, say)
    except WorkbookError as error:
        if found.truth is None:
            raise
        failure = str(error)
    except KeyboardInterrupt:
        interrupted = True
        say("Interrupted: everything that was started is ended.")
    finally:
        shutil.rmtree(home, ignore_errors=True)
    lines = report.sentences(found, options.promise)
    if kinds or dirty:
        lines += report.of_dirt(dirty, kinds)
    lines += [failure] * bool(failure)
    told = [plain(part) for line in lines for part in line.split("\n")]
    print("", *told, sep="\n")
    if options.html:
        text = report.page(found, told, plain(shlex.join(words)))
        Path(options.html).write_text(text, encoding="utf-8")
        say(f"Written: {options.html}")
    if interrupted:
        return INTERRUPTED
    return 2 if failure else report.code(found, dirty, options.promise)


def _require(words: tuple[str, ...], options: Namespace) -> None:
    """Refuse a command that can't be tested, before anything is started."""
    if not words:
        raise CrashFailed("Expected the program's command behind --, but there is none.")
    for name in (name for word in words for name in PLACE.findall(word) if name not in PLACES):
        if close := get_close_matches(name, PLACES, 1, 0.7):
            raise CrashFailed(f"There's no place {name} in a command. Did you mean {close[0]}?")
    needed = ["{in}", *["{in2}"] * (len(options.topics or ()) > 1)]
    needed += [] if options.out_table else ["{out}"]
    if len(options.topics or ()) > 2:
        raise CrashFailed("Expected one topic or two behind --in.")
    if options.out_table and options.out_folder:
        raise CrashFailed("Expected --out-table or --out-folder, but got both.")
    for place in needed:
        if not any(place in word for word in words):
            raise CrashFailed(
                f"Expected {place} in the command: each run has an input and an output of its own. "
                f"These places are filled: {' '.join(PLACES)}."
            )
    if shutil.which(words[0]) is None:
        raise CrashFailed(f"This program isn't found: {words[0]}.")


def _input(options: Namespace) -> tuple[list[tuple[str, int]], list[Record]]:
    """Read the topics that were named, from the cluster that is configured; else make clicks.

    Returns their names and numbers of partitions, and the records.
    """
    if not options.topics:
        say(f"Without --in, the input is {options.records:,} clicks of our own.")
        return [("clicks", PARTITIONS)], _clicks(options.records)
    with waiting_for("Looking for Kafka"):
        config = kafka("crash-test").client_config()
    plans = [plan(config, name, options.last, options.records) for name in options.topics]
    with waiting_for("Reading the input"):
        chosen = read_input(config, plans)
    if not chosen:
        raise CrashFailed(f"Expected records in {options.topics[0]!r}, but none could be read.")
    say(f"The input: {len(chosen):,} records of {' and '.join(options.topics)}, only read.")
    return [(each.topic, each.partitions) for each in plans], chosen


def _clicks(number: int) -> list[Record]:
    """Draw clicks that end now."""
    stream = ClickStream(rate=RATE, partitions=PARTITIONS)
    stream = stream.ending_by(int(time.time() * 1000), number)
    _, rows = Drawn(stream, 0, number).until(math.inf)
    columns = (rows[name].to_pylist() for name in ("partition", "arrival", "key", "value"))
    return [Record(*row) for row in zip(*columns, strict=True)]
