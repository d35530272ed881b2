"""Wrong answers to "The latest of each minute", as queries over the rows of commits."""

from __future__ import annotations

from operator import attrgetter

from workbook.classroom.mistakes import Mistake, Mistakes, same_idea
from workbook.lessons.active_groups.windows_on_spark_queries import (
    ORDERS,
    by_column,
    by_the_clock,
    by_the_clock_all,
    fields,
    group,
    minute,
    newest,
    of_each_group,
    row_of,
    sessions,
    shifted,
    sliding,
    there,
    unordered,
    window,
    with_tombstones,
)

MISTAKES = Mistakes()

MISTAKES += same_idea(
    newest(group, by=lambda row: row.committed),
    cause="The highest `committed` wins. A group may be set back, as `reset` is: the highest "
    "`offset` is the newest.",
)
MISTAKES += same_idea(
    newest(group, by=lambda row: row.committed_at),
    cause="The latest `committed_at` wins. A broker's clock may be set back: the `offset` of the "
    "record is the order in which they were committed.",
)
MISTAKES += same_idea(
    newest(group, by=lambda row: -row.offset),
    cause="It takes the first commit of each minute. The highest offset counts.",
)
MISTAKES += same_idea(
    *(by_column(*orders.split()) for orders in ORDERS),
    cause="Each column has a maximum of its own, so a row is put together from several commits. "
    "Take one as a whole: a `struct` is one value.",
)
MISTAKES += same_idea(
    newest(group, by=fields),
    cause="The maximum of a struct looks at its first field first. Put the offset in front, or use "
    "`max_by`.",
)
MISTAKES += same_idea(
    of_each_group,
    cause="Each group has one row, its newest. What it did in the minutes before is gone: group by "
    "the window too.",
)
MISTAKES += same_idea(
    newest(),
    cause="Each minute has one row, of whichever group came last. Each group has one of its own.",
)
MISTAKES += same_idea(
    newest(group, lambda row: row.topic, lambda row: row.partition),
    newest(group, lambda row: row.topic),
    newest(group, lambda row: row.partition),
    newest(group, lambda row: row.topic, lambda row: row.partition, by=attrgetter("committed")),
    newest(group, lambda row: row.topic, lambda row: row.partition, by=attrgetter("committed_at")),
    cause="A group that reads several partitions has several rows in a minute. Its newest commit "
    "alone counts: group by the window and by `group`.",
)
for _ms, _told in (
    (1_000, "a second"), (10_000, "ten seconds"), (30_000, "half a minute"),
    (120_000, "two minutes"), (300_000, "five minutes"), (600_000, "ten minutes"),
    (3_600_000, "an hour"),
):  # fmt: skip
    MISTAKES += same_idea(
        newest(group, start=window(_ms)),
        cause=f"Its windows are {_told} long. One minute is asked for.",
    )
MISTAKES += same_idea(
    sliding(30_000),
    sliding(10_000),
    sliding(1_000),
    cause="Its windows overlap, so a commit is in several. Without a third argument `F.window` has "
    "windows side by side.",
)
MISTAKES += same_idea(
    sessions,
    cause="A session's window begins with a commit, and lasts as long as more come. A minute "
    "begins on the clock: `F.window`.",
)
MISTAKES += same_idea(
    *(newest(group, start=shifted(ms)) for ms in (1_000, 10_000, 30_000)),
    cause="Its windows are a minute long, and begin within one. Without `startTime` they begin "
    "with the minute.",
)
MISTAKES += same_idea(
    lambda commits: newest(group)([row for row in commits if row.committed]),
    cause="It leaves out commits of 0. Whoever is set back to the beginning has committed 0: ask "
    "`deleted`, or `IS NOT NULL`.",
)
MISTAKES += same_idea(
    newest(group, start=lambda row: row.committed_at * 1000 // 60_000 * 60_000),
    cause="Milliseconds are taken for seconds, so each commit is far in the future, in a minute of "
    "its own. `F.timestamp_millis` makes a timestamp of them; a cast, or `timestamp_seconds`, "
    "doesn't.",
)
MISTAKES += same_idea(
    newest(group, shown=lambda ms: ms // 1000),
    cause="`start` is in seconds. Milliseconds are asked for, as in `committed_at`: "
    "`F.unix_millis`.",
)
MISTAKES += same_idea(
    newest(group, shown=lambda ms: ms + 60_000),
    cause="It's the end of the window. A minute is named by its start.",
)
MISTAKES += same_idea(
    newest(group, shown=lambda ms: ms // 60_000),
    cause="`start` is a number of minutes. When the minute begins is asked for, in ms.",
)
MISTAKES += same_idea(
    with_tombstones(None),
    with_tombstones(0),
    cause="Tombstones have no time, so they make a minute of their own, without a start or in "
    "1970. They count for nothing.",
)
MISTAKES += same_idea(
    lambda commits: [row_of(minute(row), row) for row in there(commits)],
    lambda commits: list({row_of(minute(row), row) for row in there(commits)}),
    cause="All commits are there. Of each group and minute the newest counts.",
)
MISTAKES += same_idea(
    unordered(last=False),
    unordered(last=True),
    cause="It takes the commit that happens to stand first or last. `first`, `last` and "
    "`dropDuplicates` know no newest: the offset has to decide.",
)
MISTAKES += same_idea(
    by_the_clock,
    by_the_clock_all,
    cause="It asks the clock on the wall when the query runs. A commit belongs to the minute in "
    "which it was made: that is its `committed_at`.",
)
MISTAKES += [Mistake(lambda commits: [], "Nothing is left. Is a filter never true?")]
