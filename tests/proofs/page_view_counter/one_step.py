"""Answers to "One step", right and wrong, as learners may write them."""

from __future__ import annotations

import ast
import json

from proof import Catalogue

from workbook.lessons.page_view_counter.one_step_mistakes import (
    MISTAKES,
    OTHERWISE_WRITTEN,
)

total = 0


def kind(value):
    return json.loads(value)["click_type"]


def adds_a_truth(count, value):
    return count + (json.loads(value)["click_type"] == "Page")


def by_match(count, value):
    match json.loads(value):
        case {"click_type": "Page"}:
            count += 1
    return count


def decoded_first(count, value):
    click = json.loads(value.decode("utf-8"))
    return count + 1 if click.get("click_type") == "Page" else count


def careful(count, value):
    try:
        page = kind(value) == "Page"
    except (ValueError, TypeError, KeyError):
        return count
    return count + page


def small_letter(count, value):
    if kind(value) == "page":
        count += 1
    return count


def no_return_for_actions(count, value):  # noqa: RET503  (the mistake)
    if kind(value) == "Page":
        return count + 1


def forgets_to_return(count, value):
    if kind(value) == "Page":
        count += 1


def prints(count, value):
    print(count + (kind(value) == "Page"))


def counts_by_two(count, value):
    return count + 2 if kind(value) == "Page" else count


def global_counter(count, value):
    global total
    total = max(total, count)
    if kind(value) == "Page":
        total += 1
    return total


def wrong_field(count, value):
    return count + 1 if json.loads(value)["type"] == "Page" else count


def as_an_object(count, value):
    return count + 1 if value.click_type == "Page" else count


def unread(count, value):
    return count + 1 if value["click_type"] == "Page" else count


def unread_text(count, value):
    return count + 1 if value == "Page" else count


def looks_for_text(count, value):
    return count + (b'"click_type":"Page"' in value)


def looks_for_a_word(count, value):
    return count + (b"Page" in value)


def begins_with_page(count, value):
    return count + kind(value).startswith("Page")


def gives_none_for_no_click(count, value):
    try:
        return adds_a_truth(count, value)
    except Exception:
        return None


def begins_anew_at_no_click(count, value):
    try:
        return adds_a_truth(count, value)
    except Exception:
        return 0


def evaluated(count, value):
    return count + (eval(value)["click_type"] == "Page")


def evaluated_carefully(count, value):
    try:
        return evaluated(count, value)
    except Exception:
        return count


def as_a_literal(count, value):
    return count + (ast.literal_eval(value.decode())["click_type"] == "Page")


def counts_what_it_cannot_read(count, value):
    try:
        return count if kind(value) == "Action" else adds_a_truth(count, value)
    except Exception:
        return count + 1


catalogue = Catalogue(
    right=[adds_a_truth, by_match, decoded_first, careful],
    wrong=[
        (small_letter, "never grows"),
        (no_return_for_actions, "one way through it ends"),
        (forgets_to_return, "no `return` that is reached"),
        (prints, "It prints"),
        (counts_by_two, "one larger"),
        (global_counter, "kept from call to call"),
        (wrong_field, "KeyError: 'type'"),
        (as_an_object, "AttributeError"),
        (unread, "TypeError: byte indices"),
        (lambda values: len(values), "too many positional arguments"),
        (8, "without parentheses"),
        (lambda count, value: count + json.loads(value)["name"].startswith("/"), "name, its id"),
        (lambda count, value: adds_a_truth(float(count), value), "of type float"),
        (looks_for_text, "many ways to write"),
        (begins_with_page, "another one"),
        (begins_anew_at_no_click, "spoil the count"),
        (lambda n, v: n + (kind(v) in "Page"), "a part of the other"),
        (evaluated, "JSON is no Python"),
    ],
    shortcuts=[
        (as_a_literal, "JSON is no Python"),
        (evaluated_carefully, "JSON is no Python"),
        (unread_text, "never grows"),
        (looks_for_a_word, "and nowhere else"),
        (gives_none_for_no_click, "spoil the count"),
        (counts_what_it_cannot_read, "spoil the count"),
        (lambda n, v: min(n + 1, 8) if kind(v) == "Page" else n, "may be any number"),
        (lambda n, v: n + (json.loads(v)["name"] in ("/home", "/shoes")), "its name"),
        (lambda n, v: n + (json.loads(v)["name"] != "add-to-basket"), "its name"),
        (lambda n, v: n + json.loads(v)["event_id"] % 2, "its id"),
        (lambda n, v: adds_a_truth(min(n, 7), v), "any number"),
        (lambda n, v: {7: 8, 0: 1}[n] if kind(v) == "Page" else n, "Key"),
    ],
    models=[*MISTAKES, *OTHERWISE_WRITTEN],
)
