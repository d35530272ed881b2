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
    task="`tops` maps both topics to their tops, with `None` for one that has given nothing. "
    "`paused` is the list of those that are paused now. Return two lists, as `return pause, "
    "resume`: the topics that must wait and aren't paused yet, and those that are paused and may "
    "go on, each in the order of `tops`. Ask your `goes_on` about each of them.\n\n"
    '`steer({"tracking": 30, "orders": 5}, [], 10)` gives `(["tracking"], [])`.',
    cases=[
        case("Tracking leads by 25: pause it.", *of(30, 5)),
        case("Orders lead by 25: pause them.", *of(5, 30)),
        case("Tracking must still wait, and is paused already: nothing to do.",
             *of(30, 5, "tracking")),
        case("Orders have come up to 20: tracking may go on, so resume it.",
             *of(30, 20, "tracking")),
        case("Tracking has come up to 20: orders may go on, so resume them.",
             *of(20, 30, "orders")),
        case("Nobody leads by too much, and nobody is paused: nothing to do.", *of(12, 5)),
        case("Tracking leads by exactly 10, which is allowed.", *of(15, 5)),
        case("Tracking leads by 35, and 50 are allowed: nothing to do.", *of(40, 5, max_lead=50)),
        case("Nobody has given anything yet. If both wait, nothing is ever read.", *of(None, None)),
        case("Tracking has begun at time 0, orders haven't: tracking waits.", *of(0, None)),
        case("Orders have begun, tracking hasn't: orders wait.", *of(None, 7)),
        case("The first order has come, of time 0: tracking goes on.", *of(0, 0, "tracking")),
        case("Orders went ahead while tracking was paused: now they wait, and tracking goes on.",
             *of(30, 60, "tracking")),
        case("Both are paused, and both may go on: first tracking and then orders, as in `tops`.",
             *of(20, 20, "orders", "tracking")),
        case("Both are paused, and both may go on: first orders and then tracking, as in `tops`.",
             {"orders": 20, "tracking": 20}, ["tracking", "orders"], 10),
        case("`orders` must wait, and isn't paused yet. `orders-2` is another topic, and goes on.",
             {"orders": 30, "orders-2": 5}, ["orders-2"], 10),
    ],
    draw=draw,
    right=[ruled(goes_on)],
    wrong=[
        wrong("It never resumes anything: a topic that was paused once waits for good.",
              changed(lambda pause, **others: (pause, [])),
              changed(lambda wait, **others: (wait, []))),
        wrong("It names topics that don't change. Pause what isn't paused yet, and resume only "
              "what is in `paused`.", changed(lambda wait, go, **others: (wait, go)),
              changed(lambda wait, resume, **others: (wait, resume)),
              changed(lambda pause, go, **others: (pause, go))),
        wrong("The two lists are exchanged: what to pause comes first.",
              changed(lambda pause, resume, **others: (resume, pause))),
        wrong("It pauses the topic that is behind. That one must catch up, and the leader waits: "
              "`goes_on` gets the topic's own top first.",
              ruled(lambda own, other, max_lead: goes_on(other, own, max_lead))),
        wrong("It decides otherwise than `goes_on` where a top is missing or 0, or where the lead "
              "is exactly `max_lead`. Ask `goes_on`, with what stands in `tops`.",
              ruled(lambda own, other, most: None not in (own, other) and own - other <= most),
              ruled(lambda own, other, most: goes_on(own, other, most - 1)),
              ruled(lambda own, other, most: goes_on(own or None, other or None, most))),
        wrong("It asks about one topic only. The other one may lead just as well. Does a loop over "
              "both `return` too early?", ruled(goes_on, slice(1)), ruled(goes_on, slice(1, 2))),
        wrong("It knows the topics by their names, and they may have others, as in the loop below: "
              "take the names from `tops`.", by_their_names),
        wrong("The names are right; return them in the order of `tops`.",
              changed(lambda pause, resume, paused, **others: (
                  pause, [topic for topic in paused if topic in resume])),
              lambda *args: tuple(map(sorted, steer(*args)))),
    ],
    hints=(
        "Ask the rule twice: for each topic with its own top first, and the other's second.",
        "First the list of those that must wait. Then compare it with `paused`, both ways. Walk "
        "through `tops` for each list: `paused` may have another order.",
        "`one, other = tops` gives both names, and `not goes_on(tops[one], tops[other], max_lead)` "
        "is true if the first must wait.",
    ),
    discussion="Kafka doesn't mind if you pause what is paused. We ask for the changes only, since "
    "each `resume` makes the client fetch again what it had thrown away.",
)  # fmt: skip
