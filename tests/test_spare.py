"""A warm Spark of the lab: who takes it, what the next one finds in it, and how it ends."""

import json
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from labs import OwnLab, lives, own_lab, until
from pyspark.sql import SparkSession

from workbook.spark import session, spare
from workbook.stack import client, process

TAKE = """
import sys
from pathlib import Path
from workbook.spark.session import checkpoint, spark_session, stop_spark
spark = spark_session(quiet=True)

def look(frames):
    import os, mine
    for frame in frames:
        yield frame.assign(id=int(open("seven").read()) + mine.ONE)

def found():
    rows = spark.range(1).mapInPandas(look, "id long").collect()
    lines = spark.read.text("seven").count()
    views = [table.name for table in spark.catalog.listTables()]
    return rows[0].id, lines, views, spark.conf.get("spark.sql.session.timeZone")

number = spark.sparkContext._gateway.gateway_property.pool.next_id
print(spark.sparkContext.applicationId, number, *found(), sep="|", flush=True)
exec(sys.stdin.readline())
stop_spark(spark)
print("left", flush=True)
"""

ITS_OWN = (  # all of it ends with the session, or is taken back
    "spark.range(3).createTempView('seen'); spark.conf.set('spark.sql.session.timeZone', 'CET'); "
    "spark.range(9).cache().count(); spark.udf.register('one', lambda: 1); "
    "spark.sparkContext.setJobGroup('mine', 'mine'); "
    "query = spark.readStream.format('rate').load().writeStream.format('noop')"
    ".option('checkpointLocation', str(checkpoint('x'))).start()"
)
TRACES = {  # what ends no session, and how a test takes it back
    "a table": ("spark.range(3).write.saveAsTable('kept')", "spark.sql('DROP TABLE kept')"),
    "a view for all": (
        "spark.range(3).createGlobalTempView('kept')", "spark.catalog.dropGlobalTempView('kept')"
    ),
    "a query": (
        "query = spark.readStream.format('rate').load().writeStream.format('noop')"
        ".option('checkpointLocation', str(checkpoint('x'))).start()", "query.stop()"
    ),
    "a setting of Hadoop's": (
        "context._jsc.hadoopConfiguration().set('mine', '1')",
        "context._jsc.hadoopConfiguration().unset('mine')"
    ),
    "a property": (
        "spark._jvm.System.setProperty('mine', '1')", "spark._jvm.System.clearProperty('mine')"
    ),
    "an RDD": (
        "rdd = context.parallelize([1]).persist(); rdd.count()", "rdd.unpersist(blocking=True)"
    ),
    "the level of its log": (
        "context.setLogLevel('ERROR')", "context.setLogLevel('WARN')"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("leave", "undo"), TRACES.values(), ids=TRACES)
def test_what_a_process_leaves_in_it_is_found(spark: SparkSession, leave: str, undo: str) -> None:
    known = {"spark": spark, "context": spark.sparkContext, "checkpoint": session.checkpoint}
    before = spare.traces(spark)
    exec(leave, known)
    try:
        assert spare.traces(spark) != before
    finally:
        exec(undo, known)
    assert spare.traces(spark) == before, "else the test has shown nothing"


@pytest.fixture(scope="module")
def kept(fetched: None) -> Iterator[OwnLab]:
    """A lab that keeps a spare, with this test as its user."""
    with own_lab() as mine, pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBOOK_LAB", mine.name)
        user = client.Lease("test")
        user.ask("keep a spare", env=mine.env, after=0)
        yield mine
        user.close()


def test_nobody_waits_for_a_spark_whose_keeper_has_died(monkeypatch: pytest.MonkeyPatch) -> None:
    with own_lab() as lab:
        monkeypatch.setenv("WORKBOOK_LAB", lab.name)
        user = client.Lease("test")
        user.ask("keep a spare", env=lab.env, after=0)
        until(lambda: user.ask("status")["spare"] == "starting", "a Spark that starts")
        [keeper] = psutil.Process(user.supervisor).children()
        assert user.ask("take a spare", fit="any", memory=1) is None, "to start one is quicker"
        [folder] = lab.folder.glob("spare-*")
        (folder / "fit").write_text('{"fit": "any", "memory": 1}')  # as one whose Java runs
        assert user.ask("take a spare", fit="any", memory=1) == "wait"
        assert user.ask("take a spare", fit="other", memory=1) is None
        assert user.ask("take a spare", fit="any", memory=2) is None
        keeper.kill()
        until(lambda: not lives(keeper), "its end")
        assert user.ask("take a spare", fit="any", memory=1) is None
        assert user.ask("status")["spare"] is None
        until(lambda: not list(lab.folder.glob("spare-*")), "the end of its folder")
        user.ask("keep a spare", env=lab.env, after=0)
        until(lambda: user.ask("status")["spare"] == "starting", "the next one")
        user.close()


def test_who_wants_another_one_is_not_given_it(monkeypatch: pytest.MonkeyPatch) -> None:
    fit = spare._fit()
    monkeypatch.setenv("SPARK_DRIVER_MEMORY", "1g")
    assert spare._fit() == {**fit, "memory": 2**30}
    monkeypatch.setenv("SPARK_MASTER", "local[1]")
    assert spare._fit()["fit"] != fit["fit"]


def state() -> str | None:
    return (client.status() or {}).get("spare")


numbers: set[tuple[str, str]] = set()
"""A Spark, and the first number that its user has for a function that Java calls."""


def take(lab: OwnLab, folder: Path, leaving: str, **env: str) -> tuple[str, list[str]]:
    """Run a process that takes a Spark and leaves something; return its id, and what it found."""
    folder.mkdir(exist_ok=True)
    (folder / "seven").write_text("7")
    (folder / "mine.py").write_text(f"ONE = {len(folder.name)}")
    lab.env |= env
    user = lab.start("-c", f"import os; os.chdir({str(folder)!r})\n{TAKE}")
    said, _ = user.communicate(f"{leaving}\n", timeout=180)
    lab.env = {name: value for name, value in lab.env.items() if name not in env}
    assert said.endswith("\nleft\n"), said
    name, number, *found = said.splitlines()[0].split("|")
    assert (name, number) not in numbers, "Java would drop our function for one of its last user's"
    numbers.add((name, number))
    return name, found


def test_each_process_finds_it_as_new_and_in_its_own_folder(kept: OwnLab, tmp_path: Path) -> None:
    until(lambda: state() == "warm", "a warm Spark")
    [offer] = kept.folder.glob("spare-*/offer")
    first, found = take(kept, tmp_path / "a", ITS_OWN)
    assert found == ["8", "1", "[]", "UTC"]
    assert state() == "warm"
    trace = "spark.sparkContext.addPyFile('mine.py')"
    again, found = take(kept, tmp_path / "bcd", trace, SPARK_DRIVER_MEMORY="1g")
    assert (again, found) == (first, ["10", "1", "[]", "UTC"])
    assert not offer.exists(), "it isn't as new any more"


def test_it_is_killed_with_who_took_it_and_nobody_else_can_read_how_it_is_reached(
    kept: OwnLab,
) -> None:
    until(lambda: state() == "warm", "a warm Spark")
    [offered] = kept.folder.glob("spare-*/offer")
    offer = json.loads(offered.read_text())
    java = psutil.Process(offer["java"])
    assert kept.folder.stat().st_mode & 0o077 == 0
    assert offer["secret"] not in " ".join([*java.cmdline(), *java.environ().values()])
    user = kept.start("-c", TAKE)
    until(lambda: (kept.folder / f"taken-{user.pid}").exists(), "a taken Spark")
    assert java in process.family(user.pid), "whoever kills a program finds its Spark"
    user.kill()
    until(lambda: not lives(java), "the end of its Java", within=10)
    until(lambda: not offered.parent.exists(), "the end of its folder", within=10)
