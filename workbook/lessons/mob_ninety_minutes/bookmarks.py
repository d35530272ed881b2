"""Judges the offsets that a mob's program commits: what a kill -9 would cost at any moment."""

from collections import Counter
from collections.abc import Callable, Sequence

from workbook.lessons.mob_ninety_minutes.on_paper import CLICKS, Entry, Message, Producer, Reader
from workbook.lessons.mob_ninety_minutes.rehearsal import ENDS, WAITING, Program, run

METRICS = "metrics.k3f9"
SILENCE = (None,) * 6
NEVER = "while it ran, nothing was committed"
UNHEARD = "while nothing came, a report waited: `producer.poll(0)` runs it, in each turn"


class Bookmark:
    """The committed offset of a group, and what is wrong with the places where it was."""

    def __init__(self, records: Sequence[Entry]) -> None:
        kept = [entry for entry in records if isinstance(entry, tuple)]
        self._pages = [
            (offset, entry[1] // 1000) for offset, entry in enumerate(kept) if entry[0] == "Page"
        ]
        self._delivered: set[int] = set()
        self.wrong: list[str] = []
        self.offset: int | None = None

    def arrived(self, metric: Message, taken: bool) -> None:
        """Note that the broker has answered for a second's metric."""
        if taken:
            self._delivered.add(int(metric.key() or 0))

    def committed(self, topic: str, offset: int) -> None:
        """Move to an offset, and note what a restart from there would cost."""
        if topic != CLICKS:
            self.wrong.append(
                f"it commits offset {offset} of the topic {topic!r}, not of its input"
            )
            return
        self.offset = offset
        before = Counter(second for at, second in self._pages if at < offset)
        after = Counter(second for at, second in self._pages if at >= offset)
        for second, gone in before.items():
            left, delivered = after[second], second in self._delivered
            start = f"a restart at offset {offset}"
            if left and delivered:
                self._note(f"{start} sends second {second} again, with {left} of its page views")
            elif left:
                self._note(f"{start} counts {left} of the {gone + left} page views of {second}")
            elif not delivered:
                self._note(f"{start} never sends second {second}, which isn't delivered")

    @property
    def place(self) -> str:
        """Return where a restart begins."""
        if self.offset is None:
            return "in the end it has committed nothing"
        pages = (f"with the page view at offset {at}" for at, _ in self._pages if at >= self.offset)
        return f"in the end a restart begins {next(pages, 'behind the last page view')}"

    def _note(self, text: str) -> None:
        if text not in self.wrong:
            self.wrong.append(text)


def bookmarks_of(program: Program) -> Callable[..., list[str]]:
    """Rehearse a program that commits: what it sends, where its bookmark is, what that costs.

    Silence follows the records. A right program may commit anywhere between a delivered second and
    the next page view. After a refused metric, it may end, or go on and commit nothing.
    """

    def asked(
        records: Sequence[Entry], reports_after: int = 1, refused: int | None = None
    ) -> list[str]:
        mark, sent, moved, waiting = Bookmark(records), list[str](), list[bool](), [0]
        reader = Reader([*records, *SILENCE], mark.committed)

        def send(metric: Message) -> None:
            sent.append(f"it sends {metric.key()!r}, {metric.value()!r} to {metric.topic()}")

        def until() -> bool:
            moved.append(mark.offset is not None)
            waiting.append(len(producer))
            return reader.until()

        keys = () if refused is None else (str(refused).encode(),)
        producer, ended = Producer(reader, reports_after, keys, mark.arrived, send), list[str]()
        run(lambda: program(reader, producer, METRICS, until), ended)
        if refused is not None:
            return [mark.place, *mark.wrong]
        if ENDS in ended:
            return [*sent, *ended, *mark.wrong]
        if len(producer):
            ended.append(WAITING)
        if reports_after == 1 and len(sent) > 1 and not any(moved):
            ended.append(NEVER)
        elif reports_after < len(SILENCE) and waiting[-1]:
            ended.append(UNHEARD)
        return [*sent, *ended, mark.place, *mark.wrong]

    return asked
