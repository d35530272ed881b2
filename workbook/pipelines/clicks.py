"""Records as clicks on Spark: read the JSON, and mark what is no click with its reason."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from workbook.events import CLICK_SCHEMA, HALF_PAIR, MAX_AHEAD_MS, ClickType, Reason

FIELDS = tuple(field.split()[0] for field in CLICK_SCHEMA.split(", "))
NUMBERS = ("event_id", "timestamp")
TEXTS = ("click_type", "name", "browser")

# A text as JSON that means itself, letter by letter: no quote, no backslash, no control character.
# Bytes that are no UTF-8 reach Java as the character FFFD. The control characters are listed one
# by one, and nothing is ever tried twice ("++", "*+"): both make Java's matching much faster.
_CONTROLS = "".join(rf"\x{code:02x}" for code in range(0x20))
_TEXT = rf'"[^"\\{_CONTROLS}\uFFFD]*+"'
_WHOLE = "(?:[1-9][0-9]{0,17}+|0)"  # fits in 64 bits
_KINDS = "|".join(kind.value for kind in ClickType)
PLAIN = (
    rf'\A\{{"event_id":(?:-(?!0))?+{_WHOLE},"click_type":"(?:{_KINDS})","name":{_TEXT},'
    rf'"timestamp":({_WHOLE}),"browser":{_TEXT}(?:,"tab_id":(?:{_TEXT}|null))?+\}}\z'
)
"""A click as ``Click.to_json`` writes it, nearly always; the group is the event time."""

# Spark's JSON reader is more tolerant than JSON unless told otherwise.
JSON_OPTIONS = {
    "columnNameOfCorruptRecord": "_corrupt",
    "allowSingleQuotes": "false",
    "allowNonNumericNumbers": "false",
}
UNTYPED = ", ".join(f"{name} VARIANT" for name in FIELDS) + ", _corrupt STRING"


def parse(raw: DataFrame) -> DataFrame:
    """Read record values as clicks and mark what is none; no row is dropped.

    In: the columns of Spark's Kafka source. Out: the fields of ``Click`` (null where rejected),
    ``topic``, ``partition``, ``offset``, ``arrival`` (timestamp), ``key`` and ``value`` (bytes as
    they came) and ``reason`` (string; null where accepted), by the rules of ``Click.from_json``.

    A click in the plain layout costs one regular expression, and its fields are cut out only if
    somebody asks for them. Any other value is read as JSON: slowly, and to the letter.
    """
    read = raw.select(
        "key", "value", "topic", "partition", "offset",
        F.col("timestamp").alias("arrival"),
        F.regexp_extract(_text(), PLAIN, 1).try_cast("bigint").alias("_time"),
    )  # fmt: skip
    # Columns of their own, one upon the other: Spark then computes each once per row.
    judged = read.withColumn("_plain", F.coalesce(F.col("_time") <= _latest(), F.lit(False)))
    slow = F.when(~F.col("_plain"), F.from_json(_text(), UNTYPED, JSON_OPTIONS))
    marked = judged.withColumn("_slow", slow).withColumn(
        "reason", F.when(~F.col("_plain"), _reason())
    )
    return marked.select(
        *(_field(name) for name in FIELDS),
        "topic", "partition", "offset", "arrival", "key", "value", "reason",
    )  # fmt: skip


def _text() -> Column:
    """The value as a string: no copy and no check, so not worth a column that is carried along."""
    return F.col("value").cast("string")


def _field(name: str) -> Column:
    """A field of the click from the reading that accepted it, null where none did."""
    accepted_late = F.when(F.col("reason").isNull(), _slow_field(name))
    return F.when(F.col("_plain"), _plain_field(name)).otherwise(accepted_late).alias(name)


# --- the plain layout: strings do ------------------------------------------------------------


def _plain_field(name: str) -> Column:
    """A field of a value that matches PLAIN, where a field's name in quotes comes but once."""
    match name:
        case "timestamp":
            return F.col("_time")
        case "event_id":
            return _between('"event_id":', ",").try_cast("bigint")
        case "click_type":
            page = F.contains(_text(), F.lit(f'"click_type":"{ClickType.PAGE.value}"'))
            return F.when(page, ClickType.PAGE.value).otherwise(ClickType.ACTION.value)
        case "tab_id":
            given = F.contains(_text(), F.lit('"tab_id":"'))
            return F.when(given, _between('"tab_id":"', '"'))
    return _between(f'"{name}":"', '"')


def _between(before: str, after: str) -> Column:
    return F.substring_index(F.substring_index(_text(), before, -1), after, 1)


# --- any layout: JSON, to the letter ---------------------------------------------------------


def _reason() -> Column:
    """The checks of ``Click.from_json``, in its order; null where the slow reading accepts."""
    value = F.col("value")
    stamp, click_type = _slow_field("timestamp"), _slow_field("click_type")
    return (
        F.when(value.isNull() | (F.length(value) == 0), Reason.EMPTY.value)
        .when(~_well_formed(), Reason.MALFORMED.value)
        .when(~_types_fit(), Reason.MISSING.value)
        .when(~click_type.isin([t.value for t in ClickType]), Reason.UNKNOWN_TYPE.value)
        .when(stamp < 0, Reason.NEGATIVE.value)
        .when(stamp > _latest(), Reason.FUTURE.value)
    )


def _well_formed() -> Column:
    """True where the value is one JSON object in UTF-8 and nothing else.

    Spark's reader stops at the end of the first value. Two wrappings show what trails: text that
    closes the bracket early cannot close the brace, and a comma makes the list longer.
    """
    text = _text()
    listed = F.from_json(F.concat(F.lit("["), text, F.lit("]")), "ARRAY<STRING>", JSON_OPTIONS)
    boxed = F.from_json(
        F.concat(F.lit('{"v":'), text, F.lit("}")), "v STRING, _corrupt STRING", JSON_OPTIONS
    )
    sound = F.is_valid_utf8(text) & (F.size(listed) == 1) & boxed["_corrupt"].isNull()
    half = F.replace(text, F.lit("\\\\"), F.lit(" ")).rlike(HALF_PAIR)
    return F.coalesce(sound & text.rlike(r"^[ \t\r\n]*\{") & ~half, F.lit(False))


def _types_fit() -> Column:
    """True where every field of the slow reading is there and of its type; the tab may be absent.

    Whole numbers fit in 64 bits; Spark calls larger ones decimals.
    """
    kinds = {name: F.schema_of_variant(F.col("_slow")[name]) for name in FIELDS}
    fit = F.coalesce(kinds["tab_id"].isin("STRING", "VOID"), F.lit(True))
    for name in NUMBERS:
        fit = fit & F.coalesce(kinds[name] == "BIGINT", F.lit(False))
    for name in TEXTS:
        fit = fit & F.coalesce(kinds[name] == "STRING", F.lit(False))
    return fit


def _slow_field(name: str) -> Column:
    kind = "bigint" if name in NUMBERS else "string"
    return F.try_variant_get(F.col("_slow")[name], "$", kind)


def _latest() -> Column:
    """The last event time in ms that is believed of a record that arrived at ``arrival``."""
    return F.unix_millis("arrival") + MAX_AHEAD_MS
