"""Chapter 45: Hide the small groups."""

from workbook.classroom.exercise import case, exercise, wrong


def shown_groups(counts, least):
    hidden = {name for name, viewers in counts.items() if viewers < least}
    if hidden and sum(counts[name] for name in hidden) < least:
        others = [name for name in counts if name not in hidden]
        others.sort(key=lambda name: (name == "unknown", counts[name], name))
        hidden.update(others[:1])
    return {name: None if name in hidden else viewers for name, viewers in counts.items()}


def in_order(counts, least):
    hidden, together = [], 0
    known = lambda name: counts[name] >= least and name == "unknown"  # noqa: E731
    for name in sorted(counts, key=lambda name: (known(name), counts[name], name)):
        viewers = counts[name]
        if viewers >= least and (not hidden or together >= least):
            break
        hidden.append(name)
        together += viewers
    return {name: None if name in hidden else counts[name] for name in counts}


def varied(
    small=lambda viewers, least: viewers < least,
    another=lambda hidden, least: bool(hidden) and sum(hidden) < least,
    by=lambda viewers, name: (name == "unknown", viewers, name),
    instead=lambda viewers: None,
    most=1,
):  # fmt: skip
    """Hide as the reference does; wrong answers vary a part of it."""

    def answer(counts, least):
        hidden = {name for name, viewers in counts.items() if small(viewers, least)}
        if another([counts[name] for name in hidden], least):
            others = [name for name in counts if name not in hidden]
            hidden.update(sorted(others, key=lambda name: by(counts[name], name))[:most])
        return {name: instead(n) if name in hidden else n for name, n in counts.items()}

    return answer


def dropped(counts, least):
    return {name: n for name, n in shown_groups(counts, least).items() if n is not None}


def draw(random, size):
    names = random.sample(["unknown", *"abcde"], min(size, 6))
    least = random.choice((1, 3, 5, 10, 25))
    return {name: random.choice((0, 1, 3, 4, 5, 6, 9, 10, 11, 40)) for name in names}, least


hidden_groups = exercise(
    shown_groups,
    name="Hide the small groups",
    task="Write a function that gets `counts`, a dictionary from each group of a trait (age group, "
    "gender or region) to its number of viewers, and `least`. It returns a new dictionary of the "
    "same groups, with `None` for each hidden number:\n\n"
    "1. Hide each group with fewer than `least` viewers.\n"
    "2. If any group is hidden, but together the hidden groups have fewer than `least` viewers, "
    "hide one more group.\n"
    "3. That group is the smallest of the others, or of equal ones the first in the alphabet.\n"
    "4. But `unknown` is the last choice: rule 2 hides it only if there is no other group.\n\n"
    "With `least = 10`, `{'north': 4, 'east': 30, 'unknown': 12}` gives "
    "`{'north': None, 'east': None, 'unknown': 12}`.",
    cases=[
        case("A group with exactly `least` viewers is shown.", {"north": 10, "east": 30}, 10),
        case("Two small groups have 13 viewers together. That is enough, so no other group is "
             "hidden.", {"north": 6, "south": 7, "east": 30, "west": 50}, 10),
        case("Besides north, one more group must be hidden: the smallest one, east.",
             {"north": 4, "east": 30, "west": 50}, 10),
        case("Two small groups have exactly `least` viewers together. That is enough.",
             {"north": 4, "south": 6, "east": 30}, 10),
        case("The second group to hide isn't the next one in the dictionary, but the smallest.",
             {"north": 4, "east": 90, "west": 20, "middle": 60}, 10),
        case("The smallest other group is `unknown`, whose number is also under the other traits. "
             "So west is hidden.", {"north": 4, "east": 50, "unknown": 12, "west": 30}, 10),
        case("The only other group is `unknown`, so it must be hidden.",
             {"north": 4, "unknown": 30}, 10),
        case("The group `unknown` is small itself.", {"east": 30, "unknown": 4, "west": 50}, 10),
        case("Two groups are equally large: the first in the alphabet is hidden.",
             {"north": 4, "west": 30, "east": 30}, 10),
        case("A group without viewers is a small group.", {"north": 0, "east": 30, "west": 50}, 10),
        case("The threshold is 5 here: use `least`.", {"north": 4, "south": 5, "east": 6}, 5),
    ],
    draw=draw,
    right=[in_order],
    wrong=[
        wrong("It hides only the groups that are small themselves. If only one group is hidden, "
              "its number is the sum of all groups minus the numbers of the others.",
              varied(another=lambda *_: False)),
        wrong("It takes the largest of the other groups, or the first in the dictionary. Hide the "
              "smallest, so that the owner loses little.",
              varied(by=lambda n, name: (name == "unknown", -n, name)),
              varied(by=lambda n, name: name == "unknown")),
        wrong("It hides `unknown` although there is another group. The same viewers are unknown "
              "under each trait, so she reads their number there, and can subtract.",
              varied(by=lambda n, name: (n, name)), varied(by=lambda n, name: n)),
        wrong("It leaves hidden groups out, or shows them as 0 or as text. Keep each group, with "
              "`None` as its number.", dropped,
              lambda counts, least: {name: n for name, n in counts.items() if n >= least},
              varied(instead=lambda _: 0), varied(instead=lambda _: "hidden")),
        wrong("It hides all groups as soon as one is small. Hide only one more.",
              varied(another=lambda hidden, _: bool(hidden), most=99), varied(most=99)),
        wrong("It doesn't hide a group without viewers, or hides no other group besides it: 0 is "
              "fewer than `least`, too.", varied(small=lambda n, least: 0 < n < least),
              varied(another=lambda hidden, least: 0 < sum(hidden) < least)),
    ],
    hints=(
        "Which numbers can the owner compute if she knows the sum of all groups, and sees some of "
        "them?",
        "First collect the names of the small groups. Then add up their viewers, and decide once "
        "whether one more group has to be hidden.",
        "`sorted(others, key=lambda name: (name == 'unknown', counts[name], name))` puts the group "
        "to hide first: `False` is sorted before `True`.",
    ),
    discussion="Statistical offices call rule 1 primary suppression, and the others secondary. "
    "After rule 2 the hidden groups have at least `least` viewers together, so one more group is "
    "always enough for that.\n\n"
    "Suppression has limits. Somebody who knows our rule can sometimes compute more: of two equal "
    "groups, we hide the first. And somebody who looks at the page before and after a single view "
    "sees which group grows by one. Against that, offices round the numbers, or publish them once "
    "a day.",
)  # fmt: skip
