"""The migration out of Cassandra: whatever is killed or away, in the end each day is equal."""

import json
import os
import random
import secrets
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import Any
from unittest.mock import Mock

import psycopg
import pyarrow as pa
import pytest
from labs import until, workbook
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from workbook.cli import migrate as command
from workbook.cli.main import main
from workbook.cli.migrate import _lines
from workbook.errors import CannotGoOn, CassandraUnreachable, DatabaseUnreachable, WorkbookError
from workbook.sinks.migration import Migration, Progress
from workbook.sources import token_ranges
from workbook.sources.token_ranges import FIRST, LAST, Legacy, split_ring
from workbook.stack.addresses import cassandra
from workbook.stack.cassandra import connected
from workbook.streams.events.reasons import Reason
from workbook.streams.generators.legacy_counts import Old, fill, legacy_counts
from workbook.systems.migrate import Report, migrate, reconcile

LAST_DAY = date(2026, 1, 31)
ADS, DAYS = 60, 8
ROWS = list(legacy_counts(LAST_DAY, ADS, DAYS))
FAILED = (PySparkException, Py4JError)
GOOD = [row for row, reason in ROWS if reason is None]


class Old2New:
    """An old table, and a schema for what is migrated out of it."""

    def __init__(self, spark: SparkSession, url: str, session: Any) -> None:
        name = f"m{secrets.token_hex(3)}"
        self.spark, self.session, self.table = spark, session, f"{name}.counts"
        self.legacy = Legacy(cassandra("tests"), self.table, patience=5)
        self.target = Migration(url, self.table, name)
        self.url, self.schema = url, name

    def fill(self, *rows: Old) -> None:
        fill(self.session, self.table, rows)

    def migrate(self, parts: int = 6, **how: Any) -> Report:
        return migrate(self.spark, self.legacy, self.target, split_ring(parts), **how)

    def counts(self) -> dict[tuple[str, ...], int]:
        """What the view shows, with days as the old table writes them."""
        rows = self.target.ask("SELECT ad, day, type, source, count FROM counts")
        return {(ad, f"{day:%Y%m%d}", *others): count for ad, day, *others, count in rows}


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    with connected(cassandra("tests")) as made:
        yield made


@pytest.fixture
def tables(spark: SparkSession, url: str, session: Any) -> Old2New:
    return Old2New(spark, url, session)


def expected(rows: list[Old] = GOOD) -> dict[tuple[str, ...], int | None]:
    return {row[:4]: row.counted for row in rows}


@pytest.mark.parametrize("parts", [1, 2, 3, 64, 1000])
def test_ranges_are_the_whole_ring(parts: int) -> None:
    ranges = split_ring(parts)
    assert (len(ranges), ranges[0][0], ranges[-1][1]) == (parts, FIRST, LAST)
    assert all(before[1] == after[0] for before, after in pairwise(ranges))
    lengths = {last - first for first, last in ranges}
    assert max(lengths) - min(lengths) <= 2


def test_every_row_is_migrated_or_rejected_with_its_reason(tables: Old2New) -> None:
    tables.fill(*(row for row, _ in ROWS))
    odd = Old("new\nline", "20260101", "view", "a\0b", 7)
    large = Old("bike", "20260101", "view", "search", 2**63 - 1)
    ancient = Old("bike", "00000101", "view", "search", 7)
    tables.fill(odd, large, ancient)
    report = tables.migrate()
    assert report.equal, report
    assert (report.days, report.progress.migrated) == (DAYS, len(GOOD))
    assert tables.counts() == expected()
    letters = tables.target.ask("SELECT old, reason FROM rejected_rows")
    found = Counter((tuple(json.loads(old).values()), reason) for old, reason in letters)
    more = {odd: Reason.NOT_PLAIN, large: Reason.NOT_A_COUNT, ancient: Reason.NO_DAY}
    bad = [(row, reason.value) for row, reason in [*ROWS, *more.items()] if reason]
    # JSON leaves out a missing count.
    assert found == Counter((row if row.counted is not None else row[:4], why) for row, why in bad)


def test_newer_counts_stay_and_their_days_must_be_named(tables: Old2New) -> None:
    tables.fill(*GOOD)
    cut = LAST_DAY - timedelta(days=2)
    tables.target.begin([])  # makes the tables
    live = [
        ("ad-00001", cut, "view", "search", 5),
        ("ad-00001", cut - timedelta(1), "view", "x", 1),
    ]
    with psycopg.connect(tables.url, options=f"-c search_path={tables.schema}") as db:
        db.execute("DELETE FROM migrations")
        db.cursor().executemany(
            "INSERT INTO counts_by_generation VALUES (%s, %s, %s, %s, 0, %s)", live
        )
    with pytest.raises(CannotGoOn, match=r"actions of 2 days already \(2026-01-28: 1, 2026-01-29"):
        tables.migrate()
    report = tables.migrate(before=cut)
    older = [row for row in GOOD if row.day < f"{cut:%Y%m%d}"]
    assert report.equal
    assert (report.days, report.progress.migrated) == (DAYS - 3, len(older))
    wanted = Counter(expected(older))
    wanted.update({(ad, f"{day:%Y%m%d}", *rest): count for ad, day, *rest, count in live})
    assert tables.counts() == wanted
    with pytest.raises(CannotGoOn, match=r"began with --before 2026-01-29, but got"):
        tables.migrate(before=LAST_DAY)
    with pytest.raises(CannotGoOn, match="has those of m"):
        Migration(tables.url, "other.counts", tables.schema).begin(split_ring(2), cut)


def kills(folder: Path, drawn: random.Random) -> Callable[[str], None]:
    """Kill the worker at some pages and before some commits, up to four times at each point."""
    most = {point: drawn.randint(1, 4) for point in ("page", "before-commit")}
    skip = drawn.random() / 2

    def at(point: str) -> None:
        for number in range(most[point] if random.random() > skip else 0):
            with suppress(FileExistsError):
                (folder / f"{point}-{number}").touch(exist_ok=False)
                os.kill(os.getpid(), signal.SIGKILL)

    return at


SLOW = [pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 10)]


@pytest.mark.parametrize("seed", [0, *SLOW])
def test_killed_anywhere_each_day_is_equal(tables: Old2New, tmp_path: Path, seed: int) -> None:
    tables.fill(*GOOD)
    at, reports, killed = kills(tmp_path, random.Random(seed)), list[Report](), 0
    while not reports:
        try:
            reports.append(tables.migrate(at=at))
        except FAILED:
            killed += 1
            assert killed <= 8, "it never comes to its end"
    assert killed, "nothing was killed"
    assert reports[0].equal
    assert tables.counts() == expected()


def test_the_comparison_reads_all_tokens(tables: Old2New) -> None:
    tables.fill(*GOOD)
    half = migrate(tables.spark, tables.legacy, tables.target, split_ring(2)[1:])
    assert not half.equal
    assert set(half.differences.values()) == {"rows"}


def test_what_is_written_meanwhile_is_said_and_found(tables: Old2New) -> None:
    tables.fill(*GOOD[:200])
    tables.migrate()
    tables.session.execute(f"UPDATE {tables.table} SET count = 12345 WHERE ad = %s AND day = %s "
                           "AND type = %s AND source = %s", GOOD[0][:4])  # fmt: skip
    tables.fill(Old("ad-9", "20250101", "view", "search", 1))
    report = tables.migrate()
    day = date.fromisoformat(GOOD[0].day)
    assert report.differences == {date(2025, 1, 1): "missing", day: "total"}
    assert tables.migrate(again=True).equal
    with psycopg.connect(tables.url, options=f"-c search_path={tables.schema}") as db:
        some = "WHERE day = %s AND (ad, type, source) = (%s, %s, %s)"
        one, two = [row for row in GOOD[:200] if row.day == GOOD[0].day][:2]
        for row, change in ((one, 1), (two, -1)):
            db.execute(f"UPDATE counts_by_generation SET count = count + {change} {some}",
                       (day, row.ad, row.type, row.source))  # fmt: skip
    assert tables.migrate().differences == {day: "checksum"}


def test_reconcile_names_what_differs_first() -> None:
    one: Any = {LAST_DAY: (1, 2, 3)}
    other: Any = {LAST_DAY: (2, 9, 9)}
    assert reconcile(one, one) == {}
    assert reconcile(one, other) == {LAST_DAY: "rows"}
    assert (reconcile(one, {}), reconcile({}, one)) == ({LAST_DAY: "missing"}, {LAST_DAY: "extra"})


def test_a_node_that_stops_is_asked_again_and_then_named() -> None:
    from cassandra import ReadTimeout
    from cassandra.cluster import NoHostAvailable

    answers: list[Any] = [NoHostAvailable("away", {}), ReadTimeout("late"), "a page"]

    def ask() -> Any:
        if isinstance(answer := answers.pop(0), Exception):
            raise answer
        return answer

    legacy = Legacy("nowhere", "old.counts", patience=30)
    assert token_ranges._patiently(legacy, ask) == "a page"
    answers += [NoHostAvailable("away", {})] * 9
    with pytest.raises(CassandraUnreachable, match=r"none did .* ranges that are finished aren't"):
        token_ranges._patiently(replace(legacy, patience=0.1), ask)
    answers[:] = [ReadTimeout("late")] * 9
    with pytest.raises(ReadTimeout):
        token_ranges._patiently(legacy, ask)


def test_the_command_is_killed_and_continues(tables: Old2New) -> None:
    tables.fill(*GOOD)
    words = ("--table", tables.table, "--schema", tables.schema, "--ranges", "20", "--rate", "800")
    killed = workbook("run", "migrate", *words)

    def some() -> bool:
        assert killed.poll() is None, killed.communicate()[0]
        try:
            return tables.target.progress().finished > 2
        except WorkbookError:
            return False

    until(some, "the first ranges", within=240)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    assert tables.target.progress().finished < 20
    report = tables.migrate(parts=20)
    assert f"All {DAYS} days are equal in both tables" in _lines(report, tables.target)[-1]
    assert tables.counts() == expected()


@pytest.mark.usefixtures("signals_as_before")
def test_the_command_ends_with_0_only_if_all_days_are_equal(monkeypatch, capsys) -> None:
    spark = Mock(sparkContext=Mock(defaultParallelism=2))
    monkeypatch.setattr(command.session, "spark_session", lambda name: spark)
    for name in ("cassandra", "database", "require_rights"):
        monkeypatch.setattr(command, name, lambda *of: "nowhere")
    done, apart = Progress(2, 2, 9, 0), {date(2026, 1, 31): "missing"}
    for report, code, says in (
        (Report(done, {}, 3, {}), 0, "All 3 days are equal in both tables"),
        (Report(done, {}, 3, apart), 1, "Days that differ: 1"),
        (Report(done, {}, 0, {}), 1, "no row that could be migrated"),
        (Report(Progress(2, 1, 9, 0), {(1, 2): "gone"}), 1, "1 ranges couldn't be read"),
    ):
        monkeypatch.setattr(command, "run", lambda *of, report=report, **how: report)
        assert main(["run", "migrate"]) == code
        assert says in capsys.readouterr().out


def test_a_table_that_cannot_be_read_is_refused(tables: Old2New) -> None:
    tables.fill()
    for name, day, key in (("days", "date", "ad, day"), ("keys", "text", "(ad, day)")):
        tables.session.execute(
            f"CREATE TABLE {tables.schema}.{name} (ad text, day {day}, type text, source text, "
            f"count bigint, PRIMARY KEY ({key}, type, source))"
        )
    for name, why in (
        ("counts", "as KEYSPACE.TABLE"),
        ("legacy.counts; DROP", "as KEYSPACE.TABLE"),
        ("nowhere.counts", "there is no such table"),
        ("system.local", "it lacks ad, day, type, source, count"),
        (f"{tables.schema}.days", "day is of the type date, not text or ascii"),
        (f"{tables.schema}.keys", r"primary key isn't \(\(ad\), day, type, source\)"),
    ):
        tables.legacy = Legacy(tables.legacy.contact_points, name)
        with pytest.raises(WorkbookError, match=why):
            tables.migrate()


@pytest.mark.usefixtures("signals_as_before")
def test_rows_that_are_all_bad_are_not_equal(tables: Old2New, monkeypatch, capsys) -> None:
    tables.fill(Old("ad-1", "2026-01-31", "view", "search", 1))
    monkeypatch.setattr(command.session, "spark_session", lambda name: tables.spark)
    monkeypatch.setattr(SparkSession, "stop", lambda spark: None)
    assert main(["run", "migrate", "--table", tables.table, "--schema", tables.schema]) == 1
    said = capsys.readouterr().out
    assert "64 of 64 ranges are finished: 0 rows migrated" in said
    assert "no row that could be migrated" in said
    assert tables.target.progress().rejected == 1


def of_a_range(count: int) -> Iterator[pa.RecordBatch]:
    row = {"first": FIRST, "ad": "a", "day": LAST_DAY, "type": "view", "source": "x", "old": None}
    row |= {"count": count, "failure": None, "reason": None}
    end = {**dict.fromkeys(row), "first": FIRST, "ended": True}
    yield pa.RecordBatch.from_pylist([{**row, "ended": False}, end])


def test_again_beside_a_running_migration_leaves_nothing_of_it(url: str) -> None:
    target = Migration(url, "old.counts", name := f"m{secrets.token_hex(3)}")
    target.begin(split_ring(1))
    [(former,)] = target.ask("SELECT begun FROM migrations")
    again = Thread(target=lambda: target.begin(split_ring(1), again=True))

    def meanwhile(point: str) -> None:
        again.start()
        waits = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        until(lambda: target.ask(waits), "the new migration waits for the former one", 20)

    for passes in (meanwhile, print):  # its open transaction, and one that it begins later
        list(target._write(of_a_range(7), former, passes))
        again.join()
        assert target.day_sums() == {}
    [(present,)] = target.ask("SELECT begun FROM migrations")
    list(target._write(of_a_range(8), present, print))
    german = Migration(f"{url}?options=-c%20datestyle%3DGerman", "old.counts", name)
    assert german.day_sums() == target.day_sums() != {}


def test_a_database_that_is_away_or_refuses_is_said(url: str) -> None:
    away = Migration("postgresql://nobody:secret@127.0.0.1:1/away", "old.counts")
    for ask in (lambda: away.begin([]), away.progress):
        with pytest.raises(DatabaseUnreachable, match="Check that it runs") as found:
            ask()
        assert "secret" not in str(found.value)
    name = f"m{secrets.token_hex(3)}"
    with psycopg.connect(url) as db:
        db.execute(f"CREATE SCHEMA {name} CREATE VIEW {name}.migrations AS SELECT 1 AS source")
    with pytest.raises(CannotGoOn, match="Repair that, or name another --schema"):
        Migration(url, "old.counts", name).begin([])
    with pytest.raises(CannotGoOn, match="Repair that, or name another --schema"):
        Migration(url, "old.counts", f"{name}_dropped").progress()


@pytest.mark.parametrize("strict", [False, True])
def test_what_cassandra_refuses_ends_the_query_or_fails_its_range(monkeypatch, strict) -> None:
    from cassandra import ReadFailure, Unauthorized

    def read(error: Exception) -> list[pa.RecordBatch]:
        def pages(*of: Any) -> Iterator[Any]:
            raise error
            yield

        monkeypatch.setattr(token_ranges, "_pages", pages)
        numbers = iter([pa.RecordBatch.from_pydict({"id": [0]})])
        legacy = Legacy("nowhere", "old.counts")
        return list(token_ranges._read(numbers, legacy, split_ring(1), lambda at: None, strict))

    with pytest.raises(CannotGoOn, match=r"read old.counts, but Cassandra says: no right. Repair"):
        read(Unauthorized("no right"))
    if strict:
        with pytest.raises(CannotGoOn, match="tombstones"):
            read(ReadFailure("tombstones"))
    else:
        assert read(ReadFailure("tombstones"))[0]["failure"][0].as_py().startswith("tombstones")
