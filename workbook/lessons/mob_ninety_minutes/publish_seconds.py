"""The mob's fourth step: Publish to the metrics topic."""

from inspect import getsource

from workbook.classroom.exercise import case, exercise, wrong
from workbook.lessons.mob_ninety_minutes.on_paper import ERROR
from workbook.lessons.mob_ninety_minutes.per_second import draw as draw_clicks
from workbook.lessons.mob_ninety_minutes.per_second import (
    in_two_variables,
    page_second,
    pages,
    showing,
    shows_each,
    shows_the_open_one,
)
from workbook.lessons.mob_ninety_minutes.per_second import mob as before
from workbook.lessons.mob_ninety_minutes.rehearsal import published_by
from workbook.lessons.mob_ninety_minutes.step import Step


def mob(reader, producer, metrics, until):
    views = {}
    while not until():
        second = page_second(reader.poll(0.1))
        if second is None:
            continue
        if views and second not in views:
            done, count = views.popitem()
            producer.produce(metrics, key=str(done), value=str(count))
        views[second] = views.get(second, 0) + 1
    producer.flush()


def waits(producer):
    producer.flush()


def publishing(
    record=lambda second, views: (str(views), str(second)),
    rule=in_two_variables,
    ends=waits,
    each=lambda producer: None,
):
    """Make a program; with the defaults it's right.

    ``record`` makes the arguments of ``produce`` behind the topic (or, as a dictionary, all that
    differ by name), ``rule`` turns seconds into what is complete, ``each`` runs before a record is
    produced, and ``ends`` when the loop has ended.
    """

    def program(reader, producer, metrics, until):
        def publish(second, views):
            each(producer)
            made = record(second, views)
            if isinstance(made, dict):
                producer.produce(**{"topic": metrics, **made})
            else:
                producer.produce(metrics, *made)

        showing(rule)(reader, publish, until)
        ends(producer)

    return program


def idea(cause, **differs):
    """Return a wrong idea, with a flush behind the loop and without one."""
    return wrong(cause, publishing(**differs), publishing(**differs, ends=lambda producer: None))


def draw(random, size):
    """Draw the clicks of the step before, and a topic."""
    return *draw_clicks(random, size), random.choice(("metrics", "metrics.k3f9"))


publish_seconds = exercise(
    mob,
    kind=Step,
    called="publish_seconds",
    rehearse=published_by,
    name="4. Publish to the metrics topic",
    task="Edit the program: instead of showing a complete second, it publishes the second for "
    "others. In place of `show` it gets confluent-kafka's `producer` and the name of the topic, "
    "`metrics`. The record's key is the second and its value is the count, both as decimal text: "
    "`producer.produce(topic, key=..., value=...)`. `produce` only puts a record into a queue. So "
    "when the loop has ended, wait until all records are sent: `producer.flush()`.\n\n"
    "Page views in the seconds 10, 10, 11 and 12 send key `10`, value `2`, and key `11`, value "
    "`1`.",
    stub=getsource(before).replace("show,", "producer, metrics,", 1) + "    ...  # your code\n",
    cases=[
        case("Two seconds are complete: two metrics, each when the next second begins. Key and "
             "value are decimal text.", pages(10_200, 10_900, 11_100, 12_000), "metrics"),
        case("Silence and actions publish nothing.",
             [*pages(10_100), None, ("Action", 11_200), None, *pages(11_900, 12_300), None],
             "metrics.k3f9"),
        case("Second 10 is still open, so nothing is published.", pages(10_200, 10_300), "metrics"),
        case("Still raise an error that arrives in place of a record.",
             [*pages(10_000, 11_000), ERROR], "metrics"),
        case("Second 10 has 99 page views, second 11 has 100: all of them count.",
             pages(*range(10_010, 12_050, 10)), "metrics"),
    ],
    draw=draw,
    right=[
        publishing(each=lambda producer: producer.flush(10)),
        publishing(lambda s, v: {"key": str(s), "value": str(v), "on_delivery": print}),
    ],
    wrong=[
        idea("Key and value are swapped: the key is the second. Without names, the second "
             "argument of `produce` is the value.",
             record=lambda second, views: (str(second), str(views))),
        idea("The key is missing. The key tells a reader which second the count belongs to.",
             record=lambda second, views: (str(views),)),
        idea("It always writes to a topic named `metrics`, because the name is in quotes. Use the "
             "variable `metrics`.",
             record=lambda s, v: {"topic": "metrics", "key": str(s), "value": str(v)}),
        idea("It publishes the open second after each page view. Publish it once, when another "
             "second begins.", rule=shows_each),
        idea("When the loop ends it publishes the open second, too. That second isn't complete: "
             "more of its page views may arrive, and a part would look like the whole count.",
             rule=shows_the_open_one),
        idea("It doesn't remove a second that it has published, so its count continues in the "
             "next.", rule=lambda seconds: in_two_variables(seconds, removes=False)),
        wrong("It doesn't wait for the queue when the loop has ended, so the records that are "
              "still in the queue are lost. Call `flush()` after the loop, without a 0.",
              publishing(ends=lambda producer: None),
              publishing(ends=lambda producer: producer.flush(0))),
    ],
    hints=(
        "One line calls `show`. Which two numbers does it show, and where do they belong in a "
        "record? And what has to be done after the loop?",
        "`popitem()` returns a pair: assign it to two names. Kafka takes text or bytes, not an "
        "int.",
        "Write `done, count = views.popitem()`, and below it `producer.produce(metrics, "
        "key=str(done), value=str(count))`. The last line, after the loop, is `producer.flush()`.",
    ),
    discussion="All metrics of a second have the same key, so a reader can keep the last value of "
    "each second, and a metric that is published twice does no harm. But nobody checks whether the "
    "broker has taken the record. And the program doesn't remember its offset: after a restart it "
    "reads and publishes everything once more.",
)  # fmt: skip
