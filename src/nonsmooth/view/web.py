"""The web viewer: a page in the browser that plays a recorded run, or shows a run while it is computed.

    with RecordingView("run.h5") as view:
        print(view.address)
        view.wait()                 # until Ctrl-C

    with LiveView("filling", system) as view:
        simulate(system, 1.0, 0.005, observe=view.observe, until=view.stopped)

It needs viser: `pip install "nonsmooth[view]"`. The page is served on this computer alone (127.0.0.1) unless
another address is given.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from nonsmooth.errors import FileFormatError, MissingSolverError, OptionError
from nonsmooth.integrators.frame import Frame
from nonsmooth.io.trajectory import Trajectory
from nonsmooth.model.system import System

try:
    import viser
except ImportError as error:
    raise MissingSolverError(
        'the viewer needs viser, which is not installed: pip install "nonsmooth[view]"'
    ) from error

from nonsmooth.view.web_panel import Panel, status_line
from nonsmooth.view.web_scene import OPENING, Scene3D
from nonsmooth.view.web_stage import Moment, Stage
from nonsmooth.view.web_state import SPEEDS, GrowingCurve, Playback, Throttle

Floats = NDArray[np.float64]

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8080
_PORTS_TRIED = 100
"""If the port is taken, so many after it are tried."""
FRAME_RATE = 30.0
"""Frames that are sent in a second, at most."""
_PLOT_RATE = 4.0
_REFRESH_RATE = 1.0
"""How often in a second a growing file is looked at."""
_JUMPS = {"First": -(10**9), "−1": -1, "+1": 1, "Last": 10**9}
"""Buttons of a recorded run, and by how many frames they go on."""
_SETTLING = 10.0
"""Seconds in which a new page may change its shape and is fitted again."""
_ASPECT = 1.0
"""Width by height of what a page sees, as long as the page has not said it."""


# ---- the server -------------------------------------------------------------------------------------


class _Server(viser.ViserServer):
    """viser without its public share link: what is served on this computer stays on it."""

    def request_share_url(self, verbose: bool = True) -> str | None:
        """Refuse: any page in the browser could ask for it."""
        return None


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Keep viser's own messages off standard output, where answers go."""
    with contextlib.redirect_stdout(io.StringIO()):
        yield


def _start_server(host: str | None, port: int | None) -> viser.ViserServer:
    """Start a server on the first free port from `port` on."""
    host, port = host or DEFAULT_HOST, DEFAULT_PORT if port is None else port
    with _silence():
        server = _Server(host=host, port=_free_port(host, port), verbose=False)
    server.gui.configure_theme(show_logo=False, show_share_button=False, control_width="medium")
    return server


def _free_port(host: str, port: int) -> int:
    """Find out what can be bound, as viser itself would try for ever."""
    if not 0 <= port <= 65535:
        raise OptionError(f"port is {port}: give a number from 1 to 65535, or 0 for any free one")
    fault: OSError | None = None
    for attempt in range(port, min(port + _PORTS_TRIED, 65536)):
        try:
            family, *_, address = socket.getaddrinfo(host, attempt, type=socket.SOCK_STREAM)[0]
            with socket.socket(family, socket.SOCK_STREAM) as trial:
                if os.name == "posix":  # elsewhere it would let two servers share a port
                    trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                trial.bind(address)
                return int(trial.getsockname()[1])
        except OSError as error:
            fault = error
            if isinstance(error, socket.gaierror):
                break
    assert fault is not None
    raise OptionError(
        f"cannot serve on {host}, port {port}: {fault.strerror or fault}; give another --host or --port"
    )


class _Page:
    """A page with a scene and a panel, kept up to date by a thread of its own."""

    def __init__(self, title: str, stage: Stage, start: Moment, host: str | None, port: int | None) -> None:
        self.server = _start_server(host, port)
        gui = self.server.gui
        gui.set_panel_label(title)
        self._status = gui.add_html("")
        self.controls = gui.add_folder("Run")
        self._changed = threading.Event()
        self.scene = Scene3D(self.server, stage, start)
        self.moment = start
        """What is seen."""
        self.redraw = self._changed.set
        """Have the present moment shown again, with what has been changed."""
        self.panel = Panel(self.server, stage, self.scene.encloses, self.redraw)
        self._plots_due = Throttle(_PLOT_RATE)
        self.opened = threading.Event()
        """Set once the page is open in a browser."""
        self.server.on_client_connect(self._open)
        self._place_camera(start)
        self.server.scene.on_click()(self._click)
        self._ended = threading.Event()
        self._fault: BaseException | None = None
        self._thread = threading.Thread(target=self._loop, name="viewer", daemon=True)

    @property
    def address(self) -> str:
        """Where the page is served."""
        host = self.server.get_host()
        if host in ("0.0.0.0", "::"):
            host = socket.gethostname()
        host = f"[{host}]" if ":" in host else host
        return f"http://{host}:{self.server.get_port()}"

    def start(self, tick: Callable[[bool], None]) -> None:
        """Call `tick(changed)` again and again; `changed` says that a control was moved."""
        with self.controls:
            reset = self.server.gui.add_button(
                "Reset camera", icon=viser.Icon.CAMERA, hint="See all movable bodies"
            )
        reset.on_click(lambda event: self._look_at_all(event.client))
        self._tick = tick
        self._thread.start()

    def show(self, moment: Moment, words: str) -> None:
        """Show a moment; above the controls stand its time and a few words about it."""
        self.moment = moment
        shown = self.scene.show(moment, self.panel.look)
        self.panel.update(moment, shown)
        self._status.content = status_line(moment.time, words)
        if self._plots_due.due(time.monotonic()):
            self.panel.plot(moment.time)

    def wait(self, seconds: float) -> None:
        """Wait; raise what went wrong in the page's thread, if anything did."""
        self._ended.wait(seconds)
        if self._fault is not None:
            raise self._fault

    def close(self) -> None:
        """End the thread and the server."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(timeout=5.0)
        with _silence():
            self.server.stop()

    def _loop(self) -> None:
        try:
            while not self._ended.is_set():
                began = time.monotonic()
                changed = self._changed.is_set()
                self._changed.clear()
                self._tick(changed)
                self._ended.wait(max(1.0 / FRAME_RATE - (time.monotonic() - began), 0.001))
        except BaseException as error:  # is raised again in the thread that waits
            self._fault = error
            self._ended.set()

    def _open(self, client: viser.ClientHandle) -> None:
        """Fit what a new page sees to its window, also when panels have taken their part of it."""
        until = time.monotonic() + _SETTLING
        fitted = 0.0

        def fit(camera: viser.CameraHandle) -> None:
            nonlocal fitted
            if camera.aspect != fitted and time.monotonic() < until:
                fitted = camera.aspect
                self._look_at_all(client)

        client.camera.on_update(fit)
        fit(client.camera)
        self.opened.set()

    def _place_camera(self, moment: Moment) -> None:
        """Have every page begin with all movable bodies in sight."""
        camera, best = self.server.initial_camera, self.scene.camera(moment, _ASPECT)
        camera.fov = OPENING
        camera.look_at = best.target
        camera.position = best.eye
        camera.near, camera.far = 1e-3 * self.scene.size, 1e3 * self.scene.size

    def _look_at_all(self, client: viser.ClientHandle | None) -> None:
        if client is not None:
            best = self.scene.camera(self.moment, client.camera.aspect)
            with client.atomic():
                client.camera.up_direction = (0.0, 0.0, 1.0)
                client.camera.position = best.eye
                client.camera.look_at = best.target

    def _click(self, event: viser.SceneClickEvent) -> None:
        origin, direction = np.array(event.ray_origin), np.array(event.ray_direction)
        body = self.scene.pick(self.moment, origin, direction)
        if body is not None:
            self.panel.select(body)


class _View:
    """What both viewers share: an address, waiting, and an end."""

    page: _Page

    @property
    def address(self) -> str:
        """Where the page is served, such as http://127.0.0.1:8080."""
        return self.page.address

    def wait(self, seconds: float = np.inf) -> None:
        """Keep the page for so long, or until Ctrl-C; what went wrong on it is raised here."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0.0:
            self.page.wait(min(left, 0.2))

    def close(self) -> None:
        """End the page."""
        self.page.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()


# ---- a recorded run ---------------------------------------------------------------------------------


class RecordingView(_View):
    """Plays a recorded run; frames are read one by one, when they are to be seen.

    Args:
        path: the file; the run may still be going on.
        host, port: where to serve the page, 127.0.0.1 and 8080 if not given; if the port is taken, the next
            free one.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, host: str | None = None, port: int | None = None
    ) -> None:
        with contextlib.ExitStack() as on_failure:
            self._trajectory = on_failure.enter_context(Trajectory(path))
            if not len(self._trajectory):
                raise FileFormatError(f"{path} has no frames yet: look again when the run has begun")
            self.playback = Playback(self._trajectory.times)
            """Which frame is due."""
            start = Moment.of_recording(self._trajectory, 0)
            stage = Stage.of_recording(self._trajectory)
            self.page = _Page(os.path.basename(os.fspath(path)), stage, start, host, port)
            on_failure.pop_all()
        self._lock = threading.Lock()
        self._shown = -1
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
                hint="Simulated seconds in a second",
            )  # fmt: skip
            self._follow = gui.add_checkbox(
                "Follow", self._growing, hint="Look for new frames once a second, and go with the last one"
            )
        self._slider.on_update(lambda event: self._seek(event.target.value) if event.client else None)
        self._play.on_click(lambda _: self._play_or_pause())
        step.on_click(lambda event: self._do(lambda now: playback.step(_JUMPS[event.target.value], now)))
        speed.on_update(
            lambda event: self._do(lambda now: playback.set_speed(float(event.target.value[:-1]), now))
        )

    @property
    def _growing(self) -> bool:
        """Whether the run has not come to the end that it was asked for."""
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
            frame, playing = self.playback.frame_at(now), self.playback.playing
        self._play.label = "Pause" if playing else "Play"
        self._play.icon = viser.Icon.PLAYER_PAUSE if playing else viser.Icon.PLAYER_PLAY
        if frame == self._shown and not changed:
            return
        moment = Moment.of_recording(self._trajectory, frame)
        self.page.show(moment, f"frame {frame} of {self.playback.last}")
        if not playing:
            self.page.panel.plot(moment.time)
        self._slider.value = frame  # type: ignore[misc]
        self._shown = frame

    def _refresh(self, now: float) -> None:
        before = len(self.playback)
        self._trajectory.refresh()
        if len(self._trajectory) == before:
            return
        with self._lock:
            self.playback.extend(self._trajectory.times, now)
        self._slider.max = max(self.playback.last, 1)
        self._read_curves()
        self._follow.value = self._growing  # type: ignore[misc]


# ---- a run that goes on -----------------------------------------------------------------------------


class LiveView(_View):
    """Shows a run while it is computed; give `observe` and `stopped` to `simulate`.

    Args:
        title: what the page is called.
        system: the state that the run begins with.
        host, port: where to serve the page, 127.0.0.1 and 8080 if not given; if the port is taken, the next
            free one.
    """

    def __init__(
        self, title: str, system: System, *, host: str | None = None, port: int | None = None
    ) -> None:
        start = Moment.of_start(system)
        self.page = _Page(title, Stage.of_system(system), start, host, port)
        self.stop_asked = False
        """Whether Stop was pressed."""
        self._latest = start
        self._shown: Moment | None = None
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

    def hold(self, wants_stop: Callable[[], bool] = lambda: False) -> None:
        """Come back when the page has been opened in a browser and is not paused.

        Comes back early when `wants_stop` says that the run has to end.
        """
        while not self.page.opened.wait(0.1) and not wants_stop():
            self.page.wait(0.0)
        if self._go_on.is_set():
            return
        self._show_last_step()
        while not self._go_on.wait(0.05) and not wants_stop():
            if self._single_steps:
                self._single_steps -= 1
                return

    def observe(self, frame: Frame) -> None:
        """Take the state after a step; it is copied if it is time for the next picture."""
        self._last_step = frame
        self._residual.append(frame.time, frame.residual)
        self._energy.append(frame.time, frame.numbers.get("kinetic_energy", math.nan))
        if self._due.due(time.monotonic()):
            self._latest = Moment.of_step(frame)

    def stopped(self, frame: Frame) -> bool:
        """Wait as `hold` does, and tell whether Stop was pressed."""
        self.hold()
        return self.stop_asked

    def finish(self) -> None:
        """Show the last state, and say on the page that the run has ended."""
        self._ended = True
        self._show_last_step()
        self._pause.disabled = self._one.disabled = self._stop.disabled = True
        self.page.redraw()

    # ---- called by the page

    def _show_last_step(self) -> None:
        """Copy the state as it is now; no step may be under way."""
        if self._last_step is not None:
            self._latest = Moment.of_step(self._last_step)

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
        moment = self._latest
        if moment is self._shown and not changed:
            return
        state = "ended" if self._ended else "running" if self._go_on.is_set() else "paused"
        self.page.panel.set_curves(self._residual, self._energy)
        self.page.show(moment, f"step {moment.frame.index}, {state}")
        if state != "running":
            self.page.panel.plot(moment.time)
        self._shown = moment
