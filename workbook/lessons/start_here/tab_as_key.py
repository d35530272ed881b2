"""Chapter 00: The tab as key."""

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
    """Build two wrong answers that make another key: of every click, or of those with a tab."""
    return change, lambda click: change(click) if click.get("tab_id") else None


def produced(answer):
    """Return a function of a click: the answer's key, unless a producer refuses its type."""

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
    task="Write the function that returns the key of a click. It gets the click as a dictionary "
    'and returns the id of its tab, a text, as bytes in UTF-8: for `{"event_id": 1, "tab_id": '
    '"tab-7"}` it returns `b"tab-7"`. In some clicks `tab_id` is missing or None. These clicks '
    "have no key: return None, and the partitioner chooses a partition at random.",
    cases=[
        case("The key is the tab's id, as bytes.", click(1, tab_id="tab-7")),
        case("This click has no `tab_id`, so it has no key: return None. Only then does the "
             "partitioner choose a partition at random.", click(2)),
        case("The `tab_id` of this click is None, so it has no key, either.",
             click(3, tab_id=None)),
        case("A tab's id may contain letters beyond ASCII. In UTF-8, `ü` is two bytes.",
             click(4, tab_id="tab-ü")),
        case("Don't change a tab's id: keep its capital letters and its blanks.",
             click(5, tab_id=" tab-A ")),
        case("A tab's id may be any text.", click(6, tab_id="0279-a-long-one")),
    ],
    draw=draw,
    right=[
        by_trying,
        lambda click: click["tab_id"].encode("utf-8") if click.get("tab_id") else None,
    ],
    wrong=[
        wrong("It returns a text. Kafka's keys are bytes, and `encode` turns a text into bytes.",
              lambda click: click.get("tab_id")),
        wrong("A click without a tab gets a key: an empty one, or the text `None`. All such clicks "
              "would land in one partition. Return None itself.",
              lambda click: str(click.get("tab_id")).encode(),
              lambda click: (click.get("tab_id") or "").encode(),
              lambda click: str(click.get("tab_id", "")).encode()),
        wrong("The key isn't the tab's id alone. No other field says which tab it was.",
              *changed(lambda click: json.dumps(click).encode()),
              *changed(lambda click: str(click).encode()),
              *changed(lambda c: c["browser"].encode()), *changed(lambda c: c["name"].encode()),
              *changed(lambda click: b"%d" % click["event_id"])),
        wrong("The key has quotation marks around it, because JSON puts them there. Encode the "
              "tab's id itself.", *changed(lambda click: json.dumps(click.get("tab_id")).encode()),
              *changed(lambda c: json.dumps(c.get("tab_id"), ensure_ascii=False).encode())),
        wrong("Every click with a tab has the same key.", *changed(lambda click: b"tab-7"),
              *changed(lambda click: b"tab_id")),
    ],
    hints=(
        "There are clicks with a tab and clicks without one. Which key does each kind get?",
        "`click.get(...)` returns None if a field is missing. `str` has a method that returns "
        "bytes.",
        "`tab.encode()` returns the bytes. First check whether `tab` is None.",
    ),
    discussion="From now on the partitioner works for you: keys with equal bytes are in the same "
    "partition, so the clicks of a tab stay in order. Clicks without a key are spread over all "
    "partitions, which is fine as long as nobody needs their order.\n\n"
    "This is true while all producers use the same partitioner and the topic keeps its number of "
    "partitions: with more partitions, the same hash may give another partition.",
)  # fmt: skip
