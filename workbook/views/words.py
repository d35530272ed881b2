"""Words on a picture: what fits into a box, and how changes and times are written."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from workbook.views.drawing import wide

_UNITS = (
    ("year", 31_557_600_000), ("day", 86_400_000), ("hour", 3_600_000), ("minute", 60_000),
)  # fmt: skip

MINUS, ARROW = "\N{MINUS SIGN}", "\N{RIGHTWARDS ARROW}"


def cut(text: str, width: float, size: float = 11) -> str:
    """Shorten a text to what fits into ``width`` units."""
    most = max(1, int(width / wide("x", size)))
    return text if len(text) <= most else text[: most - 1] + "…"


def signed(sign: int) -> str:
    """Write a change of a group: "−1" or "+1"."""
    return f"{MINUS}{-sign}" if sign < 0 else f"+{sign}"


def moment(ms: int, day: bool = False) -> str:
    """Return a time (UTC) as "22:31:05" or "22:31:05.250"; with ``day`` the date before it."""
    try:
        time = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)
    except OverflowError:
        return f"{ms:,} ms"
    text = time.strftime("%H:%M:%S") + (f".{ms % 1000:03}" if ms % 1000 else "")
    return f"{time.date().isoformat()} {text}" if day else text


def duration(ms: int) -> str:
    """Return a length of time in its largest unit: "55 seconds", "1 minute", "73 years"."""
    for name, size in _UNITS:
        count = round(ms / size)
        if ms >= size and abs(count * size - ms) <= 0.12 * ms:  # 90 seconds are no 2 minutes
            return f"{count:,} {name}" if count == 1 else f"{count:,} {name}s"
    return "1 second" if ms == 1000 else f"{ms / 1000:,g} seconds"
