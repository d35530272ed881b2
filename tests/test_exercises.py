"""What the declarations of exercises don't prove."""

import os
import random
from collections import Counter

import pytest
from pyspark.sql import functions as F  # noqa: N812

from workbook.lessons.at_least_once.after_the_kill import _LOG
from workbook.lessons.many_partitions.slowest_clock import completed, pages
from workbook.lessons.page_view_counter.on_spark import counted, on_spark
from workbook.lessons.positions_table.filtered_table import at, filtered, is_us
from workbook.lessons.us_share_holders.changes_of_an_update import changes
from workbook.lessons.us_share_holders.changes_of_an_update import held as row_of
from workbook.lessons.us_share_holders.set_with_counts import count
from workbook.lessons.views_per_second import problems
from workbook.lessons.views_per_second.by_rule import is_page, rule, second_of
from workbook.lessons.views_per_second.per_second_on_spark import (
    per_second_on_spark,
    views_per_second,
)
from workbook.pipelines.page_views.metrics import Seconds
from workbook.streams.events.clicks import Click, ClickType
from workbook.streams.events.positions import US


def test_spark_difference_is_shown_as_a_table(spark):
    card = on_spark.check(counted("true"), spark=spark)
    assert "only in yours | /shoes" in repr(card)
    assert "<td>only in yours</td><td>/shoes</td>" in card._repr_html_()


def test_spark_check_without_a_session_says_how():
    assert "spark=spark" in repr(on_spark.check(counted()))


def counts_all(clicks):
    pages = (c["timestamp"] // 1000 for c in clicks if c["click_type"] == "Page")
    return list(Counter(pages).items())


def without_a_guard(clicks):
    counts = {}
    for click in filter(is_page, clicks):
        second = second_of(click)
        if counts and second not in counts:
            yield counts.popitem()
        counts[second] = counts.get(second, 0) + 1
    yield counts.popitem()


@pytest.mark.parametrize("answer", [rule(last=True), counts_all, without_a_guard])
@pytest.mark.parametrize("form", [lambda pairs: pairs, list])
def test_an_answer_that_emits_the_last_second_hears_so(answer, form):
    cause = problems[0].check(lambda clicks: form(answer(clicks))).part("Likely cause")
    assert cause.startswith("It emits the last second, too")


def test_the_reference_gives_bigints(spark):
    clicks = spark.createDataFrame([("Page", 10_999)], "click_type STRING, timestamp BIGINT")
    assert dict(views_per_second(clicks).dtypes) == {"second": "bigint", "views": "bigint"}


def test_the_solution_imports_what_it_needs():
    assert "import functions as F" in str(per_second_on_spark.solution())


def sent_from(offset: int) -> list[tuple[int, int]]:
    """Count by hand from an offset on, as a loop that was started again does."""
    seconds, found = Seconds(), []
    for place, second in list(enumerate(_LOG))[offset:]:
        click = Click(place, ClickType.PAGE, "/home", second * 1000, "Firefox")
        done = seconds.step(click, "clicks", 0, place)
        found += [(done.second, len(done.event_ids))] if done else []
    return found


def test_the_kill_loses_what_was_predicted() -> None:
    assert sent_from(0) == [(10, 4), (11, 4)]
    assert sent_from(7) == [(11, 1)]  # from the offset of the auto-commit
    assert sent_from(4) == [(11, 4)]  # from the safe one


STUCK = (1, 99_000), (0, 100_100), (0, 160_000)
CAUGHT_UP = (1, 100_200), (1, 100_300), (1, 160_100)


def test_the_loop_counts_what_a_slow_partition_brings():
    assert list(completed(pages(*STUCK), 2)) == []
    views = dict(completed(pages(*STUCK, *CAUGHT_UP), 2))
    assert views == {99: 1, 100: 3}


def test_spark_drops_what_a_slow_partition_brings(spark, tmp_path):
    files = tmp_path / "clicks"
    files.mkdir()
    for batch, arrivals in enumerate([STUCK, [(0, 160_500)], CAUGHT_UP, [(0, 175_000)]]):
        file = files / f"{batch}.json"
        file.write_text("\n".join(f'{{"timestamp": {at}}}' for _, at in arrivals))
        os.utime(file, (batch, batch))  # Spark reads the oldest file first
    stream = spark.readStream.schema("timestamp BIGINT").option("maxFilesPerTrigger", 1)
    clicks = stream.json(str(files)).select(F.timestamp_millis("timestamp").alias("time"))
    windows = clicks.withWatermark("time", "10 seconds").groupBy(F.window("time", "1 second"))
    counted = windows.count().select(F.unix_seconds("window.start").alias("second"), "count")
    shown = []

    def keep(frame, batch):
        shown.extend(tuple(row) for row in frame.collect())

    query = counted.writeStream.trigger(availableNow=True).foreachBatch(keep)
    running = query.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    assert running.awaitTermination(60)
    assert sorted(shown) == [(99, 1), (100, 1), (160, 3)]


def test_the_filter_emits_what_a_table_downstream_needs():
    """Whatever comes: whoever applies what it emits has the rows that match."""
    rows = [None, at_ny := at("NYSE"), at("NYSE", 3), at("LSE"), at_ny]
    for old in rows:
        for new in rows:
            downstream = old if old and is_us(old) else None
            emitted = filtered(old, new, is_us)
            after = None if emitted == "delete" else emitted
            downstream = downstream if emitted is None else after
            assert downstream == (new if new and is_us(new) else None)


def test_a_table_of_spark_keeps_to_the_same_filter():
    """``KTable.changes`` and the exercise emit the same for each pair of rows."""
    import polars as pl

    from workbook.tables.changes import DELETED, GROUP_BUCKET, ORDER, PLACE, newest, table_of
    from workbook.tables.state import empty

    columns = ("position", "client", "ticker", "amount", "exchange")
    nothing = dict.fromkeys(columns[1:])

    def batch(row, order):
        keeps = row is not None and is_us(row)
        fields = {"position": "p1", **(row or nothing)}
        marks = {PLACE: 0, GROUP_BUCKET: 0, DELETED: not keeps, ORDER: order}
        return pl.DataFrame([{**fields, **marks}], infer_schema_length=None).cast(
            dict.fromkeys(nothing, pl.String) | {"amount": pl.Int64, ORDER: pl.Int64}
        )

    rows = [None, at("NYSE"), at("NYSE", 3), at("LSE")]
    for old in rows:
        for new in rows:
            state = empty(table_of(["position"]))
            newest(state, batch(old, 0), ("position",), columns)
            changes = newest(state, batch(new, 1), ("position",), columns)
            emitted = [
                "delete" if row["deleted"] else {k: row[k] for k in columns[1:]}
                for row in changes.to_dicts()
            ]
            asked = filtered(old, new, is_us)
            assert emitted == ([] if asked is None else [asked])


def test_a_row_that_comes_and_goes_leaves_what_was_held_before():
    chance, held, rows = random.Random(11), {}, []
    for _ in range(500):
        rows.append({"ticker": chance.choice(["AAPL", "IBM", "KO"]), "amount": 7})
        before, held = held, count(held, rows[-1], 1)
        assert count(held, rows[-1], -1) == before
    for row in chance.sample(rows, len(rows)):
        held = count(held, row, -1)
    assert held == {}


def test_the_changes_of_updates_add_up_to_the_table():
    """Folding the changes of random updates gives who holds what in the table of latest rows."""
    chance, table, held = random.Random(12), {}, {}
    for _ in range(2000):
        key = chance.randrange(40)
        new = row_of(
            chance.choice("ABC"), "AAPL", chance.randint(1, 3), chance.choice(["NYSE", "LSE"])
        )
        new = None if chance.random() < 0.2 else new
        for client, sign, _ in changes(table.pop(key, None), new):
            own = held.setdefault(client, set())
            own.add(key) if sign > 0 else own.remove(key)
        if new is not None:
            table[key] = new
    for client, own in held.items():
        rows = table.items()
        assert own == {k for k, r in rows if r["client"] == client and r["exchange"] in US}
