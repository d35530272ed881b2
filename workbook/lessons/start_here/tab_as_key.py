"""Chapter 00: The tab as key."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from workbook.classroom.core import Problem
from workbook.classroom.drawn import one_after_another, smallest_first
from workbook.classroom.judging import Case, NotYet, by_cases
from workbook.classroom.mistakes import Mistake, same_idea
from workbook.classroom.showing import show

Fields = dict[str, Any]


def key_of(click: Fields) -> bytes | None:
    tab = click.get("tab_id")
    return None if tab is None else tab.encode()


def _click(event_id: int, **tab: str | None) -> Fields:
    return {"event_id": event_id, "name": "/home", "browser": "Firefox", **tab}


def _drawn_clicks() -> Iterator[Case]:
    """Yield clicks in any order of their fields, with tabs of one to six letters, or with none."""
    draw = random.Random(3)
    for _ in range(20):
        letters = draw.choice(("", "tab-")) + "".join(
            draw.choices("abü-0279", k=draw.randint(1, 6))
        )
        fields = [("event_id", draw.randrange(10**6)), ("name", draw.choice(("/home", "buy")))]
        fields += [("browser", draw.choice(("Firefox", "Safari")))]
        fields += draw.choice(([("tab_id", letters)], [("tab_id", letters)], []))
        draw.shuffle(fields)
        yield Case(
            (dict(fields),),
            key_of(dict(fields)),
            "A tab's id may be any text, and nothing else of the click says what its key is.",
        )


def _cleaned(clean: Callable[[str], str]) -> Callable[[Fields], bytes | None]:
    """Build a wrong answer that changes the text of the tab's id."""
    return lambda click: clean(click["tab_id"]).encode() if click.get("tab_id") else None


def _as_the_producer_takes_it(answer: Callable[[Fields], Any]) -> NotYet | None:
    """Ask an answer that has passed the cases whether `produce` would take what it returns."""
    key = answer(_click(1, tab_id="tab-7"))
    if isinstance(key, bytes):
        return None
    return NotYet(
        "Its letters are right, but the producer refuses this type. `encode` makes bytes.",
        value=show(key),
        expected="bytes",
    )


MISTAKES = [
    Mistake(
        lambda click: click.get("tab_id"),
        "It returns the text. Kafka's keys are bytes: `encode` makes bytes out of a text.",
    ),
    Mistake(
        lambda click: str(click.get("tab_id")).encode(),
        "A click without a tab gets the key `None`, written out as four letters. That's a key like "
        "any other: all such clicks would lie in one partition. Return None itself.",
        shows=lambda click: click.get("tab_id") is None,
    ),
    Mistake(
        lambda click: (click.get("tab_id") or "").encode(),
        "An empty key is a key, too: all clicks without a tab would lie in one partition. Return "
        "None for them.",
        shows=lambda click: click.get("tab_id") is None,
    ),
    Mistake(
        lambda click: json.dumps(click["tab_id"]).encode() if click.get("tab_id") else None,
        "The key has quotation marks around it: JSON puts them there. The tab's id alone is asked "
        "for.",
    ),
    Mistake(
        lambda click: json.dumps(click).encode(),
        "The whole click is the key. No two clicks are equal, so those of a tab would lie "
        "anywhere.",
    ),
    Mistake(
        lambda click: str(click["event_id"]).encode(),
        "The event's id is the key. It's new for each click, so those of a tab would lie anywhere.",
    ),
    Mistake(
        lambda click: click["browser"].encode(),
        "The browser is the key: a handful of keys, so all who use Firefox share one partition.",
    ),
    Mistake(
        lambda click: click["name"].encode(),
        "The page is the key: then the clicks of a page lie together, and those of a tab don't.",
    ),
    *same_idea(
        _cleaned(str.strip),
        _cleaned(str.lower),
        _cleaned(lambda tab: tab.strip().lower()),
        cause="It changes the tab's id: `strip` takes blanks away, and `lower` the capital "
        "letters. Ids that differ are different tabs, and each has a key of its own.",
    ),
]

tab_as_key = Problem(
    name="The tab as key",
    task="Write the function that gives a click its key. It gets the click as a dictionary and "
    'returns the tab\'s id, which is a text, as bytes in UTF-8: `{"event_id": 1, "tab_id": '
    '"tab-7"}` gives `b"tab-7"`. Some clicks have no `tab_id`, or None in it. They get no key: '
    "return None, and the partitioner places them by chance.",
    stub="def key_of(click):\n    ...  # your code\n",
    diagnose=one_after_another(
        by_cases(
            [
                Case((_click(1, tab_id="tab-7"),), b"tab-7", "The key is the tab's id, as bytes."),
                Case(
                    (_click(2),),
                    None,
                    "This click has no `tab_id`. It gets no key: None. Any other value is one key "
                    "for all such clicks, and one partition would get them all.",
                ),
                Case(
                    (_click(3, tab_id=None),),
                    None,
                    "The `tab_id` of this click is None. It gets no key, either.",
                ),
                Case(
                    (_click(4, tab_id="tab-ü"),),
                    "tab-ü".encode(),
                    "A tab's id may have letters beyond ASCII. In UTF-8, `ü` is two bytes.",
                ),
                Case(
                    (_click(5, tab_id=" tab-A "),),
                    b" tab-A ",
                    "A tab's id stays as it is, with its capital letters and its blanks.",
                ),
            ],
            MISTAKES,
        ),
        by_cases(smallest_first(_drawn_clicks())),
        _as_the_producer_takes_it,
    ),
    hints=(
        "There are two kinds of click: those with a tab and those without. What does each get?",
        "`click.get(...)` gives None where a field is missing, and a text has a method that makes "
        "bytes out of it.",
        "`tab.encode()` makes the bytes. Ask first whether `tab` is None.",
    ),
    reference=key_of,
    discussion="From now on the partitioner works for you: equal bytes, the same partition, so a "
    "tab's clicks stay in order. Clicks without a key are spread, which is fine as long as nobody "
    "needs their order.\n\n"
    "It holds while all producers use the same partitioner, and while the topic keeps its number "
    "of partitions: with more of them the same hash gives another place.",
)
