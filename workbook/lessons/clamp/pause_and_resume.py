"""Chapter 12: Pause and resume."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence

from workbook.classroom.core import Problem
from workbook.classroom.drawn import one_after_another, smallest_first
from workbook.classroom.judging import Case, by_cases
from workbook.lessons.clamp.four_cases import goes_on
from workbook.lessons.clamp.pause_and_resume_form import form_of
from workbook.lessons.clamp.pause_and_resume_mistakes import MISTAKES


def steer(
    tops: Mapping[str, int | None], paused: Sequence[str], max_lead: int
) -> tuple[list[str], list[str]]:
    one, other = tops
    rivals = {one: tops[other], other: tops[one]}
    wait = [topic for topic in tops if not goes_on(tops[topic], rivals[topic], max_lead)]
    pause = [topic for topic in wait if topic not in paused]
    resume = [topic for topic in tops if topic in paused and topic not in wait]
    return pause, resume


def _case(
    tracking: int | None, orders: int | None, paused: list[str], says: str, max_lead: int = 10
) -> Case:
    return _of({"tracking": tracking, "orders": orders}, paused, says, max_lead)


def _of(tops: dict[str, int | None], paused: list[str], says: str, max_lead: int = 10) -> Case:
    return Case((tops, paused, max_lead), steer(tops, paused, max_lead), says)


def _drawn_cases() -> Iterator[Case]:
    draw = random.Random(13)
    for _ in range(40):
        names = draw.sample(["tracking", "orders", "clicks", "returns"], 2)
        times: tuple[int | None, ...] = (None, 0, 7, 10, 17, 18, 60)
        tops = {name: draw.choice(times) for name in names}
        paused = [name for name in names if tops[name] is not None and draw.random() < 0.4]
        args = (tops, paused, draw.choice((1, 10, 50)))
        yield Case(args, steer(*args), "These tops were drawn by chance. Who must wait?")


_CASES = [
    _case(30, 5, [], "Tracking leads by 25: pause it."),
    _case(5, 30, [], "Orders lead by 25: pause them."),
    _case(30, 5, ["tracking"], "Tracking must still wait, and is paused already: nothing to do."),
    _case(5, 30, ["orders"], "Orders must still wait, and are paused already: nothing to do."),
    _case(30, 20, ["tracking"], "Orders have come up to 20: tracking may go on, so resume it."),
    _case(20, 30, ["orders"], "Tracking has come up to 20: orders may go on, so resume them."),
    _case(12, 5, [], "Nobody leads by too much, and nobody is paused: nothing to do."),
    _case(15, 5, [], "Tracking leads by exactly 10, which is allowed."),
    _case(None, None, [], "Nobody has given anything yet. If both wait, nothing is ever read."),
    _case(0, None, [], "Tracking has begun at time 0, orders haven't: tracking waits."),
    _case(None, 7, [], "Orders have begun, tracking hasn't: orders wait."),
    _case(0, None, ["tracking"], "Tracking waits for the first order, and is paused already."),
    _case(0, 0, ["tracking"], "The first order has come, of time 0: tracking goes on."),
    _case(30, 60, ["tracking"], "Orders went ahead while tracking was paused: now they wait."),
    _case(60, 30, ["orders"], "Tracking went ahead while orders were paused: now it waits."),
    _case(20, 20, ["tracking", "orders"], "Both are paused, and both may go on."),
    _case(20, 20, ["orders", "tracking"], "Both are paused, and both may go on."),
    _of({"orders": 20, "tracking": 20}, ["orders", "tracking"], "Both may go on."),
    _of({"orders": 20, "tracking": 20}, ["tracking", "orders"], "Both may go on."),
    _case(40, 5, [], "Tracking leads by 35, and 50 are allowed: nothing to do.", 50),
    _case(9, 5, [], "Tracking leads by 4, and 1 is allowed: pause it.", 1),
    _of(
        {"orders": 30, "orders-2": 5}, ["orders-2"],
        "`orders` isn't paused. It's another topic than `orders-2`, whose name begins alike.",
    ),
    _of(
        {"orders": 5, "orders-2": 30}, ["orders-2"],
        "`orders` isn't paused: there's nothing to resume. `orders-2` is another topic.",
    ),
]  # fmt: skip

pause_and_resume = Problem(
    name="Pause and resume",
    task="`tops` maps both topics to their tops, with `None` for one that has given nothing. "
    "`paused` is the list of those that are paused now. Return two lists, as `return pause, "
    "resume`: the topics that must wait and aren't paused yet, and those that are paused and may "
    "go on, each in the order of `tops`. Ask your `goes_on` about each of them.\n\n"
    '`steer({"tracking": 30, "orders": 5}, [], 10)` gives `(["tracking"], [])`.',
    stub="def steer(tops, paused, max_lead):\n    ...  # your code\n",
    diagnose=one_after_another(
        by_cases(_CASES, MISTAKES, form=form_of(steer)), by_cases(smallest_first(_drawn_cases()))
    ),
    hints=(
        "Ask the rule twice: for each topic with its own top first, and the other's second.",
        "First the list of those that must wait. Then compare it with `paused`, both ways. Walk "
        "through `tops` for each list: `paused` may have another order.",
        "`one, other = tops` gives both names, and `not goes_on(tops[one], tops[other], max_lead)` "
        "is true if the first must wait.",
    ),
    reference=steer,
    discussion="Kafka doesn't mind if you pause what is paused. We ask for the changes only, since "
    "each `resume` makes the client fetch again what it had thrown away.",
)
