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
    task="`visits` maps an `ssid` to the list of its messages so far, each a dictionary with a "
    "`timestamp`. `clock` is what `business_clock` returned, perhaps `None`, and `timeout` is a "
    "length of time, in the same unit. Any of these numbers may be 0, and a `timestamp` may be "
    "negative. Return the list of the ssids that are complete: those whose newest message is more "
    "than `timeout` before the clock. Sort them by the time of that message, and by ssid where "
    "it's equal. Leave `visits` as it is.\n\n"
    '`{"v1": [{"timestamp": 5}], "v2": [{"timestamp": 40}]}` at clock 50 with time-out 20 gives '
    '`["v1"]`.',
    cases=[
        case("At 50, `v1` has had no message for 45: it's complete.", of(v1=[5], v2=[40]), 50, 20),
        case("Its newest message is of 33. Until 53 another one may come that belongs to it.",
             of(v1=[5, 12, 33]), 50, 20),
        case("Messages come in any order: the newest one is of 33.", of(v1=[33, 5]), 50, 20),
        case("The newest message, of 33, is neither the first nor the last one that came.",
             of(v1=[5, 33, 12]), 50, 20),
        case("`a` is open, and `v1` behind it is complete.", of(a=[45], v1=[5]), 50, 20),
        case("Its newest message is ahead of the clock: it's open.", of(v1=[95]), 50, 20),
        case("30 + 20 is 50, and the clock stands at 50: not passed yet.", of(v1=[30]), 50, 20),
        case("29 + 20 is 49, and the clock has passed it.", of(v1=[29]), 50, 20),
        case("All three are complete, and they're emitted by event time: 3, 11, 25.",
             of(a=[25], b=[3], c=[11]), 60, 20),
        case("Three visits are complete, two of them of one time: there the smaller ssid is first.",
             of(z=[7], a=[9], m=[7]), 60, 20),
        case("Both are complete. A visit's time is that of its newest message: 20, then 30.",
             of(a=[1, 30], b=[20]), 60, 20),
        case("As text, `v10` comes before `v7`.", of(v7=[7], v10=[7]), 60, 20),
        case("There's no clock yet, so nothing is complete, whatever the messages say.",
             of(v1=[-50], v2=[40]), None, 20),
        case("A time-out of 0: the clock has passed 49, not 50.", of(v1=[49], v2=[50]), 50, 0),
        case("The clock is 0, a time like any other. The message is 30 before it.",
             of(v1=[-30]), 0, 20),
        case("Nothing is open.", {}, 50, 20),
    ],
    draw=draw,
    right=[by_pairs, varied()],
    wrong=[
        wrong("It looks at the visit's first or oldest message. The newest one decides: as long as "
              "messages come, the visit goes on.", *deciding(min), *deciding(first)),
        wrong("It looks at the message that came last. Between two topics there's no order: the "
              "newest one may have come before.", *deciding(last)),
        wrong("It's one step early: the newest message must be **more** than the time-out before "
              "the clock.", *where(lambda time, clock, timeout: time + timeout <= clock)),
        wrong("It forgets the time-out: a visit is complete only that much after its newest "
              "message.", *where(lambda time, clock, timeout: time < clock)),
        wrong("The condition is inverted: these are the visits that are still open.",
              *where(lambda time, clock, timeout: time + timeout >= clock)),
        wrong("The visits are right, and their order isn't. Sort them by the time of their newest "
              "message, the oldest first, and by ssid where that is equal.",
              *(varied(order=order) for order in (as_opened, by(min), by(first), by(last))),
              varied(order=lambda ssid, times: max(times)), lambda *args: complete(*args)[::-1]),
        wrong("0 is taken for nothing. A clock or a time-out of 0 is one like any other. Does an "
              "`if` or an `or` ask whether a number is true?",
              lambda visits, clock, timeout: complete(visits, clock or None, timeout),
              lambda visits, clock, timeout: complete(visits, clock, timeout) if timeout else []),
    ],
    hints=(
        "Which of a visit's messages decides whether it's over? And what must the clock have done?",
        "First a dictionary from ssid to the newest time. Then the ones to keep, then the order.",
        '`max(m["timestamp"] for m in messages)` is a visit\'s time. A sort key may be a tuple.',
    ),
    discussion="It looks at every open visit, each time. That's what the original team had to do, "
    "because Spark's `updateStateByKey` gave them nothing else; the chapter measures it. A timer "
    "per visit, or segments of state that know their oldest and newest time, look at what is due "
    "only.\n\n"
    "A visitor who never pauses is never complete by this rule. The workbook's merge has a second "
    "limit: a maximum age, counted from the oldest message.",
)  # fmt: skip
