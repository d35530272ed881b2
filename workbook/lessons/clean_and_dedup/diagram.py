"""The pipeline of chapter 40, drawn where its notebook begins."""

from workbook.views.parts import Loop, Producer, Query, Sink, Topic

long_lived = Topic("actions.long-lived", 2)
count = Query("ad_statistics", state="hashes")

paths = (
    (Producer("producer"), Topic("actions"), Query("start_copy"), long_lived),
    (long_lived, Loop("account", "hashes"), Sink("totals")),
    (long_lived, count, Sink("fates")),
    (count, Topic("dead letters")),
)
