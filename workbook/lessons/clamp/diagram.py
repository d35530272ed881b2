"""The pipeline of chapter 12, drawn where its notebook begins."""

from workbook.views.parts import Loop, Producer, Query, Sink, Topic

tracking, orders = Topic("tracking"), Topic("orders")
by_hand = Loop("pause and resume", state="tops")
on_spark = Query("merged_visits", state="visits, clock")

paths = (
    (Producer("the shop"), tracking, by_hand, Sink("read", "lists")),
    (Producer("the cash desk"), orders, by_hand),
    (tracking, on_spark, Sink("visits")),
    (orders, on_spark),
)
