"""All pictures: data in; a caption, words, a table and a drawing with the same facts out."""

import base64
import re
import xml.dom.minidom
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from workbook.streams.events.group_records import key_fields, value_fields
from workbook.views import colours, owners_page
from workbook.views import pipeline as draw
from workbook.views.charts import per_second
from workbook.views.checkpoint import checkpoint
from workbook.views.clocks import clocks
from workbook.views.compaction import (
    DUE,
    GONE,
    LATEST,
    NEWER,
    Stored,
    compacted,
    compaction,
    starts,
)
from workbook.views.event_time import MOST, event_time
from workbook.views.group import STEPS, Step, who_reads, who_writes
from workbook.views.group_life import Look as Seen
from workbook.views.group_life import group_life, phases
from workbook.views.groups import SHOWN, board, groups_table
from workbook.views.merging import DRAWN, Moment, leads, merging
from workbook.views.picture import NOTHING, Picture, moment
from workbook.views.plane import LINES, Plane
from workbook.views.record_bytes import record_bytes, record_steps
from workbook.views.restart import Moment as Batch
from workbook.views.restart import Record, restart
from workbook.views.runs import LAST_MS, MicroBatch, Read, Run, joined, newest, reported
from workbook.views.strip import Look
from workbook.views.table_change import CHANGES, group_steps, table_changes
from workbook.views.table_change import LAST as UPDATES
from workbook.views.tape import SHOWN as ON_TAPE
from workbook.views.tape import Place, Span, tape
from workbook.views.windowed_store import LINES as GROUPS
from workbook.views.windowed_store import windowed_store

NOON, MINUTE = 1_700_049_600_000, 60_000
"""2023-11-15 12:00:00 UTC."""


def titles(picture: Picture, look: Look | None = None) -> list[str]:
    """What is said of each box, or of those that have a look, to who points at it."""
    style = re.escape(look.value) + r'[^"]*" ' if look else ""
    return re.findall(rf'{style}title="([^"]*)"', picture.figure)


def shown(picture: Picture) -> str:
    """All that a picture shows: its HTML, and the words that stand in an image."""
    images = [base64.b64decode(data).decode() for data in
              re.findall(r"base64,([^\"]+)", picture.figure)]  # fmt: skip
    return picture.figure + " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", "".join(images)))


# --- what each picture says of one input --------------------------------------------------------

KEY = bytes.fromhex("0001 0005 636166c3a9 0006 636c69636b73 0000012c")
COMMIT = bytes.fromhex("0003 000000000000002a 00000000 0000 000001a20b5e83a6")

CHAPTER_20 = [Stored(n, key, n == 7) for n, key in enumerate("12345125311")]
"""Chapter 20's partition: offset 7 is a tombstone, 9 begins the active segment."""

LABELS = ["v1", "v2", "v3", "v1", "v2", "v4", "v4", "v5", "v2", "v3", "v5", "v6"]
SINK: list[Record] = [("v1", [0, 3], 0), ("v4", [5, 6], 1), ("v2", [1, 4, 8], 1)]
AGAIN: list[Record] = [
    ("v1", [3], 1), ("v4", [5, 6], 1), ("v2", [1, 4, 8], 1), ("v3", [2, 9], 1), ("v5", [7, 10], 1),
]  # fmt: skip
RUN: list[Batch] = [
    (0, 3, {"v1": [0], "v2": [1], "v3": [2]}, []),
    (3, 6, {"v2": [1, 4], "v3": [2], "v4": [5]}, SINK[:1]),
    (6, 8, {"v2": [1, 4], "v3": [2], "v5": [7]}, SINK[:2]),
    (8, 12, {"v3": [2, 9], "v5": [7, 10], "v6": [11]}, SINK),
    (1, 12, {"v6": [11]}, SINK + AGAIN),
]

TO_A, TO_B = ("A", "assigned", [0, 1, 2]), ("B", "assigned", [3, 4, 5])
BY_RANGE: list[Step] = [("A", "revoked", [0, 1, 2, 3, 4, 5]), TO_A, TO_B]
SHARED = {"A": {0, 1, 2}, "B": {3, 4, 5}}

KILLED = [Seen(at, "billing", members, [last]) for at, members, last in
          ((100, 1, 100), (101, 1, 101), (109, 0, 101))]  # fmt: skip


def files(number: int, at: float, *kinds: str) -> list[tuple[str, int, float]]:
    """The files of a micro-batch, one each 0.3 s."""
    wanted = kinds or ("offsets", "state", "commits")
    return [(kind, number, at + 0.3 * step) for step, kind in enumerate(wanted)]


OPEN = [*files(9, 96.0), *files(10, 97.5), *files(11, 99.0, "offsets", "state")]
SINCE = [*OPEN, ("state", 11, 130.0), ("commits", 11, 130.5), *files(12, 131.0)]
STOPPED = "When the kill fell, micro-batch 11 was in offsets and state, and not in commits."


def clicks(*rows: tuple[int, int, int]) -> pd.DataFrame:
    """Partition, offset, event time in ms after noon; they arrive in this order."""
    table = pd.DataFrame(rows, columns=["partition", "offset", "time"], dtype="int64")
    return table.assign(arrival=NOON + np.arange(len(rows)), time=NOON + table["time"])


def in_bites(times: list[list[int]], delay: int = 5_000) -> Run:
    """One partition; a list of event times for each micro-batch, and a watermark as Spark's."""
    flat = [time for bite in times for time in bite]
    table = clicks(*((0, offset, time) for offset, time in enumerate(flat)))
    read, end, top = {}, 0, None
    for number, bite in enumerate(times):
        end += len(bite)
        read[number] = Read({0: end}, None if top is None else NOON + top - delay)
        top = max([top, *bite] if top is not None else bite, default=None)
    return joined(table, read)


TUNNEL = [[100, 200, 3_100], [], [900, 4_200], [-60_000], [9_000], [], [3_999, 4_000]]
"""Two late ones: 900 is counted, -60,000 and 3,999 come after the watermark."""


def polled(*rows: tuple[int, int]) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=["partition", "timestamp"])
    return table.assign(timestamp=NOON + table["timestamp"])


THREE = polled((0, 0), (0, 9_500), (1, 2_200), (2, 4_800), (0, 9_100))
THERE = {"tracking": [0, 5, 10, 40], "orders": [0, 20]}
TOPICS = ("tracking", "orders")
AT = 1_767_225_600_000  # midnight
MERGE: list[Moment] = [
    ("tracking", "a", AT, {"tracking": AT}, {"a": AT + 20_000}, []),
    ("orders", "a", AT + 5_000, {"tracking": AT, "orders": AT + 5_000}, {"a": AT + 25_000}, []),
    (
        *("tracking", "b", AT + 30_000, {"tracking": AT + 30_000, "orders": AT + 5_000}),
        *({"a": AT + 25_000, "b": AT + 50_000}, []),
    ),
    (
        *("orders", None, AT + 40_000, {"tracking": AT + 30_000, "orders": AT + 40_000}),
        *({"b": AT + 50_000}, ["a"]),
    ),
]

SHOP, COUNT, CELLS = draw.topic("clicks", 2), draw.loop("count", "map"), draw.sink("shown")
WINDOW = 1_700_000_000_000
STORED = [(WINDOW, "till", "3"), (WINDOW + 20_000, "office", "1"), (WINDOW + 20_000, "till", "3")]


def emitted(client: str, change: str, position: str, deleted: bool = False) -> dict[str, Any]:
    what = {"client": client, "change": change, "position": position, "deleted": deleted}
    return {**what, "tickers": {"AAPL": 1}}


def of_group(group: str, lag: int | None = 12_345, **more: Any) -> dict[str, Any]:
    plain = {
        "group": group, "state": "active", "members": 2,
        "client_ids": [f"{group}-1", f"{group}-2"], "topics": ["orders.32-windowed-store.a3e7"],
        "lag": lag, "seconds": None if lag is None else 95.25, "at_least": False,
        "commit_age": 3.0, "remarks": [],
    }  # fmt: skip
    return {**plain, **more}


PICTURES: dict[str, tuple[Picture, str, dict[str, Any], tuple[str, ...]]] = {
    "tape": (
        tape([Place("read", 4), Place("committed", 2)], 5, crash=3,
             labels=dict(enumerate(["a", "<b>", "c", "d", "e"]))),
        "5 records; committed: 2; read: 4; kill -9 before: 3; end: 5.",
        {"place": "kill -9 before", "offset": "3"},
        ("read: 4", "committed: 2", "✂ kill -9 here, before 3", "&lt;b&gt;", "end 5"),
    ),
    "bytes": (
        record_bytes(KEY, key_fields(KEY)),
        "21 bytes: kind 1, length 5, group café, length 6, topic clicks, partition 300.",
        {"bytes": "4 to 8", "field": "group", "value": "café", "hex": "63 61 66 c3 a9"},
        ('title="byte 1: 1"', "café"),
    ),
    "compaction": (
        compaction(CHAPTER_20, [3, 5, 6, 7, 8, 9, 10], [0, 9]), "11 records before, 7 now.",
        {"offset": 7, "key": "5 (tombstone)", "segment": "closed", "now": LATEST},
        ("offset 7: key 5 (tombstone)", "offset 4: is gone", "L: ", "C: "),
    ),
    "restart": (
        restart(LABELS, RUN, 4),
        "Killed at 12 of 12; read twice: 0; emitted twice: 0; lost: 0 messages.",
        {"batch": 3, "read": "6: v4, 7: v5", "open": "v2, v3, v5", "emitted": "v4",
         "the sink says": 1},
        ("✂ killed at 12", "a restart begins at 1, says", "offset 7: v5, open"),
    ),
    "restart, read again": (
        restart(LABELS, RUN),
        "Reading goes on at 12 of 12; read twice: 11; emitted twice: 6; lost: 0 messages.",
        {"batch": 5}, ("✓✓↻",),
    ),
    "restart, lost": (
        restart(LABELS, [*RUN[:4], (11, 12, {"v6": [11]}, SINK)]),
        "Reading goes on at 12 of 12; read twice: 1; emitted twice: 0; lost: 4 messages.",
        {"batch": 5}, ("offset 2: v3, lost",),
    ),
    "who writes": (
        who_writes([(None, 0), ("a", 2), (b"a", 1), (b"\xff", 0), ("<b>", 0), (b"", 0)], 3,
                   mark="a"),
        "6 records in 3 partitions, 4 keys; keys in several partitions: 1.",
        {"partition": 1, "records": 1, "keys": "⇉ ▶ a · 1"},
        ("⇉ ▶ a · 1", "\\xff · 1", "&lt;b&gt; · 1", "(empty) · 1", "no key · 1"),
    ),
    "who reads": (
        who_reads(SHARED, BY_RANGE, 6), "A reads 0, 1, 2; B reads 3, 4, 5.",
        {"partition": "5", "read by": "B", "had by, step by step": "A – – B"},
        ("partition 3: nobody",),
    ),
    "a group's life": (
        group_life(KILLED, [(103, "billing", "kill -9")], 120, 5),
        "billing: empty (done to it: kill -9 at 3 s).", {"commits seen": "2 commits"},
        ("kill -9", "members, idle"),
    ),
    "checkpoint": (
        checkpoint(SINCE, kills=[100], starts=[125], planned={10: 1100, 11: 1200}), STOPPED,
        {"micro-batch": "11", "reads up to offset": "1,200", "offsets": "-1.00 s",
         "state": "-0.70 s, +30.00 s", "commits": "+30.50 s"},
        ("commits/11 is missing", "▶ started again", "✂ kill -9"),
    ),
    "event time": (
        event_time(in_bites(TUNNEL)),
        "Micro-batches 0 to 6: 9 page views in 5 windows. Dropped: 2.",
        {"micro-batch": 6, "dropped": 1}, ("earlier: 2023-11-15 11:59:00", "dropped"),
    ),
    "clocks": (
        clocks(THREE, 3),
        "Partitions with a clock: 3 of 3. Closed by the minimum: 1 of 4 windows. Closed by the "
        "maximum less 5 seconds: 2 of 4 windows.",
        {"partition": 1, "its window": "closed by the maximum"}, ("by minimum:",),
    ),
    "leads": (
        leads(THERE, {"tracking": 4, "orders": 2}, 10),
        "topic: tracking; top: second 40; state: waits; read: 0, 5, 10, 40; unread: –. "
        "topic: orders; top: second 20; state: may go on; read: 0, 20; unread: –.",
        {"topic": "orders"}, ("may read up to here", "waits, all read"),
    ),
    "merge": (
        merging(MERGE, TOPICS),
        "The last of 4 rows: message: 4; of: orders: heartbeat; event time: 00:00:40; "
        "clock: 00:00:30; open: b; emitted: a.",
        {"message": 1, "clock": "–", "open": "a"}, ("clock 00:00:30", "✓ emitted"),
    ),
    "chart": (
        per_second({"a": {10: 4, 12: 6}, "b": {}}, "Views"),
        "line: a; newest second: 6; on average: 3.3. "
        "line: b; newest second: nothing yet; on average: 0.0.",
        {"line": "a", "newest second": "6"}, (" a", " b"),
    ),
    "pipeline": (
        draw.pipeline((draw.producer("<shop>"), SHOP, COUNT, CELLS),
                      (SHOP, draw.query("by_spark"), CELLS), (draw.topic("orders"), COUNT)),
        "<shop> → clicks → count → shown; clicks → by_spark → shown; orders → count.",
        {"part": "clicks", "kind": "topic, 2 partitions", "state": "–",
         "goes on to": "count, by_spark"},
        ("↑ clicks", "↑ shown", "state: map", "&lt;shop&gt;"),
    ),
    "groups, change by change": (
        group_steps([emitted("Al", "add", "p1"), emitted("Bo", "add", "p2"),
                     emitted("Al", "subtract", "p1", deleted=True)]),
        "3 changes in 2 groups.",
        {"group": "Al", "change": 2, "row": "−1 p1", "result": "AAPL ×1 → deleted"},
        ("✗ deleted",),
    ),
    "windowed store": (
        windowed_store(STORED, 10_000, ("till", WINDOW, WINDOW + 10_000)),
        "3 rows in 3 windows. The question returns 1 row.",
        {"window from": "22:13:30", "office": "–", "till": "–"},
        ("till, 22:13:20, returned", "A double frame"),
    ),
    "board of groups": (
        board([of_group("down", 100), of_group("lost", None)],
              {"down": [(NOON - 2 * MINUTE, 0), (NOON - MINUTE, 800), (NOON, 100)],
               "lost": [(NOON - MINUTE, 3)]}, NOON,
              [{"group": "dead", "how": "deleted", "ago": 33.0, "client_ids": ("d-1",),
                "lag": None}], trouble="Silence"),
        "down: 100 behind; lost: – behind.",
        {"group": "down", "a minute ago": "800", "now": "100", "highest": "800"},
        ("100", "✕ deleted", "33 seconds ago", "⚠ Silence: lags are old."),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_has_a_caption_words_and_a_table_with_the_same_facts(name: str) -> None:
    """So nobody needs to see it; its words stand below it, in its description, and as text."""
    picture, words, row, texts = PICTURES[name]
    assert picture.words == words
    assert any(row.items() <= dict(each).items() for each in picture.rows) or not row
    assert [text for text in texts if text not in shown(picture)] == []
    assert picture.caption in repr(picture)
    described = re.findall(r'(?:alt|aria-label)=[\'"](.*?)[\'"](?: |>)', picture.figure)
    escaped = words.replace("<", "&lt;").replace(">", "&gt;").replace("'", "&#x27;")
    assert escaped in described
    assert f"<br>{escaped}</figcaption>" in picture.figure
    assert picture.twin.count("<tr>") == (len(picture.rows) + 1 if picture.rows else 0)


def test_no_meaning_is_in_a_colour_alone() -> None:
    ours = {value for name, value in vars(colours).items() if name.isupper()}

    def without_colour(style: str) -> str:
        for colour in sorted(ours, key=len, reverse=True):
            style = style.replace(colour, "")
        return style

    for styles in (
        {look.value for look in Look if look is not Look.CROSSED},  # it has a ✗
        {style for look, style in draw.LOOKS.items() if look != "gone"},  # that, too
    ):
        assert len({without_colour(style) for style in styles}) == len(styles)
    assert len({hatch for _, hatch in owners_page.LOOKS.values()}) == len(owners_page.LOOKS)
    assert len({(dashes, mark) for _, dashes, mark in LINES}) == len(LINES)


def test_where_there_is_nothing_it_says_so() -> None:
    drawn = (
        who_writes([], 3), group_life([], [], 5, 10), checkpoint([]), merging([], TOPICS),
        draw.pipeline(), windowed_store([], 10_000), board([], {}, NOON),
    )  # fmt: skip
    assert {picture.words for picture in drawn} == {NOTHING}


def test_of_much_a_part_is_drawn_and_all_is_counted() -> None:
    drawn = compaction([Stored(n, f"k{n % 1000}") for n in range(9_000)], range(8_000, 9_000))
    assert drawn.words == "9,000 records before, 1,000 now."
    assert len(drawn.rows) == 20
    long = bytes.fromhex("0002 00c8") + b"x" * 200
    assert "204 bytes, the first 96 drawn" in record_bytes(long, key_fields(long)).words
    many = windowed_store([(WINDOW, f"g{n:02}", "1") for n in range(GROUPS + 1)], 10_000)
    assert f"the first {GROUPS} groups" in many.words
    many = group_steps([emitted("Al", "add", f"p{n}") for n in range(CHANGES + 3)])
    assert f"Drawn: the last {CHANGES} changes of the 1 groups" in many.words
    many = who_writes(
        [(f"tab-{n}", n % 3) for n in range(40) for _ in range(n + 1)], 3, mark="tab-0"
    )
    assert ("▶ tab-0 · 1" in many.figure, "tab-27 ·" in many.figure) == (True, False)
    many = who_reads({"A": {0}}, [("A", "revoked", [0]), ("A", "assigned", [0])] * 100, 1)
    assert many.rows[0]["had by, step by step"] == " ".join("–A" * (STEPS // 2))
    long = restart([f"v{n}" for n in range(100)], [(60, 100, {}, [("v50", [50], 40)])])
    assert titles(long)[0] == "offset 78: v78, lost"
    assert [batch.number for batch in newest(in_bites(TUNNEL), 3)] == [4, 5, 6]
    visits: list[Moment] = []
    for n in range(40):
        dues = {f"v{m}": AT + m for m in range(n + 1)}
        visits.append(("tracking", f"v{n}", AT + n, {"tracking": AT + n}, dues, []))
    assert f"Drawn: the {DRAWN} of 40 visits" in merging(visits, TOPICS).caption


# --- rules that a picture computes itself -------------------------------------------------------


def test_the_records_of_a_span_share_its_look() -> None:
    drawn = tape([], 9, spans=[Span("three: lost", 2, 5, Look.CROSSED), Span("none", 7, 7)])
    assert titles(drawn, Look.CROSSED) == [f"offset {n}: " for n in (2, 3, 4)]
    assert drawn.figure.count("✗") == 3
    assert "none" not in drawn.words


@pytest.mark.parametrize("committed", [0, 500_000, 999_999, 1_000_000])
def test_of_a_million_records_those_around_the_places_are_drawn(committed: int) -> None:
    drawn = tape([Place("committed", committed)], 1_000_000)
    ones = [int(n) for n in re.findall(r'"offset (\d+):', drawn.figure)]
    runs = [(int(a), int(b)) for a, b in re.findall(r'"offsets (\d+) to (\d+)"', drawn.figure)]
    assert len(ones) + len(runs) <= ON_TAPE
    assert committed in ones or committed - 1 in ones
    assert len(ones) + sum(last - first + 1 for first, last in runs) == 1_000_000
    assert f"1,000,000 records, {len(ones)} drawn; " in drawn.words


def test_the_fields_of_bytes_cover_all_of_them_whatever_they_are() -> None:
    chance = Random(30)
    for size in range(200):
        data = bytes([0, chance.randrange(12)]) + chance.randbytes(size % 60)
        for fields in (key_fields(data), value_fields(data[1], data)):
            places = [at for field in fields for at in range(field.first, field.first + field.size)]
            assert places == list(range(len(data)))
    steps = record_steps({1: (KEY, COMMIT), 2: (bytes.fromhex("0002 0000"), None)})
    assert [name for name, _ in steps.slider.options] == [
        "a commit: key", "a commit: value", "a classic group: key",
    ]  # fmt: skip


def test_compaction_says_of_each_record_why_it_stayed() -> None:
    def why(picture: Picture) -> list[str]:
        return [row["now"] for row in picture.rows]

    assert why(PICTURES["compaction"][0]) == [
        GONE, GONE, GONE, LATEST, GONE, NEWER, LATEST, LATEST, LATEST, DUE, LATEST,
    ]  # fmt: skip
    assert why(compaction(CHAPTER_20, range(11), [0, 9]))[0] == DUE

    def found(offset: int, key: Any, time: int = 0, value: bytes | None = b"1") -> Any:
        its = {"offset": offset, "key": key, "value": value, "topic": "t"}
        said = {name: (lambda what=what: what) for name, what in its.items()}
        return SimpleNamespace(**said, timestamp=lambda: (1, time))

    topic = [found(n, key) for n, key in enumerate([b"a", b"\xff", b"a", None])]
    look = compacted(lambda: topic, 500)
    topic.append(found(4, b"a", 1000, None))
    del topic[0]
    assert why(look()) == [GONE, LATEST, NEWER, LATEST, LATEST]
    assert [row["key"] for row in look().rows] == ["a", "\\xff", "a", "none", "a (tombstone)"]
    assert why(compacted(lambda: topic, 500)())[0] == GONE, "a second one knows it, too"
    assert starts(list(enumerate([0, 400, 800, 1200, 1700])), 500) == [0, 2, 4]


@pytest.mark.parametrize(
    ("seen", "now", "expected"),
    [
        (KILLED, 120, [("active", 100), ("idle", 106), ("empty", 109)]),
        (KILLED[:2], 105, [("active", 100)]),
        ([*KILLED[:2], Seen(110, "billing", 1, [110])], 111,
         [("active", 100), ("idle", 106), ("active", 110)]),
        ([Seen(1, "billing", 2, [])], 9, [("active", 1), ("idle", 6)]),
        ([Seen(1, "billing", None, [1]), Seen(5, "billing", None, [])], 9,
         [("unknown", 1), ("left", 5)]),
    ],
)  # fmt: skip
def test_a_group_s_state_follows_members_commits_and_the_clock(seen, now, expected) -> None:
    life = phases(seen, "billing", now, 5)
    assert [(phase.state, phase.begin) for phase in life] == expected
    assert "billing: " in group_life(seen, [], seen[0].at - 1, 5).words, "the broker is ahead"


@pytest.mark.parametrize(
    ("found", "kills", "words", "missing"),
    [
        (OPEN, [], "The last micro-batch in offsets: 11, in state: 11, in commits: 10.", []),
        (files(0, 9, "offsets"), [10], "When the kill fell, micro-batch 0 was in offsets, and not "
         "in state or commits.", ["state/0", "commits/0"]),
        (files(4, 92), [93], "When the kill fell, each planned micro-batch was in commits.", []),
        (files(4, 92), [90], "When the kill fell, no micro-batch was planned.", []),
    ],
)  # fmt: skip
def test_a_checkpoint_says_what_a_kill_found(found, kills, words, missing) -> None:
    drawn = checkpoint(found, kills=kills)
    assert drawn.words == words
    assert re.findall(r'title="(\w+/\d+) is missing', drawn.figure) == missing


def test_other_writes_than_files_have_their_own_order_and_kill() -> None:
    kinds = ("offsets", "database", "commits")
    drawn = checkpoint(files(3, 9, *kinds[:2]), kills=[10], kinds=kinds, kill_is="it dies")
    assert "was in offsets and database, and not in commits" in drawn.words
    assert "✂ it dies" in drawn.figure


def test_a_watermark_past_the_year_9999_is_its_end() -> None:
    """Spark writes such a year with a sign; an idle query's report is the next micro-batch's."""
    report = {"batchId": 3, "durationMs": {"addBatch": 2}, "sources": [{"endOffset": None}]}
    mark = {"eventTime": {"watermark": "+33658-09-27T01:46:40.000Z"}}
    idle = {"batchId": 4, "durationMs": {"triggerExecution": 3}}
    assert reported([report | mark, report | idle], "clicks") == {3: Read({}, LAST_MS)}


def test_of_many_clicks_a_sample_is_drawn_that_keeps_what_is_rare() -> None:
    count, chance = 20_000, np.random.default_rng(5)
    table = pd.DataFrame({
        "partition": chance.integers(0, 24, count), "offset": np.arange(count),
        "arrival": NOON + np.arange(count), "time": NOON + chance.integers(0, 60_000, count),
    })  # fmt: skip
    table.loc[count // 2, "time"] = 4_070_908_800_000  # 2099
    table.loc[count - 1, "time"] = NOON - 600_000
    table["batch"] = np.where(np.arange(count) < count - 1, 0, 1)
    drawn = event_time(Run(table, [MicroBatch(0, None, None), MicroBatch(1, NOON - 1_000, NOON)]))
    sample = re.search(r"Of 20,000 a sample of (\d+) is drawn", drawn.words)
    assert sample is not None
    assert int(sample[1]) <= MOST + 1
    assert "Dropped: 1." in drawn.words
    assert "earlier: 2023-11-15 11:50:00" in shown(drawn)


def test_without_a_record_a_partition_holds_the_minimum_back() -> None:
    night = polled(*((n % 3, n * 100) for n in range(100)))
    assert "minimum: 0 of 10 windows." in clocks(night, 4).words
    beat = pd.concat([night, polled((3, 10_500))])
    assert "minimum: 9 of 11 windows." in clocks(beat, 4).words
    assert clocks(beat, 4, until=100).words == clocks(night, 4).words
    assert "waits" not in leads({"a": [10], "b": [0]}, {"a": 1, "b": 1}, 10).words


def test_an_update_is_a_row_that_goes_and_one_that_comes() -> None:
    bob, ann = ({"client": name, "amount": 1, "ticker": "IBM"} for name in ("Bob", "Ann"))
    drawn = table_changes([
        ("p1", None, bob, [("Bob", 1, bob)]),
        ("p1", bob, ann, [("Bob", -1, bob), ("Ann", 1, ann)]),
        ("p1", ann, None, []),
    ])  # fmt: skip
    assert drawn.picture.words == (
        "key: p1; old row: no row; new row: Bob 1 IBM; change: +1; group: Bob; before: nothing; "
        "after: p1: 1 IBM."
    )
    drawn.on.click()
    assert [row["change"] for row in drawn.picture.rows] == ["−1", "+1"]
    assert "Ann after" in drawn.picture.figure
    drawn.on.click()
    assert "old row: Ann 1 IBM; new row: no row; change: none" in drawn.picture.words
    assert drawn.picture.figure.count("no change") == 2
    many = table_changes([(f"p{n}", None, {"a": n}, []) for n in range(UPDATES + 3)])
    assert (len(many.slider.options), many.slider.options[0]) == (UPDATES, ("4 of 27: p3", 0))


def test_the_table_of_groups_says_what_is_unknown() -> None:
    def words(*rows: dict[str, Any]) -> str:
        return re.sub("<[^>]+>", " ", groups_table(rows))

    told = words(of_group("billing", remarks=["Maybe shared."]))
    for cell in ("● active", "12,345", "95.2", "3 seconds ago", "Maybe", "billing-1 and billing-2"):
        assert cell in told
    assert "a3e7" not in told  # nobody reads a random suffix
    unknown = of_group("a", None, state="unknown", commit_age=None, client_ids=[])
    told = words(unknown, of_group("b", at_least=True))
    assert told.count("unknown") == 3
    assert "never" in told
    assert "at least 95.2" in told
    assert "and 3 more groups" in words(*(of_group(f"<b>{n}") for n in range(SHOWN + 3)))
    assert "no group yet" in words()


def test_a_time_before_1970_or_beyond_all_years_has_its_words() -> None:
    assert (moment(-1), moment(10**15)) == ("23:59:59.999", "1,000,000,000,000,000 ms")


@pytest.mark.parametrize(
    "name", ["team$x{$y", "$\\frac$", "a\x00\x1fb", "\ud800", "a\n\rb", "<i>&", "_a", ""]
)
def test_names_from_outside_are_drawn_whatever_they_are(name: str) -> None:
    lanes, chart = Plane("across", "upwards"), per_second({name: {1: 2, 2: 3}}, "a caption").figure
    lanes.lanes([name])
    lanes.axes.text(0, 0, name)
    drawn = [base64.b64decode(*re.findall(r'base64,([^"]+)', i)) for i in (chart, lanes.svg(name))]
    for image in drawn:
        xml.dom.minidom.parseString(image)
    assert (b"_a" in drawn[0]) == (name == "_a"), "it's in the legend"
