"""The pipeline of chapter 04, drawn where its notebook begins."""

from workbook.views.parts import Loop, Query, Sink, Topic

clicks, metrics = Topic("clicks"), Topic("metrics")

paths = (
    (clicks, Loop("auto_commit", state="ids"), metrics, Sink("keeps_last, adds_up", "readers")),
    (clicks, Loop("on_delivery", state="ids, sends"), metrics),
    (clicks, Query("spark_lab", state="checkpoint"), metrics),
)
