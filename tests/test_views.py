"""Views: they redraw, they end, they say what went wrong; and the shop sends real clicks."""

import json
from dataclasses import dataclass
from types import SimpleNamespace

import pytest
from IPython.core.interactiveshell import InteractiveShell
from labs import until

from workbook.errors import BrokerUnreachable
from workbook.streams.events.clicks import Click, ClickType
from workbook.views import live as live_views
from workbook.views.charts import per_second
from workbook.views.live import Live
from workbook.views.rewind import Rewind
from workbook.views.shop import OWN_IDS, Shop
from workbook.views.tables import bars, table
from workbook.views.tape import tape


@dataclass
class Place:
    partition: int = 1
    offset: int = 7


@dataclass
class Query:
    is_active: bool = True
    error: Exception | None = None

    def check(self) -> None:
        if self.error:
            raise self.error


def test_a_button_sends_one_click_and_says_where_it_landed() -> None:
    sent: list[Click] = []
    shop = Shop(lambda click: sent.append(click) or Place(), clock=lambda: 1_700_000_000.5)
    [buttons] = [box.children for box in shop.children if hasattr(box, "children")][:1]
    buttons[0].click()
    assert sent == shop.sent
    assert sent[0] == Click(
        OWN_IDS, ClickType.PAGE, "/home", 1_700_000_000_500, "JupyterLab", "tab-you"
    )
    assert "partition 1 at offset 7" in shop.children[-1].value
    assert json.loads(sent[0].to_json())["name"] in shop.children[-1].value


def test_a_click_that_was_not_delivered_is_not_among_the_sent() -> None:
    def refuse(click: Click) -> Place:
        raise BrokerUnreachable("the broker is down <now>")

    shop = Shop(refuse)
    with pytest.raises(BrokerUnreachable):
        shop.click("/home")
    assert shop.sent == []
    assert "not sent" in shop.children[-1].value
    assert "&lt;now&gt;" in shop.children[-1].value


def test_an_interrupted_click_is_among_the_sent_because_it_still_arrives() -> None:
    def interrupted(click: Click) -> Place:
        raise KeyboardInterrupt

    shop = Shop(interrupted)
    with pytest.raises(KeyboardInterrupt):
        shop.click("/home")
    assert [click.name for click in shop.sent] == ["/home"]


def test_a_view_in_an_f_string_is_html_or_fails() -> None:
    chart = per_second({"the topic": {7: 2}}, "a < b")
    rewound = Rewind(lambda _: chart, [("one", 1)])
    live = Live(lambda: chart)
    live.stop()
    views = [chart, live, rewound]
    for view in views:
        assert f"{view}".startswith("<"), view
        assert "</figure>" in str(view)
        assert '{"' not in f"{view}"
    assert repr(chart).startswith("a < b\nline: the topic; newest second: 2")
    with pytest.raises(TypeError, match="beside=shop"):
        f"{Shop(lambda click: Place())}"


def test_a_live_view_redraws_until_its_query_ends() -> None:
    query, drawn = Query(), []
    live = Live(lambda: drawn.append(1) or "x", running=query, every=0.01)
    until(lambda: live.frames > 5, "frames")
    query.is_active = False
    live._thread.join(timeout=5)
    assert not live._thread.is_alive()
    live.check()
    failed = Live(lambda: "x", running=Query(False, BrokerUnreachable("the broker is down")))
    failed._thread.join(timeout=5)
    with pytest.raises(BrokerUnreachable, match="the broker is down"):
        failed.check()


def test_the_next_cell_is_refused_once_with_what_went_wrong() -> None:
    shell = InteractiveShell.instance()
    try:
        frames = iter(["x"])
        live = Live(lambda: next(frames), every=0.01)
        live._thread.join(timeout=5)
        first, second = shell.run_cell("answer = 42"), shell.run_cell("answer = 42")
    finally:
        InteractiveShell.clear_instance()
    assert "A live view above has ended" in str(first.error_before_exec)
    assert second.success


def test_an_error_keeps_the_last_frame_and_gives_its_type(monkeypatch) -> None:
    monkeypatch.setattr(live_views, "get_ipython", lambda: None)
    frames = iter([1, 2, 0])
    live = Live(lambda: f"<p>half is {1 / next(frames)}</p>", every=0.01)
    live._thread.join(timeout=5)
    assert live._frame.value.startswith("<p>half is 0.5</p>")
    assert "ZeroDivisionError: division by zero." in live._frame.value
    with pytest.raises(ZeroDivisionError):
        live.stop()


def test_a_live_picture_shows_its_table_apart_so_that_it_stays_open() -> None:
    labels: list[str] = []
    live = Live(
        lambda: tape([], len(labels)) if len(labels) < 3 else "<p>no picture</p>", every=0.01
    )
    assert "The partition is empty" in live._frame.value
    assert "<td" in live._twin.value
    live._folded.selected_index = 0  # somebody opens it
    labels.append("a")
    until(lambda: "1 record; end: 1" in live._frame.value, "the record")
    assert live._folded.selected_index == 0
    labels += ["b", "c"]
    live.stop()
    assert live._frame.value.startswith("<p>no picture</p>")
    assert live._folded.selected_index == 0
    assert live._folded.layout.display == "none"


def test_a_cell_that_is_run_again_ends_its_earlier_views_only(monkeypatch) -> None:
    notebook = SimpleNamespace(ast_transformers=[])
    monkeypatch.setattr(live_views, "get_ipython", lambda: notebook)

    def run(cell: str | None, run: str, watched: Query) -> Live:
        parent = {"header": {"msg_id": run}, "metadata": {"cellId": cell} if cell else {}}
        notebook.get_parent = lambda: parent
        return Live(lambda: "x", running=watched, every=0.01)

    query = Query()
    first = [run("a", "1", query), run("a", "1", query)]
    others = [run("b", "2", query), run(None, "3", query), run(None, "4", query)]
    first[0]._running = Query(True, BrokerUnreachable("what it watched went, too"))
    again = run("a", "5", query)
    for old in first:
        old._thread.join(timeout=5)
        old.check()
        assert not old._thread.is_alive()
    assert notebook.ast_transformers == []
    assert all(view._thread.is_alive() for view in [*others, again])
    for view in [*others, again]:
        view.stop()


def test_tables_have_a_caption_and_escape_what_they_show() -> None:
    shown = table([{"name": "<b>", "n": 1234}], "Look <here>")
    assert "Look &lt;here&gt;" in shown
    assert "&lt;b&gt;" in shown
    assert "1,234" in shown
    assert "nothing" in table([], "caption", empty="nothing")


def test_bars_are_sorted_and_carry_their_numbers() -> None:
    shown = bars({"a": 1, "b": 1000}, "caption", {"a": 1, "b": 999}, total="page views")
    assert shown.index("1,000") < shown.index(">1<")
    assert "1,001</span> page views" in shown
    assert shown.count("<b>+1</b>") == shown.count("<b>") == 1
    many = bars({f"/{n}": n for n in range(40)}, "caption")
    assert "25 more" in many
    assert "no rows yet" in bars({}, "caption")
    assert "no name" in bars({None: 2, "a": 2}, "caption"), "Spark's group of clicks without one"
