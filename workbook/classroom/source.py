"""Shows the source of the package's functions, folded."""

from __future__ import annotations

import html
import inspect
from types import FunctionType

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer


class Source:
    """The text of functions or classes: folded in a notebook, plain in a terminal."""

    def __init__(self, *things: FunctionType | type) -> None:
        self.names = ", ".join(thing.__qualname__ for thing in things)
        self.text = "\n\n".join(inspect.getsource(thing).rstrip() for thing in things)

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        code = highlight(self.text, PythonLexer(), HtmlFormatter(noclasses=True, nobackground=True))
        lines = len(self.text.splitlines())
        summary = f"The source of <code>{html.escape(self.names)}</code>, {lines} lines"
        return f"<details><summary>{summary}</summary>{code}</details>"
