"""The crash test: two runs that nobody kills, one that is killed again and again, a verdict."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

from workbook.crashtest.copies import Record, slices
from workbook.crashtest.judge import Compare, Truth, Verdict, judge, truth_of
from workbook.crashtest.results import Row
from workbook.crashtest.trial import Setup, Trial
from workbook.crashtest.victim import Victim
from workbook.crashtest.words import ANY_TIME, BROKER, COMMIT, MOMENTS, RESULT, SAYS, START
from workbook.errors import CrashFailed
from workbook.stack.client import lease

PARTS, PAUSE_S = 10, 0.5
"""Of the second run: parts of its input, and the seconds between them."""

FROZEN_S = 60.0
"""Longer than the session time-out of Kafka's clients, so that another copy gets the partitions."""

TOGETHER_S = 5.0
"""Seconds for which a frozen copy that goes on and its successor run together."""

TERM_S = 30.0
ENDS_IN_A_ROW = 3

LATE_S = 120.0
"""For a result that is missing: a dead member of a group, or a dead producer's transaction, keeps
its successor waiting for 45 s and 60 s by default, and some more."""

ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class Hit:
    """A fault at a moment (s since 1970); ``open``: a result had come since the last commit."""

    fault: str
    moment: str
    at: float
    open: bool


@dataclass
class Found:
    """What a crash test has seen so far; ``whole`` once the killed run had all of its input."""

    setup: Setup
    seed: int
    records: int
    truth: Truth | None = None
    compare: Compare = field(default_factory=Compare)
    hits: list[Hit] = field(default_factory=list)
    started: list[float] = field(default_factory=list)
    commits: list[float] = field(default_factory=list)
    results: list[float] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    results_of_truth: int = 0
    ended: list[str] = field(default_factory=list)
    stuck: str = ""
    left_behind: int = 0
    whole: bool = False

    @cached_property
    def verdict(self) -> Verdict | None:
        """Return what the killed run has kept; None where nothing can be judged."""
        if self.truth is None or not self.truth.judged:
            return None
        return judge(self.truth, self.compare, self.rows, whole=self.whole)

    @property
    def recoveries(self) -> list[float]:
        """Return the seconds from each fault to the next result, of the life that follows it."""
        found = []
        for hit in self.hits:
            starts = [] if hit.fault == BROKER else [at for at in self.started if at > hit.at]
            since = min(starts, default=hit.at)  # what was under way at the fault came before
            found += [at - hit.at for at in [a for a in self.results if a > since][:1]]
        return found


@contextmanager
def trial(setup: Setup, name: str) -> Iterator[Trial]:
    """Make a run, and end all that it has started."""
    run = Trial(setup, name)
    try:
        yield run
    finally:  # a second Ctrl-C must leave nothing behind
        before = {number: signal.signal(number, signal.SIG_IGN) for number in ENDINGS}
        try:
            run.close()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def undisturbed(
    setup: Setup, name: str, parts: Sequence[Sequence[Record]], start_s: float = 0.0
) -> tuple[list[Row], float]:
    """Run the program once over all of it; return its results, and the seconds of its start.

    The first part of the input waits before the start, the others come with pauses.
    Raises ``CrashFailed`` for a program that fails, or that brings no results.
    """
    with trial(setup, name) as run:
        first, *rest = parts
        run.send(first)
        victim = run.start()
        if rest:
            run.wait(victim, lambda: bool(run.results.times), 2 * start_s + PAUSE_S)
        for part in rest:
            run.send(part)
            run.wait(victim, lambda: False, PAUSE_S)
        come = run.settle(victim, setup.start_within_s)
        if rest and victim.code == 0:  # it ends with its input: once more, for its last parts
            run.kill(victim)
            victim = run.start()
            come = run.settle(victim, setup.start_within_s) or come
        said = f"It said:\n{victim.last_words()}"
        if victim.code:
            raise CrashFailed(
                f"Nobody killed it, and yet the program ended with exit code {victim.code}. {said}"
            )
        if not come:
            how = "ended" if victim.code == 0 else f"ran for {time.time() - run.started[0]:.0f} s"
            raise CrashFailed(
                f"The program {how} without a result in {run.place}{run.elsewhere()}. Check "
                "what it reads and writes: its command gets them by {in} and {out}. If it needs "
                f"longer, raise --start-within. {said}"
            )
        return run.rows(), run.start_s


def crash_test(
    setup: Setup,
    chosen: Sequence[Record],
    *,
    kills: int,
    seed: int,
    faults: Sequence[str],
    compare: Compare,
    found: Found,
    say: Callable[[str], None],
) -> None:
    """Fill ``found``, which keeps what was seen if this is interrupted.

    Raises ``CrashFailed`` where there is nothing to compare with.
    """
    say("A first run without a kill, with the whole input there from the start ...")
    first, start_s = undisturbed(setup, "calm-1", [chosen])
    say(f"{len(first):,} results, the first after {start_s:.1f} s. A second run, in parts ...")
    second, _ = undisturbed(setup, "calm-2", slices(chosen, PARTS), start_s)
    found.truth = truth_of(compare, first, second)
    found.compare, found.results_of_truth = compare, len(first)
    if not found.truth.judged:
        return
    say(f"{len(second):,} results. Now it's killed {kills} times ...")
    with trial(setup, "killed") as run:
        try:
            _Lives(run, found, random.Random(seed), start_s, say).go(chosen, kills, faults)
        finally:
            found.started, found.commits = run.started, run.commits
            found.results, found.rows = list(run.results.times), run.rows()
            found.left_behind = run.left_behind


class _Lives:
    """The lives of the program in the run in which it is killed."""

    def __init__(
        self, run: Trial, found: Found, draw: random.Random, start_s: float,
        say: Callable[[str], None],
    ) -> None:  # fmt: skip
        self._run, self._found, self._draw, self._say = run, found, draw, say
        self._start_s, self._ends = max(start_s, 0.2), 0

    def go(self, chosen: Sequence[Record], kills: int, faults: Sequence[str]) -> None:
        """Send the input in parts, one a life; the last one comes after the last fault."""
        *parts, last = slices(chosen, kills + 1)
        victim = self._run.start()
        for number, part in enumerate(parts, 1):
            seen = len(self._run.results.times), len(self._run.commits)
            self._run.send(part)
            if victim.code == 0:  # it has ended with its input
                victim = self._kill(victim)
            fault, moment = self._draw.choice(list(faults)), self._draw.choice(MOMENTS)
            while not self._wait(victim, moment, *seen):  # it ended by itself
                victim = self._again(victim)
                if self._found.stuck:
                    return
            commit = max(self._run.commits, default=0.0)
            shown = any(at > commit for at in self._run.results.times[-1:])
            self._found.hits.append(Hit(fault, moment, time.time(), shown))
            victim = getattr(self, f"_{fault}")(victim)
            self._say(f"{number} of {kills}: {SAYS[fault]}, {moment}")
        self._run.send(last)
        patience, since = min(self._run.setup.start_within_s, 5 * self._start_s + 10), 0.0
        while True:
            come = self._run.settle(victim, patience, since)
            if victim.code:
                victim = self._again(victim)
                if self._found.stuck:
                    return
            elif not self._lacks() or (since and not come):
                break
            else:
                patience, since = max(LATE_S, patience), time.time()
                if victim.code == 0:  # it ends with its input
                    victim = self._kill(victim)
        self._found.whole = True

    def _lacks(self) -> bool:
        """Return True if results are missing that may still come."""
        assert self._found.truth is not None
        counts = judge(self._found.truth, self._found.compare, self._run.rows()).counts
        return bool(counts["lost"] or counts["changed"]) and not self._run.all_committed

    def _wait(self, victim: Victim, moment: str, results: int, commits: int) -> bool:
        """Wait for the moment of a fault: after more results or commits than these.

        Returns False if the program has failed before it.
        """
        run = self._run
        long = 4 * self._start_s + 5
        come = {
            START: lambda: True,
            COMMIT: lambda: len(run.commits) > commits,
        }.get(moment, lambda: len(run.results.times) > results)
        then = {
            START: self._draw.uniform(0, 1.2 * self._start_s),
            ANY_TIME: self._draw.uniform(0, 2),
            RESULT: self._draw.uniform(0, 0.05) * self._draw.randint(0, 1),
            COMMIT: self._draw.uniform(0, 0.05) * self._draw.randint(0, 1),
        }[moment]
        run.wait(victim, come, long)
        run.wait(victim, lambda: False, then)
        self._ends = 0 if victim.code is None else self._ends
        return not victim.code

    def _again(self, victim: Victim) -> Victim:
        """Start a program again that has ended by itself; it may be stuck."""
        self._ends += 1
        said = f"ended by itself with exit code {victim.code}. It said:\n{victim.last_words()}"
        self._found.ended.append(said)
        if self._ends >= ENDS_IN_A_ROW:
            self._found.stuck = said
            return victim
        return self._kill(victim)

    def _kill(self, victim: Victim) -> Victim:
        self._run.kill(victim)
        return self._run.start()

    def _term(self, victim: Victim) -> Victim:
        victim.tell(signal.SIGTERM)
        victim.ended(TERM_S)
        return self._kill(victim)

    def _freeze(self, victim: Victim) -> Victim:
        victim.tell(signal.SIGSTOP)
        other = self._run.start()
        self._run.wait(other, lambda: False, FROZEN_S)
        lives = self._run.members()
        victim.tell(signal.SIGCONT)
        self._run.wait(other, lambda: False, TOGETHER_S)
        self._run.kill(victim)
        self._run.forget(self._run.members() - lives)
        return other

    def _broker(self, victim: Victim) -> Victim:
        try:
            lease().ask("stop", name="kafka")
        finally:  # others use it, too
            lease().ask("start", name="kafka")
        return victim

    def _copies(self, victim: Victim) -> Victim:
        if self._run.setup.uses("{run}"):
            self._run.wait(victim, lambda: bool(self._run.members()), 4 * self._start_s + 5)
        members, other = self._run.members(), self._run.start()
        self._run.wait(other, lambda: False, self._draw.uniform(1, 1 + 2 * self._start_s))
        self._run.kill(victim)
        self._run.forget(members)
        return other
