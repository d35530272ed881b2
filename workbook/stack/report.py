"""The doctor's findings, and the report that shows them."""

import html
from collections.abc import Sequence
from dataclasses import dataclass

GREEN, RED = "color:#2e7d32", "color:#c62828"
MARKS = {"ok": "✓ ok", "note": "• note", "fault": "✗ fault"}


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check: ``state`` is ok, note or fault; a fault has a ``fix``.

    With a fault the lab does not work; with a note it works, but you should know.
    """

    subject: str
    state: str
    text: str
    fix: str = ""

    def __str__(self) -> str:
        line = f"{MARKS[self.state]:8} {self.subject:12} {self.text}"
        return f"{line}\n{'':21} fix: {self.fix}" if self.fix else line


class Report(list[Finding]):
    """The findings, as text in a terminal and as a table in a notebook."""

    @property
    def healthy(self) -> bool:
        """Return True if nothing keeps the lab from working."""
        return all(finding.state != "fault" for finding in self)

    @property
    def verdict(self) -> str:
        return "Everything the lab needs is here." if self.healthy else "Fix these problems first."

    def __str__(self) -> str:
        return "\n".join([*map(str, self), self.verdict])

    def _repr_html_(self) -> str:
        """Render one line for all that's well, folded, and whatever else there is in the open."""
        well = [finding for finding in self if finding.state == "ok"]
        other = sorted((f for f in self if f.state != "ok"), key=lambda f: f.state != "fault")
        mark, color = ("✓", GREEN) if self.healthy else ("✗", RED)
        head = f"<p><b style='{color}'>{mark} {self.verdict}</b></p>"
        folded = (
            f"<details><summary>{len(well)} of {len(self)} checks found nothing to mend</summary>"
        )
        return f"{head}{_table(other)}{folded}{_table(well)}</details>"


def _table(findings: Sequence[Finding]) -> str:
    if not findings:
        return ""
    rows = "".join(
        f"<tr><td>{MARKS[f.state]}</td><td>{html.escape(f.subject)}</td>"
        f"<td style='text-align:left'>{html.escape(f.text)}"
        + (f"<br><b>fix:</b> {html.escape(f.fix)}" if f.fix else "")
        + "</td></tr>"
        for f in findings
    )
    return (
        "<table><tr><th>state</th><th>subject</th><th style='text-align:left'>finding</th></tr>"
        f"{rows}</table>"
    )
