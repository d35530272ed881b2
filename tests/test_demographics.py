"""Who the viewers are: the table of viewers, joined to the actions, and the groups on the page."""

from collections import defaultdict

import pandas as pd
import pytest
from ad_runs import Run
from brokers import produce
from hypothesis import given
from hypothesis import strategies as st

from workbook.errors import CannotGoOn, TopicMissing, WorkbookError
from workbook.lessons.groups_of_viewers.hidden_groups import hidden_groups
from workbook.sinks.viewers import GROUPS, sketch_of
from workbook.sources.viewers import newest
from workbook.spark import session
from workbook.streams.events.viewers import BASE, PLACES, TRAITS, UNKNOWN, Viewer
from workbook.streams.generators.ad_actions import AdActionStream
from workbook.streams.generators.viewers import ViewerStream
from workbook.streams.stream_producer import generate
from workbook.systems import SYSTEMS
from workbook.topics import compacted, new_topic
from workbook.views.owners_page import shown_groups

NOW = 1_790_000_000_000
NORTH = Viewer("25-44", "female", "Northern Norway")


def named(code: int) -> tuple[str, ...]:
    """The values of the three traits that a code stands for."""
    return tuple((UNKNOWN, *TRAITS[t])[code // PLACES[t] % BASE] for t in TRAITS)


def test_the_newest_record_of_each_user_counts_and_bad_ones_say_nothing(spark) -> None:
    moved = Viewer("25-44", "female", "Trøndelag")
    records = [
        (b"1", NORTH.to_json()), (b"1", moved.to_json()),
        (b"2", NORTH.to_json()), (b"2", None),
        (b"3", None), (b"3", NORTH.to_json()),
        (b"4", b"no JSON"), (b"5", b""), (b"6", b'{"age_group": 7, "gender": "male"}'),
        (b"7", NORTH.to_json()), (b"7", b"{}"),
        (b"07", NORTH.to_json()), (b" 8", NORTH.to_json()), (b"9.0", NORTH.to_json()),
        (b"x", NORTH.to_json()), (None, NORTH.to_json()), (b"\xff", NORTH.to_json()),
        (str(-(2**63)).encode(), NORTH.to_json()), (str(2**63).encode(), NORTH.to_json()),
    ]  # fmt: skip
    # In one partition the times don't matter; between two the offsets don't.
    rows = [(key, value, offset, 0, -offset) for offset, (key, value) in enumerate(records)]
    rows += [(b"10", NORTH.to_json(), 99, 0, 5), (b"10", moved.to_json(), 0, 1, 6)]
    rows += [(b"11", NORTH.to_json(), 98, 0, 5), (b"11", None, 1, 1, 6)]
    schema = "key BINARY, value BINARY, offset BIGINT, partition INT, timestamp BIGINT"
    raw = spark.createDataFrame(rows, schema)
    unknown = (UNKNOWN,) * 3
    assert {row.user: named(row.traits) for row in newest(raw).collect()} == {
        1: ("25-44", "female", "Trøndelag"), 3: ("25-44", "female", "Northern Norway"),
        10: ("25-44", "female", "Trøndelag"),
        4: unknown, 5: unknown, 6: (UNKNOWN, "male", UNKNOWN), 7: unknown,
        -(2**63): ("25-44", "female", "Northern Norway"),
    }  # fmt: skip


def traits_of(viewers: pd.DataFrame) -> dict[int, tuple[str, ...]]:
    """The newest traits of each user, from the generator's facts; no row for the erased."""
    last = viewers.drop_duplicates("user", keep="last")
    here = last[~last.deleted]
    return dict(zip(here.user, here[list(TRAITS)].itertuples(index=False, name=None), strict=True))


def users_of(actions: pd.DataFrame, traits: dict[int, tuple[str, ...]]) -> dict[tuple, set[int]]:
    """The users of accepted views by ad, day, trait and value: the join, by hand."""
    found = defaultdict[tuple, set[int]](set)
    views = actions[(actions.fate == "accepted") & (actions.type == "view")]
    for ad, day, user in views[["ad", "day", "user"]].itertuples(index=False):
        for trait, value in zip(TRAITS, traits.get(user, (UNKNOWN,) * 3), strict=True):
            found[ad, day, trait, value].add(user)
    return found


def sketches(system: Run) -> dict[tuple, bytes]:
    rows = system.ask("SELECT ad, day, trait, value, sketch FROM groups")
    return {tuple(key): sketch for *key, sketch in rows}


def of(users: dict[tuple, set[int]]) -> dict[tuple, bytes]:
    return {key: sketch_of(each, GROUPS.log_k) for key, each in users.items()}


def test_groups_are_those_of_the_time_of_the_view_and_a_replay_makes_them_todays(
    broker, spark
) -> None:
    system = Run(broker, spark, "groups", 2)
    table = compacted(f"{system.name}.viewers", 2)
    broker.create(table)
    system.options.viewers = table.name
    people = ViewerStream(users=250, partitions=2, bad_share=0.1, duplicate_share=0.1)
    generate(system.config, table.name, people, 320)
    facts = people.expected(0, 320)
    before = traits_of(facts)
    assert facts.deleted.any()
    assert set(range(250)) - set(before), "none is erased for good"
    stream = AdActionStream(ids=system.ids, rate=20, ads=20, users=300, late_share=0.2)
    first, second = stream.expected(0, 3_000), stream.expected(3_000, 6_000)

    with system.start(session.checkpoint("groups")) as running:
        system.send(stream, 0, 3_000)
        running.process_all()
        expected = users_of(first, before)
        assert sketches(system) == of(expected)
        assert {UNKNOWN, *TRAITS["region"]} == {value for *_, t, value in expected if t == "region"}

        # While it runs: a hundred viewers move to the north, and a hundred others are erased.
        moved = ((NORTH.to_json() if user < 100 else None, str(user)) for user in range(200))
        produce(system.config, table.name, *moved)
        after = {user: of for user, of in before.items() if not user < 200}
        after |= dict.fromkeys(range(100), ("25-44", "female", "Northern Norway"))
        system.send(stream, 3_000, 6_000)
        running.process_all()
    for key, users in users_of(second, after).items():
        expected[key] |= users
    assert sketches(system) == of(expected)

    days = sorted(day for _, day, *_ in expected)
    vars(system.options).update({"from": days[0], "to": days[-1], "out": None, "viewers": None})
    with pytest.raises(CannotGoOn, match="has the viewers' groups"):
        system.start(session.checkpoint("replay") / "0")
    system.options.viewers = table.name
    with system.start(session.checkpoint("replay") / "0") as replay:
        while not replay.wait(60):
            pass
    assert sketches(system) == of(users_of(stream.expected(0, 6_000), after))
    viewers = system.viewers()
    views = stream.expected(0, 6_000).query("fate == 'accepted' and type == 'view'")
    assert viewers == views.groupby(["ad", "day"])["user"].agg(sketch_of).to_dict()


def test_a_table_of_viewers_must_be_there_and_compacted(broker, topic) -> None:
    system, actions = SYSTEMS["ad_statistics"], topic("ad-actions").name
    plain = topic("viewers").name
    for viewers, error in (
        (new_topic("viewers", "none").name, TopicMissing),
        (plain, WorkbookError),
    ):
        options = system.options(["--in", actions, "--viewers", viewers])
        with pytest.raises(error, match=viewers):
            system.check_topics(broker, options)


NAMES = st.text(max_size=2) | st.just(UNKNOWN)


@given(st.dictionaries(NAMES, st.integers(0, 40), max_size=6), st.integers(1, 30))
def test_nobody_computes_a_small_group_from_the_total(counts, least) -> None:
    shown = shown_groups(counts, least)
    assert all(n is None or least <= n == counts[name] for name, n in shown.items())
    hidden = [counts[name] for name, n in shown.items() if n is None]
    if hidden and len(hidden) < len(counts):
        assert len(hidden) > 1
        assert sum(hidden) >= least
    assert (not hidden) == all(n >= least for n in counts.values())
    assert shown == hidden_groups.reference(counts, least)
