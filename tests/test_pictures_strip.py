"""Pictures of a partition, of its readers and of a checkpoint: data in, words and rows out."""

import re
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from workbook.classroom.compacted import Compacted, starts
from workbook.streams.events.group_records import key_fields, value_fields
from workbook.views.checkpoint import checkpoint
from workbook.views.compaction import DUE, GONE, LATEST, NEWER, SHOWN, Stored, compaction
from workbook.views.group import STEPS, Step, who_reads, who_writes
from workbook.views.group_life import Look as Seen
from workbook.views.group_life import group_life, phases
from workbook.views.picture import NOTHING, Picture, ranges
from workbook.views.record_bytes import record_bytes, record_steps
from workbook.views.restart import Moment, Record, restart
from workbook.views.strip import Look
from workbook.views.tape import SHOWN as DRAWN
from workbook.views.tape import Place, Span, tape


def titles(picture: Picture) -> list[str]:
    """What is said of each box to who points at it."""
    return re.findall(r'title="([^"]*)"', picture.figure)


def looks(picture: Picture, look: Look) -> list[str]:
    """The titles of the boxes that have a look."""
    return re.findall(rf'{re.escape(look.value)}[^"]*" title="([^"]*)"', picture.figure)


# --- the tape ---------------------------------------------------------------------------------


def test_the_tape_says_who_is_where() -> None:
    labels = dict(enumerate(["a", "<b>", "c", "d", "e"]))
    drawn = tape([Place("read", 4), Place("committed", 2)], 5, labels=labels, crash=3)
    assert drawn.words == ("5 records; committed: 2; read: 4; kill -9 before: 3; end: 5.")
    assert [tuple(row.values()) for row in drawn.rows] == [
        ("committed", "2"), ("read", "4"), ("kill -9 before", "3"), ("end", "5"),
    ]  # fmt: skip
    for words in ("read: 4", "committed: 2", "✂ kill -9 here, before 3", "&lt;b&gt;", "end 5"):
        assert words in drawn.figure


def test_places_that_nobody_has_and_records_that_are_gone() -> None:
    drawn = tape([Place("committed", None), Place("read", 3)], 12, first=10)
    assert drawn.words == "2 records from offset 10; committed: none yet; read: 3; end: 12."
    assert "The partition is empty" in tape([Place("committed", 0)], 0).words


@pytest.mark.parametrize("look", [Look.PLAIN, Look.HATCHED, Look.CROSSED, Look.DOUBLE])
def test_the_records_of_a_span_share_its_look(look: Look) -> None:
    drawn = tape([], 9, spans=[Span("three: lost", 2, 5, look), Span("none", 7, 7)])
    its = ["offset 2: ", "offset 3: ", "offset 4: "]
    assert look is Look.PLAIN or looks(drawn, look) == its
    assert drawn.rows[0] == {"place": "three: lost", "offset": "2 to 4"}
    assert "none" not in drawn.words
    assert drawn.figure.count("✗") == (3 if look is Look.CROSSED else 0)


@pytest.mark.parametrize("committed", [0, 3, 500_000, 999_999, 1_000_000])
def test_of_a_million_records_those_around_the_places_are_drawn(committed: int) -> None:
    drawn = tape([Place("committed", committed)], 1_000_000)
    ones = [int(n) for n in re.findall(r'"offset (\d+):', drawn.figure)]
    runs = [(int(a), int(b)) for a, b in re.findall(r'"offsets (\d+) to (\d+)"', drawn.figure)]
    assert len(ones) + len(runs) <= DRAWN
    assert committed in ones or committed - 1 in ones
    assert len(ones) + sum(last - first + 1 for first, last in runs) == 1_000_000
    assert f"1,000,000 records, {len(ones)} drawn; " in drawn.words
    assert all(f">{last - first + 1:,} more<" in drawn.figure for first, last in runs)


# --- a record's bytes -------------------------------------------------------------------------

KEY = bytes.fromhex("0001 0005 636166c3a9 0006 636c69636b73 0000012c")
COMMIT = bytes.fromhex("0003 000000000000002a 00000000 0000 000001a20b5e83a6")
MEMBER = bytes.fromhex("0000 00 00 08 63616661622d31 02 2f 0000")


def test_bytes_are_named_by_their_fields_and_a_length_counts_bytes() -> None:
    drawn = record_bytes(KEY, key_fields(KEY))
    assert drawn.words == (
        "21 bytes: kind 1, length 5, group café, length 6, topic clicks, partition 300."
    )
    assert drawn.rows[2] == {
        "bytes": "4 to 8", "field": "group", "value": "café", "hex": "63 61 66 c3 a9",
    }  # fmt: skip
    assert titles(drawn)[:2] == ["byte 0: 0", "byte 1: 1"]
    assert "offset 42, leader epoch 0" in record_bytes(COMMIT, value_fields(1, COMMIT)).words
    assert "client id cafab-1" in record_bytes(MEMBER, value_fields(5, MEMBER)).words
    long = bytes.fromhex("0002 00c8") + b"x" * 200
    assert "204 bytes, the first 96 drawn" in record_bytes(long, key_fields(long)).words


def test_the_fields_cover_all_bytes_whatever_they_are() -> None:
    draw = Random(30)
    for size in range(200):
        data = bytes([0, draw.randrange(12)]) + draw.randbytes(size % 60)
        for fields in (key_fields(data), value_fields(data[1], data)):
            places = [at for field in fields for at in range(field.first, field.first + field.size)]
            assert places == list(range(len(data)))


def test_it_steps_through_keys_and_values_and_a_tombstone_has_a_key_only() -> None:
    steps = record_steps({1: (KEY, COMMIT), 2: (bytes.fromhex("0002 0000"), None)})
    assert [name for name, _ in steps.slider.options] == [
        "a commit: key", "a commit: value", "a classic group: key",
    ]  # fmt: skip


# --- compaction -------------------------------------------------------------------------------

CHAPTER = [Stored(n, key, n == 7) for n, key in enumerate("12345125311")]
"""Chapter 20's partition: offset 7 is a tombstone, 9 begins the active segment."""


def why(picture: Picture) -> dict[int, str]:
    return {row["offset"]: row["now"] for row in picture.rows}


def test_compaction_says_what_went_what_stayed_and_why() -> None:
    drawn = compaction(CHAPTER, [3, 5, 6, 7, 8, 9, 10], [0, 9])
    assert [*why(drawn).values()] == [
        GONE, GONE, GONE, LATEST, GONE, NEWER, LATEST, LATEST, LATEST, DUE, LATEST,
    ]  # fmt: skip
    assert drawn.words == "11 records before, 7 now."
    assert {0: DUE, 5: NEWER}.items() <= why(compaction(CHAPTER, range(11), [0, 9])).items()
    assert drawn.rows[7] == {
        "offset": 7, "key": "5 (tombstone)", "segment": "closed", "now": LATEST,
    }  # fmt: skip
    assert looks(drawn, Look.HATCHED) == ["offset 7: key 5 (tombstone)"] * 2
    assert looks(drawn, Look.FAINT) == [f"offset {n}: is gone" for n in (0, 1, 2, 4)]


def test_of_many_records_the_last_are_drawn_and_all_are_counted() -> None:
    records = [Stored(n, f"k{n % 1000}") for n in range(100_000)]
    drawn = compaction(records, range(99_000, 100_000), [0, 50_000])
    assert drawn.words == "100,000 records before, 1,000 now."
    assert len(drawn.rows) == SHOWN
    assert compaction([], []).words == "0 records before, 0 now."


def found(offset: int, key: Any, time: int = 0, value: bytes | None = b"1", place: int = 0) -> Any:
    """A message, as far as a picture asks it."""
    its = {"offset": offset, "key": key, "value": value, "partition": place, "topic": "t"}
    said = {name: (lambda what=what: what) for name, what in its.items()}
    return SimpleNamespace(**said, timestamp=lambda: (1, time))


def test_a_reader_s_first_look_is_kept_and_other_partitions_are_left_out() -> None:
    topic = [found(n, key) for n, key in enumerate([b"a", b"\xff", b"a", None])]
    topic.append(found(9, b"z", place=1))
    picture = Compacted(lambda: topic, 500)
    topic.append(found(4, b"a", 1000, None))
    del topic[0]
    assert why(picture()) == {0: GONE, 1: LATEST, 2: NEWER, 3: LATEST, 4: LATEST}
    assert [row["key"] for row in picture().rows][1:] == ["\\xff", "a", "none", "a (tombstone)"]
    assert why(Compacted(lambda: topic, 500)())[0] == GONE, "a second one knows it, too"


def test_a_segment_is_closed_by_the_first_record_that_comes_too_late_for_it() -> None:
    assert starts(list(enumerate([0, 400, 800, 1200, 1700])), 500) == [0, 2, 4]
    assert starts(list(enumerate([1000, 0, 1400])), 500) == [0]


# --- the restart ------------------------------------------------------------------------------

LABELS = ["v1", "v2", "v3", "v1", "v2", "v4", "v4", "v5", "v2", "v3", "v5", "v6"]
SINK: list[Record] = [("v1", [0, 3], 0), ("v4", [5, 6], 1), ("v2", [1, 4, 8], 1)]
AGAIN: list[Record] = [
    ("v1", [3], 1), ("v4", [5, 6], 1), ("v2", [1, 4, 8], 1), ("v3", [2, 9], 1), ("v5", [7, 10], 1),
]  # fmt: skip
RUN: list[Moment] = [
    (0, 3, {"v1": [0], "v2": [1], "v3": [2]}, []),
    (3, 6, {"v2": [1, 4], "v3": [2], "v4": [5]}, SINK[:1]),
    (6, 8, {"v2": [1, 4], "v3": [2], "v5": [7]}, SINK[:2]),
    (8, 12, {"v3": [2, 9], "v5": [7, 10], "v6": [11]}, SINK),
    (1, 12, {"v6": [11]}, SINK + AGAIN),
]


@pytest.mark.parametrize(
    ("run", "until", "words"),
    [
        (RUN, 0, "Reading goes on at 0 of 12; read twice: 0; emitted twice: 0; lost: 0 messages."),
        (RUN, 4, "Killed at 12 of 12; read twice: 0; emitted twice: 0; lost: 0 messages."),
        (RUN, 5, "Reading goes on at 12 of 12; read twice: 11; emitted twice: 6; lost: 0"),
        ([*RUN[:4], (11, 12, {"v6": [11]}, SINK)], 5, "Reading goes on at 12 of 12; read twice: 1; "
         "emitted twice: 0; lost: 4 messages."),
    ],
)  # fmt: skip
def test_a_restart_says_what_is_lost_and_read_twice(
    run: list[Moment], until: int, words: str
) -> None:
    drawn = restart(LABELS, run, until)
    assert drawn.words.startswith(words)
    assert ("✂ killed at 12" in drawn.figure) == words.startswith("Killed")
    assert ("a restart begins at 1, says" in drawn.figure) == bool(until)


def test_each_record_of_a_restart_has_its_state() -> None:
    drawn = restart(LABELS, RUN, 3)
    assert looks(drawn, Look.HATCHED) == [f"offset {n}: {LABELS[n]}, open" for n in (1, 2, 4, 7)]
    assert titles(drawn)[7:9] == ["offset 7: v5, open", "offset 8: v2, not read"]
    assert drawn.rows[-1] == {
        "batch": 3, "read": "6: v4, 7: v5", "open": "v2, v3, v5", "emitted": "v4",
        "the sink says": 1,
    }  # fmt: skip
    assert "✓✓↻" in restart(LABELS, RUN).figure
    long = restart([f"v{n}" for n in range(100)], [(60, 100, {}, [("v50", [50], 40)])])
    assert titles(long)[0] == "offset 78: v78, lost"


# --- keys, partitions, readers ----------------------------------------------------------------

TO_A, TO_B = ("A", "assigned", [0, 1, 2]), ("B", "assigned", [3, 4, 5])
BY_RANGE: list[Step] = [("A", "revoked", [0, 1, 2, 3, 4, 5]), TO_A, TO_B]
COOPERATIVE: list[Step] = [("A", "revoked", [3, 4, 5]), TO_B]
SHARED = {"A": {0, 1, 2}, "B": {3, 4, 5}}


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ([], NOTHING),
        ([("a", 0), ("b", 2), ("b", 2)], "3 records in 3 partitions, 2 keys; keys in several "
         "partitions: none."),
        ([(None, 0), ("a", 2), (b"a", 1)], "several partitions: a in 1, 2; without a key: partition"
         " 0."),
        ([(f"k{n}", p) for n in range(5) for p in (0, 1)], "k2 in 0, 1, …."),
        ([("a", 3)], "1 record in 4 partitions, 1 key"),
    ],
)  # fmt: skip
def test_who_writes_where(written: list[tuple[Any, int]], words: str) -> None:
    assert words in who_writes(written, 3).words


def test_the_busiest_keys_are_drawn_and_the_marked_one() -> None:
    drawn = who_writes(
        [(f"tab-{n}", n % 3) for n in range(40) for _ in range(n + 1)], 3, mark="tab-0"
    )
    assert drawn.words.endswith("tab-0: partition 0.")
    assert "▶ tab-0 · 1" in drawn.figure
    assert "tab-39 · 40" in drawn.figure
    assert "tab-27 ·" not in drawn.figure
    assert drawn.rows[0] == {"partition": 0, "records": 287, "keys": 14}
    evil = who_writes([(b"\xff", 0), ("<b>", 0), (b"", 0)], 1).figure
    assert all(name in evil for name in ("\\xff · 1", "&lt;b&gt; · 1", "(empty) · 1"))


@pytest.mark.parametrize(
    ("owned", "words"),
    [
        (SHARED, "A reads partitions 0–2; B reads partitions 3–5."),
        ({"A": {0, 2, 3, 4, 5}}, "A reads partitions 0, 2–5; nobody reads partition 1."),
        ({}, "nobody reads partitions 0–5."),
        ({"A": set(range(6)), "B": set()}, "B reads nothing."),
    ],
)
def test_who_reads_what(owned: dict[str, set[int]], words: str) -> None:
    assert words in who_reads(owned, [], 6).words


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (BY_RANGE, "Taken away: 6; given to another reader: 3."),
        (COOPERATIVE, "Taken away: 3; given to another reader: 3."),
        (BY_RANGE[:1], "Taken away: 6; given to another reader: 0."),
    ],
)  # fmt: skip
def test_what_changed_hands_is_counted(log: list[Step], said: str) -> None:
    assert who_reads(SHARED, log, 6).words.endswith(f"B reads partitions 3–5. {said}")


def test_the_squares_show_who_had_a_partition_step_by_step() -> None:
    drawn = who_reads(SHARED, BY_RANGE, 6)
    assert [row["had by, step by step"] for row in drawn.rows] == ["A – A A"] * 3 + ["A – – B"] * 3
    hatched = looks(drawn, Look.HATCHED)
    assert hatched == [f"partition {n}: nobody" for n in (0, 1, 2, 3, 3, 4, 4, 5, 5)]
    many = who_reads({"A": {0}}, [("A", "revoked", [0]), ("A", "assigned", [0])] * 100, 1)
    assert many.rows[0]["had by, step by step"] == " ".join("–A" * (STEPS // 2))
    assert ranges([5, 0, 1, 2]) == "0–2, 5"


# --- a group's life ---------------------------------------------------------------------------

KILLED = [Seen(at, "billing", members, [last]) for at, members, last in
          ((100, 1, 100), (101, 1, 101), (109, 0, 101))]  # fmt: skip


@pytest.mark.parametrize(
    ("seen", "now", "expected"),
    [
        (KILLED, 120, [("active", 100), ("idle", 106), ("empty", 109)]),
        (KILLED[:2], 105, [("active", 100)]),
        (KILLED[:2], 9_999, [("active", 100), ("idle", 106)]),
        ([*KILLED[:2], Seen(110, "billing", 1, [110])], 111,
         [("active", 100), ("idle", 106), ("active", 110)]),
        ([Seen(1, "billing", 2, [])], 9, [("active", 1), ("idle", 6)]),
        ([Seen(1, "billing", None, [1]), Seen(5, "billing", None, [])], 9,
         [("unknown", 1), ("left", 5)]),
    ],
)  # fmt: skip
def test_a_group_s_state_follows_members_commits_and_the_clock(
    seen: list[Seen], now: float, expected: list[tuple[str, float]]
) -> None:
    life = phases(seen, "billing", now, 5)
    assert [(phase.state, phase.begin) for phase in life] == expected


def test_a_group_s_life_says_each_state_and_what_was_done() -> None:
    drawn = group_life(KILLED, [(103, "billing", "kill -9")], 120, 5)
    assert drawn.words == "billing: empty (done to it: kill -9 at 3 s)."
    assert "active 0 to 6 s, idle 6 to 9 s, empty 9 to 20 s" in drawn.rows[0]["its life"]
    assert drawn.rows[0]["commits seen"] == "2 commits"
    assert group_life([], [], 5, 10).words == NOTHING


# --- the checkpoint ---------------------------------------------------------------------------


def batch(number: int, at: float, *kinds: str) -> list[tuple[str, int, float]]:
    """The files of a micro-batch, one each 0.3 s."""
    wanted = kinds or ("offsets", "state", "commits")
    return [(kind, number, at + 0.3 * step) for step, kind in enumerate(wanted)]


OPEN = [*batch(9, 96.0), *batch(10, 97.5), *batch(11, 99.0, "offsets", "state")]
SINCE = [*OPEN, ("state", 11, 130.0), ("commits", 11, 130.5), *batch(12, 131.0)]
STOPPED = "When the kill fell, micro-batch 11 was in offsets and state, and not in commits. "


@pytest.mark.parametrize(
    ("files", "kills", "words", "missing"),
    [
        ([], [], NOTHING, []),
        (OPEN, [], "The last micro-batch in offsets: 11, in state: 11, in commits: 10.", []),
        (OPEN, [100], f"{STOPPED}The last one in commits was 10.", ["commits/11"]),
        (SINCE, [100], f"{STOPPED}The last one in commits was 10. Since then 11 was written to "
         "state and commits.", ["commits/11"]),
        (batch(0, 9, "offsets"), [10], "When the kill fell, micro-batch 0 was in offsets, and not "
         "in state or commits. None was in commits.", ["state/0", "commits/0"]),
        (batch(4, 92), [93], "When the kill fell, each planned micro-batch was in commits. The "
         "last one in commits was 4.", []),
        (batch(4, 92), [90], "When the kill fell, no micro-batch was planned.", []),
    ],
)  # fmt: skip
def test_a_checkpoint_says_what_a_kill_found(
    files: list[Any], kills: list[float], words: str, missing: list[str]
) -> None:
    drawn = checkpoint(files, kills=kills)
    assert drawn.words == words
    assert re.findall(r'title="(\w+/\d+) is missing', drawn.figure) == missing


def test_a_checkpoint_says_when_each_file_was_written_and_what_a_micro_batch_reads() -> None:
    drawn = checkpoint(SINCE, kills=[100], starts=[125], planned={10: 1100, 11: 1200})
    assert drawn.rows[2] == {
        "micro-batch": "11", "reads up to offset": "1,200", "offsets": "-1.00 s",
        "state": "-0.70 s, +30.00 s", "commits": "+30.50 s",
    }  # fmt: skip
    assert "▶ started again" in drawn.figure
    assert [title for title in titles(drawn) if "commits" in title] == [
        "commits/9", "commits/10", "commits/11 is missing", "commits/11", "commits/12",
    ]  # fmt: skip


def test_other_writes_than_files_have_their_own_order_and_kill() -> None:
    files = batch(3, 9, "offsets", "database")
    drawn = checkpoint(
        files, kills=[10], kinds=("offsets", "database", "commits"), kill_is="it dies"
    )
    assert "was in offsets and database, and not in commits" in drawn.words
    assert "✂ it dies" in drawn.figure
