"""The form of a chapter: short, bare first, a sentence before each cell, answers that run."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path

import forms
import pytest
from chapters import NOTEBOOKS, number_of, stem

from workbook.exercises.engine.recall import Recall

LONGEST = 30
SESSION = 90
"""Minutes of a session of its own, which has a timetable in place of a number."""

BARE = {
    "00_start_here": ("readStream", "writeStream", "Producer("),
    "01_page_view_counter": (
        "Consumer(", ".poll(", "auto.offset.reset", "enable.auto.commit", "readStream",
        "from_json", "outputMode", "checkpointLocation",
    ),
    "02_views_per_second": (
        "Consumer(", ".poll(", "auto.offset.reset", "enable.auto.commit", "produce(", "readStream",
        "from_json", "F.window", "withWatermark", "outputMode", "foreachBatch",
        "checkpointLocation", "trigger", "numRowsDroppedByWatermark",
    ),
    "03_metrics_topic": (
        "on_delivery", "produce(", ".poll(", "message.timeout.ms", "auto.offset.reset",
        "writeStream", "outputMode", "checkpointLocation", "partitioner",
    ),
    "04_at_least_once": (
        "Consumer(", "on_delivery", "commit(", "enable.auto.commit", "isolation.level",
        "transactional.id", "send_offsets_to_transaction",
    ),
    "05_many_partitions": (
        "Consumer(", ".poll(", "auto.offset.reset", "enable.idempotence", "partition=",
        "readStream", "withWatermark", "F.window", "outputMode", "trigger",
    ),
    "06_rebalance": (
        "Consumer(", ".poll(", "on_assign", "on_revoke", "on_lost", "commit(", "enable.auto.commit",
        "partition.assignment.strategy", "group.instance.id", "session.timeout.ms",
    ),
    "10_merge_by_key": (
        "Consumer(", ".poll(", "auto.offset.reset", "enable.auto.commit", "enable.partition.eof",
        "produce(", "partitioner", "readStream", "from_json", "StatefulProcessor",
        "transformWithState", "RocksDBStateStoreProvider", ".join(", "outputMode", "trigger",
        "foreachBatch", "checkpointLocation",
    ),
    "11_event_time_timeout": (
        "Producer(", "produce(", "Consumer(", "assign", ".poll(", "readStream", "from_json",
        "withWatermark", "StatefulProcessor", "transformWithState", "registerTimer",
        "handleExpiredTimer", "EventTime", "outputMode", "foreachBatch", "checkpointLocation",
    ),
    "12_clamp": (
        "Producer(", "produce(", "Consumer(", "assign", ".poll(", ".pause(", ".resume(",
        "get_watermark_offsets", "readStream", "startingOffsets", "maxOffsetsPerTrigger",
        "kafka-clamped", "maxLead", "idleTimeout", "dataSource.register", "outputMode",
        "foreachBatch", "checkpointLocation", "processAllAvailable", "RocksDBStateStoreProvider",
    ),
    "13_restart_from_the_sink": (
        "Producer(", "produce(", "headers=", "Consumer(", "assign", "consume(", ".headers()",
        "enable.auto.commit", "get_watermark_offsets", "delete_records", "readStream",
        "startingOffsets", "maxOffsetsPerTrigger", "outputMode", "trigger", "checkpointLocation",
        "RocksDBStateStoreProvider",
    ),
    "20_positions_table": (
        "Consumer(", "produce(", "cleanup.policy", "enable.auto.commit", "readStream", "outputMode",
        "writeStream", "checkpointLocation", "foreachBatch", "StatefulProcessor",
        "transformWithState", "RocksDBStateStoreProvider",
    ),
    "21_us_share_holders": (
        "Producer(", "produce(", "readStream", "from_json", "StatefulProcessor",
        "transformWithState", "writeStream", "outputMode", "foreachBatch", "trigger",
    ),
    "30_consumer_offsets": (
        "produce(", "Consumer(", ".committed(", "assign", ".poll(", "enable.auto.commit",
        "enable.partition.eof", "list_consumer_groups", "delete_consumer_groups", "struct.unpack",
        "readStream", "kafka-assigned", "startingOffsets", "F.substring", "foreachBatch", "trigger",
    ),
    "mob_ninety_minutes": (
        "Consumer(", ".poll(", "auto.offset.reset", "enable.auto.commit", "Producer(", "produce(",
        "commit(message=", ".committed(", "error()",
    ),
    "22_stores_and_instances": (
        "on_delivery", "readStream", "writeStream", "foreachBatch", "checkpointLocation",
        '"statestore"', "Exchange", "Consumer(", ".poll(", "assign",
    ),
    "32_windowed_store": (
        "F.window", "max_by", "withWatermark", "groupBy", "readStream", "kafka-assigned",
        "startingOffsets", "writeStream", "outputMode", "foreachBatch", "checkpointLocation",
        "trigger", "INSERT OR REPLACE", "Consumer(", "assign", "consume(", "OFFSET_BEGINNING",
        "enable.partition.eof", "list_topics",
    ),
    "31_active_groups": (
        "readStream", "kafka-assigned", "startingOffsets", "max_by", ".join(", "writeStream",
        "outputMode", "foreachBatch", "checkpointLocation", "trigger", "RocksDBStateStoreProvider",
        "Consumer(", "commit(offsets=",
    ),
}  # fmt: skip
"""Words of Kafka's client and Spark that stand in a chapter's own cells; else ``ANYWHERE``."""

ANYWHERE = ("readStream", "writeStream")


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def path(request: pytest.FixtureRequest) -> Path:
    return request.param


def test_it_takes_half_an_hour_at_most_or_is_a_session_and_says_how_long(path: Path) -> None:
    found, stated = forms.minutes(path), forms.stated_minutes(path)
    assert forms.waits_s(path), f"python tests/forms.py --waits {path.stem} measures its waits"
    assert found <= (LONGEST if number_of(path) else SESSION)
    assert abs(found - stated) <= 2.5, f"{found:.0f} minutes by the formula, {stated} stated"


@pytest.mark.parametrize(
    "path", [path for path in NOTEBOOKS if not number_of(path)], ids=lambda path: path.stem
)
def test_a_session_has_a_timetable_that_adds_up(path: Path) -> None:
    table = forms.timetable(path)
    headings = forms.turns(path)
    assert headings == {
        number: (sum(table[:number]), sum(table[: number + 1])) for number in range(1, len(table))
    }
    for number, minutes in enumerate(forms.minutes_by_section(path)):
        assert abs(minutes - table[number]) <= 1.5, f"section {number} takes {minutes:.1f} minutes"


def test_the_readme_states_the_same_minutes(path: Path) -> None:
    readme = (path.parents[1] / "README.md").read_text().splitlines()
    [line] = [line for line in readme if line.startswith(f"| [{path.stem}]")]
    assert int(line.rstrip("| ").rpartition("|")[2]) == forms.stated_minutes(path)


def test_ten_names_of_the_package_are_enough(path: Path) -> None:
    names = forms.package_names(path)
    assert len(names) <= 10, sorted(names)


def test_a_sentence_stands_before_each_code_cell(path: Path) -> None:
    assert forms.unintroduced(path) == []


def test_the_verdict_on_a_prediction_is_what_its_cell_shows(path: Path) -> None:
    hidden = [
        ast.unparse(statement)
        for text in forms.texts(path, "code")
        if ".against(" in text
        for statement in ast.parse(text).body[:-1]
        if ".against(" in ast.unparse(statement) and "display(" not in ast.unparse(statement)
    ]
    assert not hidden, "Jupyter shows a cell's last line only: let it be the verdict, or display it"


def test_what_is_written_runs(path: Path) -> None:
    assert forms.unused_answers(path) == []


def test_the_idea_stands_there_bare(path: Path) -> None:
    code = "\n".join(forms.texts(path, "code"))
    missing = [word for word in BARE.get(path.stem, ANYWHERE) if word not in code]
    assert not missing, f"{missing}: the words of {path.stem} stand in BARE, in this file"


def test_it_opens_with_three_questions_on_earlier_chapters(path: Path) -> None:
    if number_of(path) in ("", "00", "01"):  # a session rests on no chapter
        return
    chapter = import_module(f"workbook.exercises.chapters.{stem(path)}")
    assert isinstance(chapter.recall, Recall)
    assert len(chapter.recall.questions) == 3
    for question in chapter.recall.questions:
        assert question.chapter < number_of(path)
        assert len(question.options) >= 3
        assert question.right
    assert any(cell.strip().endswith("recall") for cell in forms.texts(path, "code")[:2])


def test_it_ends_with_its_three_misconceptions(path: Path) -> None:
    if path.stem == "00_start_here":
        return
    text = "\n".join(forms.texts(path, "markdown"))
    _, heading, rest = text.partition("Three misconceptions\n")
    rows = [line for line in rest.split("\n## ")[0].splitlines() if line.startswith("| ")]
    assert heading
    assert len(rows) == 5, "a head, its line, and three rows: the misconception, what catches it"


def test_each_prediction_has_a_name_of_its_own(path: Path) -> None:
    code = "\n".join(forms.texts(path, "code"))
    names = re.findall(r"^(\w+) = chapter\.predict\(", code, re.MULTILINE)
    assert len(names) == len(set(names))


def test_the_right_answer_to_a_recall_question_may_stand_anywhere() -> None:
    places = set()
    for path in NOTEBOOKS:
        chapter = import_module(f"workbook.exercises.chapters.{stem(path)}")
        for question in chapter.recall.questions if hasattr(chapter, "recall") else ():
            assert sorted(question.shown) == sorted(option.text for option in question.options)
            places.add(question.shown.index(question.right.text))
    assert places == {0, 1, 2}
