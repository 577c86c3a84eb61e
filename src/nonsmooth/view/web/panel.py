"""The panel beside the scene: display options, legends with units, plots, data of the selected body."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import replace
from html import escape
from typing import Any

import numpy as np
import viser
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats
from nonsmooth.model import shapes as kinds
from nonsmooth.view.drawing.colours import (
    CONTACT_COLOURS,
    ColourBy,
    Colours,
    ContactState,
    body_values,
    legend_text,
    number_text,
    scale_colours,
)
from nonsmooth.view.drawing.contact_forces import FORCE_COLOUR, LEAST_CHAIN
from nonsmooth.view.drawing.look import Look
from nonsmooth.view.drawing.snapshot import Snapshot
from nonsmooth.view.web.choice import Choice
from nonsmooth.view.web.marks import CHAIN_COLOURS
from nonsmooth.view.web.plots import small_plot
from nonsmooth.view.web.scene import Shown
from nonsmooth.view.web.stage import Stage
from nonsmooth.view.web.state import CHAIN_CLASSES, GrowingCurve

_COLOUR_NAMES = {ColourBy.SPEED: "speed", ColourBy.FORCE: "contact force", ColourBy.BODY: "body"}
_SEE_THROUGH = 0.25
"""Opacity of bodies when marks inside them are switched on."""
_GLASS = 0.3
"""Opacity at the start of fixed bodies that stand around others."""


class Panel:
    """Display controls; `changed` is called when one of them was moved."""

    def __init__(
        self, server: viser.ViserServer, stage: Stage, encloses: bool, changed: Callable[[], None]
    ) -> None:
        self._stage = stage
        self._changed = changed
        self._lock = threading.Lock()  # viser calls from several threads
        self.choice = Choice(fixed_opacity=_GLASS if encloses else 1.0)
        """The present choices."""
        gui = server.gui
        solid = stage.shapes.body[stage.shapes.kind != kinds.HALF_SPACE]
        has_fixed = bool(stage.fixed[solid].any())
        with gui.add_folder("Colours"):
            self._colour = gui.add_dropdown(
                "Bodies by", tuple(_COLOUR_NAMES.values()), hint="Quantity shown by colours"
            )
            self._colour_legend = gui.add_html("")
            self._opacity = gui.add_slider("Opacity", 0.05, 1.0, 0.05, 1.0, hint="Opacity of movable bodies")
            self._fixed_opacity = gui.add_slider(
                "… if fixed", 0.05, 1.0, 0.05, self.choice.fixed_opacity, visible=has_fixed,
                hint="Opacity of fixed bodies such as containers",
            )  # fmt: skip
        with gui.add_folder("Show"):
            self._points = gui.add_checkbox("Contact points", False)
            self._arrows = gui.add_checkbox("Force arrows", False, hint="On the movable body, or on body B")
            self._length = gui.add_slider("Arrow length", 0.1, 5.0, 0.1, 1.0, visible=False)
            self._chains = gui.add_checkbox("Force chains", False, hint="Thickness by normal force")
            self._joints = gui.add_checkbox("Joints", True, visible=len(stage.joints) > 0)
            self._axes = gui.add_checkbox("Body axes", False, hint="x red, y green, z blue")
            self._force_legend = gui.add_html("", visible=False)
        side = gui.add_panel()
        with side.add_tab("Numbers", viser.Icon.CHART_LINE):
            self._plots = gui.add_html("")
            with gui.add_folder("Selected body"):
                self._selected = gui.add_html(_small("Click a body to see its numbers."))
                self._unselect = gui.add_button("Unselect", visible=False)
        gui.main_panel.dock_right()
        side.dock_left()
        side.set_width(290)
        self._curves = (GrowingCurve(), GrowingCurve())
        self._connect()

    def set_curves(self, residual: GrowingCurve, energy: GrowingCurve) -> None:
        """Take the curves over all steps: the certificate's residual, and the kinetic energy in J."""
        self._curves = (residual, energy)

    def plot(self, now: float) -> None:
        """Draw the curves, dark up to the time `now` in s and pale after it."""
        residual, energy = (curve.points() for curve in self._curves)
        self._plots.content = small_plot(
            "relative residual of every step", *residual, now, logarithmic=True
        ) + small_plot("kinetic energy in J", *energy, now)

    def select(self, body: int | None) -> None:
        """Select a body, or none."""
        with self._lock:
            self.choice = replace(self.choice, selected=body)
        self._unselect.visible = body is not None
        if body is None:
            self._selected.content = _small("Click a body to see its numbers.")
        self._changed()

    def update(self, snapshot: Snapshot, shown: Shown) -> None:
        """Update legends and numbers."""
        self._colour_legend.content = _colour_legend(self.choice.look.colour, shown.colours)
        legend = _force_legend(self.choice, shown)
        self._force_legend.content = legend
        self._force_legend.visible = bool(legend)
        if self.choice.selected is not None:
            self._selected.content = body_numbers(self._stage, snapshot.recorded, self.choice.selected)

    def _connect(self) -> None:
        for control in (
            self._colour, self._opacity, self._fixed_opacity, self._points, self._arrows, self._length,
            self._chains, self._joints, self._axes,
        ):  # fmt: skip
            control.on_update(self._take)
        self._unselect.on_click(lambda _: self.select(None))

    def _take(self, event: viser.GuiEvent[Any]) -> None:
        if event.client is None:
            return  # moved by the program
        with self._lock:
            self._read_controls()
        self._changed()

    def _read_controls(self) -> None:
        marks = self._points.value or self._arrows.value or self._chains.value
        if marks != self.choice.look.overlay:  # marks lie inside bodies
            self._opacity.value = _SEE_THROUGH if marks else 1.0  # type: ignore[misc]
        self._length.visible = self._arrows.value
        self.choice = replace(
            self.choice,
            look=Look(
                next(by for by, name in _COLOUR_NAMES.items() if name == self._colour.value),
                forces=self._arrows.value,
                chains=self._chains.value,
                contacts=self._points.value,
            ),
            joints=self._joints.value,
            body_axes=self._axes.value,
            opacity=self._opacity.value,
            fixed_opacity=self._fixed_opacity.value,
            arrow_length=self._length.value,
        )


# ---- legends ----------------------------------------------------------------------------------------


def status_line(time: float, words: str) -> str:
    """Return the line above the controls: the time in s, and a short text."""
    return f'<div class="nonsmooth-status" style="margin: 0.5em 1em"><b>t = {time:.4g} s</b>, {words}</div>'


def _small(text: str) -> str:
    return f'<div style="font-size: 0.8em; margin: 0.2em 0.7em; line-height: 1.5">{text}</div>'


def _css(colour: ArrayLike) -> str:
    red, green, blue = (int(part) for part in np.asarray(colour))
    return f"rgb({red},{green},{blue})"


def _swatch(colour: ArrayLike, text: str, height: str = "0.8em") -> str:
    box = f"display: inline-block; width: 1.6em; height: {height}; vertical-align: middle"
    return f'<span style="{box}; background: {_css(colour)}"></span>&ensp;{text}'


def _colour_legend(wanted: ColourBy, colours: Colours) -> str:
    """The colour scale with its ends, or a note if the numbers were not recorded."""
    if math.isnan(colours.high):
        missing = wanted is not ColourBy.BODY
        return _small(f"The {_COLOUR_NAMES[wanted]} was not recorded.") if missing else ""
    stops = ", ".join(_css(scale_colours()[k]) for k in range(0, 256, 51))
    low, high = legend_text(colours.low, colours.high, colours.unit)
    bar = f'<div style="height: 0.9em; background: linear-gradient(to right, {stops})"></div>'
    ends = f'<div style="display: flex; justify-content: space-between"><span>{low}</span><span>{high}</span>'
    return _small(f"{escape(colours.label)}{bar}{ends}</div>")


def _force_legend(choice: Choice, shown: Shown) -> str:
    """Legend of points, arrows and chains, with forces in N."""
    if not choice.look.overlay:
        return ""
    if shown.contacts is None:
        return _small("Contacts were not recorded.")
    lines = [f"{shown.contacts} contacts"]
    if choice.look.contacts:
        lines += [_swatch(CONTACT_COLOURS[state], state.name.lower()) for state in ContactState]
    top = shown.forces.top
    if choice.look.forces and top > 0.0:
        lines.append(
            _swatch(FORCE_COLOUR, f"{number_text(shown.arrow_length)} m long: {number_text(top)} N", "0.25em")
        )
    if choice.look.chains and top > 0.0:
        for k in range(CHAIN_CLASSES):
            low, high = top * max(k / CHAIN_CLASSES, LEAST_CHAIN), top * (k + 1) / CHAIN_CLASSES
            last = k == CHAIN_CLASSES - 1
            said = (
                f"{number_text(low)} N and more" if last else f"{number_text(low)} to {number_text(high)} N"
            )
            lines.append(_swatch(CHAIN_COLOURS[k], f"{said}, normal", f"{0.15 * (k + 1):.2f}em"))
    return _small("<br>".join(lines))


def body_numbers(stage: Stage, snapshot: Snapshot, body: int) -> str:
    """Name, place, velocity and contact forces of a body as HTML."""

    def three(vector: Floats) -> str:
        return ", ".join(f"{number:.4g}" for number in vector)

    rows = [
        ("body", f"<b>{escape(stage.name(body))}</b>"),
        ("position", f"{three(snapshot.position[body])} m"),
    ]
    velocity = snapshot.frame.linear_velocity
    if velocity is not None:
        rows.append(("velocity", f"{three(velocity[body])} m/s"))
        rows.append(("speed", f"{np.linalg.norm(velocity[body]):.4g} m/s"))
    contacts = snapshot.contacts
    if contacts is not None:
        own = contacts.of(body)
        total = body_values(ColourBy.FORCE, snapshot.frame, contacts, stage.count)[body]
        rows.append(("contacts", f"{len(own)}, their forces:"))
        rows.append(("net force", f"{three(own.force.sum(axis=0))} N"))
        rows.append(("sum of sizes", f"{total:.4g} N"))
    cells = "".join(
        f'<tr><td style="padding-right: 0.8em; opacity: 0.7">{name}</td><td>{value}</td></tr>'
        for name, value in rows
    )
    return _small(f"<table>{cells}</table>")
