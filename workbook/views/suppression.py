"""Which groups of viewers an owner may see: none that is so small that it names somebody."""

from __future__ import annotations

from collections.abc import Mapping

from workbook.views.tables import HIDDEN

LEAST = 10
"""The viewers of a group, at least, whose number is shown."""

Groups = Mapping[str, int | None]
"""The viewers by the value of a trait; None: hidden."""


def shown_groups(counts: Mapping[str, int], least: int = LEAST) -> dict[str, int | None]:
    """Return the groups with their numbers of viewers, and None for those that are hidden.

    Hidden are all with fewer than ``least`` viewers, and then the next smallest, as long as a
    reader who knows the total could compute a hidden one: as long as only one group is hidden, or
    the hidden groups together have fewer than ``least`` viewers. Statistical offices call the
    second step secondary suppression (Willenborg, de Waal, "Elements of statistical disclosure
    control", 2001).
    """
    hidden: list[str] = []
    for name in sorted(counts, key=lambda name: (counts[name], name)):
        together = sum(counts[one] for one in hidden)
        if counts[name] >= least and (not hidden or (len(hidden) > 1 and together >= least)):
            break
        hidden.append(name)
    return {name: None if name in hidden else count for name, count in counts.items()}


def in_words(trait: str, groups: Groups) -> str:
    """Return a sentence with the groups of a trait, for those who can't see the bars."""
    said = (f"{name} {HIDDEN if n is None else f'{n:,}'}" for name, n in groups.items())
    return f"Viewers by {trait}: {', '.join(said)}."
