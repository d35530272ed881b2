"""A notebook's kernel, cell by cell."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import nbformat
import psutil
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell

from workbook.stack import folders, jars
from workbook.stack.process import taken


@dataclass
class Kernel:
    """A notebook's own kernel."""

    client: NotebookClient

    def run(self, source: str) -> str:
        """Run a cell; what it shows as text. Raises CellExecutionError."""
        cell = new_code_cell(source)
        self.client.nb.cells.append(cell)
        self.client.execute_cell(cell, len(self.client.nb.cells) - 1)
        shown = []
        for each in cell.outputs:
            shown += [each.get("text", ""), each.get("data", {}).get("text/plain", "")]
            shown += each.get("traceback", ())
        return "\n".join(filter(None, shown))

    def failing(self, source: str) -> str:
        """Run a cell that must raise; what it shows of that."""
        with pytest.raises(CellExecutionError) as caught:
            self.run(source)
        return caught.value.traceback

    def sparks(self) -> list[psutil.Process | Path]:
        """The Spark that it has started or taken: not the one that the lab keeps for the next."""
        kernel, lab = psutil.Process(self.client.km.provisioner.pid), folders.run_dir()
        found = [note for note in [lab / taken(kernel.pid)] if note.exists()]
        for child in kernel.children():
            with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
                found += [child] if any("SparkSubmit" in part for part in child.cmdline()) else []
        return found


@contextmanager
def kernel(folder: Path, timeout: int = 300, **env: str) -> Iterator[Kernel]:
    jars.prefetch()
    client = NotebookClient(
        nbformat.v4.new_notebook(),
        timeout=timeout,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
    )
    with client.setup_kernel(env={"SPARK_DRIVER_MEMORY": "1g", **os.environ, **env}):
        yield Kernel(client)
