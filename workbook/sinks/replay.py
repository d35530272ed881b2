"""Count event days again while the live query counts on, and show the result in one step.

Counts and sketches have a generation. In one transaction ``begin`` reads the live query's offsets
and notes a new generation N. From then on the live query writes these days into generation N + 1.
The replay fills generation N, which is hidden, with the records before these offsets. Its last
micro-batch drops the days' older generations and shows N. So at any time a reader sees each action
once, and an interrupted replay has changed nothing that a reader sees.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import psycopg

from workbook.errors import CannotGoOn
from workbook.sinks.counts_table import CountsTable
from workbook.sinks.postgres import Limited
from workbook.sinks.viewers import GROUPS, VIEWERS

Days = tuple[date, date]
"""The first and the last day."""

LETTERS = "letters"
"""The pipeline of a run that counts the dead letters of another one."""

_OTHERS = (  # a negative one is not the pipeline's: see sinks/migration.py
    "day BETWEEN %(first)s AND %(last)s AND generation >= 0 "
    "AND generation NOT IN (%(own)s, %(own)s + 1)"
)
_TABLES = ("counts_by_generation", VIEWERS.table, GROUPS.table)
_SWAP_S = 600.0
_SWAP = (
    "UPDATE replays SET shown = true WHERE generation = %(own)s",
    *(f"DELETE FROM {table} WHERE {_OTHERS}" for table in _TABLES),
)


@dataclass(frozen=True)
class Replay:
    """A replay of event ``days``: it fills a ``generation`` with the records before ``offsets``.

    ``offsets`` are next offsets by partition. ``shown`` says whether it is finished.
    """

    generation: int
    days: Days
    offsets: Mapping[int, int]
    shown: bool = False

    @property
    def name(self) -> str:
        """Return the replay's pipeline in ``fence`` and ``fates``."""
        return f"replay {self.generation}"

    def __str__(self) -> str:
        first, last = self.days
        return f"the replay of {first}" if first == last else f"the replay of {first} to {last}"


def begin(
    counts: CountsTable, live: tuple[str, str], days: Days, query: str, *, groups: bool = False
) -> Replay:
    """Begin a replay of event days, or return the unfinished one of the same days.

    Without its checkpoint an unfinished replay starts from the beginning, as its code may have
    changed.

    ``live`` has the pipeline whose ``counts`` are replaced, and the id of the topic it reads.
    ``query`` is the id in the replay's checkpoint, "" if there is none. The query of a shown
    replay gets that replay, because it may still have to commit to its checkpoint. ``groups`` says
    whether the replay counts the viewers' groups, too. Raises ``CannotGoOn`` if nothing has been
    counted yet, if a replay of some of these days is unfinished, or if another topic's counts, or
    groups, would be dropped.
    """

    def begun(connection: Limited) -> Replay:
        offsets = _fence(connection, live)
        if not offsets:
            raise CannotGoOn(
                f"Expected {counts} to have counts of this topic, but it has none: there is "
                "nothing to replace. Leave out --from and --to, or check --in and --schema."
            )
        _require_alone(connection, live)
        if not groups:
            _require_no_groups(connection, days)
        replay = _begun(connection, days, query) or _new(connection, live[1], days, offsets)
        # The replay also reads the rejected records: end a run that counts the dead letters.
        connection.execute("UPDATE fence SET epoch = epoch + 1 WHERE pipeline = %s", [LETTERS])
        return replay

    return counts.within(begun)


def _fence(connection: Limited, live: tuple[str, str]) -> dict[str, int]:
    """Return the live query's next offsets, and lock them until the transaction ends.

    Until then neither the query nor a replay can commit, so nothing of theirs is overlooked.
    """
    asked = "SELECT offsets, born FROM fence WHERE (pipeline, topic) = (%s, %s) FOR UPDATE"
    try:
        row = connection.execute(asked, live).fetchone()
        connection.execute("SELECT FROM fence WHERE pipeline LIKE 'replay %' FOR UPDATE")
    except psycopg.errors.UndefinedTable:
        row = None
    offsets, born = row or ({}, {})
    # After a lost checkpoint the query catches up first; all before ``born`` is counted already.
    return {number: max(end, born.get(number, 0)) for number, end in offsets.items()}


def _begun(connection: Limited, days: Days, query: str) -> Replay | None:
    """Return this query's replay, or the unfinished one of these days; refuse an overlap."""
    first, last = days
    rows = connection.execute(
        "SELECT generation, first_day, last_day, replays.offsets, shown, coalesce(query, '') "
        "FROM replays LEFT JOIN fence ON pipeline = 'replay ' || generation "
        "WHERE NOT shown AND first_day <= %s AND last_day >= %s OR query = nullif(%s, '') "
        "ORDER BY shown DESC",
        (last, first, query),
    )
    for generation, *others, offsets, shown, written_by in rows.fetchall():
        replay = Replay(generation, (others[0], others[1]), _by_number(offsets), shown)
        if replay.days == days and (not shown or written_by == query):
            if not query:
                _clear(connection, replay)
            return replay
        if not shown:
            raise CannotGoOn(
                f"Expected no unfinished replay of {first} to {last}, but {replay} isn't "
                f"finished. Finish it first, with --from {others[0]} --to {others[1]}."
            )
    return None


def _clear(connection: Limited, replay: Replay) -> None:
    """Delete what an unfinished replay has written; its process can't commit any more."""
    for table in _TABLES:
        connection.execute(f"DELETE FROM {table} WHERE generation = %s", [replay.generation])
    for table in ("fates", "starts"):
        connection.execute(f"DELETE FROM {table} WHERE pipeline = %s", [replay.name])
    connection.execute(
        "UPDATE fence SET epoch = epoch + 1, query = '', batch = -1, offsets = '{}', born = '{}' "
        "WHERE pipeline = %s",
        [replay.name],
    )


def _require_alone(connection: Limited, live: tuple[str, str]) -> None:
    other = connection.execute(
        "SELECT topic FROM fence WHERE pipeline = %s AND topic <> %s", live
    ).fetchone()
    if other:
        raise CannotGoOn(
            "Expected this --schema to have the counts of one topic, but it also has those of the "
            f"topic with the id {other[0]}, and a replay would drop them. Leave out --from and "
            "--to, and count each topic from its first record into a new --schema of its own."
        )


def _require_no_groups(connection: Limited, days: Days) -> None:
    asked = "SELECT day FROM groups_by_generation WHERE day BETWEEN %s AND %s LIMIT 1"
    if found := connection.execute(asked, days).fetchone():
        raise CannotGoOn(
            f"Expected --viewers, because {found[0]} has the viewers' groups, and a replay without "
            "that option would drop them. Name the topic by --viewers."
        )


def _new(connection: Limited, topic: str, days: Days, offsets: Mapping[str, int]) -> Replay:
    row = connection.execute(
        "INSERT INTO replays SELECT coalesce(max(generation) + 2, 1), %s, %s, %s, %s FROM replays "
        "RETURNING generation",
        (topic, *days, json.dumps(offsets)),
    ).fetchone()
    assert row is not None
    replay = Replay(row[0], days, _by_number(offsets))
    connection.execute("INSERT INTO fence (pipeline, topic) VALUES (%s, %s)", (replay.name, topic))
    return replay


def _by_number(offsets: Mapping[str, int]) -> dict[int, int]:
    return {int(partition): end for partition, end in offsets.items()}


def require_none(counts: CountsTable) -> None:
    """Refuse to count dead letters after a replay, which has read the original records."""
    rows = counts.ask("SELECT generation, first_day, last_day FROM replays LIMIT 1")
    if rows:
        replay = Replay(rows[0]["generation"], (rows[0]["first_day"], rows[0]["last_day"]), {})
        raise CannotGoOn(
            f"Expected no replay in this schema, but there is {replay}: it has read the original "
            "records of dead letters, so these would count twice. Replay the days of these dead "
            "letters instead, with the original topic as --in, and --from and --to."
        )


class ReplayTable(CountsTable):
    """Writes a replay's generation, each micro-batch once; the last one shows the generation.

    Arguments are those of ``CountsTable``, with the ``replay`` in place of the pipeline.
    """

    def __init__(self, url: str, replay: Replay, *where: Any, **how: Any) -> None:
        super().__init__(url, replay.name, *where, **how)
        self.replay = replay

    def finished(self) -> bool:
        """Return whether the replay's generation is shown."""
        asked = "SELECT shown FROM replays WHERE generation = %s"
        return bool(self.ask(asked, [self.replay.generation])[0]["shown"])

    def _generations(self, connection: Limited, days: Sequence[date]) -> dict[date, int]:
        first, last = self.replay.days
        return {day: self.replay.generation for day in days if first <= day <= last}

    def _finish(self, connection: Limited, ends: Mapping[int, int]) -> None:
        if any(ends.get(partition, 0) < end for partition, end in self.replay.offsets.items()):
            return
        asked = "SELECT shown FROM replays WHERE generation = %s"
        row = connection.execute(asked, [self.replay.generation]).fetchone()
        if row is None or row[0]:
            return  # behind its swap there may be generations of newer replays
        if self._fates.get("rejected") and not self._fates.get("accepted"):
            raise CannotGoOn(
                f"Expected records that can be read, but {self.replay} has rejected all of them. "
                "Nothing of it is shown. Check --subject, and start it again with a new "
                "--checkpoint."
            )
        first, last = self.replay.days
        connection.allow(_SWAP_S)
        for statement in _SWAP:
            named = {"own": self.replay.generation, "first": first, "last": last}
            connection.execute(statement, named)
