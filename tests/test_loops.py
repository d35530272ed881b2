"""Loops in the background: they end, they close their reader, and they say what went wrong."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from workbook.kafka.loops import Loop


class Reader:
    closed = False

    def close(self) -> None:
        self.closed = True


def work(reader: Reader, until: Callable[[], bool]) -> None:
    while not until():
        pass


def failing(reader: Reader, until: Callable[[], bool]) -> None:
    raise ValueError("a bad record")


def test_a_loop_ends_the_one_of_its_name_and_a_stopped_one_has_closed_its_reader() -> None:
    readers, names = [Reader(), Reader(), Reader()], ["", "other", "work"]
    loops = [Loop(work, reader, name) for reader, name in zip(readers, names, strict=True)]
    assert [reader.closed for reader in readers] == [True, False, False]
    with pytest.raises(TimeoutError, match="still runs"):
        loops[1].exception(timeout=0.01)
    for loop in loops:
        loop.stop()
    assert all(reader.closed for reader in readers)


def test_an_error_is_told_and_raised_by_stop() -> None:
    reader = Reader()
    loop = Loop(failing, reader)
    assert str(loop.exception(timeout=10)) == "a bad record"
    assert reader.closed
    with pytest.raises(ValueError, match="a bad record"):
        loop.stop()
