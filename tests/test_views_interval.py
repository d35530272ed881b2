"""The slider for the trigger interval: what it measures, shows and says."""

from __future__ import annotations

from workbook.errors import BrokerUnreachable
from workbook.views.interval import READY, IntervalSlider


def parts(view: IntervalSlider):
    row, said, shown = view.children
    slider, button = row.children
    return slider, button, said, shown


def test_a_press_measures_the_chosen_interval_and_adds_its_row():
    asked = []

    def measure(seconds):
        assert parts(view)[1].disabled  # nobody presses twice
        asked.append(seconds)
        return {"interval": f"{seconds} s", "records": 1234}

    view = IntervalSlider(measure, [{"interval": "0 s", "records": 5}], caption="Fewer <records>")
    slider, button, said, shown = parts(view)
    assert said.value == READY
    assert "Fewer &lt;records&gt;" in shown.value
    slider.value = 10
    button.click()
    assert asked == [10]
    assert view.rows[-1] == {"interval": "10 s", "records": 1234}
    assert "1,234" in shown.value
    assert said.value.startswith("✓ Done with 10 s.")
    assert not button.disabled
    assert not slider.disabled


def test_an_error_is_told_and_the_next_press_may_go_well():
    def measure(seconds):
        raise BrokerUnreachable("no <broker>")

    view = IntervalSlider(measure)
    _, button, said, shown = parts(view)
    button.click()
    assert said.value.startswith("✗ BrokerUnreachable: no &lt;broker&gt;")
    assert view.rows == []
    assert not button.disabled
    assert "no rows yet" in shown.value
