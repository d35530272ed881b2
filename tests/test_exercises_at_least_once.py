"""Chapter 04's exercises: what their declarations don't prove."""

from workbook.lessons.at_least_once.after_the_kill import _LOG
from workbook.pipelines.page_views.metrics import Seconds
from workbook.streams.events.clicks import Click, ClickType


def sent_from(offset: int) -> list[tuple[int, int]]:
    """Count by hand from an offset on, as a loop that was started again does."""
    seconds, found = Seconds(), []
    for place, second in list(enumerate(_LOG))[offset:]:
        click = Click(place, ClickType.PAGE, "/home", second * 1000, "Firefox")
        done = seconds.step(click, "clicks", 0, place)
        found += [(done.second, len(done.event_ids))] if done else []
    return found


def test_the_kill_loses_what_was_predicted() -> None:
    assert sent_from(0) == [(10, 4), (11, 4)]
    assert sent_from(7) == [(11, 1)]  # from the offset of the auto-commit
    assert sent_from(4) == [(11, 4)]  # from the safe one
