"""A small shop: every button sends one real click."""

import html
import time
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from workbook.streams.events.clicks import Click, ClickType

WIDTH = "320px"
"""Two buttons in a row, so that a live view has room beside them."""

OWN_IDS = 1_000_000_000_000
"""Your clicks are numbered from here on, so that they never meet a generated event id."""

# Label: icon and name of what is clicked.
PAGES = {
    "Home": ("home", "/home"),
    "Shoes": ("tag", "/shoes"),
    "Jackets": ("tag", "/jackets"),
    "Basket": ("shopping-basket", "/basket"),
}
ACTIONS = {"Add to basket": ("plus", "add-to-basket"), "Buy": ("check", "buy")}


class Shop(widgets.VBox):
    """Buttons for pages and actions; ``send`` delivers a click and returns where it is.

    ``sent`` holds every click of yours in order. ``click("/shoes")`` presses a button from code.
    """

    def __init__(self, send: Callable[[Click], Any], *, clock: Callable[[], float] = time.time):
        self.sent: list[Click] = []
        self._send, self._clock = send, clock
        self._last = widgets.HTML("<i>Nothing sent yet. Each button sends one click to Kafka.</i>")
        pages = self._buttons(PAGES, ClickType.PAGE, "info")
        actions = self._buttons(ACTIONS, ClickType.ACTION, "warning")
        super().__init__(
            [
                widgets.HTML("<b>The shop</b>: look at a page …"),
                widgets.HBox(pages, layout=widgets.Layout(flex_flow="row wrap")),
                widgets.HTML("… or do something:"),
                widgets.HBox(actions, layout=widgets.Layout(flex_flow="row wrap")),
                self._last,
            ],
            layout=widgets.Layout(width=WIDTH),
        )

    def __str__(self) -> str:
        raise TypeError("A shop is a widget, not HTML: end a cell with it, or use `beside=shop`.")

    def click(self, name: str) -> Click:
        """Send one click on a page (its name begins with ``/``) or an action."""
        click_type = ClickType.PAGE if name.startswith("/") else ClickType.ACTION
        number = OWN_IDS + len(self.sent)
        click = Click(number, click_type, name, int(self._clock() * 1000), "JupyterLab", "tab-you")
        try:
            place = self._send(click)
        except KeyboardInterrupt:  # only the wait for its delivery ends: the click is on its way
            self.sent.append(click)
            raise
        except Exception as error:
            self._show(f"<b>✗ not sent:</b> {html.escape(str(error))}")
            raise
        self.sent.append(click)
        self._show(
            f"Click {len(self.sent)} landed in partition {place.partition} at offset "
            f"{place.offset}:<br><code style='overflow-wrap:anywhere; white-space:normal'>"
            f"{html.escape(click.to_json().decode())}</code>"
        )
        return click

    def _buttons(
        self, names: dict[str, tuple[str, str]], click_type: ClickType, style: str
    ) -> list[widgets.Button]:
        buttons = []
        for label, (icon, name) in names.items():
            button = widgets.Button(
                description=label,
                icon=icon,
                button_style=style,
                tooltip=f"{click_type.value}: {name}",
            )
            button.on_click(lambda _, name=name: self.click(name))
            buttons.append(button)
        return buttons

    def _show(self, text: str) -> None:
        self._last.value = text
