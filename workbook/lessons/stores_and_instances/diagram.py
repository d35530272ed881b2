"""The pipeline of chapter 22, drawn where its notebook begins."""

from workbook.views.parts import Producer, Query, Sink, Topic

producer, by_client = Producer("producer"), Topic("by_client", 2)
holdings = Query("holdings", state="checkpoint")

paths = (
    (producer, Topic("by_position", 2), holdings, Sink("holders", "table in a file")),
    (holdings, Topic("us-share-holders", compacted=True)),
    (producer, by_client, Query("instance"), Sink("stores", "two dictionaries")),
    (by_client, Query("mail", state="checkpoint"), Sink("letters", "table in a file")),
)
