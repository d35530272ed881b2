"""Runs all systems side by side, each as a user would, and says of each whether anything grows.

    .venv/bin/python benchmarks/soak.py [--minutes 60]

Every half minute it samples descriptors, threads, memory (what a process shares with none), files
and bytes; every two minutes Java collects all garbage, for a heap that isn't used yet is no leak. A
quantity *grows* if its median rises twice from third to third of the run's second half: evenly, by
more than 2 % an hour and twice the noise (the median distance from the least-squares line).
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
import psutil
import psycopg
from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient
from harness import wait_for

from workbook.cli.console import end_like_ctrl_c
from workbook.kafka.broker import Broker
from workbook.stack import addresses, client, folders
from workbook.stack.process import end_tree, family
from workbook.streams.stream_producer import ENDLESS, generate
from workbook.systems import STREAMS
from workbook.topics import Topic, compacted

SAMPLE_S, COLLECT_EVERY, BURST_S, START_S, GROUPS = 30, 4, 10, 600, 20
MIX: dict[str, Any] = {"rate": 50, "partitions": 2, "bad_share": 0.005}
FEEDS = {
    "clicks": MIX,
    "tracking": MIX,
    "orders": {**MIX, "rate": 5, "tracking_rate": 50},
    "positions": {**MIX, "rate": 20},
    # A partition's last 100,000 hashes are kept: the state is full after a quarter of an hour.
    "ad_actions": {**MIX, "rate": 200, "duplicate_share": 0.02},
}
RUNS = {
    "page_views": "--out metrics",
    # By default a visit is remembered for an hour: its state would grow through all of this run.
    "event_time_merge": "--horizon 5minutes --max-age 10minutes",
    "share_holders": "--out holders",
    "replicate": "",
    "ad_statistics": "--out totals",
    "active_groups": "",
}
# Topics, counts of new ads, windows of an hour, and SQLite's log up to 4 MB.
MEANT = {("kafka", "disk MB"), ("postgres", "disk MB"), ("postgres", "tables MB")}
MEANT |= {("active_groups", "disk MB"), ("share_holders", "disk MB")}


def feed(broker: Broker, over: Event, name: str) -> None:
    """Send a stream in bursts: paced by the event, it would take a quarter of a core."""
    kind, config = STREAMS[name], broker.client_config()
    broker.create((compacted if kind.compacted else Topic)(name, FEEDS[name]["partitions"]))
    more = kind.prepare(name, addresses.registry()) if kind.registers else {}
    stream = kind.make(**FEEDS[name], **more).ending_by(round(time.time() * 1000), 1, speed=1)
    how = {"speed": 1, "progress": lambda _: over.wait(BURST_S), "until": over.is_set}
    Thread(target=generate, args=(config, name, stream, ENDLESS), kwargs=how, daemon=True).start()


@contextmanager
def running(name: str, folder: Path) -> Iterator[psutil.Popen]:
    """Run a system, from its first micro-batch on."""
    words = ["run", name, *RUNS[name].split(), "--every", str(BURST_S)]
    command = [sys.executable, "-m", "workbook", *words, "--checkpoint", str(folder / name)]
    log, root = folder / "logs" / name / "log", Path(__file__).parents[1]
    log.parent.mkdir(parents=True)
    with log.open("w") as out:
        process = psutil.Popen(command, cwd=root, stdout=out, stderr=out, start_new_session=True)
    try:
        began = ("messages/s", "waiting for records")  # the groups commit once all systems run
        wait_for(
            lambda: process.poll() is not None or any(word in log.read_text() for word in began),
            START_S,
        )
        print(f"{name} runs", flush=True)
        yield process
    finally:
        end_tree(process, patience=60)


def places(
    runs: dict[str, psutil.Popen], folder: Path
) -> Iterator[tuple[str, psutil.Process, dict[str, Path]]]:
    """Yield the systems and the servers: names, processes and folders."""
    lab = folders.run_dir()
    for name, run in runs.items():
        own = {"temp": lab / f"user-{run.pid}", "log": folder / "logs" / name}
        yield name, run, {"disk": folder / name, **own}
    for server in psutil.Process(client.lease().supervisor).children():
        name = Path(server.cwd()).relative_to(lab).parts[0]
        yield name, server, {"disk": lab / name}


def held(process: psutil.Process, folders: dict[str, Path], *, collect: bool) -> Counter[str]:
    """Return what the processes and the folders of a system hold, by quantity."""
    found: Any = Counter()
    for member in family(process):
        with suppress(psutil.Error), member.oneshot():
            kind = "Java" if member.name() == "java" else "other"
            found[f"{kind} descriptors"] += member.num_fds()
            found[f"{kind} threads"] += member.num_threads()
            found[f"{kind} MB"] += member.memory_full_info().uss / 1e6
            if kind == "Java" and collect and shutil.which("jcmd"):
                live = ["jcmd", str(member.pid), "GC.class_histogram"]
                said = subprocess.run(live, capture_output=True, text=True).stdout.split()
                found["live MB"] += float(said[-1]) / 1e6 if said else 0
    for what, place in folders.items():
        for parent, _, files in os.walk(place):
            found[f"{what} files"] += len(files)
            for file in files:
                with suppress(OSError):  # gone meanwhile
                    found[f"{what} MB"] += os.lstat(Path(parent, file)).st_blocks * 512 / 1e6
    return found


def growth(samples: list[tuple[float, float]]) -> float:
    """Return by how much a quantity grows an hour; 0 if it's bounded (the rule is above)."""
    if len(samples) < 12:
        return 0
    hours, values = np.array(samples[len(samples) // 2 :], float).T
    slope, start = np.polyfit(hours, values, 1)
    noise = np.median(np.abs(values - slope * hours - start))
    low, mid, high = (np.median(third) for third in np.array_split(values, 3))
    least = max(2 * noise, 0.02 * low * (hours[-1] - hours[0]) * 2 / 3)
    return float(slope) if min(mid - low, high - mid) * 4 > high - low > least else 0


def report(series: dict[tuple[str, str], list[tuple[float, float]]]) -> Iterator[str]:
    """Yield a table (medians of the third and the last quarter) and a verdict on each system."""
    names, whats = ([*dict.fromkeys(part)] for part in zip(*series, strict=True))
    yield f"| | {' | '.join(whats)} |\n| --- |{' ---: |' * len(whats)}"
    for name in names:
        of = [[value for _, value in series.get((name, what), ())] for what in whats]
        quarters = [[q for q in np.array_split(values, 4)[2:] if len(q)] for values in of]
        cells = (" → ".join(f"{np.median(q):,.0f}" for q in both) for both in quarters)
        yield f"| {name} | {' | '.join(cells)} |"
    for name in names:
        by = {what: growth(series.get((name, what), [])) for what in whats}
        said = {what: f"{what} by {rate:,.1f} an hour" for what, rate in by.items() if rate}
        meant = [said.pop(what) for what in [*said] if (name, what) in MEANT or what == "log MB"]
        results = f"; results grow by {', '.join(meant)}, as they must" if meant else ""
        yield f"{name}: {'grows: ' * bool(said)}{', '.join(said.values()) or 'bounded'}{results}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=60)
    minutes, over = parser.parse_args().minutes, Event()
    series = defaultdict[tuple[str, str], list[tuple[float, float]]](list)
    end_like_ctrl_c()
    folder = Path(tempfile.mkdtemp(prefix="soak-"))  # of temporary files: none may be left
    tempfile.tempdir = str(folder)
    os.environ |= {"TMPDIR": str(folder), "SPARK_DRIVER_MEMORY": "512m"}
    # A heap takes all its pages at once: what Java's memory grows by later is no heap that fills.
    os.environ["JAVA_TOOL_OPTIONS"] = "-XX:+AlwaysPreTouch"
    with suppress(KeyboardInterrupt), ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        broker, url = addresses.kafka("bench"), addresses.database("bench")
        stack.callback(folders.gone, 30)
        stack.callback(client.lease().close)
        stack.callback(over.set)
        for name in FEEDS:
            feed(broker, over, name)
        runs = {name: stack.enter_context(running(name, folder / "state")) for name in RUNS}
        admin = AdminClient({**broker.client_config(), "log_level": 0})
        began = time.monotonic()
        try:
            for number in range(round(minutes * 60 / SAMPLE_S)):
                place = [TopicPartition("clicks", 0, number)]
                for group in range(GROUPS):
                    asked = [ConsumerGroupTopicPartitions(f"group-{group}", place)]
                    admin.alter_consumer_group_offsets(asked)
                found = {
                    name: held(process, of, collect=number % COLLECT_EVERY == 0)
                    for name, process, of in places(runs, folder / "state")
                }
                with psycopg.connect(url) as database:
                    [[size]] = database.execute("SELECT pg_database_size(current_database())")
                    [[users]] = database.execute("SELECT count(*) FROM pg_stat_activity")
                found["postgres"] |= {"tables MB": size / 1e6, "connections": users}
                found["temporary folder"] = Counter({"temp files": len(os.listdir(folder)) - 2})
                for name, quantities in found.items():
                    for what, value in quantities.items():
                        series[name, what].append((time.monotonic() / 3600, value))
                time.sleep(max(0, began + (number + 1) * SAMPLE_S - time.monotonic()))
        finally:
            print("", *report(series), sep="\n") if series else None
            for name in (name for name, run in runs.items() if run.poll() is not None):
                log = (folder / "state" / "logs" / name / "log").read_text()
                print(f"{name} ended before:", *log.splitlines()[-3:], sep="\n", flush=True)


if __name__ == "__main__":
    main()
