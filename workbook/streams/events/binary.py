"""Reads values from bytes as Kafka's protocol lays them out, fixed and flexible."""

import struct
from base64 import urlsafe_b64encode
from collections.abc import Callable
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class Cut(ValueError):
    """The bytes end before the value does, or hold a length that can't be."""


class Field(NamedTuple):
    """``size`` bytes from place ``first`` on, and what they mean; "" where that isn't read."""

    name: str
    first: int
    size: int
    value: str = ""


class Bytes:
    """Reads one value after the other; ``flexible`` has short lengths and tagged fields (KIP-482).

    With ``noting``, ``fields`` are the values that were read by a name, so that they can be drawn.
    Every method raises Cut where the bytes don't hold what is asked for.
    """

    def __init__(self, data: bytes, *, noting: bool = False) -> None:
        self._data, self._at, self.flexible, self._noting = data, 0, False, noting
        self.fields: list[Field] = []

    @property
    def left(self) -> int:
        """Return how many bytes are left."""
        return len(self._data) - self._at

    def take(self, number: int) -> bytes:
        """Return the next bytes, as many as asked for."""
        if not 0 <= number <= self.left:
            raise Cut(f"expected {number} bytes, but {self.left} are left")
        self._at += number
        return self._data[self._at - number : self._at]

    def int8(self, name: str = "") -> int:
        return self._number(">b", name)

    def int16(self, name: str = "") -> int:
        return self._number(">h", name)

    def int32(self, name: str = "") -> int:
        return self._number(">i", name)

    def int64(self, name: str = "") -> int:
        return self._number(">q", name)

    def varint(self) -> int:
        """Return an unsigned number of seven bits a byte, the lowest first."""
        value = 0
        for shift in range(0, 35, 7):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise Cut("expected a length of five bytes at most")

    def text(self, name: str = "") -> str:
        """Return a string; raise Cut where it's null."""
        found = self.text_or_none(name)
        if found is None:
            raise Cut("expected a string, but it's null")
        return found

    def text_or_none(self, name: str = "") -> str | None:
        first = self._at
        number = self.varint() - 1 if self.flexible else self.int16()
        self._note(name and "length", first, number)
        if number == -1:
            return None
        found = self.take(number)
        if self._noting:
            self._note(name, self._at - number, found.decode(errors="replace"))
        try:
            return found.decode()
        except UnicodeDecodeError as error:
            raise Cut("expected UTF-8") from error

    def blob(self) -> bytes:
        """Return bytes; b"" for null."""
        number = self.varint() - 1 if self.flexible else self.int32()
        return b"" if number == -1 else self.take(number)

    def uuid(self) -> str:
        """Return a topic's id as Kafka's tools print it."""
        return urlsafe_b64encode(self.take(16)).decode().rstrip("=")

    def each(self, read: Callable[[], T]) -> list[T]:
        """Return a list, whose elements ``read`` reads; [] for null."""
        number = self.varint() - 1 if self.flexible else self.int32()
        if number > self.left:  # an element has a byte at least
            raise Cut(f"expected {number} elements, but {self.left} bytes are left")
        return [read() for _ in range(number)]

    def tags(self) -> dict[int, bytes]:
        """Return the tagged fields behind the others, by number; none where nothing is flexible."""
        found: dict[int, bytes] = {}
        if self.flexible:
            for _ in range(self.varint()):
                tag = self.varint()
                found[tag] = self.take(self.varint())
        return found

    def all_fields(self) -> list[Field]:
        """Return the noted fields, and as one more the bytes behind them."""
        end = self.fields[-1].first + self.fields[-1].size if self.fields else 0
        rest = [Field("rest", end, len(self._data) - end)] if end < len(self._data) else []
        return [*self.fields, *rest]

    def _number(self, kind: str, name: str) -> int:
        size = struct.calcsize(kind)
        (value,) = struct.unpack(kind, self.take(size))
        self._note(name, self._at - size, value)
        return int(value)

    def _note(self, name: str, first: int, value: object) -> None:
        if name and self._noting and self._at > first:
            self.fields.append(Field(name, first, self._at - first, str(value)))
