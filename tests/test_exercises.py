"""What the declarations of exercises don't prove."""

import random
from collections import Counter

import pytest

from workbook.lessons.page_view_counter.on_spark import counted, on_spark
from workbook.lessons.positions_table.filtered_table import at, filtered, is_us
from workbook.lessons.us_share_holders.changes_of_an_update import changes
from workbook.lessons.us_share_holders.changes_of_an_update import held as row_of
from workbook.lessons.views_per_second import problems
from workbook.lessons.views_per_second.by_rule import is_page, rule, second_of
from workbook.pipelines.page_views.metrics import Seconds
from workbook.streams.events.clicks import Click, ClickType
from workbook.streams.events.positions import US


def test_spark_check_without_a_session_says_how():
    assert "spark=spark" in repr(on_spark.check(counted()))


def counts_all(clicks):
    pages = (c["timestamp"] // 1000 for c in clicks if c["click_type"] == "Page")
    return list(Counter(pages).items())


def without_a_guard(clicks):
    counts = {}
    for click in filter(is_page, clicks):
        second = second_of(click)
        if counts and second not in counts:
            yield counts.popitem()
        counts[second] = counts.get(second, 0) + 1
    yield counts.popitem()


@pytest.mark.parametrize("answer", [rule(last=True), counts_all, without_a_guard])
@pytest.mark.parametrize("form", [lambda pairs: pairs, list])
def test_an_answer_that_emits_the_last_second_hears_so(answer, form):
    cause = problems[0].check(lambda clicks: form(answer(clicks))).part("Likely cause")
    assert cause.startswith("It emits the last second, too")


LOG = (10, 10, 10, 10, 11, 11, 11, 11, 12, 12)
"""The second of the page view at each offset, in `after_the_kill`."""


def sent_from(offset: int) -> list[tuple[int, int]]:
    """Count by hand from an offset on, as a loop that was started again does."""
    seconds, found = Seconds(), []
    for place, second in list(enumerate(LOG))[offset:]:
        click = Click(place, ClickType.PAGE, "/home", second * 1000, "Firefox")
        done = seconds.step(click, "clicks", 0, place)
        found += [(done.second, len(done.event_ids))] if done else []
    return found


def test_the_kill_loses_what_was_predicted() -> None:
    assert sent_from(0) == [(10, 4), (11, 4)]
    assert sent_from(7) == [(11, 1)]  # from the offset of the auto-commit
    assert sent_from(4) == [(11, 4)]  # from the safe one


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


def test_the_changes_of_updates_add_up_to_the_table():
    """Folding the changes of random updates gives who holds what in the table of latest rows."""
    chance, table, held = random.Random(12), {}, {}
    for _ in range(2000):
        key = chance.randrange(40)
        new = row_of(
            chance.choice("ABC"), "AAPL", chance.randint(1, 3), chance.choice(["NYSE", "LSE"])
        )
        new = None if chance.random() < 0.2 else new
        for client, sign, _ in changes(table.pop(key, None), new):
            own = held.setdefault(client, set())
            own.add(key) if sign > 0 else own.remove(key)
        if new is not None:
            table[key] = new
    for client, own in held.items():
        rows = table.items()
        assert own == {k for k, r in rows if r["client"] == client and r["exchange"] in US}
