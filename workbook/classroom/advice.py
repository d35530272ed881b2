"""What to do about an error of Kafka's client, Spark or Python, in a cell and in a check.

Spark numbers its errors by condition, which its messages begin with, each with its own parameters.
"""

import re
from collections import defaultdict
from typing import Any

from workbook.topics import PREFIX

AGAIN = "Run the chapter's cells from the top: menu Run, “Run All Above Selected Cell”."
NEW_CHECKPOINT = (
    "Give the query a checkpoint folder of its own, `chapter.checkpoint()`, and start it again; "
    "with the old folder only the old query can go on."
)
START_KAFKA = (
    "In a terminal (*File*, *New*, *Terminal*) `python -m workbook doctor` says whether the broker "
    "runs, and `python -m workbook start kafka` starts it again after a stop."
)

ADVICE: tuple[tuple[str, str], ...] = (
    (
        r"^KeyboardInterrupt",
        "You've interrupted the cell. What it had started in the background goes on; run it again "
        "when you like.",
    ),
    (
        r"Python worker failed to connect back",
        "A Python process that Spark started didn't answer within ten seconds: the machine is too "
        "busy. Run the cell again, or the one that starts the query.",
    ),
    (
        r"an assert without a text",
        "The cell compares a result with the expected one, and they differ. Has a cell above it "
        f"run twice, in another order, or with something of yours in it? {AGAIN}",
    ),
    (
        r"AUTHORIZATION_FAILED|AuthorizationException",
        "This user lacks a right on the broker. All names that chapters make begin with "
        f"`{PREFIX}`, so three rules are enough: `kafka-acls --add --allow-principal User:NAME "
        f"--operation All --resource-pattern-type prefixed --topic {PREFIX}`, the same with "
        f"`--group {PREFIX}` and with `--transactional-id {PREFIX}` (docs/own-servers.md).",
    ),
    (
        r"UnknownTopicOrPartition|UNKNOWN_TOPIC|_UNKNOWN_PARTITION",
        "The topic isn't there. Look at its name; a broker that was started again has lost the old "
        f"topics, too. {AGAIN}",
    ),
    (
        r"_MSG_TIMED_OUT|not present in metadata",
        "The broker hasn't taken the records in time: it's away, or it has no such topic. "
        f"{START_KAFKA}",
    ),
    (
        r"_ALL_BROKERS_DOWN|_TRANSPORT|_TIMED_OUT|\b_RESOLVE\b|waiting for a node assignment"
        r"|kafka\S*TimeoutException|No resolvable bootstrap|Failed to (construct|create new) kafka",
        f"No broker answers at the address in `bootstrap.servers`. {START_KAFKA} Then run the "
        "cell again.",
    ),
    (
        r"_NO_OFFSET",
        "There's nothing to commit: the consumer hasn't read a record yet. Call `poll` until it "
        "returns one.",
    ),
    (
        r"(Consumer|Producer) closed|Handle has been closed",
        "It was closed. Run the cell that makes it, and then this one.",
    ),
    (
        r"a bytes-like object is required, not '(?!str)|produce\(\).*must be",
        "Kafka's values and keys are bytes: hand in `json.dumps(value).encode()`.",
    ),
    (
        r"group\.id must be set",
        'A consumer needs a group: add `"group.id": "some-name"` to its settings.',
    ),
    (
        r"STORE_BACKEND_NOT_SUPPORTED_FOR_TWS",
        "`transformWithState` keeps its state in RocksDB: before `start()` "
        '`spark.conf.set("spark.sql.streaming.stateStore.providerClass", "org.apache.spark.sql.'
        'execution.streaming.state.RocksDBStateStoreProvider")`.',
    ),
    (
        r"STATE_STORE_\w*SCHEMA|STATE_SCHEMA|MISSING_STATE_DIRECTORY|NOT_MATCH_IN_STATE_METADATA"
        r"|sources in the checkpoint offsets|does not support recovering from checkpoint",
        f"Another query made this checkpoint, one that keeps other rows. {NEW_CHECKPOINT}",
    ),
    (
        r"Partitions Set\(\S+ have been deleted|offset was changed from|data may have been lost",
        "The checkpoint remembers records that this topic doesn't have: it was made for another "
        f"topic, or for an earlier one of the same name. {NEW_CHECKPOINT}",
    ),
    (
        r"output mode[\s\S]*aggregations without watermark",
        "In append mode a row is written once, when it's final, and without a watermark it never "
        'is. Put `withWatermark("time", "5 seconds")` before the `groupBy` and group by a '
        'window of that time, or take `.outputMode("update")`.',
    ),
    (
        r"output mode[\s\S]*no streaming aggregations",
        "Complete mode writes the whole result each time, so it needs a `groupBy`. Without one "
        'take `.outputMode("append")`.',
    ),
    (
        r"topic option required",
        'Spark doesn\'t know where to write: add `.option("topic", name)` before `start()`.',
    ),
    (
        r"Required attribute 'value'|attribute unsupported type",
        "The Kafka sink writes the columns `key` and `value`, as text or bytes. Make them: "
        '`.selectExpr("CAST(key AS STRING) AS key", "to_json(struct(*)) AS value")`.',
    ),
    (
        r"checkpointLocation must be specified",
        'A streaming query keeps its place in a folder: add `.option("checkpointLocation", '
        "chapter.checkpoint())` before `start()`.",
    ),
    (
        r"EVENT_TIME_IS_NOT_ON_TIMESTAMP",
        "A watermark and a window need a column of type timestamp. Of milliseconds since 1970 "
        '`F.timestamp_millis("timestamp")` makes one.',
    ),
    (
        r"Sorting is not supported",
        "A stream has no last row, so it can't be sorted. Sort where you look at the result.",
    ),
    (
        r"must be executed with writeStream",
        "This DataFrame is a stream: it has no end to collect. Start a query with `writeStream`, "
        "or read the topic once with `spark.read` in place of `spark.readStream`.",
    ),
    (
        r"Cannot call methods on a stopped SparkContext|SparkContext\S* (was )?(stopped|shut)"
        r"|SparkContext or SparkSession should be created|Error while sending"
        r"|object has no attribute '(_jvm|sc|setCallSite|_jsparkSession)'|Answer from Java side",
        "Spark was closed. `spark = chapter.spark()` starts it again, in about five seconds; the "
        f"DataFrames and queries of before belong to the old one. {AGAIN}",
    ),
    (
        r"terminated with exception: *(Connection reset|SQLSTATE: \w+ \(no cause message\))"
        r"|Python worker exited unexpectedly",
        "A Python process of the query was killed, or has crashed. Start the query again: with its "
        "checkpoint it goes on where it was.",
    ),
    (
        r"\[UNRESOLVED_COLUMN\.WITH_SUGGESTION",
        "There's no column {objectName} at this point. Did you mean one of {proposal}? If it's "
        "meant as text, put it in quotes in SQL.",
    ),
    (r"\[UNRESOLVED_COLUMN\b", "There's no column {objectName} at this point."),
    (
        r"CANNOT_CONVERT_COLUMN_INTO_BOOL",
        "Columns are joined by `&`, `|` and `~`, not by `and`, `or` and `not`, with each condition "
        "in brackets: `(a == 1) & (b == 2)`.",
    ),
    (
        r"should be Column or str,|\b(max|min|sum)\(\) (takes \d|got an unexpected)",
        "If you've written `from pyspark.sql.functions import *`, it has replaced Python's own "
        "`max`, `sum`, `round` and others. `del max` gets one back; write `F.max` for Spark's.",
    ),
    (
        r"DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
        "{inputSql} is {inputType}, where {requiredType} is wanted. (`F.timestamp_millis` makes a "
        "timestamp of milliseconds.)",
    ),
    (
        r"not supported between instances of 'dict' and 'dict'",
        "Dictionaries have no order: give `sorted`, `min` or `max` a `key`, or compare one of "
        "their fields.",
    ),
    (
        r"'NoneType' object is not (iterable|subscriptable)|object of type 'NoneType'"
        r"|(not supported between|unsupported operand).*'NoneType'",
        "It takes a None for a value. Is an argument None? `get` gives None where there's no such "
        "key, `fetchone` where there's no such row, and methods such as `append` or `sort` return "
        "nothing.",
    ),
    (
        r"'dict' object has no attribute '(?!(add|append|extend|insert|remove|discard|sort)')",
        'Its parts are under keys: write `["name"]` in place of `.name`.',
    ),
    (
        r"'[A-Z]\w+' object is not subscriptable",
        'Its parts are attributes: write `.name` in place of `["name"]`.',
    ),
    (
        r"cannot import name .* from 'workbook\.|No module named 'workbook\.",
        "This copy of the chapter is older than the workbook: open the one named `newer_…`.",
    ),
)
"""Words of an error (a pattern), and what to do about it; the first that fits counts."""


def advice(error: BaseException, text: str) -> str:
    """Return what to do about an error whose type and message are ``text``; '' if that's unknown.

    What stands in braces is one of the parameters of Spark's error.
    """
    found = next((said for words, said in ADVICE if re.search(words, text)), "")
    of_spark: Any = getattr(error, "getMessageParameters", dict)
    return found.format_map(defaultdict(lambda: "…", of_spark() or {}))
