"""The pipelines of chapter 32: by hand, and with the windowed store."""

from workbook.views.parts import Producer, Query, Sink, Topic

offsets = Topic("__consumer_offsets", 8)
till, office = Producer("till"), Producer("office")
groups = Query("active_groups", state="commits, members")

paths = (
    (till, offsets, Query("per_window", state="window"), Sink("windows", "table in a file")),
    (office, offsets, groups, Sink("history", "windowed store")),
    (groups, Sink("table", "store")),
)
