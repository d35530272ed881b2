"""The pipeline of chapter 00, drawn where its notebook begins."""

from workbook.views.parts import Producer, Query, Sink, Topic

clicks = Topic("clicks", 3)

paths = (
    (Producer("shop"), clicks, Query("query", state="count"), Sink("views", "table in memory")),
    (Producer("producer"), clicks),
)
