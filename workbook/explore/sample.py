"""Looks at some records of each partition: their formats, and the fields in them."""

import io
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from difflib import get_close_matches
from itertools import chain
from typing import Any

import fastavro
from confluent_kafka import Message
from fastavro.schema import SchemaParseException

from workbook.errors import WorkbookError
from workbook.explore.plan import Plan
from workbook.kafka import registry
from workbook.kafka.offsets import COMMITTED
from workbook.kafka.readers import records

MOST_RECORDS, MOST_BYTES, MOST_PLACES, MOST_FIELDS = 2_000, 16 << 20, 40, 200
"""Records that are looked at, bytes of them in each part, partitions from which they come, fields
that are told."""

DEEPEST = 5
"""Levels of fields within fields."""

UNITS = {"s": 1, "ms": 1_000, "µs": 1_000_000, "ns": 1_000_000_000}
"""How many of a unit a second has."""

SINCE, UNTIL = 946_684_800, 4_102_444_800
"""The seconds of 2000 and of 2100: a number between them may be a time."""

ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?$")
LIKE_A_TIME = re.compile(
    r"(?i:(time|date|stamp)(?!.*[_.]id$)|when$|(created|updated|occurred)(at)?$"
    r"|(^|[_.])(at|ts|ms|millis)$)|[a-z](At|Ts|Ms)$"
)
LIKE_A_KEY = re.compile(r"id$|key$|user|customer|session|account|device|number$|^name$", re.I)

JSON, AVRO, TEXT, BYTES, EMPTY = "JSON", "Avro", "text", "bytes", "no value"
NAMED = {"PROTOBUF": "Protobuf", "JSON": "JSON Schema"}
"""What a registry calls the formats that are recognised, and not decoded."""

TYPES = {
    "NoneType": "null", "bool": "boolean", "int": "integer", "float": "number", "datetime": "time",
    "str": "text", "dict": "object",
}  # fmt: skip
VALUE_SCHEMA = "__value_schema_id"
IN_HEADER = "bytes with a schema's id in a header, not decoded"


@dataclass
class Field:
    """Describe a field of the sample: how often it's there, its types, and some of its values."""

    path: tuple[str, ...]
    types: Counter[str] = field(default_factory=Counter)
    values: list[Any] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Return its name, dotted where it's within another field."""
        return ".".join(self.path)

    @property
    def there(self) -> int:
        """Return in how many records it is."""
        return self.types.total()

    @property
    def unit(self) -> str | None:
        """Return what most values are, a unit or ``ISO``; None unless nine of ten are times."""
        forms = Counter(filter(None, map(_unit, self.values)))
        enough = forms and forms.total() >= 0.9 * len(self.values)
        return forms.most_common(1)[0][0] if enough else None


def _unit(value: Any) -> str | None:
    if isinstance(value, datetime) or (isinstance(value, str) and ISO.match(value)):
        return "ISO"
    if type(value) in (int, float):
        for unit, per_second in UNITS.items():
            if SINCE * per_second <= value < UNTIL * per_second:
                return unit
    return None


@dataclass
class Sample:
    """Describe what some records of a topic are like.

    ``formats`` counts them, ``odd`` has a place (partition, offset) of each format that most don't
    have. ``schemas`` are those of Avro by their id.
    """

    records: int
    formats: Counter[str]
    odd: dict[str, tuple[int, int]]
    fields: dict[str, Field]
    schemas: dict[int, str]
    mean_bytes: float
    headers: Counter[str]

    @property
    def format(self) -> str:
        """Return the format of most records that have a value."""
        valued = Counter({name: n for name, n in self.formats.items() if name != EMPTY})
        return valued.most_common(1)[0][0] if valued else EMPTY

    @property
    def times(self) -> list[Field]:
        """Return the fields that look like the event time, the likeliest first."""
        found = [each for each in self.fields.values() if each.unit]
        most = max((each.there for each in found), default=0)
        likely = [each for each in found if each.there >= 0.5 * most]

        def rank(each: Field) -> tuple[bool, bool]:  # a birthday has no time of day
            days = all(isinstance(value, str) and len(value) <= 10 for value in each.values)
            return days, not LIKE_A_TIME.search(each.name)

        return sorted(likely, key=rank)

    @property
    def keys(self) -> list[Field]:
        """Return the fields that look like a key: short values of which some are repeated."""
        times, found = {each.name for each in self.times}, []
        for each in self.fields.values():
            short = all(type(v) in (int, str) and len(str(v)) <= 64 for v in each.values)
            again = len(set(map(str, each.values))) < 0.9 * len(each.values) if short else False
            likely = again or LIKE_A_KEY.search(each.name)
            if short and likely and each.values and each.name not in times:
                found.append(each)
        return sorted(found, key=lambda each: not LIKE_A_KEY.search(each.name))

    def field(self, name: str, option: str) -> Field:
        """Return the field that an option names; raise ``WorkbookError`` where there's none."""
        if name in self.fields:
            return self.fields[name]
        near = get_close_matches(name, self.fields, 3, 0.6) or [*self.fields][:8]
        known = f"It has {', '.join(near)}." if near else "Its records have no fields."
        raise WorkbookError(
            f"Expected a field of the topic for {option}, but no record of the sample has "
            f"{name!r}. {known}"
        )


def look(config: Mapping[str, Any], plan: Plan, url: str | None) -> Sample:
    """Read some records of each partition, from several places, and say what they're like.

    ``url`` is the schema registry's, None without one. Raises ``RegistryUnreachable`` where it's
    needed and doesn't answer.
    """
    config = {**config, **COMMITTED}
    places_of = [_some(records(config, plan.topic, each)) for each in _places(plan)]
    # A small partition's places overlap.
    found = [*{(each.partition(), each.offset()): each for each in chain(*places_of)}.values()]
    if not found:
        raise WorkbookError(
            f"Expected records in {plan.topic!r}, but there is none at the offsets that were "
            "looked at: they've expired, were compacted away, or are marks of transactions. Ask "
            "for other ones by --last, or for more by --records."
        )
    schemas = _Schemas(url)
    sample = Sample(len(found), Counter(), {}, {}, schemas.avro, 0.0, Counter())
    places: dict[str, tuple[int, int]] = {}
    fields: dict[str, dict[str, Field]] = defaultdict(dict)  # by format
    for message in found:
        value, headers = message.value(), {str(name) for name, _ in list(message.headers() or [])}
        form, content = _read(value, schemas, VALUE_SCHEMA in headers)
        sample.formats[form] += 1
        places.setdefault(form, (message.partition() or 0, message.offset() or 0))
        sample.mean_bytes += (len(value or b"") + len(message.key() or b"")) / len(found)
        sample.headers.update(headers)
        for path, one in _fields(content):
            name, its = ".".join(path), fields[form]
            if name in its or len(its) < MOST_FIELDS:
                known = its.setdefault(name, Field(path))
                known.types[_type(one)] += 1
                if one is not None and not isinstance(one, (dict, list)):
                    known.values.append(one)
    sample.fields.update(fields[sample.format])
    sample.odd = {form: at for form, at in places.items() if form not in (sample.format, EMPTY)}
    return sample


def _some(messages: Iterator[Message]) -> Iterator[Message]:
    """Yield messages until they are larger than ``MOST_BYTES`` together."""
    taken = 0
    for message in messages:
        yield message
        taken += len(message.value() or b"")
        if taken > MOST_BYTES:
            return


def _places(plan: Plan) -> Iterator[dict[int, tuple[int, int]]]:
    """Yield ranges at the begin, in the middle and at the end of what is read."""
    step = -(-len(plan.ranges) // MOST_PLACES)
    chosen = sorted(plan.ranges)[::step]
    each = max(MOST_RECORDS // (3 * len(chosen)), 1)
    if all(end - begin <= 3 * each for begin, end in plan.ranges.values()) and step == 1:
        yield dict(plan.ranges)
        return
    for part in (0.0, 0.5, 1.0):
        ranges = {}
        for number in chosen:
            begin, end = plan.ranges[number]
            first = begin + int((end - begin - each) * part) if end - begin > each else begin
            ranges[number] = (first, min(first + each, end))
        yield ranges


class _Schemas:
    """Ask for each of the registry's schemas once."""

    def __init__(self, url: str | None) -> None:
        self._url, self._others = url, dict[int, str]()
        self.avro: dict[int, str] = {}
        self._parsed: dict[int, Any] = {}

    def decode(self, value: bytes) -> tuple[str, Any]:
        """Return the format of a value that begins with a schema's id, and its content."""
        number = int.from_bytes(value[1:5], "big")
        if number not in self.avro and number not in self._others:
            kind, text = self._ask(number)
            try:
                if kind != "AVRO":
                    self._others[number] = kind
                else:
                    self._parsed[number] = fastavro.parse_schema(json.loads(text))
                    self.avro[number] = text
            except (SchemaParseException, ValueError) as error:
                self._others[number] = f"{AVRO}, not decoded, since its schema is wrong: {error}"
        if number in self._others:
            return self._others[number], None
        try:
            read: Any = fastavro.schemaless_reader(
                io.BytesIO(value[5:]), self._parsed[number], None
            )
        except Exception:  # fastavro raises whatever it stumbles over
            return f"{AVRO} that can't be read", None
        return AVRO, read

    def _ask(self, number: int) -> tuple[str, str]:
        if self._url is None:
            return "bytes with a schema's id (set SCHEMA_REGISTRY_URL)", ""
        found = registry.by_id(self._url, number)
        if found is None:
            return "bytes with an id that the registry doesn't know", ""
        kind, text = found
        return (kind if kind == "AVRO" else f"{NAMED.get(kind, kind)}, not decoded"), text


def _read(value: bytes | None, schemas: _Schemas, headed: bool) -> tuple[str, Any]:
    """Return a value's format, and its content where that has fields."""
    if value is None:
        return EMPTY, None
    if value[:1] == b"\0" and len(value) > 5 and not headed:
        return schemas.decode(value)
    with suppress(ValueError, RecursionError):
        # Neither NaN nor a byte order mark is JSON, nor for Spark.
        content = json.loads(value.decode(), parse_constant=_refuse)
        if isinstance(content, dict):
            return JSON, content
    if headed:
        return IN_HEADER, None
    with suppress(UnicodeDecodeError):
        text = value.decode()
        if all(c.isprintable() or c in "\t\r\n" for c in text):
            return TEXT, None
    return BYTES, None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} in JSON")


def _fields(content: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the fields of a record and those within them, each with its path."""
    if not isinstance(content, dict):
        return
    for name, value in content.items():
        path = (*above, str(name))
        yield path, value
        if len(path) < DEEPEST:
            yield from _fields(value, path)


def _type(value: Any) -> str:
    name = type(value).__name__
    return TYPES.get(name, name)
