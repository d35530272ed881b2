"""Write clicks.jsonl again: generated clicks first, then cases that are easy to get wrong.

Run it as ``python data/make_clicks.py`` from the top of the repository; the same file comes out.
"""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

from workbook.streams.events.reasons import Reason
from workbook.streams.generators.clicks import ClickStream

STREAM = ClickStream(
    seed=20, rate=2, partitions=2, visitors=6, late_share=0.2, duplicate_share=0.7, bad_share=0.2
)
GENERATED = 28
NOW = STREAM.start_ms + 60_000
GOOD = (
    '{"event_id":@,"click_type":"Page","name":"/home",'
    f'"timestamp":{NOW},"browser":"Firefox"}}'
)  # @ becomes the record's own event id


def changed(old: str, new: str) -> str:
    """Return a good click with one thing replaced; refuse to change nothing."""
    if old not in GOOD:
        raise ValueError(f"{old!r} does not stand in {GOOD}")
    return GOOD.replace(old, new)


STAMP = str(NOW)
CRAFTED: list[tuple[str | None, Reason | None]] = [
    # good, though they look odd
    (
        f'{{"browser":"Edge","timestamp":{NOW},"tab_id":"t","name":"/home",'
        '"click_type":"Action","event_id":@}',
        None,
    ),
    (f" \n{GOOD.replace(':', ' : ').replace(',', ' , ')} \t\r\n", None),
    (changed("/home", '/search?q=caf\\u00e9 \\"\\\\ \\/ \\ud83d\\ude00'), None),
    (changed("/home", "/search?q=Grüße 東京 🛒"), None),
    (changed("/home", ""), None),
    (changed("/home", "true"), None),
    (changed("/home", "12"), None),
    (changed("/home", "{}"), None),
    (changed('"Firefox"', '"Firefox","tab_id":null'), None),
    (changed('"Firefox"', '"Firefox","cart":{"items":[1,2.5,{"id":null}],"open":true}'), None),
    (changed(STAMP, str(NOW + 5 * 60_000)), None),
    (changed(STAMP, "0"), None),
    # bad
    (None, Reason.EMPTY),
    ("", Reason.EMPTY),
    ("  \n", Reason.MALFORMED),
    ("click", Reason.MALFORMED),
    (GOOD[:-1], Reason.MALFORMED),
    (GOOD + " and more", Reason.MALFORMED),
    (GOOD + GOOD, Reason.MALFORMED),
    (f"[{GOOD}]", Reason.MALFORMED),
    ("null", Reason.MALFORMED),
    ('"text"', Reason.MALFORMED),
    ("17", Reason.MALFORMED),
    (GOOD.replace('"', "'"), Reason.MALFORMED),
    (changed(STAMP, "NaN"), Reason.MALFORMED),
    (changed("/home", "/\\ud800"), Reason.MALFORMED),
    (changed("/home", "a\tb"), Reason.MALFORMED),
    ("{}", Reason.MISSING),
    (changed('"event_id":@,', ""), Reason.MISSING),
    (changed('"Page"', "null"), Reason.MISSING),
    (changed('"/home"', "5"), Reason.MISSING),
    (changed('"/home"', '{"path":"/home"}'), Reason.MISSING),
    (changed('"Firefox"', '["Firefox"]'), Reason.MISSING),
    (changed('"Firefox"', '"Firefox","tab_id":7'), Reason.MISSING),
    (changed(STAMP, f'"{STAMP}"'), Reason.MISSING),
    (changed(STAMP, "true"), Reason.MISSING),
    (changed(STAMP, f"{STAMP}.0"), Reason.MISSING),
    (changed(STAMP, "1.7e12"), Reason.MISSING),
    (changed(STAMP, str(2**63)), Reason.MISSING),
    (changed("timestamp", "Timestamp"), Reason.MISSING),
    (f'{{"click":{GOOD}}}', Reason.MISSING),
    (changed("Page", "page"), Reason.UNKNOWN_TYPE),
    (changed("Page", ""), Reason.UNKNOWN_TYPE),
    (changed(STAMP, "-1"), Reason.NEGATIVE),
    (changed(STAMP, str(NOW + 5 * 60_000 + 1)), Reason.FUTURE),
    (changed(STAMP, str(2**63 - 1)), Reason.FUTURE),
]


def _decoded(value: bytes | None) -> str | None:
    return None if value is None else value.decode()


def records() -> list[dict[str, object]]:
    """partition, offset, arrival (ms), value (text or None), reason (text or None)."""
    rows = [
        (m["partition"], m["arrival"], _decoded(m["value"]), m["reason"])
        for m in STREAM.block(0, GENERATED).to_pylist()
    ]
    for n, (value, reason) in enumerate(CRAFTED):
        rows.append((n % 2, NOW, value and value.replace("@", str(900 + n)), reason))
    counters = (count(), count())
    return [
        {
            "partition": partition,
            "offset": next(counters[partition]),
            "arrival": arrival,
            "value": value,
            "reason": reason,
        }
        for partition, arrival, value, reason in rows
    ]


def text() -> str:
    """Return the whole file."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records())


if __name__ == "__main__":
    Path(__file__).with_name("clicks.jsonl").write_text(text(), encoding="utf-8")
