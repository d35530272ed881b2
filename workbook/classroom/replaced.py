"""Python's own functions that Spark's have replaced, as `import *` does."""

from __future__ import annotations

import builtins
from typing import Any

from workbook.classroom.render import Part

SPARKS = "pyspark.sql.functions"


def replaced(answer: Any) -> list[str]:
    """Return the built-in names that are Spark's functions where the answer was written."""
    names: dict[str, Any] = getattr(answer, "__globals__", {})
    return sorted(
        name
        for name, value in names.items()
        if hasattr(builtins, name) and str(getattr(value, "__module__", "")).startswith(SPARKS)
    )


def warning(answer: Any) -> tuple[Part, ...]:
    """Warn of replaced built-ins now, because they break cells far below."""
    names = replaced(answer)
    if not names:
        return ()
    shown = ", ".join(f"`{name}`" for name in names)
    text = (
        f"`from {SPARKS} import *` has replaced Python's own {shown} in this notebook, and cells "
        f"below need them. Write `F.{names[0]}` for Spark's instead of that import, and run "
        f"`del {', '.join(names)}` to get Python's back."
    )
    return (Part("Mind", text),)
