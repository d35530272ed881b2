"""Exercises of chapter 11: when is a visit complete?"""

from workbook.classroom.questions import Recall
from workbook.lessons.event_time_timeout.both_clocks import both_clocks
from workbook.lessons.event_time_timeout.timed_out import timed_out
from workbook.views import pipeline as draw

tracking, orders = draw.topic("tracking", 4), draw.topic("orders", 4)
by_hand = draw.loop("merge and time out", state="visits, clock")
on_spark = draw.query("ByPartition", state="visits, clock")

paths = (
    (draw.producer("the shop"), tracking, by_hand, draw.sink("complete")),
    (draw.producer("checkout"), orders, by_hand),
    (tracking, on_spark, draw.sink("emitted")),
    (orders, on_spark),
)

problems = (both_clocks, timed_out)

recall = Recall(
    {
        "02: A query has a watermark with a delay of five seconds. What is the watermark?": {
            "the newest event time so far, minus five seconds": "",
            "the time on the wall, minus five seconds": "The watermark doesn't follow a wall "
            "clock. Without new events it doesn't move.",
            "the newest time of arrival, minus five seconds": "A record arrives when the broker "
            "stores it. The watermark follows the events' own times.",
        },
        "05: A loop keeps a clock per partition, and completes a second once the slowest clock has "
        "passed it. One partition gets no more records. What happens?": {
            "no further second is completed": "",
            "the loop continues with the other partitions alone": "The rule doesn't allow that, "
            "because the loop can't know whether the partition is empty or only slow.",
            "its clock moves together with the others": "Only a partition's own records move its "
            "clock, and it gets none.",
        },
        "10: What does a merge by `combine` need to know about the sequence in which messages "
        "arrive?": {
            "nothing": "",
            "that tracking messages arrive before orders": "An order may be the first. `combine(a, "
            "b)` and `combine(b, a)` are equal.",
            "that the messages of a visit arrive by event time": "`combine` sorts them, so they "
            "may arrive in any sequence.",
        },
    }
)
