"""Records what a checkpoint was made for, and refuses any other query that would continue it.

Facts are JSON values by name, for example ``{"topic": "clicks", "buckets": 8}``. Those of a query
travel in its plan: a source puts them into its option ``made_for``, a pipeline marks rows with
them (``marked``), and ``facts_of`` finds them again, whatever was done with the rows in between.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pyspark import SparkContext
from pyspark.sql import DataFrame

from workbook.errors import CannotGoOn
from workbook.spark.fingerprints import fingerprint

Facts = Mapping[str, Any]

RECORD = "made_for.json"
WRITES = "writes.json"
"""The record of the topics that ``workbook run`` writes from this checkpoint."""

OPTION = "made_for"
_MARK = "made for "
_NONE = "nothing"


# --- the record -------------------------------------------------------------------------------


def begun(checkpoint: Path) -> bool:
    """Return True if a query has begun to read in this checkpoint folder."""
    return any(checkpoint.glob("[0-9]*/offsets/[0-9]*"))


def require(checkpoint: Path, facts: Facts, file: str = RECORD) -> None:
    """Refuse to go on with a checkpoint that was made for something else.

    ``facts`` may be some of those that will be recorded, as far as they are known before Spark
    starts. A checkpoint in which nothing has begun fits everything. Raises ``CannotGoOn``.
    """
    if begun(checkpoint):
        recorded = _recorded(checkpoint, file)
        _compare(checkpoint, {name: recorded.get(name) for name in facts}, facts)


def record(checkpoint: Path, facts: Facts, file: str = RECORD) -> None:
    """Record all the facts before the first start; afterwards, refuse any difference.

    Raises ``CannotGoOn``, also for a checkpoint that has begun without such a record.
    """
    if begun(checkpoint):
        _compare(checkpoint, _recorded(checkpoint, file), facts)
        return
    checkpoint.mkdir(parents=True, exist_ok=True)
    unfinished = checkpoint / f"{file}.unfinished"
    unfinished.write_text(json.dumps(facts, indent=1, ensure_ascii=False), encoding="utf-8")
    unfinished.replace(checkpoint / file)


def made_for(checkpoint: Path) -> Facts:
    """Return the facts that a checkpoint was made for; none where it has no record."""
    return _recorded(checkpoint, RECORD) if (checkpoint / RECORD).exists() else {}


def _recorded(checkpoint: Path, file: str) -> dict[str, Any]:
    try:
        return dict(json.loads((checkpoint / file).read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError) as error:
        came = "there is none" if isinstance(error, FileNotFoundError) else "it cannot be read"
        raise CannotGoOn(
            f"Expected {checkpoint / file} to say what this checkpoint was made for, but {came}: "
            "it is of an older version, or was damaged, and might give wrong results. Use a new "
            "folder for the checkpoint: its query starts as one without."
        ) from None


def _compare(checkpoint: Path, made_for: Facts, facts: Facts) -> None:
    facts = json.loads(json.dumps(facts))  # tuples as lists, as they are recorded
    differing = [
        f"\n  {name}: made for {_text(made_for.get(name))}, came {_text(facts.get(name))}"
        for name in dict.fromkeys([*made_for, *facts])
        if made_for.get(name) != facts.get(name)
    ]
    if differing:
        raise CannotGoOn(
            f"Expected the query that the checkpoint {checkpoint} was made for, but another one "
            f"came:{''.join(differing)}\nAsk for the same again, or use a new folder for the "
            "checkpoint: its query starts as one without."
        )


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "; ".join(map(str, value)) or _NONE
    return _NONE if value is None else str(value)


# --- on their way -----------------------------------------------------------------------------


def marked(rows: DataFrame, facts: Facts) -> DataFrame:
    """Mark rows with facts; ``facts_of`` finds them in everything that is made of these rows."""
    return rows.alias(_MARK + json.dumps(facts))


def facts_of(rows: DataFrame) -> dict[str, Any]:
    """Collect the facts in the plan of these rows; a list where several differ under one name."""
    found: dict[str, list[Any]] = {}
    for facts in _all_facts(_plan(rows)):
        for name, value in facts.items():
            known = found.setdefault(name, [])
            known.extend([value] if value not in known else [])
    return {name: values if len(values) > 1 else values[0] for name, values in found.items()}


def computed(rows: DataFrame) -> list[str]:
    """Return what SQL has made of the rows since they were read: filters, columns, joins, ...

    A function of Python is known by its fingerprint. What ``mapInPandas`` and its kin do, and all
    below them, isn't seen: a pipeline of such a kind marks its rows itself. Nor is what a table
    holds that is no stream, or the session's time zone.
    """
    return list(_computed(_plan(rows)))


def condition_text(rows: DataFrame, holds: Any) -> str:
    """Return a condition as Spark understands it: the same text however it was written."""
    node = _plan(rows.where(holds))
    while node.nodeName() != "Filter":  # where Spark has added a projection of its own
        node = node.children().apply(0)
    return _sql(node.condition())


def _plan(rows: DataFrame) -> Any:
    return rows._jdf.queryExecution().analyzed()


def _all_facts(node: Any, topic_known: bool = False) -> Iterator[Facts]:
    kind = node.nodeName()
    if kind == "SubqueryAlias" and node.alias().startswith(_MARK):
        facts = json.loads(node.alias().removeprefix(_MARK))
        topic_known = topic_known or "topic" in facts
        yield facts
    if kind == "StreamingRelationV2":
        options = node.extraOptions()
        if options.get(OPTION):
            yield json.loads(options.get(OPTION))
        elif options.get("subscribe") and not topic_known:
            yield {"topic": options.get("subscribe")}
    for child in _all(node.children()):
        yield from _all_facts(child, topic_known)


_UNCHANGED = {"SubqueryAlias", "View", "Repartition", "RepartitionByExpression", "ResolvedHint"}


def _computed(node: Any) -> Iterator[str]:
    kind, children = node.nodeName(), list(_all(node.children()))
    if not children or kind.startswith(("MapIn", "FlatMap", "MapPartitions", "TransformWith")):
        return
    names = [[column.name() for column in _all(child.output())] for child in children]
    clear = all(len(set(each)) == len(each) for each in names)
    if kind == "EventTimeWatermark":
        yield f"WATERMARK {_sql(node.eventTime())} {node.delay()}"
    elif kind == "Filter" and clear:
        yield f"WHERE {_sql(node.condition())}"
    elif kind == "Project" and clear:
        expressions = _all(node.expressions())
        yield from (_sql(each) for each in expressions if each.nodeName() != "AttributeReference")
    elif kind not in _UNCHANGED:
        text = "; ".join(map(_sql, _all(node.expressions())))
        yield f"{node.canonicalized().simpleString(10_000)} OF {text}"
    for child, columns in zip(children, names, strict=True):
        if len(children) > 1:
            yield "SIDE" if kind == "Join" else f"SIDE OF {', '.join(columns)}"
        yield from _computed(child)


def _sql(expression: Any) -> str:
    """Return an expression as SQL, with what SQL hides: Python functions, subqueries, variables."""
    return " ".join([expression.sql(), *_unseen(expression, [])])


def _unseen(expression: Any, variables: list[int]) -> Iterator[str]:
    kind = expression.nodeName()
    if kind in ("ListQuery", "ScalarSubquery", "Exists"):
        yield f"FROM {list(_computed(expression.plan()))}"
    elif kind == "NamedLambdaVariable":
        number = expression.exprId().id()
        variables.extend([number] if number not in variables else [])
        yield f"VARIABLE {variables.index(number)}"
    elif kind == "PythonUDF":
        command = expression.func().command()
        scala = SparkContext._active_spark_context._jvm.scala  # type: ignore[union-attr]
        pickled = command.toArray(scala.reflect.ClassTag.Byte())
        made = fingerprint(pickle.loads(bytes(pickled))[0])
        yield f"BY {made} AS {expression.dataType().sql()}"
    for child in _all(expression.children()):
        yield from _unseen(child, variables)


def _all(sequence: Any) -> Iterator[Any]:
    """Iterate over a Scala sequence."""
    return (sequence.apply(n) for n in range(sequence.size()))
