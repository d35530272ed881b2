"""Chapter 03: Publish a count."""

import functools
import inspect
from itertools import product
from unittest.mock import Mock

from confluent_kafka import KafkaError

from workbook.classroom.exercise import case, exercise, wrong
from workbook.classroom.wire import report_of, wire


def publish(producer, topic, second, views, report):
    producer.produce(topic, key=str(second), value=str(views), on_delivery=report)
    producer.poll(0)


class Producer(list):
    """Note each call, and keep what reports go to. A full queue has to be served first."""

    def __init__(self, full, log):
        self.full, self.refused, self.log, self.served = full, False, log, set()

    def produce(
        self, topic, value=None, key=None, partition=-1, callback=None, on_delivery=None, **others
    ):
        call = f"produce({topic!r}, key={wire(key)}, value={wire(value)}"
        others |= {} if partition == -1 else {"partition": partition}
        if self.full:
            self.refused = True
            raise BufferError("Local: Queue full")
        self.log.append(f"{call}, {others})" if others else f"{call})")
        self.append(report_of(callback, on_delivery))

    def poll(self, timeout=-1):
        self.full = self.full and not self.refused
        self.served.add("poll(0)" if timeout == 0 else "wait")
        return 0

    flush = poll


OUTCOMES = {"arrived": None, "is lost": KafkaError(KafkaError._MSG_TIMED_OUT)}
MESSAGE = Mock()


def calls_of(answer):
    """Return a function of a case: it returns the calls, or what became of a refused record."""

    @functools.wraps(answer)
    def asked(topic, second, views, full_queue):
        producer = Producer(full_queue, log := [])

        def report(error, message):
            said = "message" if message is MESSAGE else "something else"
            log.append(f"report({error and 'error'}, {said})")

        report.__qualname__ = "report"  # as Python names it in an error
        try:
            answer(producer, topic, second, views, report)
        except Exception as error:
            if not full_queue or BufferError not in (type(error), type(error.__context__)):
                raise
            return HEARD
        if full_queue:
            kept = len(producer) == 1 or any("report(error" in line for line in log)
            return HEARD if kept else f"{len(producer)} records and no error"
        log += sorted(producer.served)
        for (outcome, failure), on_delivery in product(OUTCOMES.items(), filter(None, producer)):
            log.append(f"later, the record {outcome}:")
            on_delivery(failure, MESSAGE)
        return log

    asked.__signature__ = inspect.signature(lambda topic, second, views, full_queue: None)
    return asked


HEARD = "the record, or an error that somebody hears of"


def publishing(
    record=lambda second, views: (str(second), str(views)), asks=lambda report: report,
    times=lambda views: 1, then=lambda p, report: p.poll(0),
):  # fmt: skip
    """Build an answer with some parts changed, as the wrong answers need it."""

    def answer(p, topic, second, views, report):
        for _ in range(times(views)):
            key, value = record(second, views)
            p.produce(topic, key=key, value=value, on_delivery=asks(report))
        then(p, report)

    return answer


def again_where_it_is_full(p, topic, second, views, report):
    try:
        publish(p, topic, second, views, lambda error, message: report(error, message))
    except BufferError:
        p.poll(0.1)
        publish(p, topic, second, views, report)


def draw(random, size):
    topic = random.choice(("metrics", "metrics.k3f9", "topic", "clicks"))
    second = random.choice((1, 10, 1_700, 99_999))
    return topic, second, random.choice((0, 1, 2, 10, 1_234, 99_999)), False


publish_a_count = exercise(
    publish,
    rehearse=calls_of,
    name="Publish a count",
    task="Write the function that publishes one number. It gets confluent-kafka's `producer`, the "
    "`topic`, a `second` since 1970, its page `views`, and the function `report`. The key of the "
    "record is the second and its value the views, both as decimal text: second 10 with 2 views "
    "becomes key `10`, value `2`. The broker's answer goes to `report`.\n\n"
    "Then it serves the reports that are due by now. It must not wait for its own: the loop that "
    "calls it has the next click to read.",
    cases=[
        case("Compare the calls: one record, whose key is the second and whose value is the "
             "views, as decimal text, and `poll(0)`. `report` gets each outcome.",
             "metrics", 10, 2, False),
        case("Another topic, another second, another number: each comes from its parameter. A "
             "number's text has digits only.", "metrics.k3f9", 1_700, 1_234, False),
        case("A count of 0 is published, too: it may correct another one.", "metrics", 1_701, 0,
             False),
        case("The producer's queue is full here: `produce` raises `BufferError`, and doesn't take "
             "the record. Let the error go to the caller, or serve reports and produce the record "
             "again, once. Otherwise the count is lost, and nobody hears of it.",
             "metrics", 10, 2, True),
    ],
    draw=draw,
    right=[
        again_where_it_is_full,
        publishing(lambda second, views: (b"%d" % second, f"{views}".encode()),
                   then=lambda p, report: p.flush(0)),
    ],
    wrong=[
        wrong("It asks for no report, or another function gets it. Hand over `report` itself, by "
              "its name: `on_delivery=report`.", publishing(asks=lambda report: None),
              publishing(asks=lambda report: lambda error, message: None)),
        wrong("`report` hears only of successes, or only of failures. The broker's answer goes to "
              "it either way: hand over `report` itself.",
              publishing(asks=lambda report: lambda e, m: report(e, m) if e is None else None),
              publishing(asks=lambda report: lambda e, m: report(e, m) if e else None)),
        wrong("It calls `report` itself, before the broker has answered. Hand over the function, "
              "by its name and without brackets: `poll` calls it once the answer is there.",
              publishing(asks=lambda report: report()),
              publishing(asks=lambda report: report(None, None)),
              publishing(then=lambda p, report: report(None, None) or p.poll(0))),
        wrong("It serves no reports: they run inside `poll` and `flush` only, so a loop that calls "
              "neither never learns of a failure.", publishing(then=lambda p, report: None)),
        wrong("It waits: `flush` for the broker's answer, and `poll` for its number of seconds, or "
              "without a number until a report is due. Meanwhile the clicks wait. Serve only the "
              "reports that are due by now.", publishing(then=lambda p, report: p.poll()),
              publishing(then=lambda p, report: p.flush() * p.poll(0))),
        wrong("Key and value are swapped: the key is the second. Without names, the second "
              "argument of `produce` is the value, and the third is the key.",
              publishing(lambda second, views: (str(views), str(second)))),
        wrong("There is no key. So no reader can know which record is the last of a second.",
              publishing(lambda second, views: (None, str(views))),
              publishing(lambda second, views: (None, f"{second}:{views}"))),
        wrong("It doesn't produce exactly one record: `producer.produce` is called once for each "
              "number, also for 0. The value that the function returns goes nowhere.",
              publishing(times=lambda views: 2), publishing(times=lambda views: views),
              publishing(times=lambda views: views > 0), publishing(times=lambda views: 0)),
    ],
    hints=(
        "Two calls are enough, and both stand in the cells above. Which of the two methods that "
        "run reports can do so without waiting?",
        "Kafka takes bytes, and the client makes them of a str, not of an int. Name the arguments: "
        "without names the second one of `produce` is the value.",
        "`producer.produce(topic, key=..., value=..., on_delivery=...)`, and then "
        "`producer.poll(0)`.",
    ),
    discussion="The same key, the same number: published twice it does no harm, because the last "
    "value of a key counts. Decimal text takes a few bytes more than a packed number, and any "
    "program (and any person) can read it.\n\n"
    "Its weakness: `produce` puts the record into a queue of this program. What is queued and not "
    "delivered dies with it (chapter 04), and a full queue raises `BufferError`.",
)  # fmt: skip
