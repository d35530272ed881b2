"""Words that a reader stumbles over don't come back: of seven habits, those that can be found.

The chapters' own prose, and the exercises', is not looked at here.
"""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
INSTEAD = {
    r"\b[Ss]o many\b": "name the number and the noun",
    r"\banew\b": "again, recreate, from nothing",
    r"\bcomes? again\b": "is repeated, is read again, is sent twice",
    r"\blies? (?:in|behind)\b": "is in, is behind",
    r"\b[Ww]ho (?:adds up|keeps the)\b": "a reader that adds up",
    r"\b[Ww]hat c(?:ame|omes)\b": "name the thing: the records, the result",
    r"\bgoe?s? on with\b": "continue, resume",
}


def test_nobody_stumbles() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("workbook/**/*.py")]
    found = [
        f"{page.relative_to(ROOT)}:{number} {match[0]!r}: better {better}"
        for page in pages
        if "lessons" not in page.parts
        for number, line in enumerate(page.read_text().splitlines(), 1)
        for word, better in INSTEAD.items()
        if (match := re.search(word, line))
    ]
    assert not found, "\n".join(found)
