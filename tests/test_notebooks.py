"""What every notebook keeps to; that each one runs is nbval's part (`make notebooks`)."""

import ast
import json
import re
from importlib import import_module
from pathlib import Path

import pytest
from chapters import NOTEBOOKS, number_of, stem, texts, turns

from workbook.classroom.questions import Recall

SESSION = 90
"""Minutes of the mob's session at most; its timetable is a clock, and no estimate."""

BARE = {
    "00_start_here": ("readStream", "writeStream", "Producer("),
    "01_page_view_counter": (".poll(", "auto.offset.reset", "enable.auto.commit", "from_json"),
    "02_views_per_second": ("from_json", "F.window", "withWatermark", "numRowsDroppedByWatermark"),
    "03_metrics_topic": ("on_delivery", "message.timeout.ms", "auto.offset.reset", "partitioner"),
    "04_at_least_once": ("commit(", "isolation.level", "send_offsets_to_transaction"),
    "05_many_partitions": ("enable.idempotence", "partition=", "withWatermark", "F.window"),
    "06_rebalance": ("on_assign", "on_revoke", "on_lost", "partition.assignment.strategy"),
    "10_merge_by_key": ("enable.partition.eof", "partitioner", ".join(", "BETWEEN"),
    "11_event_time_timeout": ("Producer(", "StatefulProcessor", "TwsTester", "transformWithState"),
    "12_clamp": (".pause(", ".resume(", "kafka-clamped", "maxLead"),
    "13_restart_from_the_sink": ("headers=", "consume(", ".headers()", "delete_records"),
    "20_positions_table": ("cleanup.policy", "StatefulProcessor", "transformWithState"),
    "21_us_share_holders": ("Producer(", "from_json", "StatefulProcessor", "transformWithState"),
    "22_stores_and_instances": ("on_delivery", "writeStream", '"statestore"', "assign"),
    "30_consumer_offsets": ("enable.partition.eof", "delete_consumer_groups", "import struct"),
    "31_active_groups": ("kafka-assigned", "max_by", ".join(", "commit(offsets="),
    "32_windowed_store": ("kafka-assigned", "startingOffsets", "PRIMARY KEY", "INSERT OR REPLACE"),
    "33_the_dashboard": ("alter_consumer_group_offsets", "list_offsets", "OffsetSpec.latest"),
    "40_clean_and_dedup": ("set_compatibility", "register_schema", "schemaless_writer"),
    "41_ad_counts": ("zoneinfo", "F.to_date", "session.timeZone", "ON CONFLICT"),
    "42_the_owners_page": ("hashlib", "F.theta_sketch_agg", "F.countDistinct"),
    "43_reprocess_and_diagnose": ("partitionBy", "parquet(", "spark.sql(", "schemaless_reader"),
    "44_migrate": ("token(ad)", "prepare(", "mapInArrow", "RecordBatch"),
    "45_groups_of_viewers": ("F.broadcast", "theta_a_not_b", "theta_intersection"),
    "60_your_own_stream": ("import Window", "withWatermark", "numRowsDroppedByWatermark"),
    "mob_ninety_minutes": ("auto.offset.reset", "commit(message=", ".committed(", "error()"),
}  # fmt: skip
"""Words of Kafka's client and Spark that stand in a chapter's own cells; else ``ANYWHERE``."""

ANYWHERE = ("readStream", "writeStream")


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def path(request: pytest.FixtureRequest) -> Path:
    return request.param


def timetable(path: Path) -> list[int]:
    """The minutes in the notebook's own table of what you'll do."""
    rows = [line for line in texts(path, "markdown")[0].splitlines() if line.startswith("| ")]
    last = [row.rstrip("| ").rpartition("|")[2].strip() for row in rows]
    return [int(cell) for cell in last if cell.isdigit()]


def test_it_is_stripped_names_its_kernel_and_imports_nothing_by_magic(path: Path) -> None:
    notebook = json.loads(path.read_text())
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"  # else a dialog asks for one
    assert [text for text in texts(path, "code") if "import *" in text or "%run" in text] == []


def test_a_sentence_stands_before_each_code_cell(path: Path) -> None:
    kinds = ["", *(cell["cell_type"] for cell in json.loads(path.read_text())["cells"])]
    found = [at for at, kind in enumerate(kinds[1:]) if kind == "code" and kinds[at] != "markdown"]
    assert found == [], "these code cells have no text cell right before them"


def test_a_named_query_can_be_interrupted_and_started_again(path: Path) -> None:
    assert all("in spark.streams.active:" in t for t in texts(path, "code") if ".queryName(" in t)


def test_the_readme_has_a_line_for_it_with_its_minutes(path: Path) -> None:
    readme = (path.parents[1] / "README.md").read_text().splitlines()
    begin = f"| [{path.stem}](notebooks/{path.name}) |"
    lines = [line for line in readme if line.startswith(begin)]
    assert len(lines) == 1, f"README's table of chapters needs one line that begins with {begin}"
    stated = lines[0].rstrip("| ").rpartition("|")[2].strip()
    assert stated == str(sum(timetable(path))), "the sum of the notebook's own table"


def test_the_start_page_links_to_each_notebook() -> None:
    start = next(path for path in NOTEBOOKS if path.stem == "00_start_here")
    linked = set(re.findall(r"\]\((\w+)\.ipynb\)", "\n".join(texts(start, "markdown"))))
    assert linked == {path.stem for path in NOTEBOOKS} - {start.stem}


def test_the_mobs_timetable_adds_up_to_ninety_minutes_at_most() -> None:
    [path] = [path for path in NOTEBOOKS if not number_of(path)]
    table = timetable(path)
    assert sum(table) <= SESSION
    assert turns(path) == {
        number: (sum(table[:number]), sum(table[: number + 1])) for number in range(1, len(table))
    }


def test_the_verdict_on_a_prediction_is_what_its_cell_shows(path: Path) -> None:
    hidden = [
        ast.unparse(statement)
        for text in texts(path, "code")
        if ".against(" in text
        for statement in ast.parse(text).body[:-1]
        if ".against(" in ast.unparse(statement) and "display(" not in ast.unparse(statement)
    ]
    assert not hidden, "Jupyter shows a cell's last line only: let it be the verdict, or display it"


def test_the_idea_stands_there_bare(path: Path) -> None:
    code = "\n".join(texts(path, "code"))
    missing = [word for word in BARE.get(path.stem, ANYWHERE) if word not in code]
    assert not missing, f"{missing}: the words of {path.stem} are listed in BARE, in this file"


def test_it_opens_with_three_questions_on_earlier_chapters(path: Path) -> None:
    if number_of(path) in ("", "00", "01"):  # a session rests on no chapter
        return
    chapter = import_module(f"workbook.lessons.{stem(path)}")
    assert isinstance(chapter.recall, Recall)
    assert len(chapter.recall.questions) == 3
    for question in chapter.recall.questions:
        assert question.chapter < number_of(path)
        assert len(question.options) >= 3
        assert list(question.options.values()).count("") == 1
    assert any(cell.strip().endswith("recall") for cell in texts(path, "code")[:2])


def test_it_ends_with_its_three_misconceptions(path: Path) -> None:
    if path.stem == "00_start_here":
        return
    text = "\n".join(texts(path, "markdown"))
    _, heading, rest = text.partition("Three misconceptions\n")
    rows = [line for line in rest.split("\n## ")[0].splitlines() if line.startswith("| ")]
    assert heading
    assert len(rows) == 5, "a head, its line, and three rows: the misconception, what catches it"


def test_each_prediction_has_a_name_of_its_own(path: Path) -> None:
    code = "\n".join(texts(path, "code"))
    names = re.findall(r"^(\w+) = chapter\.predict\(", code, re.MULTILINE)
    assert len(names) == len(set(names))
