"""Chapter 11: Which visits are complete."""

from operator import itemgetter

from workbook.classroom.exercise import case, exercise, wrong

first, last = itemgetter(0), itemgetter(-1)


def complete(visits, clock, timeout):
    if clock is None:
        return []
    newest = {ssid: max(m["timestamp"] for m in messages) for ssid, messages in visits.items()}
    done = [ssid for ssid, time in newest.items() if time + timeout < clock]
    return sorted(done, key=lambda ssid: (newest[ssid], ssid))


def by_pairs(visits, clock, timeout):
    pairs = sorted((max(m["timestamp"] for m in visits[ssid]), ssid) for ssid in visits)
    return [ssid for time, ssid in pairs if clock is not None and clock - time > timeout]


def by(of):
    return lambda ssid, times: (of(times), ssid)


def as_opened(ssid, times):
    return 0


by_newest = by(max)


def varied(of=max, over=lambda time, clock, timeout: time + timeout < clock, order=by_newest):
    """Make an answer; with the defaults it's right. ``of`` picks the time that decides."""

    def answer(visits, clock, timeout):
        if clock is None:
            return []
        times = {ssid: [m["timestamp"] for m in visits[ssid]] for ssid in visits}
        done = [ssid for ssid in visits if over(of(times[ssid]), clock, timeout)]
        return sorted(done, key=lambda ssid: order(ssid, times[ssid]))

    return answer


def deciding(of):
    return [varied(of, order=order) for order in (by(of), by_newest, as_opened)]


def where(over):
    return [varied(over=over, order=order) for order in (by_newest, as_opened)]


def of(**times):
    return {ssid: [{"timestamp": time} for time in some] for ssid, some in times.items()}


def draw(random, size):
    at = random.choice((0, 0, 1_000, 1_700_000_000_000))
    ends = [at + ms for ms in (-30, -1, 0, 5, 5, 29, 30, 31, 49, 50, 60)]
    names = random.sample([f"{letter}{n}" for letter in "vaB" for n in range(14)], size + 1)
    visits = of(**{name: random.choices(ends, k=random.choice((1, 1, 2, 4))) for name in names})
    clock = random.choice((None, at, at, at + 50, at + 50, at + 50, at + 200))
    return visits, clock, random.choice((0, 1, 20, 20, 45))


timed_out = exercise(
    complete,
    name="Which visits are complete",
    task="`visits` maps an `ssid` to the list of the visit's messages so far, at least one; each "
    "is a dictionary with a `timestamp`. `clock` is the result of `business_clock`, so it may be "
    "`None`. `timeout` is a length of time in the same unit. Any of these numbers may be 0, and a "
    "`timestamp` may be negative. A visit is complete if its newest message is more than `timeout` "
    "before the clock. Return the list of the complete ssids, sorted by the time of that message, "
    "and by ssid where the times are equal. Don't change `visits`.\n\n"
    '`{"v1": [{"timestamp": 5}], "v2": [{"timestamp": 40}]}` at clock 50 with time-out 20 gives '
    '`["v1"]`.',
    cases=[
        case("At clock 50, `v1` has had no message for 45, so it's complete.",
             of(v1=[5], v2=[40]), 50, 20),
        case("The newest message of `v1` is of 33: it's open until the clock has passed 53.",
             of(v1=[5, 12, 33]), 50, 20),
        case("The newest message, of 33, is neither the first nor the last of the list.",
             of(v1=[5, 33, 12]), 50, 20),
        case("30 + 20 is 50, and the clock is exactly 50: it hasn't passed 50 yet.",
             of(v1=[30]), 50, 20),
        case("Three visits are complete. Two have the same time, so the smaller ssid is first.",
             of(z=[7], a=[9], m=[7]), 60, 20),
        case("Both are complete. A visit's time is that of its newest message: 20 in `b`, 30 in "
             "`a`.",
             of(a=[1, 30], b=[20]), 60, 20),
        case("Ssids are sorted as text, so `v10` is before `v7`.", of(v7=[7], v10=[7]), 60, 20),
        case("There's no clock yet, so no visit is complete, however old its messages are.",
             of(v1=[-50], v2=[40]), None, 20),
        case("The time-out is 0: the clock has passed 49, but not 50.",
             of(v1=[49], v2=[50]), 50, 0),
        case("The clock is 0, a time like any other. The message is 30 before it.",
             of(v1=[-30]), 0, 20),
        case("There is no open visit.", {}, 50, 20),
    ],
    draw=draw,
    right=[by_pairs, varied()],
    wrong=[
        wrong("It looks at the visit's first or oldest message. The newest one decides, because a "
              "visit stays open as long as messages arrive.", *deciding(min), *deciding(first)),
        wrong("It ignores the time-out: a visit isn't complete until the time-out has passed since "
              "its newest message.", *where(lambda time, clock, timeout: time < clock)),
        wrong("The condition is inverted: these are the visits that are still open.",
              *where(lambda time, clock, timeout: time + timeout >= clock)),
        wrong("The visits are right, but not their sequence. Sort them by the time of their newest "
              "message, the oldest first, and by ssid where the times are equal.",
              *(varied(order=order) for order in (as_opened, by(min), by(first), by(last))),
              varied(order=lambda ssid, times: max(times)), lambda *args: complete(*args)[::-1]),
        wrong("It treats 0 as if there were no clock or no time-out. 0 is a number like any other. "
              "Does an `if` or an `or` ask whether a number is true?",
              lambda visits, clock, timeout: complete(visits, clock or None, timeout),
              lambda visits, clock, timeout: complete(visits, clock, timeout) if timeout else []),
    ],
    hints=(
        "Which message of a visit decides whether the visit is complete? And which time must the "
        "clock have passed?",
        "First make a dictionary from ssid to the visit's newest time. Then choose the complete "
        "visits, and then sort them.",
        '`max(m["timestamp"] for m in messages)` is a visit\'s time. A sort key may be a tuple.',
    ),
    discussion="The function looks at every open visit each time it's called. The original team "
    "had no choice, because Spark's `updateStateByKey` called their function for every key in "
    "every micro-batch. With a timer per visit, or with state that is divided by time, a program "
    "looks only at the visits that are due.\n\n"
    "By this rule the visit of a visitor who never pauses is never complete. The workbook's merge "
    "has a second limit: a maximum age, counted from the visit's oldest message.",
)  # fmt: skip
