"""The state of a bucket: small tables by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

Tables = dict[str, "pl.DataFrame | None"]

BUCKET = "__bucket"
"""The column with a row's bucket."""
