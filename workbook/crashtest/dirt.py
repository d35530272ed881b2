"""Feeds a program hostile records: which one ends it, or costs more than itself?"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from workbook.crashtest.copies import Record
from workbook.crashtest.judge import ID, Compare, judge, truth_of
from workbook.crashtest.runs import trial
from workbook.crashtest.trial import Setup
from workbook.errors import CrashFailed
from workbook.stack.folders import ROOT

FILE = ROOT / "data" / "hostile.jsonl"
"""The records that the programs of this project are tested with; those ``for`` any are taken."""

CLEAN = 2_000
"""Records of the input among which the hostile ones stand."""

MOST = 3
"""Harmful records that are looked for: each takes half a dozen runs to find."""

FIELDS = 8


@dataclass(frozen=True)
class Dirty:
    """What the program did: ``fault`` is empty where it kept what it had to.

    ``name`` and ``value`` are the record's.
    """

    name: str
    value: bytes | None
    fault: str
    says: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {self.fault}. Its value: {(self.value or b'')[:100]!r}"


def hostile(sample: Record) -> dict[str, Record]:
    """Return by name the hostile records that are like a record of the input, and the file's."""
    found = dict(_of_the_file())
    cut = sample.value or b""
    found["the first half of a record"] = sample._replace(value=cut[: len(cut) // 2])
    found["a record without its first byte"] = sample._replace(value=cut[1:])
    found["a record with a byte order mark"] = sample._replace(value=b"\xef\xbb\xbf" + cut)
    found["a tombstone"] = sample._replace(value=None)
    found["a record without a key"] = sample._replace(key=None)
    found["a key that is no UTF-8"] = sample._replace(key=b"\xff\xfe\x00")
    try:
        fields = json.loads(cut)
    except ValueError:
        return found
    if isinstance(fields, dict):
        found |= {name: sample._replace(value=value) for name, value in _changed(fields)}
    return found


def _changed(fields: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Yield a record of JSON with one field made hostile, again and again."""
    odd: dict[str, Any] = {
        "null": None, "a text": "x", "an empty text": "", "a list": [1], "an object": {"a": 1},
        "true": True, "a fraction": 1.5, "-1": -1, "2 to the 63": 2**63, "1e300": 1e300,
        "NaN": float("nan"), "a text with a NUL": "a\0b", "half a surrogate": "\ud800",
    }  # fmt: skip
    for name, value in list(fields.items())[:FIELDS]:
        yield f"without {name}", json.dumps({n: v for n, v in fields.items() if n != name}).encode()
        own: dict[str, Any] = {}
        if isinstance(value, int | float) and not isinstance(value, bool):
            own = {"1,000 times as large": value * 1000, "as text": str(value)}
        for kind, other in {**odd, **own}.items():
            yield f"{name}: {kind}", json.dumps({**fields, name: other}).encode()
    yield "a field twice", json.dumps(fields).encode()[:-1] + b"," + json.dumps(fields).encode()[1:]


def raw(part: Any) -> bytes | None:
    """Return the bytes of a part of ``FILE``: a text in base64, several, or a repeated one."""
    if isinstance(part, list):
        return b"".join(raw(each) or b"" for each in part)
    if isinstance(part, dict):
        return b64decode(part["repeat"]) * int(part["times"])
    return None if part is None else b64decode(part)


def _of_the_file() -> Iterator[tuple[str, Record]]:
    for line in map(json.loads, FILE.read_text().splitlines()):
        if line["for"] == "any":
            headers = [(name, raw(text)) for name, text in line.get("headers", ())]
            yield line["name"], Record(0, 0, raw(line["key"]), raw(line["value"]), headers)


def feed(
    setup: Setup, chosen: Sequence[Record], compare: Compare, found: list[Dirty],
    say: Callable[[str], None],
) -> int:  # fmt: skip
    """Add to ``found`` what hostile records do; return how many were tried.

    The truth is two runs over the same input without them. A harmful one is found by halving.
    Raises ``CrashFailed`` where these have no results in common.
    """
    clean = list(chosen[:CLEAN])
    dirt = hostile(next((r for r in clean if r.value), clean[0]))
    left = list(dirt)
    say(f"Hostile records: first two runs over {len(clean):,} records without them ...")
    calm = [_over(setup, name, clean, []) for name in ("clean-1", "clean-2")]
    (_, one, _), (_, two, _) = calm
    truth, runs = truth_of(compare, one, two), 0
    why = next((f"it ends with exit code {code} ({said})" for code, _, said in calm if code), "")
    if not truth.judged:
        why = why or "two runs of the program have less than half of their results in common"
    if why:
        raise CrashFailed(
            "Nothing can be said of hostile records: over the first records of the input alone, "
            f"{why}."
        )
    known = [row.key for row in one if row.key is not None]
    by_value = (setup.query or setup.folder or len(known) < len(one)) and compare.how[:3] != ID
    # What has the hostile records' own key may change, or go: a tombstone deletes it.
    own = {(r.key.decode(errors="backslashreplace"),) for r in dirt.values() if r.key is not None}
    truth = replace(truth, unstable=truth.unstable | own)

    def harm(names: Sequence[str]) -> tuple[str, str]:
        nonlocal runs
        runs += 1
        code, rows, said = _over(setup, f"dirt-{runs}", clean, [dirt[name] for name in names])
        verdict = judge(truth, compare, rows)
        if code is not None:
            return f"the program ends with exit code {code} ({said})", ""
        more = ", ".join(f"{n:,} {kind}" for kind, n in verdict.counts.items() if n)
        lost = verdict.counts["lost"]
        if by_value:  # a row that was changed is another one
            lost = max(0, lost - verdict.counts["unexpected"] - verdict.counts["new"])
        return (f"{lost:,} results of other records are lost" if lost else ""), more

    while True:
        say(f"{len(left)} hostile records are mixed in ...")
        fault, more = harm(left)
        if not fault:
            says = f"With them, of the other records' results are {more}." if more else ""
            found.append(Dirty("", None, "", says))
            return len(dirt)
        low, high = 0, len(left)  # the first `low` do no harm, the first `high` do
        while high - low > 1:
            middle = (low + high) // 2
            say(f"They do harm. Looking among {high - low} of them ...")
            it, _ = harm(left[:middle])
            low, high, fault = (low, middle, it) if it else (middle, high, fault)
        name = left.pop(high - 1)
        found.append(Dirty(name, dirt[name].value, fault))
        say(f"Found: {found[-1]}")
        if len(found) == MOST:
            return len(dirt)


def _over(
    setup: Setup, name: str, clean: Sequence[Record], dirt: Sequence[Record]
) -> tuple[int | None, list[Any], str]:
    """Run once; return the exit code if it failed, its results, and its last line."""
    middle = len(clean) // 2
    with trial(setup, name) as run:
        run.send([*clean[:middle], *dirt, *clean[middle:]])
        victim = run.start()
        run.settle(victim, setup.start_within_s)
        last = [line.strip() for line in victim.last_words().splitlines() if line.strip()]
        return victim.code or None, run.rows(), "".join(last[-1:])
