"""Different users: sketches that merge, in PostgreSQL and in Spark."""

import random
import threading
from collections.abc import Iterator
from datetime import date
from itertools import pairwise

import psycopg
import pyarrow as pa
import pytest

from workbook.errors import SketchUnreadable
from workbook.sinks.counts_table import TABLES
from workbook.sinks.viewers import VIEWERS, add_sketches, estimate, merged, sketch_of, viewers_of
from workbook.stack.addresses import database

DAY, NEXT = date(2026, 1, 15), date(2026, 1, 16)
EDGES = [0, 1, -1, 2**63 - 1, -(2**63)]


@pytest.mark.parametrize("number", [0, 1, 2, 300, 4_096, 5_000, 50_000])
def test_a_sketch_is_the_same_whatever_the_parts_and_exact_up_to_4096_users(number: int) -> None:
    draw = random.Random(number)
    users = draw.sample(range(2**40), number)
    whole, cuts = sketch_of(users * 3), sorted(draw.choices(range(number + 1), k=9))
    parts = [sketch_of(users[a:b]) for a, b in pairwise([0, *cuts, number])]
    draw.shuffle(parts)
    assert merged(parts) == merged([merged(parts[:4]), *parts[2:], whole]) == whole
    assert len(whole) < 33_000
    three_standard_errors = 3 / 64 if number > 4_096 else 0
    assert abs(estimate(whole) - number) <= number * three_standard_errors


@pytest.mark.parametrize("cut", [0, 7, 12, 50])
def test_a_damaged_sketch_is_said(cut: int) -> None:
    whole = sketch_of(range(100))
    other_version = whole[:1] + b"\x43" + whole[2:]
    for bad in (whole[:cut], other_version):
        with pytest.raises(SketchUnreadable, match=f"got {len(bad)} bytes"):
            merged([whole, bad])


def test_spark_hashes_a_user_alike_and_reads_what_is_stored(spark) -> None:
    users = [*EDGES, *range(10**12, 10**12 + 1_000)]
    spark.createDataFrame([(user,) for user in users], "user BIGINT").createOrReplaceTempView("v")
    theirs = spark.sql("SELECT theta_sketch_agg(user) AS sketch FROM v").first()["sketch"]
    assert merged([bytes(theirs)]) == sketch_of(users)  # Spark compresses what it writes
    days = [users[:700], users[500:], range(50_000), []]
    rows = [(n, bytearray(merged([sketch_of(day)]))) for n, day in enumerate(days)]
    spark.createDataFrame(rows, "n INT, sketch BINARY").createOrReplaceTempView("stored")
    each = spark.sql("SELECT theta_sketch_estimate(sketch) AS n FROM stored ORDER BY n").collect()
    assert {row[0] for row in each} == {estimate(bytes(sketch)) for _, sketch in rows}
    union = "SELECT theta_sketch_estimate(theta_union_agg(sketch)) AS n FROM stored WHERE n < 2"
    assert spark.sql(union).first()["n"] == len(users)


@pytest.fixture
def schema(schema: str) -> str:
    """With the tables of the ad statistics."""
    with connect(schema) as connection:
        connection.execute(TABLES.read_text())
    return schema


@pytest.fixture
def connection(schema: str) -> Iterator[psycopg.Connection]:
    with connect(schema) as made:
        yield made


def connect(schema: str) -> psycopg.Connection:
    return psycopg.connect(database("test"), options=f"-c search_path={schema}")


def rows(*of: tuple[str, date, list[int]]) -> pa.Table:
    return pa.Table.from_pylist(
        [
            {"ad": ad, "day": day, "generation": 0, "sketch": sketch_of(users)}
            for ad, day, users in of
        ]
    )


def test_days_are_merged_and_a_user_of_two_days_counts_once(connection) -> None:
    odd = "'; DROP TABLE viewers; --"
    for _ in range(2):  # written twice, it's the same
        add_sketches(
            connection, VIEWERS, rows(("a", DAY, [1, 2]), ("a", DAY, [2, 3]), (odd, DAY, [1]))
        )
        add_sketches(connection, VIEWERS, rows(("a", NEXT, [3, 4]), ("b", DAY, [9])))
    assert viewers_of(connection, "a", DAY, DAY) == (3, 3)
    assert viewers_of(connection, "a", DAY, NEXT) == (4, 5)
    assert viewers_of(connection, odd, DAY, NEXT).unique == 1
    assert viewers_of(connection, "nobody's", DAY, NEXT) == (0, 0)


def test_two_writers_lose_no_viewer(schema: str) -> None:
    def write(first: int) -> None:
        with connect(schema) as mine:
            for user in range(first, first + 50):
                with mine.transaction():
                    add_sketches(mine, VIEWERS, rows(("a", DAY, [user])))

    writers = [threading.Thread(target=write, args=(first,)) for first in (0, 1_000)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    with connect(schema) as reader:
        assert viewers_of(reader, "a", DAY, DAY).unique == 100
