"""The pipeline of chapter 10, drawn where its notebook begins."""

from workbook.views.parts import Loop, Producer, Query, Sink, Topic

tracking, orders = Topic("tracking", 4), Topic("orders", 4)
by_hand = Loop("combine, by hand", state="visits")
on_spark = Query("combine, per ssid", state="visit")

paths = (
    (Producer("the shop"), tracking, by_hand, Sink("visits")),
    (Producer("the cash desk"), orders, by_hand),
    (tracking, on_spark, Sink("merged")),
    (orders, on_spark),
)
