"""Chapter 43: Find the records that the bug dropped."""

from collections import defaultdict
from datetime import datetime, timedelta
from itertools import count

from pyspark.sql import functions as F  # noqa: N812

from workbook.classroom.exercise import case, wrong
from workbook.classroom.frame_exercise import frame_exercise
from workbook.streams.events.ad_actions import OSLO, day_of


def wrongly_dropped(records):
    good = records.where("reason IS NULL")
    earlier = good.selectExpr(
        "partition",
        "ad",
        "type",
        "user",
        "offset AS earlier_offset",
        "arrival AS earlier_arrival",
        "hash AS earlier_hash",
    )
    pairs = good.join(earlier, ["partition", "ad", "type", "user"]).where(
        "earlier_offset < offset AND arrival - earlier_arrival <= 600000"
    )
    compared = pairs.groupBy("partition", "offset").agg(
        F.bool_or(F.col("hash") == F.col("earlier_hash")).alias("repeat")
    )
    return compared.where("NOT repeat").select("partition", "offset")  # fmt: skip


def by_joins(records):
    good = records.where("reason IS NULL")
    later, earlier = good.alias("b"), good.alias("a")
    near = " AND ".join([*(f"a.{name} = b.{name}" for name in USER), NEAR, "a.offset < b.offset"])
    some = later.join(earlier, F.expr(near), "left_semi").alias("b")
    none = some.join(earlier, F.expr(f"{near} AND a.hash = b.hash"), "left_anti")
    return none.select("partition", "offset")


NEAR, USER = "a.arrival >= b.arrival - 600000", ("partition", "ad", "type", "user")


def joined(
    same=USER, near=NEAR, order="a.offset < b.offset", keep="NOT bool_or(a.hash = b.hash)",
    by=("b.partition", "b.offset"), how="inner",
):  # fmt: skip
    """Join and group as the reference does; each wrong answer varies one part."""

    def answer(records):
        good = records.where("reason IS NULL")
        earlier, later = good.alias("a"), good.alias("b")
        equal = [f"a.{name} = b.{name}" for name in same]
        pairs = later.join(earlier, F.expr(" AND ".join([*equal, near, order])), how)
        kept = pairs.groupBy(*by).agg(F.expr(keep).alias("kept")).where("kept")
        return kept.select(*by)

    return answer


FIRST = datetime(2026, 6, 1, 12, tzinfo=OSLO)
_cases = count()


def at(minute, digest, user=1, ad="bike", type="view", partition=0, late=0, reason=None):
    return minute, digest, user, ad, type, partition, late, reason


def placed(records, begin, offset):
    """Return rows of the archive; ``late`` (minutes) is how long before its arrival it happened."""
    rows, offsets = [], defaultdict(lambda: count(offset))
    for minute, digest, user, ad, kind, partition, late, reason in records:
        arrival = round((begin + timedelta(minutes=minute)).timestamp() * 1000)
        time = arrival - late * 60_000
        rows.append((partition, next(offsets[partition]), arrival, digest, ad, kind, user, time,
                     day_of(time), reason))  # fmt: skip
    return rows


def told(why, *records):
    number = next(_cases)  # all cases are one table: each is on a day of its own
    return case(why, *placed(records, FIRST + timedelta(days=number), 100 * number))


def draw(random, size):
    minute, sent, records = 0, [], []
    for n in range(size):
        minute += random.choice((1, 2, 3, 5, 5, 10, 11))
        if sent and random.random() < 0.3:
            records.append((minute, *random.choice(sent[-4:])))
            continue
        user, ad = random.choice((1, 2)), random.choice(("bike", "bike", "boat"))
        kind, partition = random.choice(("view", "view", "click")), random.choice((0, 0, 1))
        late, reason = random.choice((0, 0, 90)), random.choice((None, None, None, "no ad"))
        what = n, user, ad, kind, partition, late, reason
        sent.append(what)
        records.append((minute, *what))
    return tuple(placed(records, datetime(2026, 8, 1, 12, tzinfo=OSLO), 10_000))  # fmt: skip


one_for_two = frame_exercise(
    wrongly_dropped,
    name="Find the records that the bug dropped",
    task="Write a function that gets records of the archive, and returns `partition` and "
    "`offset` of each record that only the buggy rule drops, each once.\n\n"
    "Such a record has at least one earlier neighbour, and none of these neighbours has "
    "its `hash`. An earlier neighbour has the same `partition`, `ad`, `type` and `user`, a smaller "
    "`offset`, and an `arrival` that is equal or at most 600,000 ms earlier. Ignore records whose "
    "`reason` isn't null: they were rejected.\n\n"
    "User 1 views the bike at offsets 0, 1 and 2, a minute apart. Offset 2 has the hash of "
    "offset 0. Return offset 1 only, because offset 2 is a true repeat.",
    schema="partition INT, offset BIGINT, arrival BIGINT, hash BIGINT, ad STRING, type STRING, "
    "user BIGINT, time BIGINT, day DATE, reason STRING",
    cases=[
        told("A user views the bike twice within a minute, with other bytes.", at(0, 1), at(1, 2)),
        told("After the second view, the first one's bytes arrive again: a true repeat.",
             at(0, 1), at(1, 2), at(2, 1)),
        told("A true repeat of the second view, not of the first.", at(0, 1), at(1, 2), at(2, 2)),
        told("Another user, another ad, another type.",
             at(0, 1), at(1, 2, user=2), at(2, 3, ad="boat"), at(3, 4, type="click")),
        told("User 1's views are on two partitions, so the query never compares them.",
             at(0, 1), at(0, 3, user=2, partition=1), at(1, 2, partition=1)),
        told("The same offsets on two partitions: a true repeat on partition 1, none on 0.",
             at(0, 1), at(1, 2), at(0, 3, partition=1), at(1, 3, partition=1)),
        told("Ten minutes and a millisecond are too far apart.",
             at(0, 1), at(600_001 / 60_000, 2)),
        told("Both records arrive in the same millisecond, and the smaller offset is the earlier.",
             at(0, 1), at(0, 2)),
        told("Exactly ten minutes are near enough.", at(0, 1), at(10, 2)),
        told("One view before midnight, and one after it.", at(718, 1), at(721, 2)),
        told("The second view happened an hour before it arrived.", at(0, 1), at(1, 2, late=60)),
        told("The first and the last view were rejected: they're no neighbours, and no results.",
             at(0, 1, reason="from the future"), at(1, 2), at(2, 3, reason="from the future")),
        told("Three views in three minutes: two of them have earlier neighbours. Return each once.",
             at(0, 1), at(1, 2), at(2, 3)),
        told("The first bytes again after twelve minutes: no repeat, but another view is near.",
             at(0, 1), at(11, 2), at(12, 1)),
    ],
    streams=False,  # an archive is a table
    draw=draw,
    right=[by_joins],
    wrong=[
        wrong("It compares a record only with records of the same day. The query compares "
              "records whose arrivals are at most ten minutes apart, even across midnight.",
              joined(near="a.day = b.day"), joined(same=(*USER, "day"))),
        wrong("It compares records of different partitions. Each partition has a state of its "
              "own, so the query never compares these.",
              joined(same=USER[1:])),
        wrong("It returns true repeats, too. They have the bytes of an earlier neighbour, so the "
              "repaired query drops them as well: compare the hashes.", joined(keep="true")),
        wrong("One earlier neighbour with another hash isn't enough. If another earlier neighbour "
              "has the record's own hash, the record is a true repeat.",
              joined(keep="bool_or(a.hash <> b.hash)"),
              joined(keep="min_by(a.hash, a.offset) <> any_value(b.hash)"),
              joined(keep="max_by(a.hash, a.offset) <> any_value(b.hash)")),
        wrong("It returns records without any earlier neighbour. The bug never drops these.",
              joined(how="left", keep="bool_or(a.hash = b.hash) IS NOT TRUE")),
        wrong("It takes each record for its own neighbour, so each is a true repeat. Compare the "
              "offsets by `<`.", joined(order="a.offset <= b.offset")),
        wrong("It returns the earlier record, alone or with the later one. The query counted the "
              "earlier record. Compare the offsets, so that only earlier records are neighbours.",
              joined(by=("a.partition", "a.offset")), joined(order="a.offset <> b.offset"),
              joined(order="a.offset <> b.offset", near="abs(a.arrival - b.arrival) <= 600000")),
        wrong("It measures the ten minutes by `time`. The query compares arrivals.",
              joined(near="a.time >= b.time - 600000"),
              joined(near="abs(a.time - b.time) <= 600000")),
    ],
    hints=(
        "`neighbours` returns one row for a record and one of its earlier neighbours. What must "
        "you know about all earlier neighbours of a record?",
        "Group the pairs by the later record. In each group, ask if any earlier hash is equal to "
        "the record's own.",
        "`F.bool_or(F.col('hash') == F.col('earlier_hash'))` says whether a group has an equal "
        "hash. Keep the groups where it's false.",
    ),
    discussion="Does your function find exactly the records that the bug dropped? Nearly. The "
    "buggy query only remembers records that it counted. If a user views an ad every six minutes, "
    "it drops every second view, but your function returns all views except the first. If all "
    "views arrive within ten minutes, as here, there's no difference.",
)  # fmt: skip
