"""A page of the web viewer: its server, its camera, and the thread that keeps it up to date."""

from __future__ import annotations

import contextlib
import io
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Self

import numpy as np
import viser

from nonsmooth.errors import OptionError
from nonsmooth.view.drawing.snapshot import Snapshot
from nonsmooth.view.web.panel import Panel, status_line
from nonsmooth.view.web.scene import OPENING, Scene3D
from nonsmooth.view.web.stage import Stage
from nonsmooth.view.web.state import Throttle

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8080
_PORTS_TRIED = 100
"""Number of further ports tried if the port is taken."""
FRAME_RATE = 30.0
"""Largest number of frames sent per second."""
_PLOT_RATE = 4.0
_SETTLING = 10.0
"""Seconds in which a new page may change its shape and is fitted again."""
_ASPECT = 1.0
"""Default ratio of width to height of a page, until the page reports it."""


class _Server(viser.ViserServer):
    """viser without its public share link."""

    def request_share_url(self, verbose: bool = True) -> str | None:
        """Reject: any page in the browser could request it."""
        return None


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Keep viser's messages off standard output, which is for results."""
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
    """Check that the port can be bound, because viser would retry for ever."""
    if not 0 <= port <= 65535:
        raise OptionError(f"port is {port}: give a number from 1 to 65535, or 0 for any free one")
    fault: OSError | None = None
    for attempt in range(port, min(port + _PORTS_TRIED, 65536)):
        try:
            family, *_, address = socket.getaddrinfo(host, attempt, type=socket.SOCK_STREAM)[0]
            with socket.socket(family, socket.SOCK_STREAM) as trial:
                if os.name == "posix":  # on other systems two servers could share a port
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


class Page:
    """A page with a scene and a panel, kept up to date by a thread of its own."""

    def __init__(
        self, title: str, stage: Stage, samples: Sequence[Snapshot], host: str | None, port: int | None
    ) -> None:
        self.server = _start_server(host, port)
        gui = self.server.gui
        gui.set_panel_label(title)
        self._status = gui.add_html("")
        self.controls = gui.add_folder("Run")
        self._changed = threading.Event()
        self.scene = Scene3D(self.server, stage, samples)
        self.snapshot = samples[0]
        """The displayed snapshot."""
        self.redraw = self._changed.set
        """Show the present snapshot again, with changed settings."""
        self.panel = Panel(self.server, stage, self.scene.encloses, self.redraw)
        self._plots_due = Throttle(_PLOT_RATE)
        self.opened = threading.Event()
        """Set once the page is open in a browser."""
        self.server.on_client_connect(self._open)
        self._place_camera(self.snapshot)
        self.server.scene.on_click()(self._click)
        self._ended = threading.Event()
        self._fault: BaseException | None = None
        self._thread = threading.Thread(target=self._loop, name="viewer", daemon=True)

    @property
    def address(self) -> str:
        """Address of the page."""
        host = self.server.get_host()
        if host in ("0.0.0.0", "::"):
            host = socket.gethostname()
        host = f"[{host}]" if ":" in host else host
        return f"http://{host}:{self.server.get_port()}"

    def start(self, tick: Callable[[bool], None]) -> None:
        """Call `tick(changed)` repeatedly; `changed` is True if a control was moved."""
        with self.controls:
            reset = self.server.gui.add_button(
                "Reset camera",
                icon=viser.Icon.CAMERA,
                hint="See all bodies, at all times",
            )
        reset.on_click(lambda event: self._look_at_all(event.client))
        self._tick = tick
        self._thread.start()

    def show(self, snapshot: Snapshot, words: str) -> None:
        """Show a snapshot, with its time and a short text above the controls."""
        self.snapshot = snapshot
        shown = self.scene.show(snapshot, self.panel.choice)
        self.panel.update(snapshot, shown)
        self._status.content = status_line(snapshot.time, words)
        if self._plots_due.due(time.monotonic()):
            self.panel.plot(snapshot.time)

    def wait(self, seconds: float) -> None:
        """Wait; raise the error of the page's thread, if any."""
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
        """Fit the view of a new page to its window without the panels."""
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

    def _place_camera(self, snapshot: Snapshot) -> None:
        """Begin every page with all movable bodies in sight."""
        camera, best = self.server.initial_camera, self.scene.camera(snapshot, _ASPECT)
        camera.fov = OPENING
        camera.look_at = best.target
        camera.position = best.eye
        camera.near, camera.far = 1e-3 * self.scene.size, 1e3 * self.scene.size

    def _look_at_all(self, client: viser.ClientHandle | None) -> None:
        if client is not None:
            best = self.scene.camera(self.snapshot, client.camera.aspect)
            with client.atomic():
                client.camera.up_direction = (0.0, 0.0, 1.0)
                client.camera.position = best.eye
                client.camera.look_at = best.target

    def _click(self, event: viser.SceneClickEvent) -> None:
        origin, direction = np.array(event.ray_origin), np.array(event.ray_direction)
        self.panel.select(self.scene.pick(self.snapshot, origin, direction))


class WebView:
    """Base class of both viewers: address, waiting, and closing."""

    page: Page

    @property
    def address(self) -> str:
        """Where the page is served, such as http://127.0.0.1:8080."""
        return self.page.address

    def wait(self, seconds: float = np.inf) -> None:
        """Keep the page open for a time in s, or until Ctrl-C; errors of the page are raised here."""
        end = time.monotonic() + seconds
        with contextlib.suppress(KeyboardInterrupt):
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
