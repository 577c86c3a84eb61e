"""The web viewer: a page in the browser that plays a recorded run, or shows a run in progress.

    with RecordingView("run.h5") as view:
        print(view.address)
        view.wait()                 # until Ctrl-C

    with LiveView("filling", system) as view:
        simulate(system, duration=1.0, step=0.005, observe=view.observe, until=view.stopped)

It needs viser: `pip install "nonsmooth[view]"`. The page is served on this computer only (127.0.0.1) unless
another address is given.
"""

from __future__ import annotations

from nonsmooth.errors import MissingPackageError

try:
    import viser  # noqa: F401  (asked for here, so that whoever lacks it is told the cure)
except ImportError as error:
    raise MissingPackageError(
        'the viewer needs viser, which is not installed: pip install "nonsmooth[view]"'
    ) from error

from nonsmooth.view.web.live import LiveView
from nonsmooth.view.web.recording import RecordingView

__all__ = ["LiveView", "RecordingView"]
