"""Least rights: each command needs what docs/own-servers.md lists, and names what is missing."""

import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from brokers import commit, produce
from labs import until
from psycopg.conninfo import make_conninfo
from secured import Secured

from workbook.cli import run
from workbook.cli.main import main
from workbook.cli.screen import Writes
from workbook.errors import RightMissing
from workbook.kafka.broker import Broker, external
from workbook.kafka.readers import consumer
from workbook.sinks.counts_table import TABLES, CountsTable
from workbook.sinks.postgres import require_rights
from workbook.systems import SYSTEMS
from workbook.systems.base import Job
from workbook.topics import CONSUMER_OFFSETS, Topic

PAGE = Path(__file__).parents[1] / "docs" / "own-servers.md"
ROWS = re.findall(r"^\| `run (.+?)` \| (`.*?) \| (.*?) \|", PAGE.read_text(), re.MULTILINE)

QUICK = "event_time_merge"
"""The one that needs most; the others run in the slow tier."""

Right = tuple[str, str]
"""A topic, and what somebody may do with it."""


@pytest.fixture
def learner(secured: Secured, monkeypatch: pytest.MonkeyPatch) -> Iterator[Broker]:
    """The broker as a user has it who has no rights."""
    with monkeypatch.context() as of_user:
        for name, value in secured.login("learner").items():
            of_user.setenv(f"KAFKA_{name.upper().replace('.', '_')}", value)
        broker = external()
    assert broker is not None
    yield broker
    secured.forbid("learner")


def missing(error: RightMissing) -> Right:
    """The right that the error's command gives."""
    words = r"kafka-acls --bootstrap-server \S+ --add --allow-principal User:learner --operation "
    found = re.search(words + r"(\w+) --topic (\S+?)[.,] ", str(error))
    assert found, error
    return found[2], found[1].upper()


def fill(secured: Secured, topic: str) -> None:
    """Let somebody who may do everything fill a topic."""
    if topic == CONSUMER_OFFSETS:
        Broker(secured.at["open"]).create(Topic("read"))
        commit({"bootstrap.servers": secured.at["open"]}, "app", "read", 0)
    elif topic != "visits":  # the system's own results
        stream = topic.partition(".")[0]
        for each in {stream, topic}:  # the former has the schemas of the latter
            assert not main(["generate", stream, "--topic", each, "--rate=100", "--seconds=2"])


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=row[0], marks=pytest.mark.slow if row[0] != QUICK else ())
        for row in ROWS
    ],
)
def test_a_system_names_each_right_of_its_row_and_runs_with_these(
    spark, secured: Secured, learner: Broker, row: tuple[str, ...], tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", secured.at["open"])
    name, *words = row[0].split()
    reads, writes = (re.findall("`(.+?)`", each) for each in row[1:])
    for topic in reads:
        fill(secured, topic)
    system, named = SYSTEMS[name], set[Right]()
    run._prepare(Broker(secured.at["open"]), system, system.options(words))
    options = system.options([*words, "--checkpoint", "state"])

    def prepared() -> bool:
        try:
            made_for.append(run._prepare(learner, system, options))
        except RightMissing as refused:
            right = missing(refused)
            if right not in named:  # else the broker hasn't heard of it yet
                secured.allow("learner", *right)
            named.add(right)
        return bool(made_for)

    made_for = []
    until(prepared, "the rights to be enough")
    assert named == {*((t, "READ") for t in reads), *((t, "WRITE") for t in writes)}
    at = Writes(made_for[0])
    started = system.start(Job(spark, learner, options, Path("state"), at))
    running, read = started.running, started.running.progress
    until(lambda: running.check() or read.messages > 0, "records to be read")
    running.stop()
    secured.forbid("learner")
    with pytest.raises(RightMissing):
        until(lambda: at.ask(), "a right that is taken away to be named")


def test_topics_that_exist_need_no_right_to_create(secured: Secured, learner: Broker) -> None:
    there = Topic("there"), Topic("there.dead-letters")
    Broker(secured.at["open"]).create(*there)
    for topic in there:
        secured.allow("learner", topic.name, "WRITE")

    def refusal(*topics: Topic) -> str:
        try:
            learner.create(*topics)
        except RightMissing as error:
            return str(error)
        return ""

    until(lambda: not refusal(*there), "the right to WRITE")
    secured.allow("learner", "new", "WRITE")
    until(lambda: " CREATE " in refusal(*there, Topic("new")), "the right to WRITE")
    says = refusal(Topic("new"))
    assert missing(RightMissing(says)) == ("new", "CREATE")
    assert "--topic new --partitions 1 --config retention.ms=-1" in says
    secured.allow("learner", "new", "CREATE")
    until(lambda: not refusal(Topic("new")), "the right to CREATE")


def test_a_reader_needs_no_right_to_a_group(secured: Secured, learner: Broker) -> None:
    Broker(secured.at["open"]).create(Topic("metrics"))
    produce({"bootstrap.servers": secured.at["open"]}, "metrics", (b"x",))
    with pytest.raises(RightMissing) as refused:
        consumer(learner.client_config(), "metrics")
    assert missing(refused.value) == ("metrics", "READ")
    secured.allow("learner", "metrics", "READ")

    def reads() -> bool:
        try:
            reader = consumer(learner.client_config(), "metrics")
        except RightMissing:
            return False
        until(lambda: reader.poll(0.2) is not None, "a record")
        assert reader.poll(2) is None
        reader.close()
        return True

    until(reads, "the right to READ")


@pytest.mark.parametrize(
    ("made", "lacks"),
    [
        ((), ["CREATE ON DATABASE rights0", "TEMPORARY ON DATABASE rights0"]),
        (("schema",), ["CREATE ON SCHEMA mine", "TEMPORARY ON", "USAGE ON SCHEMA mine"]),
        (("schema", "tables"), ["SELECT, INSERT, UPDATE, DELETE ON ALL", "TEMPO", "USAGE ON"]),
    ],
)
def test_what_a_user_lacks_in_the_database_is_named_with_its_grants(
    url: str, tmp_path: Path, made: tuple[str, ...], lacks: list[str]
) -> None:
    user, where = f"rights{len(made)}", ("p", ("t", "id"), tmp_path)
    theirs = make_conninfo(url, dbname=user)
    mine = make_conninfo(theirs, options=f"-c role={user}")
    with psycopg.connect(url, autocommit=True) as owner:
        for words in ("ROLE {0}", "DATABASE {0}"):
            owner.execute(f"CREATE {words.format(user)}")
        owner.execute(f"REVOKE TEMPORARY ON DATABASE {user} FROM PUBLIC")
    with psycopg.connect(theirs, autocommit=True) as owner:
        if "schema" in made:
            owner.execute("CREATE SCHEMA mine")
        if "tables" in made:
            CountsTable(theirs, *where, schema="mine").claim("")
        with pytest.raises(RightMissing, match=f"the user {user} lacks some") as refused:
            require_rights(mine, "mine", TABLES)
        grants = sorted(re.findall("GRANT [^;]*;", str(refused.value)))
        for grant, expected in zip(grants, lacks, strict=True):
            assert grant.startswith(f"GRANT {expected}")
            owner.execute(grant)
    require_rights(mine, "mine", TABLES)
    counts = CountsTable(mine, *where, schema="mine")
    assert not counts.claim("").counted
    assert counts.ask("SELECT * FROM counts") == []
