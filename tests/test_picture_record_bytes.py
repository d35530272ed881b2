"""A record of __consumer_offsets as a picture: its bytes, and where its fields begin."""

from __future__ import annotations

from random import Random

from workbook.streams.events.group_fields import Field, key_fields, value_fields
from workbook.views.record_bytes import MOST, record_bytes, record_steps

KEY = bytes.fromhex("0001 0005 636166c3a9 0006 636c69636b73 0000012c")
COMMIT = bytes.fromhex("0003 000000000000002a 00000000 0000 000001a20b5e83a6")
NEWER = bytes.fromhex("0004 000000000000002a 00000000 01 000001a20b5e83a6 00")
CLASSIC = bytes.fromhex("0002 0005 636166c3a9")
MEMBER = bytes.fromhex("0000 00 00 08 63616661622d31 02 2f 0000")


def named(fields: list[Field]) -> list[tuple[str, str]]:
    return [(field.name, field.value) for field in fields]


def test_a_length_counts_bytes_and_not_characters() -> None:
    fields = key_fields(KEY)
    assert named(fields) == [
        ("kind", "1"), ("length", "5"), ("group", "café"), ("length", "6"), ("topic", "clicks"),
        ("partition", "300"),
    ]  # fmt: skip
    assert [field.size for field in fields] == [2, 2, 5, 2, 6, 4]


def test_a_commits_value_has_its_offset_and_its_time_in_each_version() -> None:
    for value, length in ((COMMIT, ("length", "0")), (NEWER, ("length", "0"))):
        found = named(value_fields(1, value))
        assert found[1:4] == [("offset", "42"), ("leader epoch", "0"), length]
        assert found[4] == ("committed at", "1795487073190")
    assert named(value_fields(1, NEWER))[-1] == ("rest", "")


def test_a_members_value_begins_with_its_client() -> None:
    assert ("client id", "cafab-1") in named(value_fields(5, MEMBER))


def test_the_fields_cover_all_bytes_whatever_they_are() -> None:
    draw = Random(30)
    for size in range(400):
        data = bytes([0, draw.randrange(12)]) + draw.randbytes(size % 60)
        for fields in (key_fields(data), value_fields(data[1], data)):
            places = [at for field in fields for at in range(field.first, field.first + field.size)]
            assert places == list(range(len(data)))


def test_the_picture_has_a_cell_for_each_byte_and_fits() -> None:
    drawn = record_bytes(KEY, key_fields(KEY))
    assert drawn.figure.count("<rect") == len(KEY)
    assert drawn.drawing.width <= 930
    assert "length 5, group café, length 6, topic clicks, partition 300" in drawn.words
    assert drawn.rows[2] == {
        "bytes": "4 to 8", "field": "group", "value": "café", "hex": "63 61 66 c3 a9",
    }  # fmt: skip


def test_of_a_long_one_the_beginning_is_drawn_and_all_fields_are_named() -> None:
    long = CLASSIC[:2] + bytes([0, 200]) + b"x" * 200
    drawn = record_bytes(long, key_fields(long))
    assert drawn.figure.count("<rect") == MOST
    assert f"204 bytes, of which the first {MOST} are drawn" in drawn.words


def test_it_steps_through_keys_and_values_and_a_tombstone_has_a_key_only() -> None:
    steps = record_steps({1: (KEY, COMMIT), 2: (CLASSIC, None)})
    assert steps.names == ["a commit: key", "a commit: value", "a classic group: key"]
    assert {row["record"] for row in steps.rows} == set(steps.names)
