"""Says what a crash test has found: as text, and as one HTML page with the picture of its lives."""

from __future__ import annotations

import html
import json
import statistics
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence

from workbook.crashtest.dirt import Dirty
from workbook.crashtest.judge import BAG, Verdict
from workbook.crashtest.runs import Found
from workbook.crashtest.words import AT_LEAST, AT_MOST, COMMIT, EXACTLY, NEITHER, PROMISES, SAYS
from workbook.views.colours import BLUE, GREEN, INK_ON_PAPER, RED
from workbook.views.picture import Picture, number
from workbook.views.plane import Plane
from workbook.views.tables import table

MEANS = {
    EXACTLY: "nothing was lost, and nothing was written twice",
    AT_LEAST: "nothing was lost, but results were written again",
    AT_MOST: "results were lost, and none was written twice",
    NEITHER: "results were",  # and what happened
}
SAID = {"twice": "written again", "new": "added"}
CAPTION = (
    "The lives of the program. Each bar is a life, a cross a fault; ticks are results and commits. "
    "Results between the last commit and a cross are written again, or lost."
)
FIELDS_TOLD, FEW = 3, 5


def keeps(verdict: Verdict, promise: str) -> bool:
    """Return True if the run kept what was promised, as far as can be told."""
    return verdict.kept in PROMISES[promise] or (
        verdict.kept == AT_LEAST and not verdict.repeats_seen and promise != "none"
    )


def code(found: Found, dirty: Sequence[Dirty], promise: str) -> int:
    """Return the exit code: 0 if all was kept, 1 if not, 2 where nothing can be judged."""
    verdict = found.verdict
    if verdict is None or not (found.whole or found.stuck):
        return 2
    return int(bool(found.stuck) or not keeps(verdict, promise) or any(d.fault for d in dirty))


def headline(found: Found, promise: str) -> str:
    """Return the verdict in a line."""
    verdict, faults = found.verdict, number(len(found.hits), "fault")
    if found.truth is None:
        return "No verdict: it was interrupted before the program was killed."
    if verdict is None:
        return "No verdict: two runs without a kill have less than half of their results in common."
    if found.stuck:
        return f"✗ After {faults} the program doesn't recover: it ends each time it's started."
    if not found.whole:
        return f"No verdict: it was interrupted after {faults}."
    mark = "·" if promise == "none" else "✓" if keeps(verdict, promise) else "✗"
    again = (
        "" if verdict.repeats_seen else " (only last values were compared: repeats aren't counted)"
    )
    open_ = sum(hit.open for hit in found.hits)
    known = f", {open_} of them between a result and its commit" if found.commits else ""
    if known and open_ < FEW and verdict.kept == EXACTLY:
        known += ", which is few to find results that are written twice: raise --kills"
    means = MEANS[verdict.kept]
    if verdict.kept == NEITHER:
        means += " " + " and ".join(SAID.get(kind, kind) for kind, n in verdict.counts.items() if n)
    elif not verdict.repeats_seen:
        right = "the last value of each key is right"
        means = {AT_LEAST: right, AT_MOST: "the last values of some keys are lost"}.get(
            verdict.kept, means
        )
    return f"{mark} {verdict.kept} in this run{again}: {means}. {faults}{known}."


def sentences(found: Found, promise: str) -> list[str]:
    """Return what there is to say, a sentence or a list of examples each."""
    truth, verdict = found.truth, found.verdict
    said = [headline(found, promise)]
    if truth is None:
        return said
    how = "each result, and its number" if truth.by == BAG else "the last value of each key"
    said.append(
        f"Compared: {how} ({truth.why}): {found.results_of_truth:,} results of "
        f"{found.records:,} records when nobody killed it, {len(found.rows):,} in the killed run."
    )
    near = sum(hit.moment == COMMIT for hit in found.hits)
    if found.commits and len(found.commits) <= near:
        said.append(
            f"Only {number(len(found.commits), 'commit')} came, so hardly any kill was around one: "
            "let it commit more often, or give more --records."
        )
    if truth.unstable:
        said.append(_unstable(found))
    if verdict:
        for kind, count in verdict.counts.items():
            if count:
                said.append(f"{count:,} {SAID.get(kind, kind)}, for example:")
                said += [f"    {_short(example)}" for example in verdict.examples[kind]]
        told = verdict.kept == AT_LEAST or (verdict.kept == EXACTLY and not verdict.last_same)
        if verdict.last_same is not None and told:
            sees = "sees no difference" if verdict.last_same else "may see an older one"
            said.append(f"A reader that takes the last value of each key {sees}.")
        if verdict.counts["lost"] and verdict.last_same and verdict.kept != AT_LEAST:
            said.append("The last value of each key is right: if only that counts, --compare table")
    if found.recoveries:
        times = found.recoveries
        said.append(
            f"From a fault to the next result: {statistics.median(times):.1f} s (median), "
            f"{max(times):.1f} s at most."
        )
    if found.ended:
        often = number(len(found.ended), "time")
        said.append(f"{often} it ended although nobody killed it: it {found.ended[-1]}")
    if found.left_behind:
        processes = "a process" if found.left_behind == 1 else f"{found.left_behind:,} processes"
        said.append(f"It left {processes} behind when it ended.")
    said.append(f"Again, with the same faults drawn: --seed {found.seed}. A run is no proof.")
    return said


def of_dirt(dirty: Sequence[Dirty], kinds: int) -> list[str]:
    """Return what the program did with hostile records."""
    faults = [each for each in dirty if each.fault]
    tried = number(kinds, "hostile record") if kinds else "the hostile records tried so far"
    if faults:
        return [f"✗ Of {tried}, these do harm:", *(f"    {each}" for each in faults)]
    told = [each.says for each in dirty if each.says]
    return [f"✓ It continued through {tried}, and lost nothing else.", *told]


def picture(found: Found) -> Picture:
    """Draw the lives, the faults, the commits and the results over time."""
    zero = found.started[0] if found.started else 0.0
    plane = Plane("seconds", "", width=900, height=230, right=0.04)
    plane.lanes(["lives", "results", "commits"])
    at = [hit.at - zero for hit in found.hits]
    ends = [*at, max([*found.results, *found.started, zero]) - zero + 1]
    for begin in found.started:
        end = next(e for e in [*ends, begin - zero + 1] if e >= begin - zero)
        plane.axes.barh(0, end - begin + zero, 0.4, left=begin - zero, color=BLUE, alpha=0.35)
    plane.marks(0, at, "x", color=RED, ms=7, label="a fault")
    plane.marks(1, [t - zero for t in found.results], "|", color=GREEN, ms=14, label="a result")
    plane.marks(2, [t - zero for t in found.commits], "|", color=INK_ON_PAPER, ms=14,
                label="a commit")  # fmt: skip
    plane.legend()
    commits, results = sorted(found.commits), sorted(found.results)
    rows = [
        {
            "fault": SAYS[hit.fault], "when": hit.moment, "second": round(hit.at - zero, 2),
            "results so far": bisect_right(results, hit.at),
            "commits so far": bisect_right(commits, hit.at),
        }
        for hit in found.hits
    ]  # fmt: skip
    kinds = Counter(SAYS[hit.fault] for hit in found.hits)
    words = ", ".join(f"{count} times {name}" for name, count in kinds.items()) or "no fault yet"
    return Picture(plane, CAPTION, f"{words}.", rows)


def page(found: Found, lines: Sequence[str], command: str) -> str:
    """Return the report as one HTML page that needs nothing from elsewhere."""
    said = "".join(f"<p>{html.escape(line)}</p>" for line in lines)
    verdict = found.verdict
    rows = [{"": kind, "results": n} for kind, n in verdict.counts.items()] if verdict else []
    shown = table(rows, "What differs from the run that nobody killed", "nothing")
    return (
        "<!doctype html><html lang='en'><meta charset='utf-8'><title>Crash test</title>"
        f"<body style='font-family:sans-serif; max-width:60em; margin:2em'><h1>Crash test</h1>"
        f"<p><code>{html.escape(command)}</code></p>{said}{shown}{picture(found)}</body></html>"
    )


def _unstable(found: Found) -> str:
    """Say in which results two runs without a kill differ, and in which fields."""
    truth = found.truth
    assert truth is not None
    names = ["/".join(ident) for ident in sorted(truth.unstable)]
    most = "most" if len(names) > truth.judged else f"{len(names):,}"
    fields = Counter[str]()
    for ident in truth.unstable:
        with_fields = [f for value in truth.values.get(ident, ()) for f in _fields(value)]
        fields.update(list(dict.fromkeys(with_fields)))
    hint = " If it pauses between results, raise --quiet."
    if fields:
        named = ", ".join(name for name, _ in fields.most_common(FIELDS_TOLD))
        hint += f" Its values have the fields {named}: --ignore one that changes by itself,"
        hint += " or name what a result is known by with --compare id:FIELD."
    return (
        f"In {most} of its results the program differs from itself when nobody kills it (by the "
        "clock, by chance, or by how its input arrives): no kill is blamed for these. For example: "
        f"{_short('; '.join(names[:3]))}.{hint}"
    )


def _fields(value: str) -> list[str]:
    try:
        found = json.loads(value)
    except ValueError:
        return []
    return list(found) if isinstance(found, dict) else []


def _short(text: str) -> str:
    return text if len(text) <= 240 else f"{text[:239]}…"
