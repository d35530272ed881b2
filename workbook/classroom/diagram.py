"""Shows a chapter's pipeline where the chapter begins."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from IPython import get_ipython
from IPython.display import display

from workbook.views.parts import Part
from workbook.views.pipeline import pipeline

LESSONS = "workbook.lessons"


def show(chapter: str) -> None:
    """Display the pipeline that a chapter declares; nothing without one, or outside a notebook."""
    paths = declared(chapter)
    if paths and hasattr(get_ipython(), "kernel"):
        display(pipeline(*paths))


def declared(chapter: str) -> tuple[tuple[Part, ...], ...]:
    """Return the paths of a chapter such as ``02_views_per_second``; () where it has no diagram."""
    stem = chapter.partition("_")[2]
    folder = f"{LESSONS}.{stem}"
    if not stem.isidentifier() or not find_spec(folder) or not find_spec(f"{folder}.diagram"):
        return ()
    paths: tuple[tuple[Part, ...], ...] = import_module(f"{folder}.diagram").paths
    return paths
