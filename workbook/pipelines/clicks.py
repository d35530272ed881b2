"""Records as clicks on Spark: read the JSON, and mark what is no click with its reason."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from workbook.events import CLICK_SCHEMA, HALF_PAIR, MAX_AHEAD_MS, ClickType, Reason

FIELDS = ("event_id", "click_type", "name", "timestamp", "browser", "tab_id")
NUMBERS = ("event_id", "timestamp")
TEXTS = ("click_type", "name", "browser")

# Spark's JSON reader is more tolerant than JSON unless told otherwise.
JSON_OPTIONS = {
    "columnNameOfCorruptRecord": "_corrupt",
    "allowSingleQuotes": "false",
    "allowNonNumericNumbers": "false",
}
TYPED = f"{CLICK_SCHEMA}, _corrupt STRING"
UNTYPED = ", ".join(f"{name} VARIANT" for name in FIELDS) + ", _corrupt STRING"

# Asked for a text, from_json also renders numbers, arrays and truth values as one. What may be
# such a rendering is looked at again; any other text was a text.
RENDERED = r'^(?:-?[0-9][0-9.eE+-]*$|")'


def parse(raw: DataFrame) -> DataFrame:
    """Read record values as clicks and mark what is none; no row is dropped.

    In: the columns of Spark's Kafka source. Out: the fields of ``Click`` (null where rejected),
    ``topic``, ``partition``, ``offset``, ``arrival`` (timestamp), ``key`` and ``value`` (bytes as
    they came) and ``reason`` (string; null where accepted), by the rules of ``Click.from_json``.

    A plain click costs one ``from_json`` with a fixed schema. Only what that reading cannot vouch
    for is read a second time, slowly and to the letter.
    """
    read = raw.select(
        "key", "value", "topic", "partition", "offset",
        F.col("timestamp").alias("arrival"),
        F.from_json(_text(), TYPED, JSON_OPTIONS).alias("_quick"),
    )  # fmt: skip
    judged = read.withColumn("_plain", _plain())
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


def _plain() -> Column:
    """True where the quick reading is certainly the right one, and the click is acceptable."""
    text, click = _text(), F.col("_quick")
    # One closing brace, at the very end: the object is flat and nothing trails behind it.
    whole = F.instr(text, "}") == F.length(text)
    clean = whole & ~F.contains(text, F.lit("\\")) & F.is_valid_utf8(text)
    numbers = click.event_id.isNotNull() & click.timestamp.between(0, _latest())
    texts = click.click_type.isin([t.value for t in ClickType])
    for name in ("name", "browser"):
        texts = texts & ~_rendered(click[name])
    tab_fits = click.tab_id.isNull() | ~_rendered(click.tab_id)
    certain = clean & click["_corrupt"].isNull() & numbers & texts & tab_fits
    return F.coalesce(certain, F.lit(False))


def _rendered(text: Column) -> Column:
    """True where a text may be from_json's rendering of a number, a truth value or an array.

    Objects do not get this far. Comparing is cheap, the regular expression is not: it runs only
    for texts that begin like a number.
    """
    like_a_number = (text < ":") & text.rlike(RENDERED)
    return like_a_number | text.startswith("[") | text.isin("true", "false")


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


def _field(name: str) -> Column:
    """A field of the click from the reading that accepted it, null where none did."""
    accepted_late = F.when(F.col("reason").isNull(), _slow_field(name))
    return F.when(F.col("_plain"), F.col("_quick")[name]).otherwise(accepted_late).alias(name)


def _slow_field(name: str) -> Column:
    kind = "bigint" if name in NUMBERS else "string"
    return F.try_variant_get(F.col("_slow")[name], "$", kind)


def _latest() -> Column:
    """The last event time in ms that is believed of a record that arrived at ``arrival``."""
    return F.unix_millis("arrival") + MAX_AHEAD_MS
