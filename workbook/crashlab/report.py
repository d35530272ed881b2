"""Reports what kills have cost: the verdict, the promise, and the time to recover."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

from workbook.crashlab.crashes.base import Variant, Verdict
from workbook.views.picture import Picture

BY_HAND = "by hand"
KILL, RESTART = "the kill", "the start again"


@dataclass(frozen=True)
class Kill:
    """One kill -9: at a pass of a point (0 for one ``by hand``), and when (since 1970)."""

    point: str
    passes: int
    at: float


@dataclass(frozen=True)
class Outcome:
    """A run that was killed and started again, judged.

    ``recoveries`` are the seconds from ``since`` ("the kill" or "the start again") to the next
    record in the result topic; none for a kill behind which nothing came. ``pictures`` show what
    each kill found.
    """

    system: str
    variant: Variant
    seed: int
    kills: tuple[Kill, ...]
    verdict: Verdict = field(repr=False)
    recoveries: tuple[float, ...] = ()
    since: str = KILL
    pictures: tuple[Picture, ...] = field(default=(), repr=False)

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of each anomaly."""
        return dict(self.verdict.counts)

    @property
    def kept(self) -> bool:
        """Return True if the variant kept its promise, or promises nothing."""
        return not any(self.counts[name] for name in self.variant.promises or ())

    def __str__(self) -> str:
        found = [line for picture in self.pictures for line in _words(picture)]
        lines = [self._headline(), "", *found, str(self.verdict), "", *self._sentences()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        sentences = "".join(f"<p>{escape(sentence)}</p>" for sentence in self._sentences())
        drawn = "".join(picture._repr_html_() for picture in self.pictures)
        head = f"<p><b>{escape(self._headline())}</b></p>"
        return f"{head}{drawn}{self.verdict._repr_html_()}{sentences}"

    def _headline(self) -> str:
        # The mark is for the promise: duplicated events are no fault where only "lost" is promised.
        mark = ("✓" if self.kept else "✗") if self.variant.promises else "·"
        killed = "; ".join(map(self._killed, self.kills)) or "not killed"
        return f"{mark} {self.verdict.headline}: {self.system}, {self.variant.name}, {killed}"

    def _killed(self, kill: Kill) -> str:
        if kill.point == BY_HAND:
            return "killed by hand"
        says = self.variant.point(kill.point).says
        return f"killed at {kill.point} no. {kill.passes:,} ({says})"

    def _sentences(self) -> list[str]:
        if not self.kills:
            return [self._promised()]
        if not self.recoveries:
            return [self._promised(), "Nothing came after the kill."]
        times = ", ".join(f"{seconds:.1f} s" for seconds in self.recoveries)
        return [self._promised(), f"From {self.since} to the next record: {times}."]

    def _promised(self) -> str:
        if self.variant.promises is None:
            return "Only you know what your own loop promises: the ledger shows what it kept."
        if self.variant.promises:
            kept = "✓ kept" if self.kept else "✗ broken"
            return f"Promised: nothing {' or '.join(self.variant.promises)}. {kept}"
        lucky = self.kills and not any(self.counts.values())
        return "This variant promises nothing" + (": all is right by luck." if lucky else ".")


def _words(picture: Picture) -> list[str]:
    return [f"{picture.caption}:", picture.words, ""]


def recoveries(since: Iterable[float], written: Sequence[float]) -> tuple[float, ...]:
    """Return the seconds from each moment to the next of the times at which records came."""
    after = ((moment, [at for at in written if at > moment]) for moment in since)
    return tuple(min(later) - moment for moment, later in after if later)
