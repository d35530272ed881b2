"""The counts in a real PostgreSQL: each micro-batch once, whoever writes and whatever fails."""

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from functools import partial
from pathlib import Path
from threading import Thread

import psycopg
import pyarrow as pa
import pytest
from labs import until

from workbook.errors import CannotGoOn, DatabaseUnreachable
from workbook.sinks import counts_table
from workbook.sinks.counts_table import CountsTable, Fence
from workbook.sinks.postgres import connect
from workbook.sinks.replay import ReplayTable, begin
from workbook.sinks.viewers import sketch_of
from workbook.spark.runner import Batch

DAY = date(2026, 1, 15)
ROW = {"ad": "a", "day": DAY, "type": "view", "source": "search", "reason": None, "partition": 0}


@pytest.fixture
def table(url: str, schema: str, tmp_path: Path):
    def make(query: str = "", *, claims: bool = True, **more: object) -> CountsTable:
        how = {"schema": schema, "patience": 2.0, **more}
        made = CountsTable(url, "ads", ("in", "id-1"), tmp_path, **how)
        if claims:
            made.claim(query)
        return made

    return make


@pytest.fixture(autouse=True)
def plans(tmp_path: Path) -> None:
    """What Spark's checkpoint plans: batch n ends at offset 100 (n + 1) of both partitions."""
    folder = tmp_path / "0" / "offsets"
    folder.mkdir(parents=True)
    for number in range(40):
        ends = json.dumps({"in": {"0": 100 * (number + 1), "1": 100 * (number + 1)}})
        (folder / str(number)).write_text(f'v1\n{{"batchWatermarkMs":0}}\n{ends}')


def counts(*of: tuple[str, int]) -> pa.Table:
    rows = [{**ROW, "kind": "count", "ad": ad, "count": n} for ad, n in of]
    rows += [{**ROW, "kind": "accepted", "ad": None, "count": sum(n for _, n in of)}]
    return pa.Table.from_pylist(rows)


def totals(table: CountsTable) -> dict[str, int]:
    rows = table.ask("SELECT ad, sum(count)::bigint AS n FROM counts GROUP BY ad")
    return {row["ad"]: row["n"] for row in rows}


def test_a_micro_batch_counts_once_and_an_ad_is_text_whatever_it_looks_like(table) -> None:
    ads = ["'; DROP TABLE counts; --", 'a,"b"', '"', "\\N", "%s", "$1", " ", "NULL", "a" * 64]
    made = table()
    for number in (0, 0, 1, 1, 0):
        made.write(counts(("a", 1), *((ad, 3) for ad in ["a", *ads])), Batch("q", number))
    assert totals(made) == {"a": 8, **dict.fromkeys(ads, 6)}
    assert made.fates == {"accepted": 62}
    assert "62 accepted" in made.line()
    keys = pa.Table.from_pylist([{**ROW, "ad": ad} for ad in ads])
    assert [row["count"] for row in made.totals(keys)] == [6] * len(ads)


def test_a_kill_before_the_commit_leaves_nothing(table) -> None:
    def kill(point: str) -> None:
        raise KeyboardInterrupt(point)

    with suppress(KeyboardInterrupt):
        table(at=kill).write(counts(("a", 3)), Batch("q", 0))
    again = table("q")
    assert totals(again) == {}
    again.write(counts(("a", 3)), Batch("q", 0))
    assert totals(again) == {"a": 3}


def test_another_query_goes_on_behind_the_fence_and_remembers_where_it_began(table) -> None:
    table().write(counts(("a", 3)), Batch("first", 0))
    second = table(claims=False)
    assert second.claim("") == Fence({0: 100, 1: 100}, {})
    assert second.claim("second").counted == {0: 100, 1: 100}  # killed before its first commit
    second.write(counts(("a", 5)), Batch("second", 0))
    second.write(counts(("a", 1)), Batch("second", 1))
    assert totals(second) == {"a": 9}
    assert table(claims=False).claim("second").counted == {0: 100, 1: 100}
    third = table(claims=False)
    assert third.claim("third").counted == {0: 200, 1: 200}
    with pytest.raises(CannotGoOn, match="same run"):
        third.resume("first", 0, 0)


def test_a_query_that_is_lost_while_it_catches_up_moves_no_fence_back(table) -> None:
    made = table()
    for number in range(30):
        made.write(counts(("a", 1)), Batch("first", number))
    table().write(counts(("a", 0)), Batch("second", 0))
    days = (DAY, DAY)
    assert begin(made, ("ads", "id-1"), days, "").offsets == {0: 3_000, 1: 3_000}
    assert table(claims=False).claim("third").counted == {0: 3_000, 1: 3_000}


def test_nobody_waits_for_ever(table, schema: str, url: str, monkeypatch) -> None:
    monkeypatch.setattr(counts_table, "connect", partial(connect, lock=1.0))
    made = table()
    with psycopg.connect(url) as other:
        other.execute(f"LOCK TABLE {schema}.counts_by_generation")
        with pytest.raises(DatabaseUnreachable, match="lock"):
            made.write(counts(("a", 1)), Batch("q", 0))
    made.write(counts(("a", 1)), Batch("q", 0))
    [frozen] = made.ask("SELECT pg_backend_pid() AS pid")
    os.kill(frozen["pid"], signal.SIGSTOP)  # its kernel still answers for it
    try:
        began = time.monotonic()
        made.write(counts(("a", 1)), Batch("q", 1))  # by another connection
        assert time.monotonic() - began < 20
    finally:
        os.kill(frozen["pid"], signal.SIGCONT)
    assert totals(made) == {"a": 2}


def test_tables_that_somebody_changed_are_refused_with_what_to_do(table, schema, url) -> None:
    made = table()
    with psycopg.connect(url) as connection:
        connection.execute(f"ALTER TABLE {schema}.counts_by_generation DROP COLUMN source CASCADE")
    with pytest.raises(CannotGoOn, match=r"Somebody changed them.*start again"):
        made.write(counts(("a", 1)), Batch("q", 0))


def test_viewers_are_written_with_their_micro_batch_or_not_at_all(table) -> None:
    def rows(*users: int) -> pa.Table:
        row = {**ROW, "kind": "viewers", "type": None, "source": None, "sketch": sketch_of(users)}
        viewers = pa.Table.from_pylist([row, row])  # of two partitions
        return pa.concat_tables([counts(("a", 3)), viewers], promote_options="permissive")

    made = table()
    for number, users in ((0, [1, 2]), (0, [9]), (1, [2, 3])):
        made.write(rows(*users), Batch("q", number))
    assert made.ask("SELECT ad, day, estimate FROM viewers") == [
        {"ad": "a", "day": DAY, "estimate": 3}
    ]
    assert made.fates == {"accepted": 6}
    made.ask("UPDATE viewers_by_generation SET sketch = substr(sketch, 1, 20) RETURNING ad")
    with pytest.raises(CannotGoOn, match=r"ad 'a' and day 2026-01-15.*delete it.*start again"):
        made.write(rows(4), Batch("q", 2))
    assert totals(made) == {"a": 6}, "nothing of that micro-batch"


def test_a_cut_connection_is_made_again_and_a_wrong_password_said_at_once(table, url) -> None:
    made = table(patience=20.0)
    made.write(counts(("a", 1)), Batch("q", 0))
    cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
    with psycopg.connect(url) as connection:
        connection.execute(f"{cut} AND usename = current_user")
    made.write(counts(("a", 1)), Batch("q", 1))
    assert totals(made) == {"a": 2}
    made.close()
    made._url = url.replace(url.split(":")[2].split("@")[0], "secret")
    with pytest.raises(DatabaseUnreachable, match="password authentication failed") as raised:
        made.write(counts(("a", 1)), Batch("q", 2))
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("parts", [(3, 4), (7,)], ids=["before its swap", "at its swap"])
def test_a_replay_beside_an_open_transaction_of_the_same_days_counts_once(
    table, url: str, schema: str, tmp_path: Path, parts: tuple[int, ...]
) -> None:
    live, found, how = table(patience=20.0), [], {"schema": schema, "patience": 20.0}
    for number, part in enumerate(parts):
        live.write(counts(("a", part)), Batch("live", number))

    def replay(query: str, **more: object) -> Iterator[None]:
        own = table(claims=False, patience=20.0)
        found.append(begin(own, ("ads", "id-1"), (DAY, DAY), ""))
        made = ReplayTable(url, found[-1], ("in", "id-1"), tmp_path, **how, **more)
        made.claim("")
        for number, part in enumerate(parts):
            yield made.write(counts(("a", part)), Batch(query, number))

    beside = Thread(target=lambda: list(replay("second")))

    def meanwhile(point: str) -> None:
        beside.start()
        waits = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        until(lambda: live.ask(waits), "the second replay waits for the first", 20)

    next(replay("first", at=meanwhile))
    beside.join()
    assert totals(live) == {"a": 7}
    assert (found[0] != found[1]) == (len(parts) == 1), "what is shown isn't emptied"
