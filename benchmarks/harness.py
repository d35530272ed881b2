"""Measures programs side by side: one clock, one meter of CPU and memory, one table for all.

A program is a process that prints ``ready`` and then reads a line, which says what to work on. It
works until the last result is visible, and answers with a line of JSON; that is a round. Then it
prints ``ready`` again. The harness watches from outside, so each program is measured alike:

- *with its start*: from the process's start until the first round's last result;
- *first*: the first round alone; *last*: the last round in the same process, which is warm.

The programs take turns, all once, then all again. After each round its result is compared with what
the input should give, outside of all clocks. CPU includes children that have already ended. Memory
is the peak of the program's processes, with shared pages counted once.
"""

import json
import os
import platform
import re
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

import confluent_kafka
import psutil
import pyspark

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("WORKBOOK_LAB", f"bench-{secrets.token_hex(3)}")

from workbook.stack import client, folders
from workbook.stack.java import find_java
from workbook.stack.process import end_tree, family
from workbook.topics import Topic

ROUND_S, END_S, LOOK_S = 900.0, 180.0, 0.5
SPARK = (sys.executable, str(Path(__file__).with_name("rounds.py")))
"""Starts a program of Spark; ``rounds.py`` says which lines it reads."""

Answer = dict[str, Any]
Check = Callable[[Answer], None]
"""Judges the results of a round; an ``AssertionError`` ends the benchmark."""


@dataclass(frozen=True)
class Program:
    """A program to measure.

    ``begin`` makes what a round (counted from 0) writes to, and returns the round's line and its
    check. Programs in the role of ``ours`` are compared with the best one in that of a ``peer``.
    """

    name: str
    command: Sequence[str]
    begin: Callable[[int], tuple[str, Check]]
    promise: str = ""
    role: str = "ours"


def floor(*topics: Topic) -> Program:
    """Return the program that every other one is above: Spark reads the bytes into nothing."""
    line = f"floor {' '.join(topic.name for topic in topics)}"
    name = "floor: Spark reads into nothing"
    return Program(name, SPARK, lambda number: (line, lambda answer: None), role="floor")


@dataclass(frozen=True)
class Comparison:
    """Programs that do the same work on the same ``messages``."""

    system: str
    messages: int
    programs: list[Program]


@dataclass
class Cost:
    """Seconds on the clock, and CPU seconds of the ``program`` and of each server."""

    seconds: float
    cpu: dict[str, float]


@dataclass
class Run:
    """A process: until its first result, its first and its last round; its memory in GB."""

    start: Cost
    first: Cost
    last: Cost
    memory: float


# --- what is measured -----------------------------------------------------------------------------


def cpu_seconds(process: psutil.Process) -> float:
    """Return the CPU time of a process and its descendants, those that have ended included."""
    spent = 0.0
    for member in family(process):
        with suppress(psutil.Error):  # it ends just now: its parent has its time then
            spent += sum(member.cpu_times()[:4])  # user, system, and both of reaped children
    return spent


def servers() -> dict[str, psutil.Process]:
    """Return the lab's own servers by name; none that the environment names."""
    lab, supervisor = folders.run_dir(), psutil.Process(client.lease().supervisor)
    return {Path(each.cwd()).relative_to(lab).parts[0]: each for each in supervisor.children()}


def own_memory(process: psutil.Process) -> float:
    """Return the bytes of a process, its part of shared pages among them."""
    with suppress(psutil.Error):
        held = process.memory_full_info()
        return float(getattr(held, "pss", held.uss))
    return 0.0


class Watched(threading.Thread):
    """A program that runs: talks to it, and watches its memory until it's stopped."""

    def __init__(self, command: Sequence[str]) -> None:
        super().__init__(daemon=True)
        self.memory, self._over = 0.0, threading.Event()
        self._errors, pipe = tempfile.TemporaryFile("w+"), subprocess.PIPE  # noqa: SIM115
        self._before, self._began = self._spent(), time.monotonic()
        how = {"stdin": pipe, "stdout": pipe, "stderr": self._errors, "text": True}
        self.process = psutil.Popen(command, **how)
        self.start()

    def run(self) -> None:
        while not self._over.wait(LOOK_S):
            self.memory = max(self.memory, sum(map(own_memory, family(self.process))) / 1e9)

    def _spent(self, **more: psutil.Process) -> dict[str, float]:
        return {name: cpu_seconds(each) for name, each in {**more, **servers()}.items()}

    def cost(self) -> Cost:
        """Return the cost since ``say``, or since the start."""
        seconds, after = time.monotonic() - self._began, self._spent(program=self.process)
        return Cost(seconds, {name: after[name] - self._before.get(name, 0) for name in after})

    def say(self, line: str) -> None:
        """Write a line to it; its cost counts from here."""
        self._before, self._began = self._spent(program=self.process), time.monotonic()
        with suppress(BrokenPipeError):  # `wait_for` says why it has ended
            print(line, file=self.process.stdin, flush=True)

    def wait_for(self, begins: str) -> str:
        """Return the next line that begins so; raise RuntimeError if there's none in time."""
        late = threading.Timer(ROUND_S, self.process.kill)
        late.start()
        found = next((line for line in self.process.stdout if line.startswith(begins)), None)
        late.cancel()
        if found is None:
            self._errors.seek(0)
            told = [line for line in self._errors if re.match(r"\S*(Error|Exception)", line)]
            raise RuntimeError(f"no {begins!r} of {self.process}: {' '.join(told[-3:])}")
        return str(found)

    def stop(self) -> None:
        """Let the program end by itself, or end it."""
        self._over.set()
        self.join()
        with suppress(psutil.TimeoutExpired, BrokenPipeError):
            self.process.stdin.close()
            self.process.wait(END_S)
        end_tree(self.process)


def run(program: Program, rounds: int) -> Run:
    """Run a program for these rounds, and check each result."""
    found: list[Cost] = []
    line, check = program.begin(0)
    watched = Watched(program.command)
    try:
        watched.wait_for("ready")
        start = watched.cost()
        for number in range(rounds):
            if number:
                line, check = program.begin(number)
            watched.say(line)
            answer = watched.wait_for("{")
            found.append(watched.cost())
            watched.wait_for("ready")
            check(json.loads(answer))
    finally:
        watched.stop()
    first = found[0]
    cpu = {name: spent + start.cpu.get(name, 0) for name, spent in first.cpu.items()}
    return Run(Cost(start.seconds + first.seconds, cpu), first, found[-1], watched.memory)


def measure(comparison: Comparison, runs: int, rounds: int) -> dict[str, list[Run]]:
    """Run all programs in turns; return the runs of each, and say how they go on stderr."""
    found: dict[str, list[Run]] = {program.name: [] for program in comparison.programs}
    for number in range(runs):
        for program in comparison.programs:
            found[program.name].append(one := run(program, rounds))
            times = ", ".join(f"{time_of(one).seconds:.1f} s" for time_of in TIMES)
            said = f"{comparison.system}, {program.name}, {number + 1} of {runs}: {times}"
            print(said, file=sys.stderr, flush=True)
    return found


# --- the table ------------------------------------------------------------------------------------

HEAD = (
    "| | program | guarantee | with its start | first | last | of the best peer | "
    "CPU: start and first | CPU: last | CPU: last, servers | GB |\n| --- | --- | --- |"
)
TIMES: tuple[Callable[[Run], Cost], ...]
TIMES = (lambda run: run.start, lambda run: run.first, lambda run: run.last)


def ratios(mine: list[Run], peers: list[list[Run]]) -> str:
    """Compare with the best peer of each column: the median over the pairs of runs."""
    said = []
    for time_of in TIMES if peers else ():
        best = min(peers, key=lambda runs: median(time_of(r).seconds for r in runs))
        pairs = zip(best, mine, strict=True)
        said.append(median(time_of(its).seconds / time_of(own).seconds for its, own in pairs))
    return " / ".join(f"{ratio:.2f}" for ratio in said)


def rows(comparison: Comparison, found: dict[str, list[Run]]) -> Iterator[str]:
    """Yield a line for each program: medians, and the range of several runs."""
    peers = [found[each.name] for each in comparison.programs if each.role == "peer"]

    def rate(costs: list[Cost]) -> str:
        each = sorted(comparison.messages / cost.seconds for cost in costs)
        span = f" ({each[0]:,.0f} to {each[-1]:,.0f})" if len(each) > 1 else ""
        return f"{median(each):,.0f}{span}"

    def cpu(costs: list[Cost], name: str) -> str:
        spent = median(cost.cpu.get(name, 0) for cost in costs)
        return f"{spent / comparison.messages * 1e6:.1f}"

    for number, program in enumerate(comparison.programs):
        runs = found[program.name]
        start, first, last = ([time_of(each) for each in runs] for time_of in TIMES)
        title = f"**{comparison.system}**, {comparison.messages:,}" if number == 0 else ""
        yield " | ".join((
            f"| {title} | {program.name} | {program.promise}",
            *(rate(start), rate(first), rate(last)),
            ratios(runs, peers) if program.role == "ours" else "",
            *(cpu(start, "program"), cpu(last, "program")),
            ", ".join(f"{name} {cpu(last, name)}" for name in last[0].cpu if name != "program"),
            f"{max(each.memory for each in runs):.1f} |",
        ))  # fmt: skip


def table(measured: list[tuple[Comparison, dict[str, list[Run]]]]) -> str:
    """Return the one table; rates are messages per second, CPU is in µs a message."""
    lines = (line for each in measured for line in rows(*each))
    return "\n".join([HEAD + " ---: |" * 8, *lines])


def machine(load: float) -> str:
    """Say which code, machine and versions the figures are of; ``load`` was that at the start."""
    cores = f"{os.cpu_count()} cores of {platform.processor() or platform.machine()}"
    with suppress(OSError):
        named = re.search("model name.*: (.*)", Path("/proc/cpuinfo").read_text())
        cores += f" ({named[1]})" if named else ""
    pins = (ROOT / "pyproject.toml").read_text()
    kafka, postgres = re.findall(r'kafka_2\.13:([\d.]+)|\npostgres = "(.+)"', pins)
    git = ("git", "describe", "--always", "--dirty=, with changes")
    commit = subprocess.run(git, cwd=ROOT, capture_output=True, text=True).stdout.strip()
    return "; ".join((
        f"Commit {commit}",
        f"{date.today():%d %B %Y}, {cores}, {psutil.virtual_memory().total / 2**30:.0f} GiB",
        f"load {load:.1f} at the start and {os.getloadavg()[0]:.1f} at the end",
        f"Spark {pyspark.__version__}, Kafka and its Streams {kafka[0]}, PostgreSQL {postgres[1]}",
        f"librdkafka {confluent_kafka.libversion()[0]}, Java {find_java().major}, "
        f"Python {platform.python_version()}",
    ))  # fmt: skip


def wait_for(happened: Callable[[], bool], within: float = 120.0) -> None:
    """Wait until something has happened; raise AssertionError after ``within`` seconds."""
    deadline = time.monotonic() + within
    while not happened():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
