"""How long it takes to get going: broker, session, generator, first count.

    .venv/bin/python benchmarks/startup.py [RUNS]

Each figure comes from fresh processes in a lab of their own; the median is printed with the range.
"""

import os
import secrets
import statistics
import subprocess
import sys
import time

import nbformat
from harness import ROOT, machine
from nbclient import NotebookClient

EVENTS = 1_000_000
NOTEBOOK = ROOT / "notebooks" / "00_start_here.ipynb"

TIMED = "import time; began = time.monotonic(); {}; print('took', time.monotonic() - began)"
BROKER = "from workbook.stack.addresses import kafka; kafka()"
SESSION = "from workbook.spark.session import spark_session; "
SESSION += "spark = spark_session(quiet=True, brief=True)"
CODE = {
    "broker, until it answers": BROKER,
    "Spark session, usable": SESSION,
    "Spark session, and its first query": f"{SESSION}; spark.range(3).count()",
}


def in_a_lab_of_its_own(*arguments: str) -> str:
    """What Python prints, with servers of its own."""
    env = {**os.environ, "WORKBOOK_LAB": f"bench-{secrets.token_hex(3)}"}
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout


def seconds(code: str) -> float:
    """The time that the code takes."""
    return float(in_a_lab_of_its_own("-c", TIMED.format(code)).rpartition("took ")[2])


def rate() -> float:
    """Messages per second of the unpaced generator into 24 partitions."""
    words = f"generate clicks --partitions 24 --rate 10000 --seconds {EVENTS / 10_000}"
    said = in_a_lab_of_its_own("-m", "workbook", *words.split())
    return float(said.rpartition(": ")[2].removesuffix("messages/s\n").replace(",", ""))


def first_count() -> float:
    """From starting a kernel to the first count of chapter 00, every cell before it included."""
    os.environ["WORKBOOK_LAB"] = f"bench-{secrets.token_hex(3)}"
    book = nbformat.read(NOTEBOOK, as_version=4)
    began = time.monotonic()
    client = NotebookClient(book, timeout=120)
    with client.setup_kernel():
        for number, cell in enumerate(book.cells):
            client.execute_cell(cell, number)
            if '"the first count"' in cell.source:
                return time.monotonic() - began
    raise AssertionError("chapter 00 has no first count any more")


def report(name: str, unit: str, values: list[float]) -> None:
    """One line: the median, and the range of the runs."""
    low, mid, high = min(values), statistics.median(values), max(values)
    print(f"| {name} | {mid:,.1f} {unit} | {low:,.1f} to {high:,.1f} |", flush=True)


def main() -> None:
    runs, load = int(*(sys.argv[1:] or ["5"])), os.getloadavg()[0]
    few = range(min(3, runs))
    print("| | median | range |\n| --- | ---: | ---: |")
    for what, code in CODE.items():
        report(what, "s", [seconds(code) for _ in range(runs)])
    report(f"generator, {EVENTS:,} events unpaced", "messages/s", [rate() for _ in few])
    report("chapter 00, kernel start to first count", "s", [first_count() for _ in few])
    print(f"\n{machine(load)}")


if __name__ == "__main__":
    main()
