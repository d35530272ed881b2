"""Keeps the current cell where it is when somebody clicks a button of a widget.

JupyterLab makes the cell of a clicked output the current one, so the next Shift+Enter would run
that cell again instead of going on.
"""

from __future__ import annotations

from IPython import get_ipython
from IPython.display import Javascript, display

_SCRIPT = """
if (!window.workbookKeepsTheCell) {
  window.workbookKeepsTheCell = true;
  const style = document.createElement('style');
  style.textContent = '.widget-html, .widget-html-content {min-width: 0; max-width: 100%}';
  document.head.append(style);  // a picture in a narrow window scrolls, its words wrap
  document.addEventListener('mousedown', event => {
    if (event.target.closest?.('.jp-OutputArea .jupyter-button')) {
      event.preventDefault();
      event.stopPropagation();
    }
  }, true);
}
"""


def keep_the_current_cell() -> None:
    """Let clicks on buttons press them and do nothing else, in this page of JupyterLab."""
    if get_ipython() is not None:
        display(Javascript(_SCRIPT))
