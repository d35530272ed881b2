"""The table of active groups under kill -9, judged by the ledger and by the admin client."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from workbook.events.group_records import CONSUMER_OFFSETS
from workbook.systems.crashes.base import AFTER_COMMIT, Crashes, Filled, Point, Variant, Verdict

NOTHING = {"topic": "", "partition": -1, "offset": -1}
"""A row without a commit, so that a group that should be gone is seen."""

COLUMNS = ["group", "topic", "partition", "offset", "described"]


class ActiveGroupCrashes(Crashes):
    """70 groups that commit in three partitions of a topic, six times each.

    Some have members, in either protocol, some commit in transactions, of which some are aborted,
    and some are deleted. The store is compared with what they have committed, and with what the
    admin client answers.
    """

    words = ("--in", CONSUMER_OFFSETS, "--max-per-batch", "50", "--every", "0.1")
    partitions = 3
    variants = (
        Variant(
            "spark",
            "Spark, its checkpoint, a compacted topic and two stores",
            (
                Point("before-compute", "a micro-batch has been planned, nothing of it computed"),
                Point("mid-batch", "a micro-batch has changed some of its state"),
                Point("before-topic", "a micro-batch has changed its state, and isn't written"),
                Point("before-store", "a micro-batch is in the topic, not in the store"),
                Point("before-windows", "a micro-batch is in the store, not in its windows"),
                Point("before-checkpoint", "a micro-batch is in all of them, not committed"),
                Point(AFTER_COMMIT, "a micro-batch has been committed to the checkpoint"),
            ),
            promises=("missing", "stale", "unexpected", "nameless", "differing"),
        ),
    )

    def fill(self, config: dict[str, Any], topic: str, seed: int, *, clean: bool = False) -> Filled:
        """Let groups commit; a row per group and partition that has a commit in the end."""
        from workbook.generators.groups import GroupWorkload
        from workbook.kafka.offsets import partition_offsets

        expected = GroupWorkload(config, topic, self.partitions, seed).run()
        records = sum(o.end - o.begin for o in partition_offsets(config, CONSUMER_OFFSETS))
        return Filled(records, expected)

    def judge(
        self, filled: Filled, config: dict[str, Any], options: Namespace, checkpoint: Path
    ) -> Verdict:
        """Judge what the store holds of these groups."""
        import pandas as pd

        from workbook.kafka.group_offsets import committed_by
        from workbook.ledgers.groups import judge
        from workbook.sinks.store import Store

        mine = f"{options.out.removesuffix('.results')}."
        rows = [
            (row["group"], at["topic"], at["partition"], at["offset"], bool(row["details"]))
            for row in Store(checkpoint / "groups.db", "group").all()
            if row["group"].startswith(mine)
            for at in row["offsets"] or [NOTHING]
        ]
        groups = sorted({*filled.expected["group"], *(row[0] for row in rows)})
        return judge(
            filled.expected, pd.DataFrame(rows, columns=COLUMNS), committed_by(config, groups)
        )
