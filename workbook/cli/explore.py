"""``workbook explore``: what any topic is like, before a line is written for it."""

import shutil
from argparse import Namespace
from itertools import count
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from workbook.cli.console import end_like_ctrl_c, require_writable, say, waiting_for
from workbook.errors import SparkFailed, WorkbookError
from workbook.explore.figures import measure
from workbook.explore.plan import plan
from workbook.explore.program import program
from workbook.explore.report import Report, console, format_of, size
from workbook.explore.rows import Choice, read
from workbook.explore.sample import LIKE_A_TIME, Sample, look
from workbook.spark.failures import cause
from workbook.spark.session import spark_session, stop_spark
from workbook.stack.addresses import kafka, named
from workbook.stack.client import scratch_dir, status
from workbook.stack.jars import prefetch

RECORD = "record"
"""The name of the record's own timestamp, or key."""


def explore(options: Namespace) -> None:
    """Read some of a topic and print its report; create, join and commit nothing."""
    end_like_ctrl_c()
    require_writable(options.html, options.json, options.program)
    with waiting_for("Looking for Kafka"):
        broker = kafka("explore")
    config = broker.client_config()
    wanted = plan(config, options.topic, options.last, options.records)
    with waiting_for("Looking at a sample"):
        sample = look(config, wanted, named("registry") or _labs_registry())
    choice = choose(sample, options)
    console().print(format_of(sample))
    volume = wanted.offsets * sample.mean_bytes
    say(
        f"Reading {wanted.offsets:,} of {wanted.held:,} offsets in {len(wanted.ranges)} of "
        f"{wanted.partitions} partitions, {size(volume / 1e6)} MB of keys and values ..."
    )
    prefetch()
    spark = spark_session("explore")
    end_like_ctrl_c()  # Spark's own handler would ask Java in the middle of an answer
    folder = scratch_dir() / "explore"
    shutil.rmtree(folder, ignore_errors=True)
    try:
        rows = read(
            spark, broker, wanted, sample, choice, folder, options.at_most,
            lambda done, of: say(f"{done:,} of {of:,} offsets") if done < of else None,
        )  # fmt: skip
        figures = measure(rows, wanted, options.window, lambda what: waiting_for(what, 2.0))
    except (PySparkException, Py4JError) as error:
        raise SparkFailed(
            f"Spark could not read {options.topic!r}: {cause(str(error))}. Nothing was changed. "
            "Read less by --last or --records."
        ) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        stop_spark(spark)
    report = Report(wanted, sample, choice, figures, options.window, options.loss)
    console().print(*report.parts(), sep="\n")
    _write(report, options)


def _write(report: Report, options: Namespace) -> None:
    """Write the files that the options name."""
    for path, text in (
        (options.html, report.html), (options.json, report.to_json),
        (options.program, lambda: program(report, Path(options.program).name)),
    ):  # fmt: skip
        if path:
            made, file = text(), Path(path)
            if path == options.program and file.exists() and file.read_bytes() != made.encode():
                names = (f"{path}.old{number or ''}" for number in count())
                file.replace(old := next(name for name in names if not Path(name).exists()))
                say(f"The former one is now {old}.")
            file.write_text(made, encoding="utf-8")
            say(f"Written: {path}")


def choose(sample: Sample, options: Namespace) -> Choice:
    """Return the fields that the options name; the likeliest time where none is named."""
    if options.time == RECORD:
        at = None
    elif options.time:
        at = sample.field(options.time, "--time")
        if at.unit is None:
            raise WorkbookError(
                f"Expected a time in {options.time!r}, but its values are neither ISO times nor "
                "seconds, ms, µs or ns between 2000 and 2100."
            )
    else:
        # An id of 64 bits may look like nanoseconds.
        at = next((f for f in sample.times if f.unit == "ISO" or LIKE_A_TIME.search(f.name)), None)
    key = sample.field(options.key, "--key") if options.key not in (None, RECORD) else None
    return Choice(at, key, sample.field(options.id, "--id") if options.id else None)


def _labs_registry() -> str | None:
    return ((status() or {}).get("servers") or {}).get("registry")
