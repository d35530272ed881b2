"""Event days are counted again while the live query counts on: each action once, at any time."""

import json
import random
from collections import Counter
from datetime import date, datetime, timedelta
from hashlib import sha1
from pathlib import Path

import psycopg
import pytest
from ad_runs import Run
from brokers import delete_before, produce
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from workbook.errors import CannotGoOn, WorkbookError
from workbook.kafka.broker import Broker
from workbook.kafka.registry import register
from workbook.sinks.viewers import viewers_of
from workbook.spark import session
from workbook.spark.runner import OnPoint
from workbook.stack.addresses import database, registry
from workbook.streams.events.ad_actions import ARRIVAL, INCOMPATIBLE, OSLO, VERSIONS, head
from workbook.streams.generators.ad_actions import AdActionStream
from workbook.streams.ledgers.actions import judge
from workbook.streams.stream_producer import send_replicated
from workbook.systems import SYSTEMS

MIDNIGHT = datetime(2026, 1, 2, tzinfo=OSLO)
DAY = MIDNIGHT.date()
POINTS = ("before-compute", "before-database", "before-commit", "before-checkpoint")


class Replays(Run):
    """Runs over a topic with 50 minutes of actions around midnight, in the order of arrival."""

    def __init__(self, broker: Broker, spark: SparkSession, name: str, partitions: int = 2) -> None:
        super().__init__(broker, spark, name, partitions)
        self.options.out = None
        self.options.max_per_batch = 1_000
        start = int((MIDNIGHT - timedelta(minutes=25)).timestamp() * 1000)
        self.stream = AdActionStream(
            ids=self.ids, rate=1, ads=30, users=300, start_ms=start,
            duplicate_share=0.1, late_share=0.2, too_old_share=0.01,
        )  # fmt: skip

    def send(self, stream: AdActionStream, first: int, last: int) -> None:
        """Send them as a replicator that is never behind; the producers' clocks are ahead."""
        block = stream.block(first, last)
        sent = zip(block["value"].to_pylist(), block["arrival"].to_pylist(), strict=True)
        records = (
            (value, sha1(value or b"").digest(), -1, at - 40 * 60_000, {ARRIVAL: str(at).encode()})
            for value, at in sent
        )
        produce(self.config, self.topic.name, *records)

    def days(self, first: date = DAY, last: date = DAY) -> None:
        """Let the next starts replay these days."""
        vars(self.options).update({"from": first, "to": last})

    def replay(self, checkpoint: Path, at: OnPoint | None = None) -> None:
        """Replay to the end, or to where ``at`` ends it."""
        with self.start(checkpoint, at) as running:
            while not running.wait(60):
                pass

    def clean(self, sent: int) -> None:
        """Require that counts and viewers are those of all actions that were sent."""
        expected = self.stream.expected(0, sent)
        verdict = judge(expected, self.counts(), Counter(expected["fate"]))
        assert verdict.clean, str(verdict)
        views = expected[(expected["fate"] == "accepted") & (expected["type"] == "view")]
        options = f"-c search_path={self.name}"
        with psycopg.connect(database("test"), options=options) as connection:
            for (ad, day), users in views.groupby(["ad", "day"])["user"]:
                of_day = viewers_of(connection, ad, day, day)
                assert of_day == (users.nunique(), users.nunique()), (ad, day)


class Dies(OnPoint):
    """Ends a query when it passes a point for the n-th time."""

    def __init__(self, point: str, passes: int) -> None:
        self.point, self.left = point, passes

    def __call__(self, point: str) -> None:
        self.left -= point == self.point
        if point == self.point and self.left == 0:
            raise InterruptedError(f"died at {point}")


@pytest.fixture
def run(broker: Broker, spark: SparkSession, request) -> Replays:
    return Replays(broker, spark, request.node.originalname[5:35])


def test_a_replay_repairs_a_day_while_the_live_query_counts_on(run, monkeypatch) -> None:
    system, checkpoint = SYSTEMS["ad_statistics"], session.checkpoint("live")
    run.send(run.stream, 0, 2_000)
    # The bug: who views an ad again within ten minutes doesn't count.
    monkeypatch.setattr(system, "same", F.struct("action.ad", "action.type", "action.user"))
    run.through(checkpoint)
    wrong = run.ask("SELECT sum(count)::int FROM counts")[0][0]
    monkeypatch.setattr(system, "same", None)

    # The fixed query knows hashes of the other rule, so it begins without a checkpoint.
    with run.start(session.checkpoint("fixed")) as live:
        live.process_all()
        run.days(DAY - timedelta(3), DAY)
        seen = []

        class Looks(OnPoint):
            def __call__(self, point: str) -> None:
                if point == "before-database" and not seen:
                    run.send(run.stream, 2_000, 2_600)
                    live.process_all()
                if point == "before-commit":
                    seen.append(run.ask("SELECT sum(count)::int FROM counts")[0][0])

        run.replay(session.checkpoint("replay"), Looks())
        more = (run.stream.expected(2_000, 2_600)["fate"] == "accepted").sum()
        assert len(seen) > 1
        assert {*seen} == {wrong + more}, "until the last commit readers see the old counts"
        run.clean(2_600)
        run.send(run.stream, 2_600, 3_000)
        live.process_all()
        run.clean(3_000)
        assert run.ask("SELECT DISTINCT generation FROM counts_by_generation ORDER BY 1") == [
            (1,),
            (2,),
        ], "nothing of the old generation is left"
        run.days()  # once more, over all that has been written since: it begins at midnight
        run.replay(session.checkpoint("replay"))
        run.clean(3_000)


def test_an_interrupted_replay_resumes_and_counts_nothing_twice(run) -> None:
    """A day was counted wrongly; its replay dies at each point, and continues."""
    run.send(run.stream, 0, 3_000)
    run.through(session.checkpoint("live"))
    run.ask("UPDATE counts_by_generation SET count = count + 7 RETURNING 1")
    run.days(DAY - timedelta(3), DAY)
    draw, checkpoint = random.Random(1), session.checkpoint("replay")
    for point in draw.sample(POINTS, len(POINTS)):
        with pytest.raises(Exception, match="died at"):
            run.replay(checkpoint, Dies(point, draw.randint(1, 2)))
        if draw.random() < 0.5:  # without its own it starts from the beginning
            checkpoint = session.checkpoint("replay")
    run.replay(checkpoint)
    run.clean(3_000)


def test_replays_that_fail_finish_or_come_too_late_change_only_what_they_may(run, broker) -> None:
    run.days(DAY - timedelta(3), DAY)
    with pytest.raises(CannotGoOn, match="nothing to replace"):
        run.replay(session.checkpoint("replay"))
    run.days(None, None)
    run.send(run.stream, 0, 700)
    run.through(session.checkpoint("live"))

    run.days(DAY - timedelta(3), DAY)
    right, run.options.subject = run.options.subject, f"{run.name}-other"
    register(registry("test"), run.options.subject, INCOMPATIBLE)
    with pytest.raises(Exception, match="rejected all of them"):
        run.replay(session.checkpoint("replay"))
    run.options.subject, checkpoint = right, session.checkpoint("replay")
    run.days(DAY, DAY + timedelta(1))
    with pytest.raises(CannotGoOn, match="Finish it first, with --from 2025-12-30 --to 2026-01-02"):
        run.replay(session.checkpoint("replay"))
    run.clean(700)

    run.days(DAY - timedelta(3), DAY)
    with pytest.raises(Exception, match="died at"):
        run.replay(checkpoint, Dies("before-checkpoint", 1))  # behind its swap
    run.replay(checkpoint)  # it doesn't begin again
    assert run.ask("SELECT generation, shown FROM replays") == [(1, True)]
    run.clean(700)
    with pytest.raises(CannotGoOn, match="use a new folder"):
        run.replay(checkpoint)

    run.days(DAY + timedelta(60), DAY + timedelta(61))  # without an action
    run.replay(session.checkpoint("replay"))
    assert run.ask("SELECT shown FROM replays") == [(True,)] * 2

    run.send(run.stream, 700, 1_400)  # the live query is down: both replays read beyond its fence
    run.days(DAY - timedelta(3), DAY)
    run.options.max_per_batch = 400
    older = session.checkpoint("replay")
    with pytest.raises(Exception, match="died at"):
        run.replay(older, Dies("before-checkpoint", 2))
    run.replay(session.checkpoint("replay"))
    run.replay(older)  # leaves the newer one alone
    last = "SELECT generation, shown FROM replays ORDER BY 1 OFFSET 2"
    assert run.ask(last) == [(5, True), (7, True)]
    run.clean(700)

    run.system.check_topics(broker, run.options)
    delete_before(run.config, run.topic.name, 100)
    with pytest.raises(CannotGoOn, match="partition 0 begins later, at offset 100"):
        run.system.check_topics(broker, run.options)


def test_days_that_cannot_be_replayed_are_refused() -> None:
    system = SYSTEMS["ad_statistics"]
    options = system.options([])
    first, second = (datetime.now(OSLO).date() + timedelta(n) for n in (0, 1))
    for wrong in ((second, first), (first, second), (None, first), (first, None)):
        vars(options).update(zip(("from", "to"), wrong, strict=True))
        with pytest.raises(WorkbookError, match="Expected"):
            system.check(options)


def test_dead_letters_are_counted_once_they_can_be_read(run) -> None:
    """They keep the bytes and the arrival, so the same system reads their topic."""
    newer = json.loads(VERSIONS[1])
    newer["fields"].append({"name": "device", "type": "string", "default": "phone"})
    text = json.dumps(newer)
    wrong = register(registry("test"), f"{run.name}-wrong", text)  # under another subject
    good = AdActionStream(
        ids=(run.ids[1], run.ids[1]), rate=1, old_version_share=0, bad_share=0, no_ad_share=0,
        duplicate_share=0, start_ms=run.stream.start_ms,
    )  # fmt: skip
    block = good.block(0, 300)
    values = [head(wrong) + value[5:] + b"\x06abc" for value in block["value"].to_pylist()]
    sent = zip(values, block["arrival"].to_pylist(), strict=True)
    send_replicated(run.config, run.topic.name, sent)
    run.through(session.checkpoint("live"))
    assert run.ask("SELECT fate, count FROM fates WHERE count > 0") == [("rejected", 300)]

    assert register(registry("test"), f"{run.name}-value", text) == wrong
    run.options.source = run.topic.dead_letters.name
    run.options.dead_letters = f"{run.options.source}.dead-letters"
    letters = session.checkpoint("letters")
    run.through(letters)
    run.through(letters)
    expected = good.expected(0, 300)
    counts = run.counts()
    fates = dict(run.ask("SELECT fate, count FROM fates WHERE pipeline = 'letters'"))
    verdict = judge(expected, counts, fates)
    assert verdict.clean, str(verdict)

    run.options.source = run.topic.name
    run.days(DAY - timedelta(3), DAY)
    run.replay(session.checkpoint("replay"))
    assert judge(expected, run.counts(), fates).clean, "the replay reads the originals"
    vars(run.options).update({"from": None, "to": None, "source": run.topic.dead_letters.name})
    with pytest.raises(CannotGoOn, match="Expected no replay in this schema"):
        run.through(session.checkpoint("letters"))
