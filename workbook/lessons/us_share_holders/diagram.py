"""The pipeline of chapter 21, drawn where its notebook begins."""

from workbook.views.parts import Loop, Producer, Query, Sink, Topic

positions = Topic("positions", compacted=True)

paths = (
    (Producer("send"), positions, Loop("changes", state="table"), Loop("count", state="held")),
    (positions, Query("Changes, sum", state="row, sum"), Sink("totals", "table in memory")),
    (positions, Query("ktable, aggregate", state="row, tickers"), Sink("seen", "list")),
)
