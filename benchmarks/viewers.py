"""Compares sketches of an ad's viewers: theta and HyperLogLog, both of Apache DataSketches.

    .venv/bin/python benchmarks/viewers.py [DRAWS]

The error is that of a union of eight parts, as partitions and micro-batches make it (root mean
square of 32 draws). Then one day of 3,000,000 views: ads by Zipf's law, users evenly. The last part
is the table in PostgreSQL: a micro-batch that touches 10,000 pairs of ad and day.
"""

import os
import secrets
import statistics
import sys
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

import datasketches as ds
import numpy as np
import polars as pl
import psycopg
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ.setdefault("WORKBOOK_LAB", f"bench-{secrets.token_hex(3)}")

from workbook.sinks.counts_table import TABLES
from workbook.sinks.viewers import VIEWERS, add_sketches, sketch_of
from workbook.stack.addresses import database
from workbook.streams.generators.ad_actions import ZIPF_EXPONENT

DRAWS, PARTS = int(*(sys.argv[1:] or ["32"])), 8
ADS, USERS, VIEWS = 5_000, 500_000, 3_000_000


class Theta:
    def __init__(self, log_k: int) -> None:
        self.name, self.log_k = f"theta, K = {1 << log_k:,}", log_k

    def sketch(self, users: list[int]) -> bytes:
        made = ds.update_theta_sketch(self.log_k)
        for user in users:
            made.update(user)
        made.trim()
        return made.compact().serialize()

    def merged(self, sketches: list[bytes]) -> bytes:
        union = ds.theta_union(self.log_k)
        for sketch in sketches:
            union.update(ds.compact_theta_sketch.deserialize(sketch))
        return union.get_result().serialize()

    def estimate(self, sketch: bytes) -> float:
        return ds.compact_theta_sketch.deserialize(sketch).get_estimate()


class HyperLogLog:
    def __init__(self, log_k: int, kind: ds.tgt_hll_type) -> None:
        self.name, self.log_k, self.kind = f"{kind.name}, K = {1 << log_k:,}", log_k, kind

    def sketch(self, users: list[int]) -> bytes:
        made = ds.hll_sketch(self.log_k, self.kind)
        for user in users:
            made.update(user)
        return made.serialize_compact()

    def merged(self, sketches: list[bytes]) -> bytes:
        union = ds.hll_union(self.log_k)
        for sketch in sketches:
            union.update(ds.hll_sketch.deserialize(sketch))
        return union.get_result(self.kind).serialize_compact()

    def estimate(self, sketch: bytes) -> float:
        return ds.hll_sketch.deserialize(sketch).get_estimate()


KINDS: tuple[Theta | HyperLogLog, ...] = (
    *(Theta(log_k) for log_k in (11, 12, 13)),
    *(HyperLogLog(12, kind) for kind in (ds.tgt_hll_type.HLL_8, ds.tgt_hll_type.HLL_4)),
)


def seconds(work: Callable[..., object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def error(kind: Theta | HyperLogLog, number: int) -> float:
    """Root mean square of the relative error, in percent."""
    errors = []
    for draw in range(DRAWS):
        users = list(range(draw * number, (draw + 1) * number))
        parts = [kind.sketch(users[part::PARTS]) for part in range(PARTS)]
        errors.append(kind.estimate(kind.merged(parts)) / number - 1)
    return 100 * statistics.fmean(each**2 for each in errors) ** 0.5


def a_day(seed: int) -> list[list[int]]:
    """The different users of each ad that was viewed."""
    draw = np.random.default_rng(seed)
    shares = np.arange(1.0, ADS + 1) ** -ZIPF_EXPONENT
    ads = draw.choice(ADS, VIEWS, p=shares / shares.sum())
    views = pl.DataFrame({"ad": ads, "user": draw.integers(0, USERS, VIEWS)})
    return views.group_by("ad").agg(pl.col("user").unique()).sort("ad")["user"].to_list()


def compare() -> None:
    sizes = (100, 1_000, 10_000, 1_000_000)
    head = " | ".join(f"{size:,}" for size in sizes)
    print(
        f"| error in % at … viewers: | {head} | bytes at 100 | … at 1,000,000 | MB of the day |",
        end="",
    )
    print(" µs a user | µs to merge two days of an ad |")
    days = a_day(1), a_day(2)
    users = sum(len(each) for each in days[0])
    for kind in KINDS:
        errors = " | ".join(f"{error(kind, size):.2f}" for size in sizes)
        made: list[list[bytes]] = []
        spent = seconds(lambda k=kind, m=made: m.extend([k.sketch(u) for u in day] for day in days))
        pairs = list(zip(*made, strict=False))
        merging = seconds(lambda k=kind, p=pairs: [k.merged(list(pair)) for pair in p])
        few, many = (len(kind.sketch(list(range(number)))) for number in (100, 1_000_000))
        total = sum(map(len, made[0])) / 1e6
        print(f"| {kind.name} | {errors} | {few:,} | {many:,} | {total:.1f} | ", end="")
        print(f"{spent / 2 / users * 1e6:.2f} | {merging / len(pairs) * 1e6:.0f} |", flush=True)


def in_postgres(pairs: int = 10_000) -> None:
    """Seconds of ``add_sketches`` for micro-batches of the day, each touching all pairs."""
    draw = np.random.default_rng(3)
    shares = np.arange(1.0, pairs + 1) ** -ZIPF_EXPONENT
    name = f"bench_{secrets.token_hex(4)}"
    with psycopg.connect(database("bench"), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
        connection.execute(f"SET search_path TO {name}")
        connection.execute(TABLES.read_text())
        try:
            for number in range(6):
                views = 1 + draw.multinomial(1_000_000, shares / shares.sum())
                users = [draw.integers(0, USERS, many).tolist() for many in views]
                sketches: list[bytes] = []
                making = seconds(lambda u=users, s=sketches: s.extend(map(sketch_of, u)))
                ads = [f"ad-{ad:05d}" for ad in range(pairs)]
                days, zeros = [date(2026, 1, 15)] * pairs, [0] * pairs
                columns = {"ad": ads, "day": days, "generation": zeros, "sketch": sketches}
                rows = pa.table(columns)
                with connection.transaction():
                    writing = seconds(lambda r=rows: add_sketches(connection, VIEWERS, r))
                print(f"micro-batch {number}: {sum(views):,} views of {pairs:,} ads, ", end="")
                print(f"{sum(map(len, sketches)) / 1e6:.1f} MB of sketches, ", end="")
                print(f"{making:.2f} s to make them, {writing:.2f} s to write", flush=True)
        finally:
            connection.execute(f"DROP SCHEMA {name} CASCADE")


if __name__ == "__main__":
    compare()
    in_postgres()
