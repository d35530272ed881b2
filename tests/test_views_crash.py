"""The buttons of the crash lab: what can be pressed, and what is said."""

from __future__ import annotations

from dataclasses import dataclass, field

from workbook.errors import CrashFailed
from workbook.views.crash import SAID, CrashButtons


@dataclass
class Lab:
    state: str = "new"
    pressed: list[str] = field(default_factory=list)

    def start(self) -> None:
        self._go("start", "new", "running")

    def crash(self) -> None:
        self._go("crash", "running", "killed")

    def restart(self) -> None:
        self._go("restart", "killed", "running")

    def _go(self, deed: str, before: str, after: str) -> None:
        if self.state != before:
            raise CrashFailed(f"cannot {deed} <now>")
        self.pressed.append(deed)
        self.state = after


def shown(buttons: CrashButtons) -> tuple[list[str], str]:
    """The buttons that can be pressed, and the line below them."""
    row, said = buttons.children
    return [b.description for b in row.children if not b.disabled], said.value


def press(buttons: CrashButtons, text: str) -> None:
    [button] = [b for b in buttons.children[0].children if b.description == text]
    button.click()


def test_start_kill_and_start_again() -> None:
    lab = Lab()
    buttons = CrashButtons(lab)
    assert shown(buttons) == (["Start"], "Press Start.")
    press(buttons, "Start")
    assert shown(buttons) == (["kill -9"], "It runs. Kill it whenever you like.")
    press(buttons, "kill -9")
    assert shown(buttons) == (["Start again"], SAID["killed"])
    press(buttons, "Start again")
    assert shown(buttons) == (["kill -9"], SAID["running"])
    assert lab.pressed == ["start", "crash", "restart"]


def test_a_press_after_the_end_says_that_it_is_over() -> None:
    for state in ("finished", "failed", "closed"):
        lab = Lab("running")
        buttons = CrashButtons(lab)
        lab.state = state
        press(buttons, "kill -9")
        assert shown(buttons) == ([], SAID[state])
        assert "run the cell that makes the lab again." in SAID[state]


def test_what_another_cell_has_done_is_seen_at_the_next_press() -> None:
    lab = Lab()
    buttons = CrashButtons(lab)
    lab.start()
    press(buttons, "Start")
    assert shown(buttons) == (["kill -9"], f"✗ cannot start &lt;now&gt; {SAID['running']}")
