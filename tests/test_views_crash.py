"""The buttons of the crash lab: what can be pressed, and what is said."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
from labs import until

from workbook.errors import BrokerUnreachable, CrashFailed
from workbook.views.crash import SAID, CrashButtons

AWAY = -1


@dataclass
class Offsets:
    end: int = 2000
    committed: int | None = None


@dataclass
class Lab:
    state: str = "new"
    killed_at: float | None = None
    committed: int | None = None
    pressed: list[str] = field(default_factory=list)
    looked: int = 0

    def start(self) -> None:
        self._go("start", "new", "running")

    def crash(self) -> None:
        self._go("crash", "running", "killed")
        self.killed_at = 1.0

    def restart(self) -> None:
        self._go("restart", "killed", "running")

    def offsets(self) -> Offsets:
        self.looked += 1
        if self.committed == AWAY:
            raise BrokerUnreachable("it is away")
        return Offsets(committed=self.committed)

    def _go(self, deed: str, before: str, after: str) -> None:
        if self.state != before:
            raise CrashFailed(f"cannot {deed} <now>")
        self.pressed.append(deed)
        self.state = after


@pytest.fixture
def make() -> Iterator[Callable[..., CrashButtons]]:
    """Buttons whose threads end with the test; with ``every=60`` they look at presses only."""
    made: list[CrashButtons] = []

    def buttons(lab: Lab, every: float = 60) -> CrashButtons:
        made.append(CrashButtons(lab, every=every))
        return made[-1]

    yield buttons
    for each in made:
        each.close()
        each._thread.join(5)
        assert not each._thread.is_alive()


def shown(buttons: CrashButtons) -> tuple[list[str], str]:
    """The buttons that can be pressed, and the line below them."""
    row, said = buttons.children
    return [b.description for b in row.children if not b.disabled], said.value


def press(buttons: CrashButtons, text: str) -> None:
    [button] = [b for b in buttons.children[0].children if b.description == text]
    button.click()


def test_start_kill_and_start_again_or_why_a_press_cannot_be(make) -> None:
    lab = Lab()
    buttons = make(lab)
    assert shown(buttons) == (["Start"], "Press Start.")
    press(buttons, "Start")
    assert shown(buttons)[0] == ["kill -9"]
    press(buttons, "kill -9")
    assert shown(buttons) == (["Start again"], SAID["killed"])
    press(buttons, "Start again")
    assert shown(buttons)[0] == ["kill -9"]
    assert lab.pressed == ["start", "crash", "restart"]
    lab.state = "killed"  # by another cell
    press(buttons, "kill -9")
    assert shown(buttons) == (["Start again"], f"✗ cannot crash &lt;now&gt; {SAID['killed']}")
    press(buttons, "Start again")
    assert shown(buttons)[1].startswith("▶ It runs")


def test_while_it_runs_it_says_how_far_it_has_come_and_its_end(make) -> None:
    lab = Lab("running", committed=AWAY)
    buttons = make(lab, every=0.01)
    until(lambda: lab.looked > 2, "looks in spite of a broker that is away")
    lab.committed = 700
    until(lambda: "700 of 2,000 clicks" in shown(buttons)[1], "the offsets")
    assert shown(buttons)[0] == ["kill -9"]
    lab.state = "finished"
    until(lambda: "nobody has killed it" in shown(buttons)[1], "what is said at its end")
    assert shown(buttons)[0] == []
    until(lambda: not buttons._thread.is_alive(), "the end of the looking")
