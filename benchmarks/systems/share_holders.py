"""Who holds US shares: `run share_holders` and Kafka Streams, into a compacted topic.

Updates of 100,000 positions of 10,000 clients, 5 % of them tombstones, in 8 partitions. Both keep
each client's positions and their tickers, and parse each message. DuckDB computes the same.
"""

import secrets
import time
from pathlib import Path
from typing import Any

import duckdb
from harness import SPARK, Answer, Check, Comparison, Program, floor
from peers import kafka_streams
from peers.kafka_streams import DEFAULT, TUNED, Peer

from workbook.kafka.broker import Broker
from workbook.kafka.readers import latest_rows, read_messages
from workbook.sinks.store import Store
from workbook.streams.generators.positions import PositionStream
from workbook.streams.stream_producer import generate
from workbook.topics import compacted, new_topic

FULL, PARTITIONS, POSITIONS, CLIENTS = 1_000_000, 8, 100_000, 10_000

TRUTH = """
WITH last AS (
    SELECT * FROM log QUALIFY row_number() OVER (PARTITION BY position ORDER BY number DESC) = 1
)
SELECT client, list(position ORDER BY position) AS positions,
       list(DISTINCT ticker ORDER BY ticker) AS tickers
FROM last WHERE NOT deleted AND exchange IN ('NYSE', 'NASDAQ') GROUP BY client
"""

Holders = dict[str, tuple[list[str], list[str]]]  # client to sorted positions and tickers


def recomputed(stream: PositionStream, updates: int) -> Holders:
    """Compute who holds what with DuckDB, from the stream's own list of its messages."""
    log = stream.expected(0, updates)
    log["number"] = range(len(log))
    rows = duckdb.from_df(log).query("log", TRUTH).fetchall()  # type: ignore[union-attr]
    return {client: (positions, tickers) for client, positions, tickers in rows}


def comparison(broker: Broker, updates: int, peers: bool) -> Comparison:
    config = broker.client_config()
    topic = compacted(new_topic("positions", "bench").name, PARTITIONS)
    broker.create(topic)
    how = {"partitions": PARTITIONS, "positions": POSITIONS, "clients": CLIENTS}
    stream = PositionStream(rate=20_000, **how).ending_by(int(time.time() * 1000), updates)
    right = recomputed(stream, updates)
    generate(config, topic.name, stream, updates)

    def held(rows: Any) -> Holders:
        return {row["client"]: (row["positions"], row["tickers"]) for row in rows}

    def ours(_: int) -> tuple[str, Check]:
        out = f"{topic.name}.{secrets.token_hex(4)}"

        def check(answer: Answer) -> None:
            store = Store(Path(answer["checkpoint"], "store.db"), "client", reading=True)
            assert held(store.all()) == right
            assert held(latest_rows(read_messages(config, out)).values()) == right
            broker.delete([out])

        return f"run share_holders --in {topic.name} --out {out}", check

    def target() -> tuple[dict[str, str], Check]:
        out = compacted(f"{topic.name}.{secrets.token_hex(4)}", PARTITIONS)
        broker.create(out)

        def check(_: Answer) -> None:
            found = latest_rows(read_messages(config, out.name))  # position to ticker
            assert right == {
                client: (sorted(tickers), sorted({*tickers.values()}))
                for client, tickers in found.items()
            }
            broker.delete([out.name])

        return {"target": out.name}, check

    kinds = {"as it comes": (DEFAULT, "at least once"), "tuned": (TUNED, "at least once")}
    peer = Peer(broker, "ShareHolders", {"source": topic.name}, updates, target)
    others = kafka_streams.programs(peer, kinds) if peers else []
    mine = Program("`run share_holders`", SPARK, ours, "at least once; also in a store")
    return Comparison("share holders", updates, [floor(topic), *others, mine])
