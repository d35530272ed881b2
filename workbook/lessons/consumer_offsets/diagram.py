"""The pipeline of chapter 30, drawn where its notebook begins."""

from workbook.views.parts import Loop, Query, Sink, Topic

offsets = Topic("__consumer_offsets", 8, compacted=True)

paths = (
    (Topic("clicks", 2), Loop("counter"), offsets, Loop("read_all"), Sink("latest")),
    (offsets, Query("active_groups", state="checkpoint"), Sink("store")),
)
