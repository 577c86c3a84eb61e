"""The command `nonsmooth view`, and the viewer of `nonsmooth run --view`: pages in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nonsmooth.cli.parts import Group, command, option, whole_number
from nonsmooth.cli.terminal.console import ERR, OUT

if TYPE_CHECKING:
    from nonsmooth.model import System
    from nonsmooth.view.web.viewer import LiveView

Host = Annotated[
    str | None,
    option(
        "--host",
        "ADDRESS",
        "Address to bind to; use 0.0.0.0 to allow other machines to connect.",
        default="127.0.0.1",
    ),
]
Port = Annotated[
    int | None,
    option(
        "--port",
        "NUMBER",
        "Port of the viewer; the next free port is used if this one is taken.",
        default="8080",
        parser=whole_number,
    ),
]


@command(
    Group.RECORDINGS,
    ("nonsmooth view filling.h5", "play a recorded run"),
    ("nonsmooth view filling.h5 --port 9000", "on another port"),
    ("nonsmooth view filling.h5 --host 0.0.0.0", "reachable from other machines"),
    ("nonsmooth run filling --set spheres=100 --view", "watch a run live"),
)
def view(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A recorded run (HDF5), finished or still running.")
    ],
    host: Host = None,
    port: Port = None,
) -> None:
    """Play a recorded run in the browser; stop with Ctrl-C.

    Frames are read one at a time, so memory does not grow with the size of the file.
    """
    from nonsmooth.view.web.viewer import RecordingView

    with RecordingView(file, host=host, port=port) as page:
        OUT.print(f"{file} is shown at {page.address} (Ctrl-C ends it)", soft_wrap=True)
        page.wait()


def live_view(name: str, system: System, host: str | None, port: int | None) -> LiveView:
    """Open the page of a run and print its address."""
    from nonsmooth.view.web.viewer import LiveView

    page = LiveView(name, system, host=host, port=port)
    ERR.print(f"Open {page.address} in a browser to start the run.", soft_wrap=True)
    return page
