"""Answers to "One step", right and wrong, as learners may write them."""

from __future__ import annotations

from proof import Catalogue

from workbook.events.clicks import ClickType
from workbook.exercises.chapters.page_view_counter.one_step_mistakes import MISTAKES

total = 0


def adds_a_truth(count, click):
    return count + (click.click_type == "Page")


def by_match(count, click):
    match click.click_type:
        case ClickType.PAGE:
            count += 1
    return count


def small_letter(count, click):
    if click.click_type == "page":
        count += 1
    return count


def no_return_for_actions(count, click):  # noqa: RET503  (the mistake)
    if click.click_type == ClickType.PAGE:
        return count + 1


def forgets_to_return(count, click):
    if click.click_type == ClickType.PAGE:
        count += 1


def prints(count, click):
    print(count + (click.click_type == ClickType.PAGE))


def counts_by_two(count, click):
    return count + 2 if click.click_type == ClickType.PAGE else count


def global_counter(count, click):
    global total
    total = max(total, count)
    if click.click_type == ClickType.PAGE:
        total += 1
    return total


def wrong_field(count, click):
    return count + 1 if click.type == "Page" else count


catalogue = Catalogue(
    right=[adds_a_truth, by_match, lambda n, c: n + 1 if c.click_type is ClickType.PAGE else n],
    wrong=[
        (small_letter, "never grows"),
        (no_return_for_actions, "one way through it ends"),
        (forgets_to_return, "no `return` that is reached"),
        (prints, "It prints"),
        (counts_by_two, "one larger"),
        (global_counter, "kept from call to call"),
        (wrong_field, "AttributeError"),
        (lambda clicks: len(clicks), "too many positional arguments"),
        (8, "without parentheses"),
        (lambda count, click: count + click.name.startswith("/"), "name, its id"),
        (lambda count, click: adds_a_truth(float(count), click), "of type float"),
    ],
    shortcuts=[
        (lambda n, c: min(n + 1, 8) if c.click_type == "Page" else n, "may be any number"),
        (lambda n, c: n + 1 if c.click_type == "Page" and c.tab_id else n, "condition ever true"),
        (lambda count, click: count + (click.name in ("/home", "/shoes", "/basket")), "its name"),
        (lambda count, click: count + (click.name != "add-to-basket"), "its name"),
        (lambda count, click: count + click.event_id % 2, "its id"),
        (lambda count, click: adds_a_truth(min(count, 7), click), "any number"),
        (lambda count, click: {7: 8, 0: 1}[count] if click.click_type == "Page" else count, "Key"),
    ],
    models=MISTAKES,
)
