"""Chapter 42: Hide the small groups."""

from workbook.classroom.exercise import case, exercise, wrong


def shown_groups(counts, least):
    hidden = {name for name, viewers in counts.items() if viewers < least}
    if hidden and sum(counts[name] for name in hidden) < least:
        others = sorted((viewers, name) for name, viewers in counts.items() if name not in hidden)
        hidden.update(name for _, name in others[:1])
    return {name: None if name in hidden else viewers for name, viewers in counts.items()}


def in_order(counts, least):
    hidden, together = [], 0
    for viewers, name in sorted((viewers, name) for name, viewers in counts.items()):
        if viewers >= least and (not hidden or together >= least):
            break
        hidden.append(name)
        together += viewers
    return {name: None if name in hidden else counts[name] for name in counts}


def varied(
    small=lambda viewers, least: viewers < least,
    another=lambda hidden, least: bool(hidden) and sum(hidden) < least,
    by=lambda viewers, name: (viewers, name),
    instead=lambda viewers: None,
    most=1,
):
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
    names = random.sample("abcdef", min(size, 6))
    least = random.choice((1, 3, 5, 10, 25))
    return {name: random.choice((0, 1, 3, 4, 5, 6, 9, 10, 11, 40)) for name in names}, least


hidden_groups = exercise(
    shown_groups,
    name="Hide the small groups",
    task="The owner sees how many viewers each group has. A small group could tell her who they "
    "are. Write a function that gets `counts`, a dictionary from group to viewers, and `least`. It "
    "returns a dictionary of the same groups, with `None` for each hidden number:\n\n"
    "1. Hide all groups with fewer than `least` viewers.\n"
    "2. Assume that she knows the sum of all groups. Then she can subtract the numbers that she "
    "sees. If groups are hidden "
    "and have fewer than `least` viewers together, hide the smallest of the other groups, too. Of "
    "equal ones, hide the first in the alphabet.\n\n"
    "With `least = 10`, `{'north': 4, 'east': 30, 'west': 50}` gives "
    "`{'north': None, 'east': None, 'west': 50}`.",
    cases=[
        case("All groups are large: nothing is hidden.", {"east": 30, "west": 50}, 10),
        case("Beside north one more group must be hidden: the smallest, east.",
             {"north": 4, "east": 30, "west": 50}, 10),
        case("Two small groups have 13 viewers together. Nobody can tell them apart, so no other "
             "group is hidden.", {"north": 6, "south": 7, "east": 30, "west": 50}, 10),
        case("Two small groups have 7 viewers together, which is still a small number.",
             {"north": 3, "south": 4, "east": 30, "west": 50}, 10),
        case("Two small groups have exactly `least` viewers together. That is enough.",
             {"north": 4, "south": 6, "east": 30}, 10),
        case("A group with exactly `least` viewers may be shown.", {"north": 10, "east": 30}, 10),
        case("The second group to hide isn't the next one in the dictionary, but the smallest.",
             {"north": 4, "east": 90, "west": 20, "middle": 60}, 10),
        case("Two groups are equally large: the first in the alphabet is hidden.",
             {"north": 4, "west": 30, "east": 30}, 10),
        case("There are only two groups: both must be hidden.", {"north": 4, "east": 30}, 10),
        case("All groups are small.", {"north": 1, "south": 2}, 10),
        case("A group without viewers is a small group.", {"north": 0, "east": 30, "west": 50}, 10),
        case("There is one group only.", {"north": 3}, 10),
        case("No groups at all.", {}, 10),
        case("The threshold is 5 here: use `least`.", {"north": 4, "south": 5, "east": 6}, 5),
    ],
    draw=draw,
    right=[in_order],
    wrong=[
        wrong("It hides only the groups that are small themselves. If one group is hidden, its "
              "number is the total minus all the others.", varied(another=lambda *_: False)),
        wrong("It also hides a group of exactly `least` viewers. Hide those with fewer.",
              varied(small=lambda n, least: n <= least),
              varied(small=lambda n, least: n <= least, another=lambda *_: False)),
        wrong("It hides another group only if exactly one is hidden. Two small groups can also "
              "have fewer than `least` viewers together, and that number can be computed.",
              varied(another=lambda hidden, _: len(hidden) == 1)),
        wrong("It always hides another group. If the hidden ones have `least` viewers or more "
              "together, the total gives nothing away.",
              varied(another=lambda hidden, _: bool(hidden))),
        wrong("It hides another group although none is hidden yet: an empty sum is 0.",
              varied(another=lambda hidden, least: sum(hidden) < least)),
        wrong("It takes the largest of the other groups, or the first in the dictionary. Hide the "
              "smallest, so that the owner loses little.", varied(by=lambda n, name: (-n, name)),
              varied(by=lambda *_: 0)),
        wrong("Of two equally large groups it takes the wrong one. Sort by the viewers, then by "
              "the name.", varied(by=lambda n, _: n),
              varied(by=lambda n, name: (n, [-ord(letter) for letter in name]))),
        wrong("It leaves hidden groups out, or shows them as 0 or as text. Keep each group, with "
              "`None`.", dropped, varied(instead=lambda _: 0),
              varied(instead=lambda _: "hidden")),
        wrong("It hides all groups as soon as one is small. One more is enough.",
              varied(another=lambda hidden, _: bool(hidden), most=99),
              varied(most=99)),
        wrong("It doesn't count a group without viewers as hidden, or hides nothing besides it: a "
              "sum of 0 is fewer than `least`, too.", varied(small=lambda n, least: 0 < n < least),
              varied(another=lambda hidden, least: 0 < sum(hidden) < least)),
    ],
    hints=(
        "Which numbers can the owner compute from the total and the numbers that you show her?",
        "First collect the names of the small groups. Then add up their viewers, and decide once "
        "whether one more group has to be hidden.",
        "`sorted((viewers, name) for name, viewers in counts.items() if name not in hidden)` puts "
        "the smallest of the other groups first.",
    ),
    discussion="Statistical offices call the two steps primary and secondary suppression. After "
    "step 2 the hidden groups have at least `least` viewers together, so one more group always "
    "suffices for that. Somebody who also knows our rule can sometimes compute more: of two equal "
    "groups, we hide the first.\n\n"
    "Suppression has limits. Somebody who looks at the page before and after a single view sees "
    "which group grows by one. Against that, offices round the numbers, or publish them once a "
    "day.",
)  # fmt: skip
