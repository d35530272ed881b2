"""The pipeline of chapter 02, drawn where its notebook begins."""

from workbook.views.parts import Loop, Producer, Query, Sink, Topic

clicks = Topic("clicks")

paths = (
    (Producer("shop, visitors"), clicks, Loop("completed", state="map"), Sink("by_hand")),
    (clicks, Query("views_per_second", state="window"), Sink("by_spark")),
)
