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
    task="A part of a visit is a dictionary with its `ssid` and two lists, `tracking` and "
    "`orders`. Each message is a dictionary, too: "
    '`{"event_id": 7, "timestamp": 1700000000000, …}`, '
    "with more fields that stay as they are. Write a function that combines two parts of one "
    "visit: a new dictionary of the same form, "
    "with all messages of both parts.\n\n"
    "Each list is sorted by `timestamp`, and by `event_id` where that is equal, in both parts and "
    "in the result. A message may be in both parts, since it may be delivered twice: then it's "
    "there once. Within a list the `event_id` says which message it is; a tracking message and an "
    "order may have the same one. Leave both parts as they are.\n\n"
    'If `a` is older than `b`, and `b` than `c`: `{"ssid": "v1", "tracking": [a, c], "orders": '
    '[]}` and `{"ssid": "v1", "tracking": [b, c], "orders": [o]}`, whichever is first, make '
    '`{"ssid": "v1", "tracking": [a, b, c], "orders": [o]}`.',
    cases=[
        case("The visit has the form of its parts: an `ssid`, and two lists of messages with all "
             "of their fields. Each topic numbers its own messages, so both may be number 1.",
             part([(1, 100)]), part([], [(1, 140)])),
        case("The first part has the latest message. The result is sorted by `timestamp`.",
             part([(3, 160)]), part([(1, 100), (2, 130)])),
        case("Message 2 was delivered twice. It's in the visit once.",
             part([(1, 100), (2, 130)]), part([(2, 130), (3, 160)])),
        case("Both messages happened in the same millisecond. The smaller `event_id` is first, "
             "whichever part it's in, and 9 is smaller than 10.",
             part([(10, 100)]), part([(9, 100)])),
        case("Message 9 happened first, though message 2 has the smaller number.",
             part([(9, 100)]), part([(2, 130)])),
        case("Orders are combined in the same way, also while there's no tracking message.",
             part([], [(5, 150)]), part([], [(2, 120), (5, 150), (6, 170)])),
        case("Both parts are equal. Nothing is added.",
             part([(1, 100)], [(7, 140)]), part([(1, 100)], [(7, 140)])),
        case("One part is empty, so the visit is equal to the other part.",
             part(), part([(1, 100)])),
    ],
    draw=draw,
    right=[by_sets, changed()],
    wrong=[
        wrong("A message that was delivered twice is in the visit twice. Its `event_id` shows that "
              "it's the same message.", changed(once=None), changed(once=None, order=None)),
        wrong("The messages are in the order of the parts. Sort them by `timestamp`: two topics "
              "have no order between them.", changed(order=None)),
        wrong("Messages of the same millisecond are in the order of the parts, so `combine(a, b)` "
              "and `combine(b, a)` differ. Sort by `event_id`, too.",
              changed(order=time), changed(order=time, of=lambda a, b: b + a)),
        wrong("It sorts by `event_id`, which says what was numbered first, not what happened "
              "first.", changed(order=number)),
        wrong("It takes two messages of the same millisecond for one. The `event_id` says which "
              "message it is.", changed(once=time)),
        wrong("One part, or one of its lists, replaces the other. Both parts have messages of "
              "their own.", lambda one, other: other, lambda one, other: one,
              changed(of=lambda a, b: b or a)),
        wrong("It combines the tracking messages, but not the orders. Do the same for both lists.",
              changed(orders=lambda a, b: a), changed(orders=lambda a, b: b)),
    ],
    hints=(
        "Do the same for both lists. What must become of a message that both parts have, and how "
        "do you know that it's the same one?",
        "A dictionary from `event_id` to message has each one once. Sort its values, by two "
        "things.",
        '`by_id = {m["event_id"]: m for m in one[side] + other[side]}` for each `side`. A sort key '
        "may be a tuple.",
    ),
    discussion="Whatever the order in which messages come, however often, and however they're cut "
    "into parts, the visit is the same. In words of algebra: the function is commutative, "
    "associative and idempotent. That's what makes it fit for two topics without an order between "
    "them, and for at-least-once delivery.\n\n"
    "Counting isn't like that: a count of messages goes wrong with the first one that comes twice. "
    "And it costs something: the state holds every message of the visit, not a number.",
)  # fmt: skip
