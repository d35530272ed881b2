"""The mob's fifth step: Commit on delivery."""

from functools import partial
from inspect import getsource

from confluent_kafka import KafkaException, TopicPartition

from workbook.classroom.exercise import case, exercise, wrong
from workbook.lessons.mob_ninety_minutes.bookmarks import bookmarks_of
from workbook.lessons.mob_ninety_minutes.on_paper import ERROR
from workbook.lessons.mob_ninety_minutes.per_second import draw as draw_clicks
from workbook.lessons.mob_ninety_minutes.per_second import page_second, pages
from workbook.lessons.mob_ninety_minutes.publish_seconds import mob as before
from workbook.lessons.mob_ninety_minutes.step import Step

SELDOM = ("", "second", "view")


def commit_behind(reader, message, error, _):
    if error:
        raise KafkaException(error)  # the program ends; a restart sends it again
    reader.commit(message=message, asynchronous=False)


def mob(reader, producer, metrics, until):
    views, n0 = {}, None
    while not until():
        producer.poll(0)
        n1 = reader.poll(0.1)
        second = page_second(n1)
        if second is None:
            continue
        if views and second not in views:
            done, count = views.popitem()
            then = partial(commit_behind, reader, n0)
            producer.produce(metrics, key=str(done), value=str(count), on_delivery=then)
        views[second], n0 = views.get(second, 0) + 1, n1
    producer.flush()


def committing(report=None, serves="turn", at_once=False):
    """Make a program that publishes and does something of its own about commits.

    ``report`` gets the reader and the records n0 and n1 (later, newer ones) by their names, and
    returns a delivery's report, which runs where it ``serves``. ``at_once`` it also commits.
    """

    def program(reader, producer, metrics, until):
        views, now = {}, {"n0": None, "n1": None}
        while not until():
            if serves == "turn":
                producer.poll(0)
            now["n1"] = reader.poll(0.1)
            second = page_second(now["n1"])
            if second is None:
                continue
            if views and second not in views:
                done, count = map(str, views.popitem())
                then = report and report(reader, now)
                producer.produce(metrics, key=done, value=count, on_delivery=then)
                if at_once:
                    reader.commit(message=now["n0"])
            if serves == "view" or (serves == "second" and second not in views):
                producer.poll(0)
            views[second], now["n0"] = views.get(second, 0) + 1, now["n1"]
        producer.flush()

    return program


def behind(name):
    return lambda reader, now: partial(commit_behind, reader, now[name])


def too_late(reader, now):
    return lambda error, _: commit_behind(reader, now["n0"], error, _)


def up_to_the_gap(offset):
    """Commit an offset made of n0 and n1, end at no error, and pass no failed metric."""

    def program(reader, producer, metrics, until):
        places = []

        def report(place, error, _):
            place[1] = error is None
            while places and places[0][1]:
                reader.commit(offsets=[TopicPartition("clicks", 0, places.pop(0)[0])])

        def new(_, now):
            places.append([offset(now["n0"], now["n1"]), False])
            return partial(report, places[-1])

        committing(new)(reader, producer, metrics, until)

    return program


def draw(random, size):
    """Draw the clicks of step 3, and an answer of the broker after one or four records."""
    return *draw_clicks(random, size), random.choice((1, 4))


commit_on_delivery = exercise(
    mob,
    kind=Step,
    called="commit_on_delivery",
    rehearse=bookmarks_of,
    name="5. Commit on delivery",
    task="Edit the program: when the broker has taken a second's metric, and not before, the "
    "group's bookmark moves to the offset where the next second begins. Make three edits. Name the "
    "new record `n1`, and keep the record of the page view before it as `n0`. Pass "
    "`on_delivery=partial(commit_behind, reader, ...)` to `produce`; the client calls it with an "
    "error or None when the broker has answered. And call `producer.poll(0)` in each turn of the "
    "loop, because delivery reports run only in it and in `flush`.\n\n"
    "On paper, when seconds 10 and 11 are delivered, a restart begins with the page view at "
    "offset 5. A restart must never miss page views of an undelivered second.",
    stub=getsource(before) + "    ...  # your code\n",
    cases=[
        case("The six records on paper. It sends what the step before sent. With second 10 "
             "delivered, a restart continues at offset 2; with second 11, at offset 5.",
             pages(10_100, 10_600, 11_200, 11_500, 11_900, 12_300)),
        case("Between the page views there are silence and actions. A restart has to count each "
             "open second from its first page view.",
             [*pages(10_100), ("Action", 10_200), *pages(11_300), ("Action", 11_400),
              *pages(11_500), None, *pages(12_400, 12_500, 13_000)]),
        case("Here the broker reports late, when the loop has read more records. A report belongs "
             "to the second of its own metric, not to the newest second.",
             pages(10_100, 11_200, 12_300, 13_400, 14_500), 3),
        case("The broker reports when the loop has ended: `flush` waits for the reports.",
             pages(10_100, 11_200, 12_300), 20),
        case("The broker refuses second 11, so no later offset may be committed.",
             pages(10_100, 10_600, 11_200, 12_300, 13_400, 14_500), 1, 11),
        case("No second is complete, so there's nothing to commit.", pages(10_100, 10_200)),
        case("Still raise an error that arrives in place of a record.",
             [*pages(10_000, 11_000), ERROR]),
    ],
    draw=draw,
    right=[
        up_to_the_gap(lambda n0, n1: n1.offset()),
        committing(lambda r, now: lambda e, _, n0=now["n0"]: commit_behind(r, n0, e, _)),
    ],
    wrong=[
        wrong("It commits after n1, the first page view of the open second. A restart begins "
              "after n1 and never counts it. The complete second ends with the record before, n0.",
              *(committing(behind("n1"), serves) for serves in ("turn", *SELDOM))),
        wrong("It commits n0's own offset, so a restart reads n0 again and publishes the "
              "delivered second once more, with one page view. Add 1, or use "
              "`commit(message=n0)`.", up_to_the_gap(lambda n0, n1: n0.offset())),
        wrong("It commits after the last record that was read, in the middle of the open second. "
              "This happens with `commit()` without a message, with an `n0` that is still None, "
              "or with a `lambda` that reads a later `n1`.",
              committing(lambda reader, now: partial(commit_behind, reader, None))),
        wrong("It commits the message that the report is about. That's the metric, with an offset "
              "in the metrics topic. The bookmark is an offset in the clicks: that of n0.",
              committing(lambda reader, now: lambda e, m: commit_behind(reader, m, e, None))),
        wrong("Delivery reports run never, or too seldom. Call `producer.poll(0)` in each turn, at "
              "its head: after a `continue`, or without a new second, nothing runs them.",
              *(committing(behind("n0"), serves) for serves in SELDOM)),
        wrong("A `lambda` (or an inner function) reads its variable when it's called. By the time "
              "of the report, that's a later record; `partial` keeps the present one.",
              *(committing(too_late, serves) for serves in ("turn", *SELDOM))),
        wrong("It commits right after `produce`, which has only put the metric into a queue. If "
              "the broker never takes the metric, no restart sends it again. Commit in "
              "`on_delivery`.", committing(at_once=True)),
        wrong("It never commits, like the program before. A restart publishes everything again.",
              committing(), committing(serves="")),
    ],
    hints=(
        "Put your finger on offset 2 of the six records. Which record completes second 10, and "
        "which is the last record that a restart needn't read again?",
        "`commit_behind` commits the offset after the message that it gets, and a restart "
        "continues there. `partial` keeps the record that `n0` is now; a `lambda` would read `n0` "
        "when it's called.",
        "Above the loop, write `n0 = None`. At its head, `producer.poll(0)` and `n1 = "
        "reader.poll(0.1)`. Where it publishes, `partial(commit_behind, reader, n0)`; then `n0 = "
        "n1`.",
    ),
    discussion="This is at least once. The bookmark passes a second only after its metric is "
    "delivered, so no second is lost as long as the reports arrive in order; chapter 04 removes "
    "that condition. A second that was delivered but not yet committed is published again. The "
    "program ends at the first failed metric, and its restart sends that second again.\n\n"
    "It works for one partition only: `n0` is the record read before, of whichever partition.",
)  # fmt: skip
