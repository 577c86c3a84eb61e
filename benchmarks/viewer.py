"""Playback speed of the web viewer for a recording of many spheres in a real browser.

    python benchmarks/viewer.py                     # 16,000 spheres, 10 s
    python benchmarks/viewer.py --spheres 1000

It needs `pip install "nonsmooth[view]" playwright` and Chromium. The times of the server and of the page's
scripts do not depend on the graphics card; the frame rate does, so the name of the renderer is printed too.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from nonsmooth.scenes.filling import filling
from nonsmooth.stepping import simulate
from nonsmooth.view.drawing.snapshot import Snapshot
from nonsmooth.view.web.viewer import RecordingView

STEPS = 40
_PICTURES = """(seconds) => new Promise(answer => {
    let pictures = 0;
    const start = performance.now();
    function next(now) {
        pictures += 1;
        if (now - start < 1000 * seconds) requestAnimationFrame(next);
        else answer(1000 * pictures / (now - start));
    }
    requestAnimationFrame(next);
})"""
_DRAWN_BY = """() => {
    const gl = document.createElement("canvas").getContext("webgl2");
    const names = gl && gl.getExtension("WEBGL_debug_renderer_info");
    return names ? gl.getParameter(names.UNMASKED_RENDERER_WEBGL) : "unknown";
}"""


def record(folder: Path, spheres: int) -> Path:
    """Record the first steps of a filling; opening it must not depend on their number."""
    path = folder / "filling.h5"
    system = filling(spheres)
    system.linear_velocity[:spheres, 2] = -2.0  # colours and places change in every frame
    simulate(system, duration=STEPS * 0.005, step=0.005, record=str(path))
    return path


def server_time(path: Path) -> float:
    """Time in s in which the server reads, colours and sends a frame, without a client."""
    with RecordingView(path, port=0) as view:
        view.page._ended.set()  # keep its own thread from showing frames
        view.page._thread.join()
        took = []
        for number in range(STEPS):
            start = time.perf_counter()
            view.page.scene.show(Snapshot.of_recording(view._trajectory, number), view.page.panel.choice)
            took.append(time.perf_counter() - start)
    return sorted(took)[STEPS // 2]


def play(browser: Any, path: Path, seconds: float) -> dict[str, float | str]:
    """Play the recording slowly, so that there is always motion; measure in the page."""
    with RecordingView(path, port=0) as view:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(120e3)
        talk = page.context.new_cdp_session(page)
        talk.send("Performance.enable")
        page.goto(view.address)
        page.get_by_role("button", name="Play", exact=True).wait_for()
        page.wait_for_timeout(5000)
        drawn_by = page.evaluate(_DRAWN_BY)

        def script_seconds() -> float:
            metrics = talk.send("Performance.getMetrics")["metrics"]
            return float(next(each["value"] for each in metrics if each["name"] == "ScriptDuration"))

        sent = 0
        show = view.page.show

        def count(*what: Any) -> None:
            nonlocal sent
            sent += 1
            show(*what)

        view.page.show = count  # type: ignore[method-assign]
        view._do(lambda now: view.playback.set_speed(STEPS * 0.005 / (4.0 * seconds), now))
        view._do(view.playback.play)
        page.wait_for_timeout(1000)
        scripts, sent = script_seconds(), 0
        start = time.perf_counter()
        pictures = page.evaluate(_PICTURES, seconds)
        took = time.perf_counter() - start
        scripts = script_seconds() - scripts
        rate = sent / took
        page.close()
    return {
        "drawn by": drawn_by,
        "frames sent in a second": rate,
        "ms of scripts for a frame": 1e3 * scripts / max(sent, 1),
        "pictures in a second": pictures,
    }


def main() -> None:
    """Print one line for each measured number."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--spheres", type=int, default=16_000)
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = record(Path(folder), options.spheres)
        start = time.perf_counter()
        RecordingView(path, port=0).close()
        print(f"{options.spheres} spheres, recording of {path.stat().st_size / 1e6:.0f} MB")
        print(f"{'s to open it':32s} {time.perf_counter() - start:.2f}")
        print(f"{'ms of the server for a frame':32s} {1e3 * server_time(path):.1f}")
        program = shutil.which("chromium") or shutil.which("google-chrome")
        flags = ["--no-sandbox", "--ignore-gpu-blocklist", "--enable-unsafe-swiftshader"]
        browser = playwright.chromium.launch(executable_path=program, args=flags)
        for name, value in play(browser, path, options.seconds).items():
            print(f"{name:32s} {value if isinstance(value, str) else f'{value:.3g}'}", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
