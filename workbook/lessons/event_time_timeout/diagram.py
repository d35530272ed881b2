"""The pipeline of chapter 11, drawn where its notebook begins."""

from workbook.views.parts import Loop, Producer, Query, Sink, Topic

tracking, orders = Topic("tracking", 4), Topic("orders", 4)
by_hand = Loop("merge and time out", state="visits, clock")
on_spark = Query("merged_visits", state="visits, clock")

paths = (
    (Producer("the shop"), tracking, by_hand, Sink("complete")),
    (Producer("the cash desk"), orders, by_hand),
    (tracking, on_spark, Sink("emitted")),
    (orders, on_spark),
)
