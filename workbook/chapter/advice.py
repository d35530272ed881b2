"""Says what to do behind an error of Kafka or Spark in a notebook."""

from __future__ import annotations

from typing import Any

from IPython import get_ipython

NEXT_STEPS: tuple[tuple[str, str], ...] = (
    (
        "UnknownTopicOrPartition",
        "The topic isn't there. Run the cell that makes it, from the chapter's first cell on.",
    ),
)
"""Words of an error, and what to do about it; the first that fits counts."""


def next_step(error: BaseException) -> str:
    """Return what to do about an error; '' where there is nothing to say."""
    text = f"{type(error).__name__}: {error}"
    return next((step for words, step in NEXT_STEPS if words in text), "")


def follow_errors() -> None:
    """Print the next step behind each error of a cell that has one; once per kernel."""
    shell = get_ipython()
    if shell is not None:
        shell.set_custom_exc((Exception,), _shown)


def _shown(shell: Any, kind: type, error: BaseException, trace: Any, tb_offset: Any = None) -> None:
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
    if step := next_step(error):
        print(f"What to do: {step}")
