"""The table of active groups under kill -9, judged by the ledger and by the admin client."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from workbook.crashlab.crashes.base import (
    AFTER_COMMIT,
    Filled,
    Outputs,
    TopicCrashes,
    Variant,
    Verdict,
    on_spark,
)
from workbook.topics import CONSUMER_OFFSETS

NOTHING = {"topic": "", "partition": -1, "offset": -1}
"""A row without a commit, so that a group that should be gone is seen."""

COLUMNS = ["group", "topic", "partition", "offset", "described"]


class ActiveGroupCrashes(TopicCrashes):
    """70 groups that commit in three partitions of a topic, six times each.

    Some have members, in either protocol, some commit in transactions, and some of these are
    aborted, and some are deleted. The store is compared with what they have committed, and with
    what the admin client answers; the newest record per group in the topic, and the newest row per
    group in the windows, with the store.
    """

    words = ("--in", CONSUMER_OFFSETS, "--max-per-batch", "100", "--every", "0.1")
    partitions = 3
    variants = (
        Variant(
            "spark",
            "Spark, its checkpoint, a compacted topic and two stores",
            on_spark(
                *("before-compute", "mid-batch", "before-topic", "before-store"),
                *("before-windows", "before-checkpoint", AFTER_COMMIT),
            ),
            promises=(
                *("missing", "stale", "unexpected", "nameless", "differing"),
                *("unpublished", "outdated"),
            ),
        ),
    )

    def fill(self, config: dict[str, Any], topic: str, seed: int, *, clean: bool = False) -> Filled:
        """Let groups commit; a row per group and partition that has a commit in the end."""
        from workbook.kafka.offsets import partition_offsets
        from workbook.streams.generators.groups import GroupWorkload

        expected = GroupWorkload(config, topic, self.partitions, seed).run()
        records = sum(o.end - o.begin for o in partition_offsets(config, CONSUMER_OFFSETS))
        return Filled(records, expected)

    def judge(self, filled: Filled, outputs: Outputs) -> Verdict:
        """Judge what the store, the topic and the windows hold of these groups.

        A group that is deleted stays in the windows where it was.
        """
        import pandas as pd

        from workbook.kafka.offsets import committed_by
        from workbook.kafka.readers import latest_rows
        from workbook.sinks.store import Store, WindowedStore
        from workbook.streams.ledgers.groups import differing_rows, judge

        def mine(rows: Iterable[dict[str, Any]]) -> dict[str, dict[str, Any]]:
            prefix = f"{outputs.options.out.removesuffix('.results')}."
            return {row["group"]: row for row in rows if row["group"].startswith(prefix)}

        table = mine(Store(outputs.checkpoint / "groups.db", "group").all())
        topic = mine(latest_rows(outputs.results()).values())
        windowed = WindowedStore(outputs.checkpoint / "windows.db", "group")
        windows = mine(row for _, row in windowed.all())
        rows = [
            (group, at["topic"], at["partition"], at["offset"], bool(row["details"]))
            for group, row in table.items()
            for at in row["offsets"] or [NOTHING]
        ]
        groups = sorted({*filled.expected["group"], *table})
        table_rows = pd.DataFrame(rows, columns=COLUMNS)
        verdict = judge(filled.expected, table_rows, committed_by(outputs.config, groups))
        newest = {group: row for group, row in windows.items() if group in table}
        copies = {"unpublished": topic, "outdated": newest}
        apart = {name: differing_rows(table, copy) for name, copy in copies.items()}
        return replace(verdict, found={**verdict.found, **apart})
