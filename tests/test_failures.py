"""Which line of Spark's stack traces a user of ``workbook run`` gets to see."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from pyspark.errors.exceptions.captured import StreamingQueryException

from workbook.crashlab.process import Victim
from workbook.spark.failures import cause, failure_of, query_failed

PROXY = (
    "[STREAM_FAILED] Query [id = 1] terminated with exception: [FOREACH_BATCH_USER_FUNCTION_ERROR] "
    "An exception was raised by the Python Proxy. Return Message: Traceback (most recent call "
    'last):\n  File "clientserver.py", line 644, in _call_proxy\n    return_value = getattr()\n'
    "py4j.protocol.Py4JJavaError: An error occurred while calling o97.save.\n"
)
TRACE = (
    ": org.apache.spark.SparkException: Job aborted due to stage failure: {told}\n"
    "\tat org.apache.spark.executor.Executor.run(Executor.scala:1)\n"
)
REFUSED = f"workbook.errors.RecordRefused: Expected {'b:9,' * 99} to take dead letters into 'x'"
LOST = "workbook.errors.RecordsLost: Expected records of partition 0 of t from 5"


ANOTHER_TOPIC = ("this broker does not hold", "a new folder for --checkpoint")
SAME = "with the same --checkpoint"


@pytest.mark.parametrize(
    ("told", "says"),
    [
        *((each, (each, *ANOTHER_TOPIC)) for each in (
            "org.apache.spark.sql.kafka010.KafkaIllegalStateException: [KAFKA_DATA_LOSS.COULD_NOT_"
            "READ_OFFSET_RANGE] Could not read records in offset [245, 247) for partition c-0",
            "java.lang.IllegalStateException: Partition c-0's offset was changed from 9 to 0",
            "org.apache.kafka.common.errors.UnknownTopicIdException: Unknown topic id",
        )),
        ("terminated with exception: Connection reset", ("was killed", SAME)),
        ("java.net.SocketException: Broken pipe", ("was killed", SAME)),
        ("java.io.IOException: No space left on device", ("The disk is full", SAME)),
        ("TopicAuthorizationException: Not authorized to access topics: [out1]",
         ("own-servers.md", SAME)),
    ],
)  # fmt: skip
def test_what_ended_a_query_is_named_with_what_to_do(told: str, says: tuple[str, ...]) -> None:
    said = str(query_failed(PROXY + TRACE.format(told="x") + f"Caused by: {told}\n\tat a.b(C:1)"))
    assert [words for words in says if words not in said] == []
    assert ("new folder" in said) == (says[1:] == ANOTHER_TOPIC)
    assert "Proxy" not in said


@pytest.mark.parametrize(
    ("told", "line"),
    [
        ("Caused by: a.AException: 1\n\tat x\nCaused by: b.BError: 2\n\tat y", "b.BError: 2"),
        ("java.io.IOException: Permission denied\n\tat a.b", "java.io.IOException: Permission"),
        (f"Caused by: PythonException: Traceback\n  File x\n{REFUSED}\n\n\tat a.b(C:1)", REFUSED),
        (
            f'    raise ValueError(f"Expected {{option}}, but got {{text!r}}.")\n{LOST}\n\tat a.b',
            LOST,
        ),
    ],
)
def test_the_last_cause_or_the_first_exception_is_shown_and_ours_before_sparks(told, line) -> None:
    found = cause(PROXY + TRACE.format(told="x") * (line == REFUSED) + told)
    assert found.startswith(line)
    assert found == line or line not in (REFUSED, LOST)


def test_the_crash_lab_says_it_too_and_shows_no_plan(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(Victim, "__init__", lambda victim: None)
    victim, before = Victim(), b"of a life before: Traceback, No space left on device\n"
    victim._folder, victim._said_before = tmp_path, len(before)
    told = TRACE.format(told="Python worker failed to connect back.") + "== Plan ==\n" * 30
    (tmp_path / "log").write_bytes(before + f"{PROXY}{told}".encode())
    assert "the machine is too busy" in victim.last_words()
    assert "Plan" not in victim.last_words()


def test_an_error_of_ours_isn_t_called_sparks_and_needs_no_advice_on_checkpoints() -> None:
    said = str(query_failed(f"{PROXY}workbook.errors.PartitionedApart: Expected 2, got 3.\n"))
    assert said == "The query has ended. Expected 2, got 3."


@pytest.mark.parametrize("reason", ["InterruptedException", "IllegalStateException"])
def test_a_stop_in_the_middle_of_planning_is_no_failure(spark, reason: str) -> None:
    java = spark.sparkContext._jvm.java.lang  # Spark's own chain, which a stop makes now and then
    told = java.reflect.InvocationTargetException(getattr(java, reason)())
    failure = StreamingQueryException("terminated with exception", "", told)
    found = failure_of(SimpleNamespace(exception=lambda: failure))
    assert found is (None if reason == "InterruptedException" else failure)
