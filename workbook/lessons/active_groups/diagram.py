"""The pipeline of chapter 31, drawn where its notebook begins."""

from workbook.views.parts import Loop, Producer, Query, Sink, Topic

offsets = Topic("__consumer_offsets", 8, compacted=True)
joined = Query("active_groups", state="commits, metadata")

paths = (
    (Producer("applications"), offsets, Loop("next_group", state="groups"), Sink("by_hand")),
    (offsets, joined, Sink("table")),
    (offsets, Query("windows", state="minutes"), Sink("minutes")),
)
