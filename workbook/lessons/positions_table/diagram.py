"""The pipeline of chapter 20, drawn where its notebook begins."""

from workbook.views.parts import Loop, Producer, Query, Sink, Topic

positions = Topic("positions", compacted=True)

paths = (
    (Producer("producer"), positions, Loop("next_table", state="table")),
    (positions, Query("latest", state="newest row"), Sink("held")),
    (positions, Query("Table", state="kept"), Loop("filtered"), Sink("us")),
)
