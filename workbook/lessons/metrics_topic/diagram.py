"""The pipeline of chapter 03, drawn where its notebook begins."""

from workbook.views.parts import Loop, Producer, Query, Sink, Topic

clicks, metrics = Topic("clicks"), Topic("metrics", 3)
loop = Loop("publish_seconds", state="views")

paths = (
    (Producer("shop, visitors"), clicks, loop, metrics, Loop("follow"), Sink("latest")),
    (clicks, Query("as_records", state="window"), metrics),
    (loop, Topic("clicks.dead-letters")),
)
