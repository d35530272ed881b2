"""Answers to "Hand over the open seconds", right and wrong, as learners may write them."""

from __future__ import annotations

from proof import Catalogue

from workbook.lessons.rebalance.open_seconds_mistakes import MISTAKES


def by_comprehension(opened, leaving):
    return {p: now["first"] for p, now in opened.items() if p in leaving}


def by_intersection(opened, leaving):
    both = set(opened) & set(leaving)
    return dict(zip(both, [opened[p]["first"] for p in both], strict=True))


def by_get(opened, leaving):
    offsets = {}
    for partition in leaving:
        now = opened.get(partition)
        if now is not None:
            offsets[partition] = now["first"]
    return offsets


def position(opened, leaving):
    return {p: opened[p]["next"] for p in leaving if p in opened}


def key_error(opened, leaving):
    return {p: opened[p]["first"] for p in leaving}


def all_that_is_open(opened, leaving):
    return {p: now["first"] for p, now in opened.items()}


def zero_for_unknown(opened, leaving):
    return {p: opened.get(p, {"first": 0})["first"] for p in leaving}


def none_for_unknown(opened, leaving):
    return {p: opened.get(p, {}).get("first") for p in leaving}


def true_offsets(opened, leaving):
    offsets = {}
    for p in leaving:
        if p in opened and opened[p]["first"]:
            offsets[p] = opened[p]["first"]
    return offsets


def last_read(opened, leaving):
    return {p: opened[p]["next"] - 1 for p in leaving if p in opened}


def pops(opened, leaving):
    return {p: opened.pop(p)["first"] for p in leaving if p in opened}


def returns_inside(opened, leaving):
    offsets = {}
    for p in leaving:
        if p in opened:
            offsets[p] = opened[p]["first"]
            return offsets
    return offsets


def made_anew(opened, leaving):
    offsets = {}
    for p in leaving:
        if p in opened:
            offsets = {p: opened[p]["first"]}
    return offsets


def computed(opened, leaving):
    """The first offset, as if no action ever stood between page views."""
    return {p: opened[p]["next"] - opened[p]["views"] for p in leaving if p in opened}


def both_offsets(opened, leaving):
    return {p: (opened[p]["first"], opened[p]["next"]) for p in leaving if p in opened}


def by_second(opened, leaving):
    return {opened[p]["second"]: opened[p]["first"] for p in leaving if p in opened}


def returns_inside_or_none(opened, leaving):
    for p in leaving:
        if p in opened:
            return {p: opened[p]["first"]}
    return None


def as_attributes(opened, leaving):
    return {p: opened[p].first for p in leaving if p in opened}


def up_to_ten(opened, leaving):
    return {p: opened[p]["first"] for p in range(10) if p in leaving and p in opened}


catalogue = Catalogue(
    right=[by_comprehension, by_intersection, by_get],
    wrong=[
        (position, "how far this reader has read"),
        (key_error, "ask first whether it is in"),
        (all_that_is_open, "every partition that has an open second"),
        (zero_for_unknown, "back to the beginning"),
        (none_for_unknown, "gets `None`"),
        (true_offsets, "Offset 0 is left out"),
        (last_read, "last record that was read"),
        (pops, "changes the input"),
        (returns_inside, "first partition only"),
        (made_anew, "last partition only"),
        (lambda opened, leaving: [opened[p]["first"] for p in leaving if p in opened], "a list"),
        (both_offsets, "two offsets"),
        (by_second, "key is the second"),
        (as_attributes, "raised AttributeError"),
        (lambda opened: {}, "Keep the parameters"),
        ({3: 40}, "without parentheses"),
        (computed, "began at offset 40"),
    ],
    shortcuts=[
        (up_to_ten, "by chance"),
        (lambda opened, leaving: str(by_get(opened, leaving)), "began at offset 40"),
    ],
    models=MISTAKES,
    same=[(returns_inside_or_none, returns_inside)],
)
