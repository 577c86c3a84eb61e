"""The page of a run in progress: the run passes states, and waits while it is paused."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping

import viser

from nonsmooth._support.arrays import Floats
from nonsmooth.model.system import System
from nonsmooth.stepping.frame import Frame
from nonsmooth.view.drawing.snapshot import Snapshot
from nonsmooth.view.web.page import FRAME_RATE, Page, WebView
from nonsmooth.view.web.stage import Stage
from nonsmooth.view.web.state import GrowingCurve, Throttle


class LiveView(WebView):
    """Shows a run while it is computed; give `observe` and `stopped` to `simulate`.

    Args:
        title: title of the page.
        system: the initial state of the run.
        host, port: where to serve the page, 127.0.0.1 and 8080 if not given; if the port is taken, the next
            free one.
    """

    def __init__(
        self, title: str, system: System, *, host: str | None = None, port: int | None = None
    ) -> None:
        start = Snapshot.of_start(system)
        self.page = Page(title, Stage.of_system(system), [start], host, port)
        self.stop_asked = False
        """Whether Stop was pressed."""
        self._latest = start
        self._shown: Snapshot | None = None
        self._last_step: Frame | None = None
        self._due = Throttle(FRAME_RATE)
        self._residual, self._energy = GrowingCurve(), GrowingCurve()
        self._go_on = threading.Event()
        self._go_on.set()
        self._single_steps = 0
        self._ended = False
        gui = self.page.server.gui
        with self.page.controls:
            self._pause = gui.add_button("Pause", icon=viser.Icon.PLAYER_PAUSE)
            self._one = gui.add_button("One step", icon=viser.Icon.PLAYER_SKIP_FORWARD, visible=False)
            self._stop = gui.add_button("Stop", icon=viser.Icon.PLAYER_STOP, hint="End the run here")
        self._pause.on_click(lambda _: self._pause_or_go_on())
        self._one.on_click(lambda _: self._allow_step())
        self._stop.on_click(lambda _: self._ask_to_stop())
        self.page.start(self._tick)

    # ---- called by the run

    def recall(self, steps: Mapping[str, Floats]) -> None:
        """Take the curves of the steps before a run that goes on."""
        self._residual.extend(steps["time"], steps["residual"])
        if "kinetic_energy" in steps:
            self._energy.extend(steps["time"], steps["kinetic_energy"])

    def hold(self, wants_stop: Callable[[], bool] = lambda: False) -> None:
        """Return when the page has been opened in a browser and is not paused.

        Returns early if `wants_stop` returns that the run has to end.
        """
        while not self.page.opened.wait(0.1) and not wants_stop():
            self.page.wait(0.0)
        self.page.wait(0.0)
        if self._go_on.is_set():
            return
        self._show_last_step()
        while not self._go_on.wait(0.05) and not wants_stop():
            self.page.wait(0.0)
            if self._single_steps:
                self._single_steps -= 1
                return

    def observe(self, frame: Frame) -> None:
        """Take the state after a step; it is copied if the next picture is due."""
        self._last_step = frame
        self._residual.append(frame.time, frame.residual)
        self._energy.append(frame.time, frame.numbers.get("kinetic_energy", math.nan))
        if self._due.due(time.monotonic()):
            self._latest = Snapshot.of_step(frame)

    def stopped(self, frame: Frame) -> bool:
        """Wait as `hold` does, and return whether Stop was pressed."""
        self.hold()
        return self.stop_asked

    def finish(self) -> None:
        """Show the last state, and mark the run as ended on the page."""
        self._ended = True
        self._show_last_step()
        self._pause.disabled = self._one.disabled = self._stop.disabled = True
        self.page.redraw()

    # ---- called by the page

    def _show_last_step(self) -> None:
        """Copy the present state; no step may be in progress."""
        if self._last_step is not None:
            self._latest = Snapshot.of_step(self._last_step)

    def _pause_or_go_on(self) -> None:
        paused = self._go_on.is_set()
        if paused:
            self._go_on.clear()
        else:
            self._go_on.set()
        self._pause.label = "Continue" if paused else "Pause"
        self._pause.icon = viser.Icon.PLAYER_PLAY if paused else viser.Icon.PLAYER_PAUSE
        self._one.visible = paused
        self.page.redraw()

    def _allow_step(self) -> None:
        self._single_steps += 1

    def _ask_to_stop(self) -> None:
        self.stop_asked = True
        self._go_on.set()

    def _tick(self, changed: bool) -> None:
        snapshot = self._latest
        if snapshot is self._shown and not changed:
            return
        state = "ended" if self._ended else "running" if self._go_on.is_set() else "paused"
        self.page.panel.set_curves(self._residual, self._energy)
        self.page.show(snapshot, f"step {snapshot.frame.index}, {state}")
        if state != "running":
            self.page.panel.plot(snapshot.time)
        self._shown = snapshot
