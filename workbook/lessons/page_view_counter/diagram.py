"""The pipeline of chapter 01, drawn where its notebook begins."""

from workbook.views.parts import Loop, Producer, Query, Sink, Topic

clicks = Topic("clicks")

paths = (
    (Producer("shop"), clicks, Loop("count_page_views", state="count"), Sink("shown", "widget")),
    (clicks, Query("views_per_name", state="checkpoint"), Sink("views")),
)
