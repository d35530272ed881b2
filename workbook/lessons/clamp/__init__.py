"""Exercises of chapter 12: what if one stream runs ahead?"""

from workbook.classroom.questions import Recall
from workbook.lessons.clamp.four_cases import four_cases
from workbook.lessons.clamp.pause_and_resume import pause_and_resume
from workbook.views import pipeline as draw

tracking, orders = draw.topic("tracking"), draw.topic("orders")
by_hand = draw.loop("pause and resume", state="tops")
on_spark = draw.query("merged_visits", state="visits, clock")

paths = (
    (draw.producer("the shop"), tracking, by_hand, draw.sink("read", "lists")),
    (draw.producer("the checkout"), orders, by_hand),
    (tracking, on_spark, draw.sink("visits")),
    (orders, on_spark),
)

problems = (four_cases, pause_and_resume)

recall = Recall(
    {
        "04: Where does a Spark query note which records a micro-batch will read?": {
            "in the offsets of its consumer group, on the broker": "Spark commits no offset to the "
            "broker.",
            "in its checkpoint, before it reads the records": "",
            "in its checkpoint, after the sink has the rows": "That note says that the micro-batch "
            "is done. Its offsets are noted before.",
        },
        "10: Why do tracking and orders need the same number of partitions?": {
            "so that a visit's messages have the same partition number in both": "",
            "because a consumer can only read topics with equally many partitions": "A consumer "
            "can read any topics, whatever the number of their partitions.",
            "so that both topics are read equally fast": "Partitions don't set a speed: one topic "
            "may have ten times as many records.",
        },
        "11: The newest time of tracking is 50, of orders 5. What does the clock of both show?": {
            "50": "Then a visit could be emitted before its order, of second 20, is read.",
            "none, until both topics have reached the same time": "Both topics have a newest time. "
            "The clock shows the smaller one.",
            "5": "",
        },
    }
)
