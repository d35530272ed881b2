"""A loop of somebody's own, packed in a notebook and unpacked in a process of the crash lab."""

from __future__ import annotations

import base64
import io
import pickle
from typing import Any

import confluent_kafka
from pyspark import cloudpickle

from workbook.crashlab.crashes.base import OwnLoop
from workbook.errors import CrashFailed


class _Packer(cloudpickle.Pickler):
    """Packs functions with what they refer to; classes of Kafka's client by their name.

    The client's classes say that they are from a module ``cimpl``, which can't be imported.
    """

    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, type) and thing.__module__ == "cimpl":
            return getattr, (confluent_kafka, thing.__name__)
        return super().reducer_override(thing)


def packed(own: OwnLoop) -> str:
    """Return a loop as text; raise ``CrashFailed`` where it refers to what can't be sent."""
    file = io.BytesIO()
    try:
        _Packer(file).dump(own)
    except (TypeError, ValueError, RecursionError, pickle.PicklingError) as why:
        raise CrashFailed(
            "Expected a loop that another process can run, but it, or a function that it calls, "
            f"refers to something that can't be sent there ({why}). Let it use its parameters, "
            "functions and imports alone, no client or widget of the notebook."
        ) from why
    return base64.b64encode(file.getvalue()).decode()


def unpacked(text: str) -> OwnLoop:
    """Return a loop from its text."""
    own: OwnLoop = pickle.loads(base64.b64decode(text))
    return own
