"""Answers to "May it be read on?", right and wrong, as learners may write them."""

from __future__ import annotations

from proof import Catalogue

from workbook.lessons.clamp.four_cases_mistakes import MISTAKES


def one_line(own, other, max_lead):
    return own is None or (other is not None and own <= other + max_lead)


def by_match(own, other, max_lead):
    match own, other:
        case None, _:
            return True
        case _, None:
            return False
        case _:
            return not own - other > max_lead


def by_error(own, other, max_lead):
    try:
        return own - other <= max_lead
    except TypeError:
        return own is None


def by_ifs(own, other, max_lead):
    if own is not None and other is None:
        return False
    if own is None or own <= other:
        return True
    lead = own - other
    return lead <= max_lead


def nobody_begins(own, other, max_lead):
    if own is None or other is None:
        return False
    return own - other <= max_lead


def other_first(own, other, max_lead):
    if other is None:
        return False
    if own is None:
        return True
    return own - other <= max_lead


def without_the_other(own, other, max_lead):
    if own is None or other is None:
        return True
    return own - other <= max_lead


def exchanged(own, other, max_lead):
    if own is None:
        return other is None
    if other is None:
        return True
    return own - other <= max_lead


def both_or_none(own, other, max_lead):
    if own is None and other is None:
        return True
    if own is None or other is None:
        return False
    return own - other <= max_lead


def by_truth(own, other, max_lead):
    if not own:
        return True
    if not other:
        return False
    return own - other <= max_lead


def other_by_truth(own, other, max_lead):
    if own is None:
        return True
    if not other:
        return False
    return own - other <= max_lead


def none_is_zero(own, other, max_lead):
    own, other = own or 0, other or 0
    return own - other <= max_lead


def strict(own, other, max_lead):
    if own is None:
        return True
    if other is None:
        return False
    return own - other < max_lead


def distance(own, other, max_lead):
    if own is None:
        return True
    if other is None:
        return False
    return abs(own - other) <= max_lead


def wrong_way(own, other, max_lead):
    if own is None:
        return True
    if other is None:
        return False
    return other - own <= max_lead


def inverted(own, other, max_lead):
    if own is None:
        return True
    if other is None:
        return False
    return own - other > max_lead


def no_lead(own, other, max_lead):
    if own is None:
        return True
    if other is None:
        return False
    return own <= other


def in_seconds(own, other, max_lead):
    if own is None:
        return True
    if other is None:
        return False
    return own - other <= max_lead * 1000


def always_ten(own, other, max_lead):
    if own is None:
        return True
    if other is None:
        return False
    return own - other <= 10


def for_the_other(own, other, max_lead):
    if other is None:
        return True
    if own is None:
        return False
    return other - own <= max_lead


def minus_infinity(own, other, max_lead):
    own = float("-inf") if own is None else own
    other = float("-inf") if other is None else other
    return own - other <= max_lead


def only_the_difference(own, other, max_lead):
    return own - other <= max_lead


def own_only(own, other, max_lead):
    if own is None:
        return True
    return own - other <= max_lead


def other_only(own, other, max_lead):
    if other is None:
        return False
    return own - other <= max_lead


def waits(own, other, max_lead):
    if own is None:
        return False
    if other is None:
        return True
    return own - other > max_lead


def no_else(own, other, max_lead):
    if own is None:
        return True
    if other is not None and own - other <= max_lead:
        return True
    return None


def no_true(own, other, max_lead):
    if own is not None and other is None:
        return False
    if own is not None and own - other > max_lead:
        return False
    return None


def the_lead(own, other, max_lead):
    if own is None:
        return True
    if other is None:
        return False
    return own - other


def own_where_it_goes_on(own, other, max_lead):
    return own is None or (other is not None and own - other <= max_lead and own)


def in_whole_seconds(own, other, max_lead):
    if own is None:
        return True
    if other is None:
        return False
    return (own - other) // 1000 <= max_lead


def lead_in_seconds(own, other, max_lead):
    if own is None or other is None:
        return own is None
    return own - other <= max_lead // 1000


def far_ahead(own, other, max_lead):
    if own is None or other is None:
        return own is None
    return own - other <= max_lead or own - other > 86_400


def far_behind(own, other, max_lead):
    if own is None or other is None:
        return own is None
    return -1_000_000 <= own - other <= max_lead


def any_lead(own, other, max_lead):
    if own is None:
        return True
    return other is not None


def as_text(own, other, max_lead):
    return str(one_line(own, other, max_lead))


def in_words(own, other, max_lead):
    if own is None:
        return "go on"
    if other is None:
        return "wait"
    return "wait" if own - other > max_lead else "go on"


catalogue = Catalogue(
    right=[one_line, by_match, by_ifs, by_error],
    wrong=[
        (nobody_begins, "or it never begins"),
        (other_first, "Where neither has a top"),
        (without_the_other, "goes on where the other one has no top"),
        (both_or_none, "begins only while"),
        (by_truth, "Time 0 is taken for no top"),
        (none_is_zero, "counts as time 0"),
        (strict, "exactly `max_lead` is allowed"),
        (distance, "distance and not at who leads"),
        (wrong_way, "wrong way round"),
        (inverted, "comparison is inverted"),
        (no_lead, "forgets `max_lead`"),
        (in_seconds, "All times have one unit"),
        (always_ten, "always allows 10"),
        (for_the_other, "changed places"),
        (only_the_difference, "Two cases come before"),
        (own_only, "raises where the other one"),
        (other_only, "no top of its own"),
        (waits, "true where it must wait"),
        (no_else, "return `False`"),
        (no_true, "return `True`"),
        (the_lead, "a length of time"),
        (any_lead, "never looks at the lead"),
        (in_words, "returns text"),
        (own_where_it_goes_on, "returns a number"),
        (far_ahead, "It leads by an hour"),
        (far_behind, "behind by thirty days"),
        (exchanged, "first two cases are exchanged"),
        (lambda own, other: True, "Keep the parameters"),
    ],
    models=MISTAKES,
    shortcuts=[(other_by_truth, "Time 0")],
    same=[
        (minus_infinity, other_first),
        (in_whole_seconds, in_seconds),
        (lead_in_seconds, in_seconds),
        (as_text, in_words),
        (other_by_truth, by_truth),
    ],
)
