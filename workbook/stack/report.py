"""The doctor's findings, and the report that shows them."""

from __future__ import annotations

import html
from dataclasses import dataclass

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
        return "Everything the lab needs is here." if self.healthy else "Mend the faults first."

    def __str__(self) -> str:
        return "\n".join([*map(str, self), self.verdict])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{MARKS[f.state]}</td><td>{f.subject}</td>"
            f"<td style='text-align:left'>{html.escape(f.text)}"
            + (f"<br><b>fix:</b> {html.escape(f.fix)}" if f.fix else "")
            + "</td></tr>"
            for f in self
        )
        return (
            "<table><caption>What the doctor looked at</caption>"
            "<tr><th>state</th><th>subject</th><th style='text-align:left'>finding</th></tr>"
            f"{rows}</table><p>{self.verdict}</p>"
        )
