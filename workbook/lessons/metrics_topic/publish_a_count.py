"""Chapter 03: Publish a count."""

from itertools import product
from unittest.mock import Mock

from confluent_kafka import KafkaError

from workbook.classroom.exercise import case, exercise, wrong


def publish(producer, topic, second, views, report):
    producer.produce(topic, key=str(second), value=str(views), on_delivery=report)
    producer.poll(0)


def wire(given):
    """Return what the client sends: text as UTF-8, bytes as they are; TypeError for others."""
    if given is None or isinstance(given, bytes):
        return given
    if isinstance(given, str):
        return given.encode()
    raise TypeError(f"a bytes-like object is required, not '{type(given).__name__}'")


def report_of(callback, on_delivery):
    """Return the function for the report, by either name. Raises TypeError if it is none."""
    report = on_delivery if on_delivery is not None else callback
    if report is not None and not callable(report):
        raise TypeError(f"expected callback to be callable, not {type(report).__name__}")
    return report


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

    return asked


HEARD = "the record is kept, or the caller gets an error"


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
    "`topic`, a `second` since 1970, its page `views`, and the function `report`. The record's key "
    "is the second and its value is the views, both as decimal text: second 10 with 2 views "
    "becomes key `10`, value `2`. The record's delivery report goes to `report`.\n\n"
    "Then your function runs the delivery reports that are due by now. It must not wait for the "
    "report of its own record, because the loop that calls it has to read the next click.",
    cases=[
        case("Compare the calls: one record, whose key is the second and whose value is the "
             "views, as decimal text, and `poll(0)`. `report` gets each outcome.",
             "metrics", 10, 2, False),
        case("Another topic, another second, another number: take each one from its parameter. "
             "The text of a number has only digits.", "metrics.k3f9", 1_700, 1_234, False),
        case("A count of 0 is published, too: it may correct an older one.",
             "metrics", 1_701, 0, False),
        case("The producer's queue is full here: `produce` raises `BufferError` and doesn't take "
             "the record. Let the caller have the error, or run reports and produce the record "
             "once more. Otherwise the count is lost, and nobody knows.", "metrics", 10, 2, True),
    ],
    draw=draw,
    right=[
        again_where_it_is_full,
        publishing(lambda second, views: (b"%d" % second, f"{views}".encode()),
                   then=lambda p, report: p.flush(0)),
    ],
    wrong=[
        wrong("It asks for no delivery report, or another function gets it. Pass `report` itself: "
              "`on_delivery=report`.", publishing(asks=lambda report: None),
              publishing(asks=lambda report: lambda error, message: None)),
        wrong("`report` gets only successes, or only failures. It must get both: pass `report` "
              "itself.",
              publishing(asks=lambda report: lambda e, m: report(e, m) if e is None else None),
              publishing(asks=lambda report: lambda e, m: report(e, m) if e else None)),
        wrong("It calls `report` before the broker has answered. Pass the function without "
              "parentheses: `poll` calls it once the answer has arrived.",
              publishing(asks=lambda report: report()),
              publishing(asks=lambda report: report(None, None)),
              publishing(then=lambda p, report: report(None, None) or p.poll(0))),
        wrong("It runs no reports. They run only inside `poll` and `flush`, so a loop that calls "
              "neither never learns of a failure.", publishing(then=lambda p, report: None)),
        wrong("It waits: `flush()` waits for the broker's answer, `poll(1)` for up to a second, "
              "and `poll()` until a report is due. Meanwhile the loop reads no clicks. Run only "
              "the reports that are due by now.", publishing(then=lambda p, report: p.poll()),
              publishing(then=lambda p, report: p.flush() * p.poll(0))),
        wrong("Key and value are swapped: the key is the second. Without names, the second "
              "argument of `produce` is the value, and the third is the key.",
              publishing(lambda second, views: (str(views), str(second)))),
        wrong("There is no key, so no reader can know which record is the last one of a second.",
              publishing(lambda second, views: (None, str(views))),
              publishing(lambda second, views: (None, f"{second}:{views}"))),
        wrong("It doesn't produce exactly one record. Call `producer.produce` once for each "
              "number, even for 0. Nobody uses the value that your function returns.",
              publishing(times=lambda views: 2), publishing(times=lambda views: views),
              publishing(times=lambda views: views > 0), publishing(times=lambda views: 0)),
    ],
    hints=(
        "Two calls are enough, and the cells above contain both. Two methods run reports: which "
        "one can do so without waiting?",
        "Kafka takes bytes. The client encodes a str, but not an int. Name the arguments, because "
        "without names the second argument of `produce` is the value.",
        "`producer.produce(topic, key=..., value=..., on_delivery=...)`, and then "
        "`producer.poll(0)`.",
    ),
    discussion="If the same number is published twice under the same key, it does no harm, "
    "because only the last value of a key counts. Decimal text needs a few bytes more than a "
    "packed number, but every program and every person can read it.\n\n"
    "It has a weakness: `produce` puts the record into a queue of this program. If the program "
    "dies, the records in the queue are lost (chapter 04). A full queue raises `BufferError`.",
)  # fmt: skip
