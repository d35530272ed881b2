"""Answers to "The tab as key", right and wrong, as learners may write them."""

from __future__ import annotations

import json

from proof import Catalogue

from workbook.lessons.start_here.tab_as_key import MISTAKES


def by_question(click):
    if "tab_id" not in click or click["tab_id"] is None:
        return None
    return bytes(click["tab_id"], "utf-8")


def by_trying(click):
    try:
        return click["tab_id"].encode("utf-8")
    except (KeyError, AttributeError):
        return None


def prints(click):
    print(click.get("tab_id"))


def no_return(click):
    click.get("tab_id")


def takes_it_out(click):
    tab = click.pop("tab_id", None)
    return tab.encode() if tab else None


catalogue = Catalogue(
    right=[
        by_question,
        by_trying,
        lambda click: click["tab_id"].encode() if click.get("tab_id") else None,
        lambda click: click.get("tab_id") and click["tab_id"].encode(),
    ],
    wrong=[
        (lambda click: click["tab_id"].encode(), "KeyError"),
        (lambda click: click.get("tab_id").encode(), "AttributeError"),
        (lambda click: click.get("tab_id"), "It returns the text"),
        (lambda click: str(click.get("tab_id")).encode(), "four letters"),
        (lambda click: click.get("tab_id", "").encode() if "tab_id" in click else b"", "no key"),
        (lambda click: json.dumps(click).encode(), "The whole click"),
        (lambda click: by_question(click) or b"", "An empty key"),
        (lambda click: click["browser"].encode(), "The browser"),
        (lambda click: click["name"].encode(), "The page"),
        (lambda click: b"%d" % click["event_id"], "The event's id"),
        (lambda click: click.get("tab_id") and by_question(click).strip().lower(), "It changes"),
        (lambda click: b"tab-you", "The key is the tab's id"),
        (prints, "It prints"),
        (no_return, "It returns None, whatever the input"),
        (takes_it_out, "it changes the input"),
        (b"tab-7", "without parentheses"),
        (lambda click: bytearray(by_question(click) or b"") or None, "refuses this type"),
        (lambda click: (click.get("tab_id") or "").encode("ascii") or None, "Unicode"),
    ],
    shortcuts=[
        (lambda click: click["tab_id"].encode() if "tab_id" in click else None, "'NoneType'"),
        (lambda click: {"tab-7": b"tab-7", "tab-ü": "tab-ü".encode()}.get(click.get("tab_id")), ""),
        (lambda click: by_question(click) if click["event_id"] in (1, 2, 3, 4) else None, ""),
        (lambda click: by_question(click) or b"unknown", "for all such clicks"),
        (lambda click: (by_question(click) or b"")[:5] or None, ""),
        (lambda click: by_question(click) if "tab-" in str(click.get("tab_id")) else None, "any"),
    ],
    models=MISTAKES,
    same=[
        (
            lambda click: click["tab_id"].strip().encode() if click.get("tab_id") else None,
            lambda click: click["tab_id"].lower().encode() if click.get("tab_id") else None,
        )
    ],
)
