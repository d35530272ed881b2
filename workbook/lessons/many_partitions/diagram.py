"""The pipeline of chapter 05, drawn where its notebook begins."""

from workbook.views.parts import Loop, Producer, Query, Sink, Topic

send = Producer("send")
loop = Loop("completed", state="clocks")
query = Query("per_second", state="window")

paths = (
    (Producer("generate"), Topic("clicks", 24), loop, Sink("told")),
    (Producer("visitors"), Topic("night", 4), loop),
    (send, Topic("slow", 24), query, Sink("emitted", "list")),
    (send, Topic("backlog", 2), query),
)
