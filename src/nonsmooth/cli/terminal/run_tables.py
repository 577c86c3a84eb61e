"""Tables of a run for the terminal: its certificate, the final state, and the wall time by parts."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from nonsmooth._support.words import counted
from nonsmooth.cli.terminal.tables import BAD, GOOD, duration, plain_table, titled
from nonsmooth.io import Trajectory
from nonsmooth.stepping import Run, RunCertificate, StepLog
from nonsmooth.stepping.frame import Timings
from nonsmooth.stepping.step_log import ABSENT


def run_report(run: Run) -> Group:
    """Return a finished run: size, verdict, certificate, the final state, and the wall time by parts."""
    settings, system = run.settings, run.system
    parts: list[RenderableType] = [
        _sizes(system.count, int(system.fixed.sum()), len(system.joints), settings),
        Text(f"{counted(run.steps.count, 'step')} of {settings['step']:g} s, to t = {run.time:.6g} s\n"),
        _verdict(run.certificate),
        *_steps(run.steps, run.certificate, len(system.joints)),
    ]
    if run.timings.seconds:
        parts.append(titled("Wall time", _timing_table(run.timings)))
    return Group(*parts)


def recording_report(trajectory: Trajectory) -> Group:
    """Return a recorded run: contents of the file, time reached, certificate, and the final state."""
    settings, bodies, times = trajectory.settings, trajectory.bodies, trajectory.times
    steps = trajectory.steps
    reached, wanted = float(steps["time"][-1]) if steps.count else 0.0, settings.get("duration", 0.0)
    done = "" if reached >= wanted * (1.0 - 1e-9) else f" of {wanted:g} s: unfinished"
    log = StepLog()
    solved = steps["status"] == "solved"
    numbers = [
        steps[name] if name in steps else np.full(steps.count, absent) for name, absent in ABSENT.items()
    ]
    log.restore(np.column_stack([steps["time"], steps["residual"], steps["iterations"], solved, *numbers]))
    certificate = RunCertificate.of(log, settings["tolerance"])
    held = [*trajectory.fields, *(["reactions"] if trajectory.has_reactions else [])]
    return Group(
        _sizes(len(bodies.mass), int(bodies.fixed.sum()), len(trajectory.joints), settings),
        Text(f"{counted(steps.count, 'step')} of {settings['step']:g} s, to t = {reached:.6g} s{done}"),
        Text(
            f"{counted(len(trajectory), 'frame')} from t = {times[0]:.6g} to {times[-1]:.6g} s with "
            f"{', '.join(held)}; {os.path.getsize(trajectory.path) / 1e6:.2f} MB\n"
        ),
        _verdict(certificate),
        *_steps(log, certificate, len(trajectory.joints)),
    )


def _sizes(bodies: int, fixed: int, joints: int, settings: dict[str, Any]) -> Text:
    size = f"{counted(bodies, 'body', 'bodies')}, {fixed} of them fixed"
    if joints:
        size += f"; {counted(joints, 'joint')}"
    scheme = settings.get("scheme", "stabilised")
    how = f", scheme {scheme}" if joints or scheme != "stabilised" else ""
    return Text(f"{size}; law {settings['law']}, solver {settings['solver']}{how}")


def _verdict(certificate: RunCertificate) -> Text:
    steps, failed = certificate.steps, certificate.failed
    if not steps:
        return Text("The run has no steps.")
    verdict = Text.assemble(("Certified", GOOD), f": every step holds to {certificate.tolerance:g}")
    if failed:
        missed = f"{failed} of {counted(steps, 'step')} missed the tolerance"
        verdict = Text.assemble((missed, BAD), f" {certificate.tolerance:g}")
        if certificate.wrong_contact_steps:
            wrong = f": contacts of {certificate.wrong_contact_steps} failed their check"
            verdict = Text.assemble((f"{failed} of {counted(steps, 'step')} failed", BAD), wrong)
    if certificate.joints_held:
        return verdict
    opening = f"{certificate.largest_joint_error:.2g} m or rad"
    apart = (("Joints opened", BAD), f" by {opening}: choose a shorter --step or another --scheme")
    return Text.assemble(*((verdict, "\n") if failed else ()), *apart)


def _steps(log: StepLog, certificate: RunCertificate, joints: int) -> list[RenderableType]:
    """Tables from the numbers of all steps; none if there was no step."""
    if not log.count:
        return []
    last = {name: float(log[name][-1]) for name in log}
    table = plain_table("quantity", "value", "unit", "meaning", numbers=("value",))
    table.add_row("residual", f"{certificate.worst:.2e}", "", f"largest, in step {certificate.worst_step}")
    table.add_row("missed steps", str(certificate.missed), "", "above the tolerance")
    table.add_row(
        "penetration", f"{certificate.largest_penetration:.2e}", "m", "largest overlap of two bodies"
    )
    if joints:
        worst = certificate.largest_joint_error
        table.add_row("joint error", f"{worst:.2e}", "m, rad", "largest opening of a joint")
    table.add_row(
        "late contacts", str(certificate.late_contacts), "", "found after bodies overlapped: raise the margin"
    )
    checked = f"{certificate.contacts_checked} of {certificate.contacts}"
    table.add_row("contacts checked", checked, "", "by code independent of the narrow phase")
    table.add_row("gap error", f"{certificate.largest_gap_error:.2e}", "m", "largest, of those")
    table.add_row(
        "normal error",
        f"{certificate.largest_normal_error:.2e}",
        "rad",
        "to a direction that separates better",
    )
    if certificate.wrong_contact_steps:
        wrong = f"{certificate.missing_contacts} touching pairs were missing"
        table.add_row("steps with wrong contacts", str(certificate.wrong_contact_steps), "", wrong)
    if certificate.deep_contacts:
        deep = "by more than a tenth of the smaller body"
        table.add_row("deep overlaps", str(certificate.deep_contacts), "", deep)
    table.add_row(
        "contact energy",
        f"{certificate.largest_contact_work:.2e}",
        "J",
        f"most energy that contacts {'and joints ' if joints else ''}added in a step",
    )
    if certificate.impacts:
        table.add_row("impacts", str(certificate.impacts), "", "of contacts with restitution")
        created = f"{certificate.largest_impact_work:.2e}"
        table.add_row("impact energy", created, "J", "most energy that impacts added in a step")
    if certificate.reduced_impacts:
        reduced = str(certificate.reduced_impacts)
        table.add_row("reduced impacts", reduced, "", "restitution reduced, to add no energy")
    if certificate.unfinished_impacts:
        table.add_row(
            "unfinished impacts",
            str(certificate.unfinished_impacts),
            "",
            "not converged, or still approaching; stopped by the step",
        )
    energy = "of gravity, zero at the origin" + (", and of springs" if joints else "")
    end = plain_table("quantity", "value", "unit", "meaning", numbers=("value",))
    end.add_row("contacts", f"{last['contacts']:.0f}", "", "found in the last step")
    end.add_row("kinetic energy", f"{last['kinetic_energy']:.4g}", "J", "")
    end.add_row("potential energy", f"{last['potential_energy']:.4g}", "J", energy)
    end.add_row("largest speed", f"{last['largest_speed']:.4g}", "m/s", "")
    return [titled("Certificate", table), titled("At the end", end)]


def _timing_table(timings: Timings) -> Table:
    """Return the wall time of the parts of all steps and their shares; kernel compilation is separate."""
    table = plain_table("part", "time", "share", numbers=("time", "share"))
    total = timings.total
    for part, value in timings.seconds.items():
        table.add_row(part, duration(value), f"{value / total:.0%}" if total else "")
    table.add_section()
    table.add_row("all", duration(total), "")
    if timings.kernels:
        table.add_row("in addition: kernels compiled or loaded", duration(timings.kernels), "")
    return table
