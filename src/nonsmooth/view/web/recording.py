"""The page of a recorded run: frames are read on demand."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable

import numpy as np
import viser

from nonsmooth.errors import FileFormatError
from nonsmooth.io.runs.trajectory import Trajectory
from nonsmooth.view.drawing.snapshot import Snapshot
from nonsmooth.view.web.page import Page, WebView
from nonsmooth.view.web.stage import Stage
from nonsmooth.view.web.state import SPEEDS, GrowingCurve, Playback, Throttle

_REFRESH_RATE = 1.0
"""Checks of a growing file per second."""
_JUMPS = {"First": -(10**9), "−1": -1, "+1": 1, "Last": 10**9}
"""Buttons and their steps in frames."""
_SAMPLES = 12
"""Number of frames used to choose the camera."""


class RecordingView(WebView):
    """Plays a recorded run; frames are read on demand.

    Args:
        path: the file; the run may still be in progress.
        host, port: where to serve the page, 127.0.0.1 and 8080 if not given; if the port is taken, the next
            free one.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, host: str | None = None, port: int | None = None
    ) -> None:
        with contextlib.ExitStack() as on_failure:
            self._trajectory = on_failure.enter_context(Trajectory(path))
            if not len(self._trajectory):
                raise FileFormatError(f"{path} has no frames yet: open it after the run has begun")
            self.playback = Playback(self._trajectory.times)
            """The clock of the playback."""
            chosen = np.unique(np.linspace(0, self.playback.last, _SAMPLES).round().astype(int))
            samples = [Snapshot.of_recording(self._trajectory, int(number)) for number in chosen]
            stage = Stage.of_recording(self._trajectory)
            self.page = Page(os.path.basename(os.fspath(path)), stage, samples, host, port)
            on_failure.pop_all()
        self._lock = threading.Lock()
        self._shown = (-1, 0.0)
        self._read: dict[int, Snapshot] = {}  # the frames before and after the displayed time
        self._refresh_due = Throttle(_REFRESH_RATE)
        self._add_controls()
        self._read_curves()
        self.page.start(self._tick)

    def close(self) -> None:
        """End the page and close the file."""
        super().close()
        self._trajectory.close()

    def _add_controls(self) -> None:
        gui, playback = self.page.server.gui, self.playback
        with self.page.controls:
            self._slider = gui.add_slider("Frame", 0, max(playback.last, 1), 1, 0)
            self._play = gui.add_button("Play", icon=viser.Icon.PLAYER_PLAY)
            step = gui.add_button_group("Step", tuple(_JUMPS), hint="Pause, and go on or back by frames")
            speed = gui.add_dropdown(
                "Speed", tuple(f"{speed:g}×" for speed in SPEEDS), initial_value="1×",
                hint="Simulated seconds per second",
            )  # fmt: skip
            self._smooth = gui.add_checkbox(
                "Smooth", True, hint="Interpolate bodies between recorded frames during playback"
            )
            self._follow = gui.add_checkbox(
                "Follow", self._growing, hint="Check for new frames once a second, and show the last one"
            )
        self._slider.on_update(lambda event: self._seek(event.target.value) if event.client else None)
        self._play.on_click(lambda _: self._play_or_pause())
        step.on_click(lambda event: self._do(lambda now: playback.step(_JUMPS[event.target.value], now)))
        speed.on_update(
            lambda event: self._do(lambda now: playback.set_speed(float(event.target.value[:-1]), now))
        )

    @property
    def _growing(self) -> bool:
        """Whether the run has not reached its duration."""
        settings, done = self._trajectory.settings, self._trajectory.steps.count
        wanted = float(settings.get("duration", 0.0)) / float(settings.get("step", 1.0))
        return done < wanted - 1e-9

    def _read_curves(self) -> None:
        steps, curves = self._trajectory.steps, []
        for name in ("residual", "kinetic_energy"):
            curve = GrowingCurve()
            if name in steps:
                curve.extend(steps["time"], steps[name])
            curves.append(curve)
        self.page.panel.set_curves(*curves)

    def _do(self, action: Callable[[float], None]) -> None:
        with self._lock:
            action(time.monotonic())

    def _seek(self, frame: int) -> None:
        self._do(lambda now: self.playback.seek(frame, now))

    def _play_or_pause(self) -> None:
        playback = self.playback
        self._do(lambda now: playback.pause(now) if playback.playing else playback.play(now))

    def _tick(self, changed: bool) -> None:
        now = time.monotonic()
        if self._follow.value and self._refresh_due.due(now):
            self._refresh(now)
        with self._lock:
            (frame, share), playing = self.playback.place_at(now), self.playback.playing
        share = share if self._smooth.value else 0.0
        self._play.label = "Pause" if playing else "Play"
        self._play.icon = viser.Icon.PLAYER_PAUSE if playing else viser.Icon.PLAYER_PLAY
        if (frame, share) == self._shown and not changed:
            return
        snapshot = self._snapshot(frame, share)
        self.page.show(snapshot, f"frame {frame} of {self.playback.last}")
        if not playing:
            self.page.panel.plot(snapshot.time)
        self._slider.value = frame  # type: ignore[misc]
        self._shown = (frame, share)

    def _snapshot(self, frame: int, share: float) -> Snapshot:
        """Read a frame, or interpolate between it and the next."""
        wanted = (frame, frame + 1) if share else (frame,)
        self._read = {
            each: self._read.get(each) or Snapshot.of_recording(self._trajectory, each) for each in wanted
        }
        before = self._read[frame]
        return Snapshot.between(before, self._read[frame + 1], share) if share else before

    def _refresh(self, now: float) -> None:
        before = len(self.playback)
        self._trajectory.refresh()
        if len(self._trajectory) == before:
            return
        with self._lock:
            self.playback.extend(self._trajectory.times, now)
        self._read, self._shown = {}, (-1, 0.0)  # the run may have begun anew; plots and numbers have grown
        self._slider.max = max(self.playback.last, 1)
        self._read_curves()
        self._follow.value = self._growing  # type: ignore[misc]
