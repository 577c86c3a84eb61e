"""Make the picture of the web viewer's page in docs/images: a filled container with its force chains.

    python tools/make_viewer_picture.py

It needs `pip install "nonsmooth[view]" playwright` and Chromium; without a graphics card it takes a minute.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from nonsmooth.scenes.filling import filling
from nonsmooth.stepping import simulate
from nonsmooth.view.web.viewer import RecordingView

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "viewer.png"
SPHERES = 200
PATIENCE = 120e3
"""Milliseconds."""


def main() -> None:
    """Record the run, open its page as a user does, and take its picture."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "filling.h5"
        simulate(filling(SPHERES), duration=2.0, step=0.005, record=str(path))
        program = shutil.which("chromium") or shutil.which("google-chrome")
        flags = ["--no-sandbox", "--ignore-gpu-blocklist", "--enable-unsafe-swiftshader"]
        browser = playwright.chromium.launch(executable_path=program, args=flags)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(PATIENCE)
        with RecordingView(path, port=0) as view:
            page.goto(view.address)
            page.get_by_role("button", name="Last", exact=True).click()
            page.get_by_text("Force chains").click()
            page.get_by_text("N and more").wait_for()
            page.wait_for_timeout(15e3)
            warning = page.get_by_text("Software WebGL")  # true, and of no interest to readers
            if warning.count():
                page.locator("button.mantine-Notification-closeButton").first.click()
            page.wait_for_timeout(10e3)
            page.screenshot(path=PICTURE, timeout=PATIENCE)
        browser.close()
    print(PICTURE)


if __name__ == "__main__":
    main()
