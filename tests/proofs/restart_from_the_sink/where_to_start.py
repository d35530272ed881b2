"""Answers to "Where to start", right and wrong, as learners may write them."""

from __future__ import annotations

import numpy as np
from proof import Catalogue

from workbook.lessons.restart_from_the_sink.where_to_start_mistakes import MISTAKES

LATEST, EARLIEST = -1, -2


def by_steps(said, first, end):
    if said is None:
        return LATEST
    if said < first or said > end:
        return EARLIEST
    return said


def by_range(said, first, end):
    if said in range(first, end + 1):
        return said
    return -1 if said is None else -2


def by_match(said, first, end):
    match said:
        case None:
            return -1
        case offset if first <= offset <= end:
            return offset
        case _:
            return -2


def trusting(said, first, end):
    return said


def no_retention(said, first, end):
    if said is None:
        return LATEST
    return said


def by_truth(said, first, end):
    if not said:
        return LATEST
    return said if first <= said <= end else EARLIEST


def zero_is_deleted(said, first, end):
    if said is None:
        return LATEST
    if said and first <= said <= end:
        return said
    return EARLIEST


def one_before_first(said, first, end):
    if said is None:
        return LATEST
    return said if first - 1 <= said <= end else EARLIEST


def one_may_be_missing(said, first, end):
    if said is None:
        return LATEST
    return EARLIEST if said + 1 < first or said > end else said


def next_to_first(said, first, end):
    if said is None:
        return LATEST
    if said == first - 1:
        return first
    return said if first <= said <= end else EARLIEST


def only_first(said, first, end):
    if said is None:
        return LATEST
    if said < first:
        return EARLIEST
    return said


def only_end(said, first, end):
    if said is None:
        return LATEST
    if said > end:
        return EARLIEST
    return said


def end_is_gone(said, first, end):
    if said is None:
        return LATEST
    return said if said in range(first, end) else EARLIEST


def first_is_gone(said, first, end):
    if said is None:
        return LATEST
    return EARLIEST if said <= first or said > end else said


def inside(said, first, end):
    if said is None:
        return LATEST
    return said if first < said < end else EARLIEST


def gone_is_latest(said, first, end):
    if said is None or not first <= said <= end:
        return LATEST
    return said


def anew_is_latest(said, first, end):
    if said is None or said > end:
        return LATEST
    return EARLIEST if said < first else said


def deleted_is_latest(said, first, end):
    if said is None:
        return LATEST
    if said < first:
        return LATEST
    return EARLIEST if said > end else said


def always_earliest(said, first, end):
    if said is None:
        return EARLIEST
    return said if first <= said <= end else EARLIEST


def swapped(said, first, end):
    if said is None:
        return -2
    return said if first <= said <= end else -1


def the_first(said, first, end):
    if said is None:
        return LATEST
    return said if first <= said <= end else first


def at_least_first(said, first, end):
    return LATEST if said is None else max(said, first)


def clipped(said, first, end):
    return LATEST if said is None else max(first, min(said, end))


def the_end(said, first, end):
    if said is None:
        return end
    return said if first <= said <= end else EARLIEST


def zero(said, first, end):
    if said is None:
        return LATEST
    return said if first <= said <= end else 0


def zero_for_none(said, first, end):
    if said is None:
        return 0
    return said if first <= said <= end else EARLIEST


def none(said, first, end):
    if said is not None:
        return said if first <= said <= end else EARLIEST
    return None


def negative_is_nothing(said, first, end):
    if said is None or said < 0:
        return LATEST
    return said if first <= said <= end else EARLIEST


def raises(said, first, end):
    if said < first:
        return EARLIEST
    if said > end:
        return EARLIEST
    if said is None:
        return LATEST
    return said


def words(said, first, end):
    if said is None:
        return "latest"
    return said if first <= said <= end else "earliest"


def next_one(said, first, end):
    if said is None:
        return LATEST
    return said + 1 if first <= said <= end else EARLIEST


def as_text(said, first, end):
    return str(by_steps(said, first, end))


def a_question(said, first, end):
    return said is not None and first <= said <= end


def whether(said, first, end):
    return first <= said <= end


def exchanged(said, end, first):
    return LATEST if said is None else said if first <= said <= end else EARLIEST


def all_exchanged(first, end, said):
    return LATEST if said is None else said if first <= said <= end else EARLIEST


def ends_exchanged(said, first, end):
    if said is None:
        return LATEST
    return said if end <= said <= first else EARLIEST


def first_asked(said, first, end):
    if said is None:
        return LATEST
    return first if said <= first <= end else EARLIEST


def the_example(said, first, end):
    return 5


def earliest(said, first, end):
    return EARLIEST


def latest(said, first, end):
    return LATEST


def by_numpy(said, first, end):
    return np.int64(by_steps(said, first, end))


def by_clip(said, first, end):
    if said is None:
        return LATEST
    inside = np.clip(said, first, end)
    return inside if inside == said else EARLIEST


catalogue = Catalogue(
    right=[by_steps, by_range, by_match],
    wrong=[
        (trusting, "trusts the sink blindly"),
        (no_retention, "doesn't ask whether the source still has"),
        (by_truth, "taken for nothing. It's the first"),
        (only_first, "looks at `first` only"),
        (only_end, "looks at `end` only"),
        (end_is_gone, "`end` itself is fine"),
        (first_is_gone, "`first` itself is there"),
        (inside, "Both ends"),
        (gone_is_latest, "Where the offset is gone"),
        (anew_is_latest, "made anew is passed over"),
        (deleted_is_latest, "Where retention has deleted"),
        (always_earliest, "read all again"),
        (swapped, "swapped"),
        (the_first, "It names the first offset"),
        (at_least_first, "the first one that is left"),
        (clipped, "nearest end"),
        (the_end, "the end of now"),
        (zero, "which may be deleted as well"),
        (zero_for_none, "it begins at offset 0, as if"),
        (none, "None where nothing is said"),
        (negative_is_nothing, "taken for nothing said"),
        (raises, "raises where nothing is said"),
        (words, "returns words"),
        (next_one, "one after"),
        (as_text, "returns text"),
        (a_question, "whether, not where"),
        (one_before_first, "Offset 4 is deleted"),
        (exchanged, "parameters have changed places"),
        (ends_exchanged, "`first` and `end` have changed places"),
        (first_asked, "`said` and `first` have changed places"),
        (the_example, "It gives 5, whatever"),
        (earliest, "It gives -2, whatever"),
        (latest, "It gives -1, whatever"),
        (by_numpy, "numpy.int64"),
        (lambda said, first: -2, "Keep the parameters"),
    ],
    models=MISTAKES,
    shortcuts=[
        (one_may_be_missing, "Offset 4 is deleted"),
        (next_to_first, "Offset 4 is deleted"),
        (by_clip, "put `int(...)` around it"),
    ],
    same=[
        (zero_is_deleted, by_truth),
        (whether, a_question),
        (all_exchanged, exchanged),
    ],
)
