"""The pipelines of chapter 41, drawn where its notebook begins."""

from workbook.views.parts import Producer, Query, Sink, Topic

producer = Producer("producer")
late, week, stream = Topic("late"), Topic("week"), Topic("ad_actions")

paths = (
    (producer, late, Query("windows", state="windows"), Sink("seen")),
    (producer, week, Query("counts_per_day"), Sink("counts", "table in PostgreSQL")),
    (Producer("actions"), stream, Query("ad_statistics", state="hashes"),
     Sink("counts, fates", "tables in PostgreSQL")),
)  # fmt: skip
