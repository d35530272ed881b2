"""The pipelines of chapter 13, drawn where its notebook begins: by hand, and on Spark."""

from workbook.views.parts import Loop, Producer, Query, Topic

tracking, orders = Topic("tracking", 2), Topic("orders", 2)
on_spark = Query("merged_visits", state="visits, clock")

paths = (
    (Producer("producer"), Topic("source"), Loop("batch", state="visits, next"), Topic("sink")),
    (tracking, on_spark, Topic("visits", 2)),
    (orders, on_spark),
)
