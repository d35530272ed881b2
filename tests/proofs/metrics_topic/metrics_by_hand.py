"""Answers to "Metrics by hand", right and wrong, as learners may write them."""

from __future__ import annotations

import json
from collections import Counter
from itertools import groupby

from proof import Catalogue

from workbook.events.clicks import ClickType
from workbook.exercises.chapters.metrics_topic.metrics_by_hand_mistakes import MISTAKES, SHORTCUTS


def pages(clicks):
    return [c for c in clicks if c.click_type == "Page"]


def seconds(clicks):
    runs = groupby(pages(clicks), key=lambda click: click.epoch_second)
    return [(second, len(list(run))) for second, run in runs]


def text(number):
    return b"%d" % number


def grouped(clicks):
    return [(text(second), text(views)) for second, views in seconds(clicks)[:-1]]


def with_a_map(clicks):
    counts, produced = {}, []
    for click in clicks:
        if click.click_type == ClickType.ACTION:
            continue
        if counts and click.epoch_second not in counts:
            second, views = counts.popitem()
            produced.append((f"{second}".encode(), bytes(str(views), "ascii")))
        counts[click.epoch_second] = counts.get(click.epoch_second, 0) + 1
    return produced


def counts_first(clicks):
    counts = Counter(click.epoch_second for click in pages(clicks))
    return [(text(s), text(n)) for s, n in sorted(counts.items()) if s != max(counts)]


def labelled_with_the_new(clicks):
    current, views = None, 0
    for click in pages(clicks):
        if current is not None and click.epoch_second != current:
            current = click.epoch_second
            yield text(current), text(views)
            views = 0
        current, views = click.epoch_second, views + 1


def yields_parts(clicks):
    for key, value in grouped(clicks):
        yield key
        yield value


def returns_inside(clicks):  # noqa: RET503  (the mistake)
    views = Counter()
    for click in pages(clicks):
        views[click.epoch_second] += 1
        return []


def returns_the_first(clicks):  # noqa: RET503  (the mistake)
    for pair in grouped(clicks):
        return pair


def prints(clicks):
    for key, value in grouped(clicks):
        print(key, value)


def as_json(clicks):
    return [
        (k, json.dumps({"second": int(k), "views": int(v)}).encode()) for k, v in grouped(clicks)
    ]


def zeros_between(clicks):
    sent = dict(seconds(clicks)[:-1])
    every = range(min(sent), max(sent) + 1) if sent else []
    return [(text(second), text(sent.get(second, 0))) for second in every]


def only_without_a_gap(clicks):
    counted = dict(seconds(clicks))
    return [(text(s), text(n)) for s, n in counted.items() if s + 1 in counted]


def ten_digits(clicks):
    """A second of today, whatever came."""
    return [(f"17{int(key) % 10**8:08}".encode(), value) for key, value in grouped(clicks)]


def without_duplicates(clicks):
    return grouped(list({click.event_id: click for click in clicks}.values()))


catalogue = Catalogue(
    right=[
        grouped,
        with_a_map,
        counts_first,
        lambda clicks: map(tuple, grouped(clicks)),
    ],
    wrong=[
        (labelled_with_the_new, "one second too late"),
        (as_json, "The value is JSON"),
        (lambda clicks: iter([grouped(clicks)]), "one list with all pairs"),
        (yields_parts, "taken apart"),
        (returns_inside, "Nothing is ever sent"),
        (returns_the_first, "at the first completed second"),
        (prints, "prints the value"),
        (lambda clicks: grouped(clicks[1:]), "The second changes twice"),
        (lambda second, views: (text(second), text(views)), "Keep the parameters"),
        ([(b"1700000000", b"42")], "without parentheses"),
    ],
    shortcuts=[
        (without_duplicates, "The same click came twice"),
        (zeros_between, "Nobody looked at a page in the two seconds"),
        (only_without_a_gap, "Nobody looked at a page in the two seconds"),
        (ten_digits, "drawn by chance"),
    ],
    models=[*MISTAKES, *SHORTCUTS],
)
