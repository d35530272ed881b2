"""Chapter 20's filter: what it emits is what a table downstream needs, and what ours emits."""

from workbook.lessons.positions_table.filtered_table import at, filtered, is_us


def test_the_filter_emits_what_a_table_downstream_needs():
    """Whatever comes: whoever applies what it emits has the rows that match."""
    rows = [None, at_ny := at("NYSE"), at("NYSE", 3), at("LSE"), at_ny]
    for old in rows:
        for new in rows:
            downstream = old if old and is_us(old) else None
            emitted = filtered(old, new, is_us)
            after = None if emitted == "delete" else emitted
            downstream = downstream if emitted is None else after
            assert downstream == (new if new and is_us(new) else None)


def test_a_table_of_spark_keeps_to_the_same_filter():
    """``KTable.changes`` and the exercise emit the same for each pair of rows."""
    import polars as pl

    from workbook.tables.changes import DELETED, GROUP_BUCKET, ORDER, PLACE, newest, table_of
    from workbook.tables.state import empty

    columns = ("position", "client", "ticker", "amount", "exchange")
    nothing = dict.fromkeys(columns[1:])

    def batch(row, order):
        keeps = row is not None and is_us(row)
        fields = {"position": "p1", **(row or nothing)}
        marks = {PLACE: 0, GROUP_BUCKET: 0, DELETED: not keeps, ORDER: order}
        return pl.DataFrame([{**fields, **marks}], infer_schema_length=None).cast(
            dict.fromkeys(nothing, pl.String) | {"amount": pl.Int64, ORDER: pl.Int64}
        )

    rows = [None, at("NYSE"), at("NYSE", 3), at("LSE")]
    for old in rows:
        for new in rows:
            state = empty(table_of(["position"]))
            newest(state, batch(old, 0), ("position",), columns)
            changes = newest(state, batch(new, 1), ("position",), columns)
            emitted = [
                "delete" if row["deleted"] else {k: row[k] for k in columns[1:]}
                for row in changes.to_dicts()
            ]
            asked = filtered(old, new, is_us)
            assert emitted == ([] if asked is None else [asked])
