"""Chapter 00: The tab as key."""

import functools
import json

from workbook.classroom.exercise import case, exercise, wrong


def key_of(click):
    tab = click.get("tab_id")
    return None if tab is None else tab.encode()


def by_trying(click):
    try:
        return bytes(click["tab_id"], "utf-8")
    except (KeyError, TypeError):
        return None


def changed(change):
    """Build a wrong answer that makes another key of a tab's id."""
    return lambda click: change(click["tab_id"]) if click.get("tab_id") else None


def produced(answer):
    """Return a function of a click: the answer's key, unless a producer refuses its type."""

    @functools.wraps(answer)
    def key(click):
        found = answer(click)
        refused = isinstance(found, (bytearray, memoryview))
        return f"{found!r}, which a producer refuses" if refused else found

    return key


def click(event_id, **tab):
    return {"event_id": event_id, "name": "/home", "browser": "Firefox", **tab}


def draw(random, size):
    fields = {
        "event_id": random.randrange(10**6),
        "name": random.choice(("/home", "buy", "tab-7")),
        "browser": random.choice(("Firefox", "Safari")),
    }
    letters = "".join(random.choices("abAü-0279 ", k=random.randint(1, 8)))
    tab = random.choice((f"tab-{letters}", letters, letters, None))
    fields |= random.choice(({"tab_id": tab}, {"tab_id": tab}, {}))
    return (dict(random.sample([*fields.items()], len(fields))),)


tab_as_key = exercise(
    key_of,
    rehearse=produced,
    name="The tab as key",
    task="Write the function that gives a click its key. It gets the click as a dictionary and "
    'returns the tab\'s id, which is a text, as bytes in UTF-8: `{"event_id": 1, "tab_id": '
    '"tab-7"}` gives `b"tab-7"`. Some clicks have no `tab_id`, or None in it. They get no key: '
    "return None, and the partitioner places them by chance.",
    cases=[
        case("The key is the tab's id, as bytes.", click(1, tab_id="tab-7")),
        case("This click has no `tab_id`. It gets no key: None. Only then does the partitioner "
             "spread such clicks by chance.", click(2)),
        case("The `tab_id` of this click is None. It gets no key, either.", click(3, tab_id=None)),
        case("A tab's id may have letters beyond ASCII. In UTF-8, `ü` is two bytes.",
             click(4, tab_id="tab-ü")),
        case("A tab's id stays as it is, with its capital letters and its blanks.",
             click(5, tab_id=" tab-A ")),
        case("A tab's id may be any text.", click(6, tab_id="0279-a-long-one")),
    ],
    draw=draw,
    right=[
        by_trying,
        lambda click: click["tab_id"].encode("utf-8") if click.get("tab_id") else None,
    ],
    wrong=[
        wrong("It returns the text. Kafka's keys are bytes: `encode` makes bytes out of a text.",
              lambda click: click.get("tab_id")),
        wrong("A click without a tab gets a key: an empty one, or the text `None`. All such clicks "
              "would lie in one partition. Return None itself.",
              lambda click: str(click.get("tab_id")).encode(),
              lambda click: (click.get("tab_id") or "").encode(),
              lambda click: str(click.get("tab_id", "")).encode()),
        wrong("The key isn't made of the tab's id alone. No other field says which tab it was.",
              lambda click: json.dumps(click).encode(),
              lambda click: str(click).encode(), lambda click: click["browser"].encode(),
              lambda click: click["name"].encode(), lambda click: b"%d" % click["event_id"]),
        wrong("The key has quotation marks around it, because JSON puts them there. Encode the "
              "tab's id itself.", changed(lambda tab: json.dumps(tab).encode()),
              changed(lambda tab: json.dumps(tab, ensure_ascii=False).encode())),
        wrong("It changes the tab's id: `strip` takes blanks away, and `lower` the capital "
              "letters. Ids that differ are different tabs, and each has a key of its own.",
              changed(lambda tab: tab.strip().encode()), changed(lambda tab: tab.lower().encode()),
              changed(lambda tab: tab.strip().lower().encode())),
        wrong("Its bytes aren't UTF-8, or some letters are lost. `encode()` alone gives UTF-8.",
              changed(lambda tab: tab.encode("latin-1")),
              changed(lambda tab: tab.encode("ascii", "ignore")),
              changed(lambda tab: tab.encode("ascii", "replace"))),
        wrong("Every click with a tab has the same key.", changed(lambda tab: b"tab-7"),
              changed(lambda tab: b"tab_id")),
    ],
    hints=(
        "There are two kinds of click: those with a tab and those without. What does each get?",
        "`click.get(...)` gives None where a field is missing, and a text has a method that makes "
        "bytes out of it.",
        "`tab.encode()` makes the bytes. Ask first whether `tab` is None.",
    ),
    discussion="From now on the partitioner works for you: equal bytes, the same partition, so a "
    "tab's clicks stay in order. Clicks without a key are spread, which is fine as long as nobody "
    "needs their order.\n\n"
    "It holds while all producers use the same partitioner, and while the topic keeps its number "
    "of partitions: with more of them the same hash gives another place.",
)  # fmt: skip
