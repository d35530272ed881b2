"""Answers to "Count per second", right and wrong, as a mob may write them."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from itertools import groupby

from proof import Catalogue

from workbook.exercises.chapters.mob_ninety_minutes.helpers import page_second
from workbook.exercises.chapters.mob_ninety_minutes.per_second_mistakes import MISTAKES

remembered = {}


def seconds(reader, until):
    while not until():
        second = page_second(reader.poll(0.1))
        if second is not None:
            yield second


def in_two_variables(reader, show, until):
    current, count = None, 0
    for second in seconds(reader, until):
        if current is not None and second != current:
            show(f"second {current}: {count} page views")
            count = 0
        current, count = second, count + 1


def with_pop(reader, show, until):
    views = defaultdict(int)
    before = None
    while not until():
        second = page_second(reader.poll(0.1))
        if second is None:
            continue
        if before is not None and before != second:
            show(before, views.pop(before))
        views[second] += 1
        before = second


def all_others(reader, show, until):
    views = Counter()
    for second in seconds(reader, until):
        for done in [other for other in views if other != second]:
            show(done, views.pop(done))
        views[second] += 1


def by_length(reader, show, until):
    views = {}
    for second in seconds(reader, until):
        views[second] = views.get(second, 0) + 1
        if len(views) > 1:
            done = min(views)
            show((done, views.pop(done)))


def in_milliseconds(reader, show, until):
    views = {}
    for second in seconds(reader, until):
        if views and second not in views:
            done, count = views.popitem()
            show(done * 1000, count)
        views[second] = views.get(second, 0) + 1


def after_a_second(reader, show, until):
    """Look at the clock on the wall."""
    views, began = {}, time.time()
    for second in seconds(reader, until):
        if views and time.time() - began > 1:
            show(*views.popitem())
            began = time.time()
        views[second] = views.get(second, 0) + 1


def without_empty_check(reader, show, until):
    views = {}
    for second in seconds(reader, until):
        if second not in views:
            show(*views.popitem())
        views[second] = views.get(second, 0) + 1


def get_without_a_default(reader, show, until):
    views = {}
    for second in seconds(reader, until):
        if views and second not in views:
            show(*views.popitem())
        views[second] += 1


def silence_completes(reader, show, until):
    views = {}
    while not until():
        message = reader.poll(0.1)
        second = page_second(message)
        if views and (message is None or second not in (None, *views)):
            show(*views.popitem())
        if second is not None:
            views[second] = views.get(second, 0) + 1


def actions_complete(reader, show, until):
    views = {}
    while not until():
        message = reader.poll(0.1)
        second = page_second(message)
        if views and message is not None and second not in views:
            show(*views.popitem())
        if second is not None:
            views[second] = views.get(second, 0) + 1


def at_most_three(reader, show, until):
    views = {}
    for second in seconds(reader, until):
        if views and second not in views:
            show(*views.popitem())
        views[second] = min(views.get(second, 0) + 1, 3)


def second_0_is_nothing(reader, show, until):
    current, count = 0, 0
    for second in seconds(reader, until):
        if current and second != current:
            show(current, count)
            count = 0
        current, count = second, count + 1


def ends_at_silence(reader, show, until):
    views = {}
    while not until():
        second = page_second(reader.poll(0.1))
        if second is None:
            break
        if views and second not in views:
            show(*views.popitem())
        views[second] = views.get(second, 0) + 1


def remembers(reader, show, until):
    for second in seconds(reader, until):
        if remembered and second not in remembered:
            show(*remembered.popitem())
        remembered[second] = remembered.get(second, 0) + 1


def afterwards(reader, show, until):
    runs = [(second, len(list(run))) for second, run in groupby(seconds(reader, until))]
    for second, views in runs[:-1]:
        show(second, views)


catalogue = Catalogue(
    right=[in_two_variables, with_pop, all_others, by_length, second_0_is_nothing],
    wrong=[
        (in_milliseconds, "each with its own page views"),
        (after_a_second, "Nothing is ever shown"),
        (without_empty_check, "KeyError: 'popitem(): dictionary is empty'"),
        (get_without_a_default, "KeyError: 10"),
        (silence_completes, "Silence completes nothing"),
        (actions_complete, "neither count nor change"),
        (at_most_three, "has five page views"),
        (remembers, "kept from call to call"),
        (lambda clicks: 0, "Keep the parameters"),
        ({10: 2}, "without parentheses"),
    ],
    shortcuts=[(ends_at_silence, "neither count"), (afterwards, "each with its own")],
    models=MISTAKES,
)
