"""Chapter 03: Metrics by hand."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator

from workbook.events.clicks import Click, ClickType
from workbook.exercises.chapters.metrics_topic.metrics_by_hand_mistakes import MISTAKES, SHORTCUTS
from workbook.exercises.engine.core import Problem
from workbook.exercises.engine.drawn import drawn_click, one_after_another, smallest_first
from workbook.exercises.engine.judging import Case, by_cases

SECOND = 1_700_000_000


def _page(after: int) -> Click:
    """Build a page view so many ms after ``SECOND`` began; its id is that time too."""
    return Click(after, ClickType.PAGE, "/home", SECOND * 1000 + after, "Firefox")


def _action(after: int) -> Click:
    return Click(after, ClickType.ACTION, "buy", SECOND * 1000 + after, "Firefox")


def _pages(*times: int) -> list[Click]:
    return [_page(after) for after in times]


def _metric(after: int, views: int) -> tuple[bytes, bytes]:
    return str(SECOND + after).encode(), str(views).encode()


def metrics(clicks: Iterable[Click]) -> Iterator[tuple[bytes, bytes]]:
    second, views = None, 0
    for click in clicks:
        if click.click_type != ClickType.PAGE:
            continue
        if second is not None and click.epoch_second != second:
            yield str(second).encode(), str(views).encode()
            views = 0
        second, views = click.epoch_second, views + 1


def _drawn() -> Iterator[Case]:
    """Yield streams in the order of event time, over seconds of any size."""
    draw = random.Random(3)
    for size in range(1, 40, 2):
        at, clicks = draw.choice((59_000, 9_999_000, SECOND * 1000)), []
        for _ in range(size):
            at += draw.choice((20, 50, 100, 100, 900, 2_500, 60_000))
            clicks.append(drawn_click(draw, at))
        yield Case(
            (clicks,),
            list(metrics(clicks)),
            "These clicks were drawn by chance. Follow them through your lines: where does the "
            "first pair differ?",
        )


_TEACHING = [
    Case(
        (_pages(200, 900, 1_100, 2_000),),
        [_metric(0, 2), _metric(1, 1)],
        "The second changes twice, so two metrics are produced, each with its own views.",
    ),
    Case((_pages(200),), [], "One click completes nothing, so there is nothing to send."),
    Case(
        (_pages(200, 3_000, 4_000),),
        [_metric(0, 1), _metric(3, 1)],
        "Nobody looked at a page in the two seconds after the first, so nothing is sent for them. "
        "The first one is complete all the same.",
    ),
    Case(
        ([_page(100), _action(500), _action(1_200), *_pages(2_300, 2_400, 3_000)],),
        [_metric(0, 1), _metric(2, 2)],
        "Leave out the two actions, and only the first second and the last two are left.",
    ),
    Case(
        ([_action(100), *_pages(1_000, 5_000)],),
        [_metric(1, 1)],
        "An action before the first page view completes nothing, and the seconds in which "
        "nobody looked at a page are not sent.",
    ),
    Case(
        (_pages(*range(100, 400, 25), 1_000),),
        [_metric(0, 12)],
        "Twelve page views: the value has as many digits as the number needs.",
    ),
    Case(
        ([_page(100), _action(1_500)],),
        [],
        "Only an action has come since, and that does not change the second.",
    ),
    Case(
        (_pages(200, 200, 1_000),),
        [_metric(0, 2)],
        "The same click came twice, and both count. To leave out duplicates would take a memory of "
        "its own, and nobody asks for it here.",
    ),
    Case(([],), [], "No clicks give no metrics."),
]

metrics_by_hand = Problem(
    name="Metrics by hand",
    task="Others are to read our numbers, from a topic of metrics. Write the function that says "
    "what has to be produced. It gets `Click`s in the order of their event time, and gives a pair "
    "`(key, value)` for each completed second, in a list or by `yield`. The key is the second "
    "since 1970, the value is the number of its page views, and both are decimal text as bytes. "
    "42 page views in second 1,700,000,000, and then one in the second after it, give "
    '`(b"1700000000", b"42")` and nothing else.\n\n'
    "It is the rule of chapter 02: actions neither count nor change the second, and the last "
    "second is unfinished, so it is not sent.",
    stub="def metrics(clicks):\n    ...  # your code\n",
    diagnose=one_after_another(
        by_cases(_TEACHING, MISTAKES, any_iterable=True),
        by_cases(smallest_first(_drawn()), SHORTCUTS, any_iterable=True),
    ),
    hints=(
        "At which moment is a number final, so that you may give it to others? Kafka takes bytes: "
        "which bytes can be read in any language?",
        "Two things are to be remembered: the current second and its views. And two steps lead "
        "from a number to its bytes: `str`, and then `encode`.",
        "`yield str(second).encode(), str(views).encode()` sends the completed second, when a page "
        "view of another one has come. Mind the very first click.",
    ),
    reference=metrics,
    discussion="The key says what the number is about. Records with the same key stay in one "
    "partition, so they keep their order, and a reader can let the last one win. Decimal text "
    "takes a few bytes more than a packed number, and everybody can read it, a person too.\n\n"
    "One weakness remains: what was counted but not sent lives in two variables. If the program "
    "dies in the middle of a second, where does it have to read again? That is chapter 04.",
)
