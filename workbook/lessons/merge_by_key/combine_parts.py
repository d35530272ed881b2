"""Chapter 10: Combine two parts of a visit."""

from operator import itemgetter

from workbook.classroom.exercise import case, exercise, wrong


def combine(one, other):
    both = {"ssid": one["ssid"]}
    for side in ("tracking", "orders"):
        by_id = {message["event_id"]: message for message in one[side] + other[side]}
        both[side] = sorted(by_id.values(), key=lambda m: (m["timestamp"], m["event_id"]))
    return both


def by_sets(one, other):
    def united(side):
        pairs = {tuple(sorted(message.items())) for message in one[side] + other[side]}
        return sorted(map(dict, pairs), key=lambda m: (m["timestamp"], m["event_id"]))

    return {"ssid": other["ssid"], "tracking": united("tracking"), "orders": united("orders")}


number, time = itemgetter("event_id"), itemgetter("timestamp")
place = itemgetter("timestamp", "event_id")


def changed(once=number, order=place, of=lambda a, b: a + b, orders=None):
    """Make a way to combine; with the defaults it's right. ``orders`` is for the orders alone."""

    def united(one, other):
        messages = of(one, other)
        messages = [*{once(m): m for m in messages}.values()] if once else messages
        return sorted(messages, key=order) if order else messages

    def answer(one, other):
        tracking = united(one["tracking"], other["tracking"])
        both = (orders or united)(one["orders"], other["orders"])
        return {"ssid": one["ssid"], "tracking": tracking, "orders": both}

    return answer


def part(tracking=(), orders=(), ssid="v1"):
    """Make a part of a visit; a message is a pair of an ``event_id`` and a ``timestamp``."""
    pages = [{"event_id": n, "timestamp": at, "page": "/"} for n, at in tracking]
    paid = [{"event_id": n, "timestamp": at, "cents": n % 3} for n, at in orders]
    return {"ssid": ssid, "tracking": pages, "orders": paid}


def draw(random, size):
    """Draw two parts of one visit, with many equal times, and messages that both parts have."""
    first, ssid = random.choice((0, 8, 995)), random.choice(("v1", "v77", "Zoë"))
    times = (0, 5, 7, 1_700_000_000_000)
    known = [[(first + n, random.choice(times)) for n in range(size)] for _ in range(2)]
    parts = []
    for _ in range(2):
        some = (random.sample(side, random.randint(0, size)) for side in known)
        in_order = (sorted(side, key=lambda each: each[::-1]) for side in some)
        parts.append(part(*in_order, ssid))
    return tuple(parts)


combine_parts = exercise(
    combine,
    name="Combine two parts of a visit",
    task="A part of a visit is a dictionary with an `ssid` and two lists of messages, `tracking` "
    "and `orders`. Messages are dictionaries with `event_id`, `timestamp` (ms) and other fields. "
    "Write a function that combines two parts of a visit into one part with all their "
    "messages, and changes neither.\n\n"
    "All lists, also those of the result, are sorted by `timestamp`, then by `event_id`. Within a "
    "list, equal `event_id`s mean the same message: the result contains it once. An order and a "
    "tracking message are always two messages, even with the same `event_id`.\n\n"
    'If `a`, `b`, `c` have ascending times, `{"ssid": "v1", "tracking": [a, c], "orders": []}` and '
    '`{"ssid": "v1", "tracking": [b, c], "orders": [o]}` make `{"ssid": "v1", "tracking": [a, b, '
    'c], "orders": [o]}`, whichever part comes first.',
    cases=[
        case("The result has the form of its parts: an `ssid`, and two lists of messages with all "
             "of their fields. Each topic numbers its own messages, so both may have number 1.",
             part([(1, 100)]), part([], [(1, 140)])),
        case("The first part has the latest message. The result is sorted by `timestamp`.",
             part([(3, 160)]), part([(1, 100), (2, 130)])),
        case("Message 2 was delivered twice. The visit contains it once.",
             part([(1, 100), (2, 130)]), part([(2, 130), (3, 160)])),
        case("Both messages are of the same millisecond. The one with the smaller `event_id` is "
             "first, whichever part it's in, and 9 is smaller than 10.",
             part([(10, 100)]), part([(9, 100)])),
        case("Message 9 happened first, although message 2 has the smaller number.",
             part([(9, 100)]), part([(2, 130)])),
        case("Orders are combined in the same way, even if there's no tracking message yet.",
             part([], [(5, 150)]), part([], [(2, 120), (5, 150), (6, 170)])),
        case("Both parts are equal, so the result is equal to either.",
             part([(1, 100)], [(7, 140)]), part([(1, 100)], [(7, 140)])),
        case("The first part is empty, so the result is equal to the second.",
             part(), part([(1, 100)])),
    ],
    draw=draw,
    right=[by_sets, changed()],
    wrong=[
        wrong("A message that was delivered twice is in the visit twice. Equal `event_id`s show "
              "that it's the same message.", changed(once=None), changed(once=None, order=None)),
        wrong("Messages of the same millisecond are in the sequence of the parts, so "
              "`combine(a, b)` and `combine(b, a)` differ. Sort by `event_id` as well.",
              changed(order=time), changed(order=time, of=lambda a, b: b + a)),
        wrong("Of two messages of the same millisecond it keeps one. Only equal `event_id`s mean "
              "the same message.", changed(once=time)),
        wrong("One part, or one of its lists, replaces the other. Each part may have messages that "
              "the other lacks.", lambda one, other: other, lambda one, other: one,
              changed(of=lambda a, b: b or a)),
        wrong("It combines the tracking messages, but not the orders. Treat both lists in the same "
              "way.",
              changed(orders=lambda a, b: a), changed(orders=lambda a, b: b)),
    ],
    hints=(
        "Treat both lists in the same way. If a message is in both parts, how do you recognise "
        "it, and how do you keep it only once?",
        "A dictionary from `event_id` to message contains each message once. Sort its values by "
        "two fields.",
        '`by_id = {m["event_id"]: m for m in one[side] + other[side]}` for each `side`. A sort key '
        "may be a tuple.",
    ),
    discussion="The visit is the same in whatever sequence its messages arrive, however often each "
    "is delivered, and however they are split into parts. In the words of algebra, the function is "
    "commutative, associative and idempotent. That is why it works for two topics that have no "
    "common sequence, and for at-least-once delivery.\n\n"
    "A count isn't idempotent: the first message that is delivered twice makes it wrong. But our "
    "function has a price: the state contains every message of the visit, where a count would "
    "be a single number.",
)  # fmt: skip
