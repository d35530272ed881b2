"""Measures the live views in a kernel: frames per second, and the share of a core they take.

python benchmarks/live_views.py [SECONDS]     clicks come at 50 and at 20,000 a second
"""

import os
import sys

import nbformat
from harness import machine
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

SETUP = """
import subprocess, sys, threading, time
from collections import Counter
import psutil
from workbook.classroom.chapter import Chapter
from workbook.classroom.recorded import LiveClocks
from workbook.kafka.readers import consumer
from workbook.views.group import who_reads

chapter = Chapter("00_start_here")
names, seconds = Counter(), Counter()

def count(reader, until):
    while not until():
        for message in reader.consume(5000, 0.1):
            names[message.value()[40:44].decode(errors="replace")] += 1
            seconds[message.timestamp()[1] // 1000] += 1

def measured(view, during):
    thread = view._thread.native_id
    def used():
        [mine] = [t for t in psutil.Process().threads() if t.id == thread]
        return mine.user_time + mine.system_time
    time.sleep(1)
    frames, cpu, began = view.frames, used(), time.monotonic()
    time.sleep(during)
    took = time.monotonic() - began
    row = (view.frames - frames) / took, 100 * (used() - cpu) / took
    view.replace()
    return row
"""

RUN = """
names.clear(), seconds.clear()
topic = chapter.topic("clicks", 24)
sender = subprocess.Popen([sys.executable, "-m", "workbook", "generate", "clicks", "--topic", topic,
    "--rate", "{rate}", "--seconds", "600", "--speed", "1", "--partitions", "24"],
    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
loop = chapter.loop(count, consumer(chapter.config, topic), "counter")
chapter.wait(lambda: names.total() > 100, "clicks", 60)
owned = {{"A": {{0, 1, 2}}, "B": {{3, 4, 5}}}}
views = {{
    "bars": lambda: chapter.bars(lambda: dict(names), "by name", total="page views"),
    "chart": lambda: chapter.chart(lambda: {{"clicks": dict(seconds)}}, "per second"),
    "clocks": lambda: chapter.watch(LiveClocks(chapter.config, topic)),
    "group": lambda: chapter.watch(lambda: who_reads(owned, [("A", "assigned", [0])], 6)),
}}
for name, make in views.items():
    frames, cpu = measured(make(), {during})
    print("| %s | {rate:,} | %.1f | %.1f |" % (name, frames, cpu))
sender.kill()
loop.stop()
"""


def main() -> None:
    during, load = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0, os.getloadavg()[0]
    cells = [SETUP, *(RUN.format(rate=rate, during=during) for rate in (50, 20_000))]
    notebook = new_notebook(cells=[new_code_cell(cell) for cell in [*cells, "chapter.close()"]])
    NotebookClient(notebook, timeout=600).execute()
    print("| view | events/s | frames/s | % of a core |\n| --- | ---: | ---: | ---: |")
    outputs = [
        out for cell in nbformat.from_dict(notebook).cells for out in cell.get("outputs", [])
    ]
    lines = "".join(out.get("text", "") for out in outputs).splitlines()
    print(*(line for line in lines if line.startswith("|")), sep="\n")
    print(f"\n{machine(load)}")


if __name__ == "__main__":
    main()
