"""The pipeline of chapter 06, drawn where its notebook begins."""

from workbook.views.parts import Loop, Producer, Sink, Topic

clicks, counts = Topic("clicks", 6), Topic("counts")

paths = (
    (
        Producer("visitors"),
        clicks,
        Loop("A: count", state="opened"),
        counts,
        Sink("views_by_second", "reader"),
    ),
    (clicks, Loop("B: count", state="opened"), counts),
)
