"""Runs a mob's program on paper and writes down, line by line, what it does."""

import re
import sys
from collections.abc import Callable, Sequence
from typing import Any

from confluent_kafka import KafkaError, KafkaException

from workbook.lessons.mob_ninety_minutes.on_paper import Entry, Message, Producer, Reader

Program = Callable[..., Any]
Line = Callable[[str, Reader], str]

ENDS = "it ends with the error"
ESCAPES = "it raises Kafka's error itself, which no `except Exception` catches"
GROWS = "its map keeps seconds that were shown"
WAITING = "it ends, and metrics are still in the producer's queue"


def shown_by(
    line: Line, first: int = 0, most: int = sys.maxsize
) -> Callable[[Program], Callable[[Sequence[Entry]], list[str]]]:
    """Build a rehearsal of a program that shows: a line for each call of ``show``.

    ``first`` is the offset of the first record, and ``most`` what a map of the program may hold.
    """

    def rehearse(program: Program) -> Callable[[Sequence[Entry]], list[str]]:
        def asked(records: Sequence[Entry]) -> list[str]:
            reader, lines, sizes = Reader(records, first=first), list[str](), [0]

            def show(*what: Any) -> None:
                text = line(" ".join(map(str, what)), reader)
                lines.append(f"{_place(reader)} it shows {text}")

            def until() -> bool:
                own = sys._getframe(1).f_locals.values()
                sizes.extend(len(each) for each in own if isinstance(each, dict))
                return reader.until()

            run(lambda: program(reader, show, until), lines)
            return [*lines, *[GROWS] * (max(sizes) > max(most, len(lines)))]

        return asked

    return rehearse


def raw(text: str, reader: Reader) -> str:
    """Return offset and value alone where a line has both, whatever else it has."""
    last = reader.last
    for value in (repr(last.value()), (last.value() or b"").decode()) if last else ():
        others = text.replace(value, " ", 1)
        if value in text and re.search(rf"(?<!\w){last.offset()}(?!\w)", others):  # type: ignore[union-attr]
            return f"{last.offset()} {last.value()!r}"  # type: ignore[union-attr]
    return text


def numbers(count: int) -> Line:
    """Return a line's numbers alone where it has so many, whatever words stand beside them."""

    def line(text: str, reader: Reader) -> str:
        found = re.findall(r"-?\d+(?:\.\d+)?", text)
        return " ".join(found) if len(found) == count else text

    return line


def published_by(program: Program) -> Callable[[Sequence[Entry], str], list[str]]:
    """Rehearse a program that publishes: a line for each metric, and one for what it leaves."""

    def asked(records: Sequence[Entry], metrics: str) -> list[str]:
        reader, lines = Reader(records), list[str]()

        def sent(metric: Message) -> None:
            what = f"key {metric.key()!r}, value {metric.value()!r} to {metric.topic()}"
            lines.append(f"{_place(reader)} it sends {what}")

        producer = Producer(reader, sent=sent)
        run(lambda: program(reader, producer, metrics, reader.until), lines)
        if len(producer) and ENDS not in lines:
            lines.append(WAITING)
        return lines

    return asked


def run(program: Callable[[], Any], lines: list[str]) -> None:
    """Run it, and note an end by Kafka's own error; any other error is an answer's own."""
    try:
        program()
    except Exception as error:
        if not _is_kafkas(error):
            raise
        lines.append(ENDS)
    except:  # noqa: E722  (a KafkaError can be raised, and is no BaseException)
        if not isinstance(sys.exc_info()[1], KafkaError):
            raise
        lines.append(ESCAPES)


def _is_kafkas(error: Exception) -> bool:
    """Return True for a KafkaException, and for an error of one's own that carries Kafka's."""
    carried = any(isinstance(each, KafkaError) for each in error.args)
    return isinstance(error, KafkaException) or carried or "UNKNOWN_TOPIC_OR_PART" in str(error)


def _place(reader: Reader) -> str:
    return f"at offset {reader.offset}" if reader.last else "before any record"
