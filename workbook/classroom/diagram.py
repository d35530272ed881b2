"""Shows a chapter's pipeline where the chapter begins."""

from importlib import import_module
from importlib.util import find_spec

from IPython import get_ipython
from IPython.display import display

from workbook.views.boxes import Box
from workbook.views.pipeline import pipeline

LESSONS = "workbook.lessons"


def show(chapter: str) -> None:
    """Display the pipeline that a chapter declares; nothing without one, or outside a notebook."""
    paths = declared(chapter)
    if paths and hasattr(get_ipython(), "kernel"):
        display(pipeline(*paths))


def declared(chapter: str) -> tuple[tuple[Box, ...], ...]:
    """Return the paths of a chapter such as ``02_views_per_second``; () where it has none."""
    stem = chapter.partition("_")[2]
    if not stem.isidentifier() or not find_spec(f"{LESSONS}.{stem}"):
        return ()
    paths: tuple[tuple[Box, ...], ...] = getattr(import_module(f"{LESSONS}.{stem}"), "paths", ())
    return paths
