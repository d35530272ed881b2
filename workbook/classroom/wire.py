"""Takes what confluent-kafka's producer takes, for producers that stand in for it in a check."""

from typing import Any


def wire(given: Any) -> bytes | None:
    """Return what the client sends: text as UTF-8, bytes as they are; TypeError for others."""
    if given is None or isinstance(given, bytes):
        return given
    if isinstance(given, str):
        return given.encode()
    raise TypeError(f"a bytes-like object is required, not '{type(given).__name__}'")


def report_of(callback: Any, on_delivery: Any) -> Any:
    """Return the function for the report, by either name. Raises TypeError if it is none."""
    report = on_delivery if on_delivery is not None else callback
    if report is not None and not callable(report):
        raise TypeError(f"expected callback to be callable, not {type(report).__name__}")
    return report
