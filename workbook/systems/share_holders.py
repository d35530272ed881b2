"""Who holds shares of which US companies: system 3."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from workbook.systems.base import GeneratedStream, Job, Read, Shown, Started, TableSystem
from workbook.systems.options import Option, path, topic, whole

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from workbook.sinks.store import Store

SHOWN = 10
"""The number of rows shown at the end."""


POSITIONS = GeneratedStream(
    name="positions",
    does="a changelog of who holds which shares to a compacted topic",
    example="generate positions --positions 5000 --clients 1000",
    maker="positions:PositionStream",
    options=(
        Option("--positions", whole, "number of positions", default=1000),
        Option("--clients", whole, "number of clients who hold them", default=200),
    ),
    compacted=True,
)


class ShareHolders(TableSystem):
    """Positions in; a table of clients with their US shares out, in a store and a topic."""

    name = "share_holders"
    does = "keep the table of who holds US shares"
    reads = "positions"
    examples = ("run share_holders --in positions --checkpoint state/share_holders",)
    streams = (POSITIONS,)

    own = (
        Option("--out", topic, "a compacted topic for who holds what", "none; the store alone"),
        Option("--store", path, "a file for the store", "store.db in the checkpoint"),
    )

    def start(self, job: Job) -> Started:
        from workbook.pipelines import share_holders
        from workbook.sinks.store import Store
        from workbook.sinks.topics import TableTopic
        from workbook.sources.records import POSITIONS
        from workbook.spark.progress import timed

        options, config, letters = job.options, job.config, job.letters()

        def holders(read: Read) -> DataFrame:
            raw, columns = timed(read(options.source)), share_holders.REQUIRED_COLUMNS
            return share_holders.us_share_holders(POSITIONS.parse(raw, letters, columns))

        store = Store(Path(options.store or job.checkpoint / "store.db").absolute(), "client")
        out = [TableTopic(config, options.out, "client", letters)] if options.out else []
        sinks = [*out, store]
        running = job.query(holders, sinks)
        return Started(running, sinks, lambda: _shown(store), lambda: _summary(store), store.path)


def _shown(store: Store) -> Shown:
    rows = [(row["client"], ", ".join(row["tickers"])) for row in store.some(SHOWN)]
    return Shown(("client", "US shares"), rows)


def _summary(store: Store) -> list[str]:
    lines = [f"  {client}: {tickers}" for client, tickers in _shown(store).rows]
    more = ["  ..."] if len(store) > SHOWN else []
    return [f"{len(store):,} clients hold US shares{':' if lines else '.'}", *lines, *more]
