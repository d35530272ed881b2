"""One step of a table, shown."""

from __future__ import annotations

from workbook.views.changes import TableStep

BOB = {"position": "1", "client": "Bob", "amount": 20}
AL = {"position": "2", "client": "Al", "amount": 5}
GONE = {"position": "2", "client": None, "amount": None, "deleted": True}


def test_each_key_stands_in_one_row() -> None:
    step = TableStep([BOB, AL], [GONE], [BOB], "position")
    assert step.rows() == [
        {"position": "1", "before": "Bob, 20", "told": "", "after": "Bob, 20"},
        {"position": "2", "before": "Al, 5", "told": "✗ delete", "after": ""},
    ]
    assert "told downstream (1)" in repr(step)
    assert "✗ delete" in repr(step)
    assert "✗ delete" in step._repr_html_()


def test_nothing_told_is_said() -> None:
    assert "(nothing)" in repr(TableStep([BOB], [], [BOB], "position"))
    assert "no rows at all" in TableStep([], [], [], "position")._repr_html_()
