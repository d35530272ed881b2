"""A program's results as they come: the records of a topic, a query's rows, files of Parquet."""

from __future__ import annotations

import json
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

import psycopg
import pyarrow.parquet as pq
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException, TopicPartition
from pyarrow import ArrowException

from workbook.errors import CrashFailed, WorkbookError
from workbook.kafka.offsets import COMMITTED, partition_offsets

LOOK_S = 0.25
"""Seconds between two looks at a table or a folder."""


class Row(NamedTuple):
    """A result: a record's key and value, or a row (JSON) without a key."""

    key: bytes | None
    value: bytes | None


class Results(ABC):
    """Watches results from a thread of its own until it's closed.

    ``times`` are the moments (seconds since 1970) at which results came, or were changed.
    """

    def __init__(self) -> None:
        self.times: list[float] = []
        self._failure: Exception | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Raise ``CrashFailed`` if the results can't be read."""
        if self._failure is not None:
            raise CrashFailed(f"The results can't be read: {self._failure}")

    def rows(self) -> list[Row]:
        """Return all results so far; raise as ``check``."""
        self.check()
        return self._rows()

    def held_back(self) -> bool:
        """Return True while an open transaction hides results."""
        return False

    def close(self) -> None:
        """End the watching."""
        self._over.set()
        self._thread.join(10)

    def _watch(self) -> None:
        try:
            while not self._over.is_set():
                if number := self._look():
                    self.times += [time.time()] * number
        except Exception as error:  # told by `rows`
            self._failure = error

    @abstractmethod
    def _look(self) -> int:
        """Wait a little, look, and return how many results have come."""

    @abstractmethod
    def _rows(self) -> list[Row]: ...


class TopicResults(Results):
    """The committed records of a topic."""

    def __init__(self, config: Mapping[str, Any], topic: str, partitions: int) -> None:
        self._config, self._topic, self._found = config, topic, list[Row]()
        own = {"group.id": "workbook", "enable.auto.commit": False, "fetch.wait.max.ms": 20}
        self._reader = Consumer({**config, **COMMITTED, **own, "log_level": 0})
        self._reader.assign([TopicPartition(topic, n, OFFSET_BEGINNING) for n in range(partitions)])
        super().__init__()

    def _look(self) -> int:
        # One at a time: a call for more waits for more, and the moment counts.
        message = self._reader.poll(0.2)
        if message is None or message.error() is not None:
            return 0
        self._found.append(Row(message.key(), message.value()))
        return 1

    def _rows(self) -> list[Row]:
        return list(self._found)

    def held_back(self) -> bool:
        """Return True while an open transaction hides results."""
        with suppress(KafkaException, WorkbookError):
            seen, all_of_it = (
                sum(at.end for at in partition_offsets({**self._config, **level}, self._topic))
                for level in (COMMITTED, {"isolation.level": "read_uncommitted"})
            )
            return seen < all_of_it
        return True

    def close(self) -> None:
        """End the watching."""
        super().close()
        self._reader.close()


class TableResults(Results):
    """The rows that a query has in PostgreSQL; none while its table doesn't exist."""

    def __init__(self, database: str, query: str) -> None:
        self._database, self._query, self._found = database, query, list[Row]()
        super().__init__()

    def _look(self) -> int:
        self._over.wait(LOOK_S)
        with suppress(psycopg.OperationalError, psycopg.errors.UndefinedTable):
            with psycopg.connect(self._database) as connection:
                cursor = connection.execute(self._query.encode())
                names = [column.name for column in cursor.description or ()]
                rows = [as_json(dict(zip(names, row, strict=True))) for row in cursor]
            number = len(set(rows) - set(self._found)) or int(len(rows) != len(self._found))
            self._found = rows
            return number
        return 0

    def _rows(self) -> list[Row]:
        return list(self._found)


class FolderResults(Results):
    """The rows of a folder's Parquet files; of Spark's file sink those of its committed files."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._seen = folder, set[tuple[str, int]]()
        super().__init__()

    def _look(self) -> int:
        self._over.wait(LOOK_S)
        with suppress(FileNotFoundError):  # removed while we look
            files = {(str(file), file.stat().st_size) for file in self._files()}
            number, self._seen = len(files - self._seen), files
            return number
        return 0

    def _files(self) -> list[Path]:
        log, found = self._folder / "_spark_metadata", set[str]()
        if not log.exists():
            found = {str(f) for f in self._folder.rglob("*.parquet") if self._counts(f)}
        for file in sorted(log.glob("[0-9]*")):
            for line in file.read_text().splitlines()[1:]:
                found.add(unquote(urlsplit(json.loads(line)["path"]).path))
        return sorted(path for path in map(Path, found) if path.exists())

    def _counts(self, file: Path) -> bool:
        """Return False for what is hidden, or still being written, as in _temporary."""
        parts = file.relative_to(self._folder).parts
        return not any(part[0] in "._" and "=" not in part for part in parts)

    def _rows(self) -> list[Row]:
        rows: list[Row] = []
        for file in self._files():
            folders = file.parts[len(self._folder.parts) : -1]
            columns = dict(unquote(each).split("=", 1) for each in folders if "=" in each)
            with suppress(ArrowException, OSError):  # one that a kill has cut off
                found = pq.read_table(file, partitioning=None).to_pylist()
                rows += [as_json({**columns, **row}) for row in found]
        return rows


def as_json(row: Mapping[str, Any]) -> Row:
    """Return a row as JSON, without a key."""
    return Row(None, json.dumps(row, sort_keys=True, default=str, ensure_ascii=False).encode())
