"""Chapter 12: Pause and resume."""

from workbook.classroom.exercise import case, exercise, wrong
from workbook.lessons.clamp.four_cases import goes_on


def steer(tops, paused, max_lead):
    one, other = tops
    rivals = {one: tops[other], other: tops[one]}
    wait = [topic for topic in tops if not goes_on(tops[topic], rivals[topic], max_lead)]
    pause = [topic for topic in wait if topic not in paused]
    resume = [topic for topic in tops if topic in paused and topic not in wait]
    return pause, resume


def ruled(rule, asked=slice(None)):
    """Make an answer that is right but for its rule and the topics that it asks about."""

    def answer(tops, paused, max_lead):
        pairs = [*zip(tops, reversed(tops), strict=True)][asked]
        may = {topic: rule(tops[topic], tops[other], max_lead) for topic, other in pairs}
        pause = [topic for topic in may if not may[topic] and topic not in paused]
        return pause, [topic for topic in may if may[topic] and topic in paused]

    return answer


def changed(change):
    """Make an answer that changes the right lists; it knows, too, what waits and what is paused."""

    def answer(tops, paused, max_lead):
        pause, resume = steer(tops, paused, max_lead)
        wait, _ = steer(tops, [], max_lead)
        go = [topic for topic in tops if topic not in wait]
        return change(pause=pause, resume=resume, wait=wait, go=go, paused=[*paused])

    return answer


def by_their_names(tops, paused, max_lead):
    return steer({name: tops[name] for name in ("tracking", "orders")}, paused, max_lead)


def of(tracking, orders, *paused, max_lead=10):
    return {"tracking": tracking, "orders": orders}, [*paused], max_lead


def draw(random, size):
    names = random.sample(["tracking", "orders", "orders-2", "clicks"], 2)
    tops = {name: random.choice((None, 0, 7, 10, 17, 18, 60)) for name in names}
    read = [name for name in reversed(names) if tops[name] is not None]  # others never paused
    paused = random.sample(read, random.randint(0, len(read)))
    return tops, paused, random.choice((0, 1, 10, 10, 50))


pause_and_resume = exercise(
    steer,
    name="Pause and resume",
    task="`tops` maps each of the two topics to its top, or to `None` if none of its records has "
    "been read. `paused` is the list of the topics that are paused now. Ask your `goes_on` about "
    "each topic, and return two lists, as `return pause, resume`: first the topics that must wait "
    "and aren't paused yet, then the topics that are paused and may be read again. Each list is "
    "in the order of `tops`. Don't change `paused`.\n\n"
    '`steer({"tracking": 30, "orders": 5}, [], 10)` returns `(["tracking"], [])`.',
    cases=[
        case("Tracking leads by 25: pause it.", *of(30, 5)),
        case("Orders lead by 25: pause them.", *of(5, 30)),
        case("Tracking must still wait, and it's paused already: change nothing.",
             *of(30, 5, "tracking")),
        case("The top of orders is 20 now, so tracking may be read again: resume it.",
             *of(30, 20, "tracking")),
        case("Tracking leads by 35, and 50 are allowed: change nothing.", *of(40, 5, max_lead=50)),
        case("Neither topic has a top yet, and one must begin: change nothing.", *of(None, None)),
        case("The top of tracking is 0, and orders have no top yet: tracking waits.", *of(0, None)),
        case("Orders went ahead while tracking was paused: pause orders, and resume tracking.",
             *of(30, 60, "tracking")),
        case("Both are paused, and both may be read again: tracking first, as in `tops`.",
             *of(20, 20, "orders", "tracking")),
        case("Pause `orders`, which isn't paused yet. `orders-2` is another topic: resume it.",
             {"orders": 30, "orders-2": 5}, ["orders-2"], 10),
    ],
    draw=draw,
    right=[ruled(goes_on)],
    wrong=[
        wrong("Your function resumes nothing, so a topic that was paused once waits for ever.",
              changed(lambda pause, **others: (pause, [])),
              changed(lambda wait, **others: (wait, []))),
        wrong("Your function returns topics that don't change. Compare with `paused`.",
              changed(lambda wait, go, **others: (wait, go)),
              changed(lambda wait, resume, **others: (wait, resume)),
              changed(lambda pause, go, **others: (pause, go))),
        wrong("The two lists are swapped: the topics to pause are the first one.",
              changed(lambda pause, resume, **others: (resume, pause))),
        wrong("Your function pauses the topic that is behind, which must catch up. The leader "
              "must wait: `goes_on` takes the topic's own top first.",
              ruled(lambda own, other, max_lead: goes_on(other, own, max_lead))),
        wrong("Your function decides differently from `goes_on` if a top is missing or 0, or if "
              "the lead is exactly `max_lead`. Call `goes_on` with the values in `tops`.",
              ruled(lambda own, other, most: None not in (own, other) and own - other <= most),
              ruled(lambda own, other, most: goes_on(own, other, most - 1)),
              ruled(lambda own, other, most: goes_on(own or None, other or None, most))),
        wrong("Your function asks about one topic only. Does a loop over both `return` too early?",
              ruled(goes_on, slice(1)), ruled(goes_on, slice(1, 2))),
        wrong("Your function contains the topics' names. Other topics have others: use `tops`.",
              by_their_names),
    ],
    hints=(
        "Call the rule twice, once for each topic: its own top first, the other topic's second.",
        "First build the list of the topics that must wait. Then compare it with `paused` in both "
        "directions. Loop over `tops` for each list, because `paused` may have another order.",
        "`one, other = tops` unpacks both names, and `not goes_on(tops[one], tops[other], "
        "max_lead)` is true if the first topic must wait.",
    ),
    discussion="Kafka's client accepts a second `pause` of the same partition. We return only the "
    "changes, because each `resume` makes the client fetch the discarded records once more.",
)  # fmt: skip
