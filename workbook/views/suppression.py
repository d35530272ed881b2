"""Which groups of viewers an owner may see: none that is so small that it names somebody."""

from collections.abc import Mapping

from workbook.streams.events.viewers import UNKNOWN
from workbook.views.tables import HIDDEN

LEAST = 10
"""The viewers of a group, at least, whose number is shown."""

Groups = Mapping[str, int | None]
"""The viewers by the value of a trait; None: hidden."""


def shown_groups(counts: Mapping[str, int], least: int = LEAST) -> dict[str, int | None]:
    """Return the groups with their numbers of viewers, and None for those that are hidden.

    Hidden are all with fewer than ``least`` viewers. If these have fewer than ``least`` together,
    a reader who knows the sum could compute that number, so the next smallest group is hidden, too:
    UNKNOWN only if it's the only one, because its number is also shown under other traits.
    Statistical offices call that primary and secondary suppression (Willenborg and de Waal,
    "Elements of statistical disclosure control", 2001).
    """
    small = {name for name, count in counts.items() if count < least}
    if small and sum(counts[name] for name in small) < least:
        others = sorted(
            counts.keys() - small, key=lambda name: (name == UNKNOWN, counts[name], name)
        )
        small.update(others[:1])
    return {name: None if name in small else count for name, count in counts.items()}


def in_words(trait: str, groups: Groups) -> str:
    """Return a sentence with the groups of a trait, for those who can't see the bars."""
    said = (f"{name} {HIDDEN if n is None else f'{n:,}'}" for name, n in groups.items())
    return f"Viewers by {trait}: {', '.join(said)}."
