"""Melanz, Mazhar and Negrut: the relaxed cone complementarity problem and anti-relaxation."""

from __future__ import annotations

from nonsmooth.experiments.melanz import ball, scaling
from nonsmooth.experiments.report.entries import Claim, Entry, Paper, Source
from nonsmooth.experiments.shared import granular

_PLANE = "impulses (normal, tangential) of the sliding ball's first step"


def _view(label: str, theirs: str, picture: str, number: int, law: str) -> Entry:
    """One of the four views of the same problem."""
    rows = (ball.IMPULSE.of(law=law), ball.FOUND_TWICE(number))
    return Entry(label, theirs, (Source("melanz-ball", (picture,), rows),))


def _seen_again(label: str, theirs: str, picture: str, shown: str) -> Entry:
    source = Source("melanz-ball", (picture,))
    return Entry(
        label, theirs, (source,), remark=f"Our picture of {shown} has contours and constraints in one."
    )


def _container(experiment: str, label: str, theirs: str, picture: str) -> Entry:
    anti_relaxed = granular.ANTI_RELAXED.label
    rows = (
        granular.FINAL_FORCE,
        granular.SETTLED_FROM,
        granular.JITTER,
        granular.LATE_ERROR,
        granular.LARGEST_RELAXED_BY,
        granular.BALANCE,
    )
    claims = (
        Claim(
            "The anti-relaxed force settles much sooner than the relaxed one.",
            granular.SETTLED_FROM(anti_relaxed),
            over=granular.SETTLED_FROM(granular.RELAXED.label),
            most=1.0,
        ),
        Claim(
            "The complementarity error of the anti-relaxed solution is several orders of magnitude smaller.",
            granular.RELAXED_BY(anti_relaxed),
            least=100.0,
        ),
    )
    return Entry(label, theirs, (Source(experiment, (picture,), rows, claims=claims),))


MELANZ = Paper(
    name="melanz",
    title="Using an anti-relaxation step to improve the accuracy of the frictional contact solution in a DVI "
    "framework for rigid body dynamics",
    authors="Melanz, Mazhar and Negrut",
    place="manuscript, University of Wisconsin–Madison",
    entries=(
        Entry(
            "Fig. 1",
            "A sketch of the unit ball on the plane, with its coordinates.",
            sketch=True,
            remark="It shows no result; the ball is our scene of Figs. 2 to 6.",
        ),
        Entry(
            "Eqs. 46 and 47",
            "The matrix N and the vector r of the ball's first step.",
            (Source("melanz-ball", rows=(ball.MATRIX, ball.FREE_VELOCITY)),),
        ),
        Entry(
            "Fig. 2",
            "Velocities of the ball over one second, beside the closed form: with the relaxed problem on the "
            "left they are wrong, with anti-relaxation on the right they coincide with it.",
            (
                Source(
                    "melanz-ball",
                    ("fig02_velocities.png",),
                    (
                        ball.TRANSITION_TIME,
                        ball.FORWARD_AT_THE_END,
                        ball.ROLLING_AT_THE_END,
                        ball.RISING_SPEED,
                        ball.VELOCITY_ERROR,
                    ),
                    claims=(
                        Claim(
                            "With the exact law the velocities match the closed form.",
                            ball.VELOCITY_ERROR("exact"),
                            most=1e-6,
                        ),
                        Claim("The relaxed problem throws the ball off the ground.", ball.FLIGHT, least=1e-3),
                    ),
                ),
            ),
        ),
        _view(
            "Fig. 3",
            f"The original problem in the plane of {_PLANE}: contours, friction cone and "
            "complementarity lines; its optimum is the analytical one.",
            "fig03_original_dvi.png",
            3,
            "exact",
        ),
        _view(
            "Fig. 4",
            "The same plane with the relaxed complementarity condition: the line splits in two and the "
            "optimum moves to larger impulses.",
            "fig04_relaxed_dvi.png",
            4,
            "relaxed",
        ),
        _view(
            "Fig. 5",
            "The relaxed problem as a minimum of a quadratic over the cone: the optimum is that of "
            "Fig. 4, not the analytical one.",
            "fig05_relaxed_ccqo.png",
            5,
            "relaxed",
        ),
        _view(
            "Fig. 6",
            "The anti-relaxed quadratic: its contours move until the optimum is the analytical one.",
            "fig06_anti_relaxed_ccqo.png",
            6,
            "exact",
        ),
        Entry(
            "Fig. 7",
            "Pictures of 1,000 spheres falling into a container, coloured by speed.",
            (Source("melanz-filling", ("fig07_scene_exact.png", "fig07_scene_relaxed.png")),),
            remark="The quick form drops fewer spheres.",
        ),
        _container(
            "melanz-filling",
            "Fig. 8",
            "Force on the container and complementarity error over time while "
            "it is filled, relaxed and anti-relaxed.",
            "fig08_force_and_error.png",
        ),
        Entry(
            "Fig. 9",
            "Pictures of spheres in a container under a heavy slab, coloured by speed.",
            (Source("melanz-compaction", ("fig09_scene.png",)),),
            remark="The caption speaks of 4,000 spheres, the text of 1,000: the full form draws 4,000 and "
            "compares 1,000; the quick form has fewer.",
        ),
        _container(
            "melanz-compaction",
            "Fig. 10",
            "Force on the container and complementarity error over time "
            "under the slab, relaxed and anti-relaxed.",
            "fig10_force_and_error.png",
        ),
        Entry(
            "Fig. 11",
            "Largest complementarity error and mean number of iterations of fillings of 10 to 16,000 "
            "spheres, over the number of collisions.",
            (
                Source(
                    "melanz-scaling",
                    ("fig11_scaling.png",),
                    (scaling.RELAXED_BY_EXACT, scaling.ITERATIONS, scaling.TIMES),
                    claims=(
                        Claim(
                            "Without relaxation the error is several orders of magnitude smaller.",
                            scaling.RELAXED_BY_EXACT,
                            least=100.0,
                        ),
                        Claim(
                            "The error of the relaxed solution grows with the number of collisions.",
                            scaling.LARGEST_ERROR(granular.RELAXED.label, 100),
                            over=scaling.LARGEST_ERROR(granular.RELAXED.label, 10),
                            least=1.0,
                        ),
                        *(
                            Claim(
                                f"Below 100 spheres both need about as many iterations: {size} spheres.",
                                scaling.ITERATIONS(size),
                                least=0.5,
                                most=2.0,
                            )
                            for size in (10, 30)
                        ),
                    ),
                ),
            ),
        ),
        *(
            Entry(label, f"The objective of Fig. {shown} as a surface.", (Source("melanz-ball", (picture,)),))
            for label, shown, picture in (
                ("Fig. 12", 3, "fig12_original_dvi_surface.png"),
                ("Fig. 13", 4, "fig13_relaxed_dvi_surface.png"),
                ("Fig. 14", 5, "fig14_relaxed_ccqo_surface.png"),
                ("Fig. 15", 6, "fig15_anti_relaxed_ccqo_surface.png"),
            )
        ),
        *(
            _seen_again(
                label,
                f"The constraints of {shown} once more, with contours of the objective.",
                picture,
                shown,
            )
            for label, shown, picture in (
                ("Fig. 16", "Fig. 3", "fig03_original_dvi.png"),
                ("Fig. 17", "Fig. 4", "fig04_relaxed_dvi.png"),
                ("Fig. 18", "Fig. 5", "fig05_relaxed_ccqo.png"),
                ("Fig. 19", "Fig. 6", "fig06_anti_relaxed_ccqo.png"),
            )
        ),
    ),
)
