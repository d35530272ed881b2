"""Recognises a number that isn't Python's own."""

from __future__ import annotations

from typing import Any

from workbook.classroom.showing import type_name


def numpy_number(value: Any) -> str:
    """Return the cause where a value is a number of NumPy, or an array of one; else ''.

    A numpy.float64 is a float as well, which has its cause whatever the exercise.
    """
    if isinstance(value, float) or not type_name(value).startswith("numpy."):
        return ""
    if value.dtype.kind not in "iuf" or value.size != 1:
        return ""
    return f"This is a {type_name(value)}, which `json.dumps` refuses: put `int(...)` around it."
