"""Build the book as static pages: run the notebooks, freeze their widgets, and call Sphinx.

`make book` runs it. The pages are in `site/`, for any static host. With names of notebooks as
arguments it renders only these, which is quicker while you change something.
"""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

HERE, ROOT = Path(__file__).parent, Path(__file__).parents[2]
OUT, SPHINX = ROOT / "site", ROOT / ".venv-book" / "bin" / "sphinx-build"
VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"
SCRIPT = "application/javascript"
PROGRESS = re.compile(r"\d+ of \d+ exercises; ")
ANSI = re.compile(r"\x1b\[[0-9;]*m")


def executed(path: Path) -> nbformat.NotebookNode:
    """Run a notebook; end with the cell and its error if it fails."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=600, store_widget_state=True)
    try:
        return client.execute(cwd=str(path.parent))
    except CellExecutionError as error:
        why = ANSI.sub("", str(error)).strip()
        sys.exit(f"{path.name} has failed:\n{why}\n`make doctor` says what is missing.")


def frozen(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Replace each widget by what it showed last, and drop what only the lab needs."""
    models = notebook.metadata.pop("widgets", {}).get(STATE, {}).get("state", {})
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        folded = cell.metadata.get("jupyter", {}).get("source_hidden")
        cell.metadata["tags"] = [*cell.metadata.get("tags", []), *(["hide-input"] * bool(folded))]
        shown = [(each.get("data", {}), each) for each in cell.outputs]
        lab = [SCRIPT in data or PROGRESS.match(data.get("text/plain", "")) for data, _ in shown]
        cell.outputs = [each for (_, each), drop in zip(shown, lab, strict=True) if not drop]
        for output in cell.outputs:
            data = output.get("data", {})
            if view := data.pop(VIEW, None):
                data["text/html"] = _still(view["model_id"], models)
    return notebook


def _still(name: str, models: dict[str, Any]) -> str:
    """Return a widget's last state as HTML: texts as they are, what can be pressed disabled."""
    model = models.get(name, {"model_name": "", "state": {}})
    kind, state = model["model_name"].removesuffix("Model"), model["state"]
    inner = [_still(each.removeprefix("IPY_MODEL_"), models) for each in state.get("children", [])]
    if kind == "HTML":
        return f"<div>{state['value']}</div>"
    if kind == "Button":
        return f"<button disabled>{html.escape(state['description'])}</button> "
    if kind == "ToggleButtons":
        labels = [html.escape(label) for label in state["_options_labels"]]
        return "".join(f"<button disabled>{label}</button> " for label in labels)
    if kind == "Accordion":
        titles = state.get("titles") or [""] * len(inner)
        pairs = zip(titles, inner, strict=False)
        return "".join(f"<details><summary>{t}</summary>{part}</details>" for t, part in pairs)
    return f"<div>{''.join(inner)}</div>" if inner else ""


def main(names: list[str]) -> None:
    """Write the pages of the chapters with these names, or of all."""
    os.environ.setdefault("WORKBOOK_LAB", f"book-{os.getpid()}")
    chapters = sorted((ROOT / "notebooks").glob("*.ipynb"))
    chosen = [path for path in chapters if not names or path.stem in names]
    if unknown := set(names) - {path.stem for path in chapters}:
        sys.exit(f"There is no notebook {', '.join(unknown)} in notebooks/.")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder)
        shutil.copytree(ROOT / "docs", source / "docs", ignore=shutil.ignore_patterns("site"))
        for linked in ("workbook/systems", "programs"):
            shutil.copytree(ROOT / linked, source / linked)
        shutil.copy(ROOT / "CONTRIBUTING.md", source)
        shutil.copy(ROOT / "LICENSE", source)
        contents = (HERE / "contents.md").read_text(encoding="utf-8")
        readme = (ROOT / "README.md").read_text("utf-8")
        # A folder has no page.
        readme = readme.replace("](programs)", "](programs/views_per_second.py)")
        (source / "index.md").write_text(readme + contents, "utf-8")
        (source / "notebooks").mkdir()
        for number, path in enumerate(chosen, 1):
            print(f"{path.stem} ({number} of {len(chosen)}) ...", flush=True)
            text = nbformat.writes(frozen(executed(path))).replace("../README.md", "../index.md")
            (source / "notebooks" / path.name).write_text(text, encoding="utf-8")
        shutil.copy(HERE / "conf.py", source)
        strict = [] if names else ["-W", "--keep-going"]  # some chapters have dead links to others
        command = [str(SPHINX), "-q", *strict, "-b", "html", str(source), str(OUT)]
        sys.exit(subprocess.run(command, check=False).returncode)


if __name__ == "__main__":
    main(sys.argv[1:])
