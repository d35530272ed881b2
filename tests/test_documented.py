"""What README, docs, programs and ``--help`` tell to type parses; README's card is the check's."""

import argparse
import json
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from workbook.cli.main import _parser
from workbook.lessons.at_least_once import offset_to_commit
from workbook.systems import STREAMS, SYSTEMS

ROOT, PARSER = Path(__file__).parents[1], _parser()
DOCS = (ROOT / "README.md").read_text() + "\n".join(p.read_text() for p in ROOT.glob("docs/*.md"))
COMMAND = re.compile(r"(?:`|^ +)(?:\S*python -m )?workbook ([a-z](?:[^\\\n`#]|\\\n)*)", re.M)
SNIPPET = re.compile(r"^```python\n((?:.|\n)*?)^```|^((?:    from .*\n)(?:    .*\n)*)", re.M)
GIVEN = "connection reader TopicPartition clicks producer metrics partial sketch number"


def wrong(text: str) -> list[str]:
    """The commands in a text that don't parse; words about a command are none."""
    found = [words.replace("\\\n", " ") for words in COMMAND.findall(text)]
    whole = [
        f for f in found if not re.search(r"…|\b[A-Z]{3,}\b|^(run|store|crash|metrics|stop)$", f)
    ]
    return [words for words in whole if PARSER.parse_known_args(shlex.split(words))[1]]


def test_each_command_of_the_pages_and_of_help_parses(capsys: pytest.CaptureFixture[str]) -> None:
    cells = [c for p in ROOT.glob("notebooks/*.ipynb") for c in json.loads(p.read_text())["cells"]]
    contents = (ROOT / "docs/site/contents.md").read_text()
    assert {p.stem for p in ROOT.glob("docs/*.md")} == {*re.findall("docs/(.+)", contents)}
    assert not wrong("\n".join([DOCS, *("".join(cell["source"]) for cell in cells)]))
    named = *(f"run {n}" for n in SYSTEMS), *(f"generate {n}" for n in STREAMS)
    for words in (*named, "store", "metrics", "explore"):
        with pytest.raises(SystemExit):
            PARSER.parse_args([*words.split(), "--help"])
        said = capsys.readouterr().out
        assert len(COMMAND.findall(said)) > 0
        assert not wrong(said)


@pytest.mark.parametrize("program", sorted(ROOT.glob("programs/*.py")), ids=lambda p: p.stem)
def test_a_program_starts_as_it_says(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = program.read_text().split("\n\n")[1].replace("\\\n", "").partition(program.name)[2]
    parse = argparse.ArgumentParser.parse_args

    def stop(parser: argparse.ArgumentParser) -> None:
        raise KeyError(parse(parser, shlex.split(words)).servers)

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", stop)
    with pytest.raises(KeyError, match="localhost:9092"):
        runpy.run_path(str(program), run_name="__main__")


def test_each_snippet_has_its_names_and_can_import_them() -> None:
    ruff = [Path(sys.executable).with_name("ruff"), "check", "--isolated", "--select=F821", "-"]
    for text in ((a or dedent(b)).replace("…", "...") for a, b in SNIPPET.findall(DOCS)):
        given = f"--config=builtins={GIVEN.split()}"
        assert not subprocess.run([*ruff, given], input=text, text=True, check=False).returncode
        exec("\n".join(re.findall(r"^(?:from|import) .*", text, re.M)), {})


def test_the_card_of_readme_is_what_the_check_says() -> None:
    newest = "lambda sends: max((s.next_offset for s in sends if s.delivered), default=None)"
    card = offset_to_commit.check(eval(newest))
    shown = DOCS.partition("    ✗")[2].partition("\n\n")[0].split()
    assert repr(card).split() == ["✗", *shown]
