"""Who reads what: `run active_groups` on what 70 real groups have left, again and again.

Their records are copied from ``__consumer_offsets`` into a topic of as many partitions, always all
of them, so that the end of each copy is the same table. No other program does this work.
"""

from pathlib import Path

import pandas as pd
from harness import SPARK, Answer, Check, Comparison, Program, floor

from workbook.kafka.broker import Broker
from workbook.kafka.offsets import committed_by
from workbook.kafka.producer import DeliveringProducer
from workbook.kafka.readers import read_messages
from workbook.sinks.store import Store
from workbook.streams.generators.groups import GroupWorkload
from workbook.streams.ledgers.groups import judge
from workbook.topics import CONSUMER_OFFSETS, new_topic

FULL, PARTITIONS = 5_000_000, 50
COLUMNS = ["group", "topic", "partition", "offset", "described"]


def comparison(broker: Broker, records: int, peers: bool) -> Comparison:
    config, read = broker.client_config(), new_topic("clicks", "bench", 3)
    broker.create(read)
    expected = GroupWorkload(config, read.name, read.partitions).run()
    real = [
        (message.value(), message.key(), message.partition() or 0, 0)
        for message in read_messages(config, CONSUMER_OFFSETS)
        if read.name.encode() in (message.key() or b"")  # other benchmarks' groups may be there
    ]
    copy, times = new_topic("offsets", "bench", PARTITIONS), max(1, records // len(real))
    broker.create(copy)
    with DeliveringProducer(config, copy.name) as producer:
        for _ in range(times):
            producer.produce_all(real)

    def ours(_: int) -> tuple[str, Check]:
        def check(answer: Answer) -> None:
            store = Store(Path(answer["checkpoint"], "groups.db"), "group", reading=True)
            rows = [
                (row["group"], at["topic"], at["partition"], at["offset"], bool(row["details"]))
                for row in store.all()
                for at in row["offsets"] or ()
            ]
            table = pd.DataFrame(rows, columns=COLUMNS)
            verdict = judge(expected, table, committed_by(config, sorted({*expected["group"]})))
            assert not any(verdict.counts.values()), str(verdict)

        return f"run active_groups --in {copy.name} --max-per-batch 1000000 --every 0.1", check

    mine = Program("`run active_groups`", SPARK, ours, "equals the admin client's answer")
    return Comparison("active groups", times * len(real), [floor(copy), mine])
