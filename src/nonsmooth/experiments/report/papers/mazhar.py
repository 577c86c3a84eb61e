"""Mazhar, Melanz, Ferris and Negrut, TR-2014-11: methods for hard spheres with friction."""

from __future__ import annotations

from nonsmooth.experiments.impacts import rolling_transition
from nonsmooth.experiments.mazhar import dynamics, scaling, static
from nonsmooth.experiments.report.entries import Claim, Entry, Paper, Source
from nonsmooth.experiments.summary import Quantity

_OTHER_SCENE = (
    "The report does not print the spheres' mass, size and container, and its solvers were Mosek and PATH: "
    "numbers of another scene and of other programs."
)
_BALL, _BOX, _FROM_REST, _TO_REST = (case.title for case in dynamics.CASES)


def _convergence(label: str, theirs: str, picture: str, data: str, *rows: Quantity) -> Entry:
    named = tuple(row.of(name=data) for row in rows)
    source = Source("mazhar-static", (picture,), named, named, _OTHER_SCENE)
    return Entry(label, theirs, (source,), remark="Clarabel takes the place of Mosek.")


def _scene(label: str, what: str, shown: str) -> Entry:
    return Entry(label, f"A picture of the scene: {what}.", sketch=True,
                 remark=f"It shows no result; our scene is the same, its motion is in {shown}.")  # fmt: skip


def _motion(
    label: str,
    theirs: str,
    picture: str,
    rows: tuple[Quantity | str, ...] = (),
    claims: tuple[Claim, ...] = (),
    remark: str = "",
) -> Entry:
    """A figure of a motion, whose caption does not name the quantities; ours has all in one picture."""
    return Entry(label, theirs, (Source("mazhar-dynamics", (picture,), rows, claims=claims),), remark=remark)


def _alike(case: str) -> Claim:
    return Claim(
        "Primal, dual and EOM without relaxation give the same motion.", dynamics.APART(case=case), most=1e-6
    )


def _lifts_off(case: str, says: str) -> Claim:
    return Claim(says, dynamics.HIGHEST(case=case, models="relaxed"), least=1e-4)


_PATH = "PATH is not run here: our EOM model is solved by our own method and agrees with the others."

MAZHAR = Paper(
    name="mazhar",
    title="An analysis of several methods for handling hard-sphere frictional contact in rigid multibody "
    "dynamics",
    authors="Mazhar, Melanz, Ferris and Negrut",
    place="TR-2014-11, University of Wisconsin–Madison, 2014",
    entries=(
        Entry(
            "Table 1",
            "Condition number, kinetic energy and iteration limit of two heaps of 320 spheres, one settled "
            "thoroughly and one poorly.",
            (
                Source(
                    "mazhar-static",
                    rows=(static.CONTACTS, static.CONDITION, static.KINETIC_ENERGY),
                    in_kind=(static.CONTACTS, static.CONDITION, static.KINETIC_ENERGY),
                    why_in_kind=_OTHER_SCENE
                    + " The matrix is singular, so that its condition number is a rounding error.",
                    claims=(
                        Claim(
                            "The poorly settled heap moves more.",
                            static.KINETIC_ENERGY(name="poorly"),
                            over=static.KINETIC_ENERGY(name="thoroughly"),
                            least=1.0,
                        ),
                        Claim(
                            "The poorly settled heap overlaps more.",
                            static.OVERLAP(name="poorly"),
                            over=static.OVERLAP(name="thoroughly"),
                            least=1.0,
                        ),
                    ),
                ),
            ),
        ),
        _convergence(
            "Fig. 1",
            "Objective over the iterations of APGD and of Mosek for the thoroughly settled heap.",
            "fig01_fig03_objective.png",
            "thoroughly",
            static.INTERIOR_OBJECTIVE,
            static.INTERIOR_ITERATIONS,
            static.APGD_ITERATIONS,
        ),
        _convergence(
            "Fig. 2",
            "The solution of the thoroughly settled heap: with more iterations APGD comes closer to Mosek.",
            "fig02_fig04_solutions.png",
            "thoroughly",
            static.APGD_RESIDUAL,
        ),
        _convergence(
            "Fig. 3",
            "Objective over the iterations of APGD and of Mosek for the poorly settled heap.",
            "fig01_fig03_objective.png",
            "poorly",
            static.INTERIOR_OBJECTIVE,
            static.INTERIOR_ITERATIONS,
            static.APGD_ITERATIONS,
        ),
        _convergence(
            "Fig. 4",
            "The solution of the poorly settled heap: with more iterations APGD comes closer to Mosek.",
            "fig02_fig04_solutions.png",
            "poorly",
            static.APGD_RESIDUAL,
        ),
        Entry(
            "Fig. 5",
            "Wall time of APGD, Mosek and PATH for heaps of 64 to 2,560 spheres, 77 to 9,228 contacts; PATH "
            "passes its limit of an hour after the sixth.",
            (
                Source(
                    "mazhar-scaling",
                    ("fig05_times.png",),
                    (scaling.CONTACTS, scaling.POWER, scaling.LARGEST),
                    in_kind=(scaling.CONTACTS,),
                    why_in_kind=_OTHER_SCENE,
                ),
            ),
            remark="The report prints no time. The quick form has fewer sizes and fewer solvers.",
        ),
        Entry(
            "Fig. 6",
            "Primal objective of the solver's input, beside that of the converged answer.",
            (
                Source(
                    "mazhar-scaling",
                    ("fig06_primal_objective.png",),
                    (scaling.GOES_IN, scaling.AFTER_BY_BEFORE),
                    claims=(
                        Claim(
                            "For larger problems the objective is larger after solving (tested: all sizes).",
                            scaling.AFTER_BY_BEFORE,
                            least=1.0,
                        ),
                    ),
                ),
            ),
        ),
        _scene("Fig. 7", "a ball of radius 1 m that slides and then rolls on a plane", "Figs. 8 to 11"),
        _motion(
            "Fig. 8",
            "The ball's motion under six models, the first of three figures: all curves coincide.",
            "ball.png",
            (dynamics.ROLLS_FROM, dynamics.POSITION_ERROR(case=_BALL), dynamics.APART(case=_BALL)),
            (_alike(_BALL),),
        ),
        _motion(
            "Fig. 9",
            "The ball's motion under six models, the second of three: all curves coincide.",
            "ball.png",
            (dynamics.ORDER.of(case=_BALL),),
            (_alike(_BALL),),
        ),
        _motion(
            "Fig. 10",
            "The ball's motion under six models, the third of three: all curves coincide.",
            "ball.png",
            (dynamics.ROLLS_FROM,),
            (_alike(_BALL),),
        ),
        _motion(
            "Fig. 11",
            "Magnitude of the ball's velocity: the relaxed models have a spike at the start.",
            "ball.png",
            (dynamics.LIFT_OFF(case=_BALL), dynamics.HIGHEST.of(case=_BALL)),
            (_lifts_off(_BALL, "Relaxation gives the ball a vertical velocity when sliding begins."),),
        ),
        _scene("Fig. 12", "a cube of 1 m that slides on a plane, on four contact points", "Figs. 13 and 14"),
        _motion(
            "Fig. 13",
            "Motion of the box on the plane under six models; PATH's relaxed EOM deviates from the others.",
            "box.png",
            (dynamics.STOP_DISTANCE.of(case=_BOX), dynamics.APART(case=_BOX)),
            (_alike(_BOX),),
            _PATH,
        ),
        _motion(
            "Fig. 14",
            "The same box: under the relaxed models it lifts off and comes back.",
            "box.png",
            (dynamics.HIGHEST.of(case=_BOX), dynamics.LIFT_OFF(case=_BOX)),
            (_lifts_off(_BOX, "Relaxation lifts the box off the plane."),),
        ),
        _scene("Fig. 15", "a box on an incline of 65° that starts from rest", "Figs. 16 and 17"),
        *(
            _motion(
                label,
                f"The box that slides down from rest, {which} figure: under six models the solvers differ a "
                "little.",
                "incline_from_rest.png",
                rows,
                (
                    Claim(
                        "All solvers give slightly different answers.",
                        dynamics.APART(case=_FROM_REST),
                        least=1e-6,
                    ),
                ),
                "Ours do not differ where the model is the same, so that the report's explanation, small "
                "errors that accumulate, is not a property of the models.",
            )
            for label, which, rows in (
                (
                    "Fig. 16",
                    "first",
                    (dynamics.ACCELERATION.of(case=_FROM_REST), dynamics.APART(case=_FROM_REST)),
                ),
                ("Fig. 17", "second", (dynamics.HIGHEST.of(case=_FROM_REST),)),
            )
        ),
        _scene("Fig. 18", "a box that slides on an incline of 25° until it rests", "Figs. 19 and 20"),
        _motion(
            "Fig. 19",
            "Motion of the box that comes to rest under six models; PATH's relaxed EOM deviates from the "
            "others.",
            "incline_to_rest.png",
            (dynamics.STOP_DISTANCE.of(case=_TO_REST), dynamics.APART(case=_TO_REST)),
            (_alike(_TO_REST),),
            _PATH,
        ),
        _motion(
            "Fig. 20",
            "The same box: under the relaxed models it lifts off first and comes back.",
            "incline_to_rest.png",
            (dynamics.HIGHEST.of(case=_TO_REST), dynamics.LIFT_OFF(case=_TO_REST)),
            (_lifts_off(_TO_REST, "Relaxation lifts the box off the incline."),),
        ),
        Entry(
            "§5.3.1",
            "The time from which the ball rolls, 2 v₀/(7 μ g).",
            (
                Source(
                    "rolling-transition",
                    ("plane.png",),
                    (rolling_transition.TRANSITION, rolling_transition.ROLLING_SPEED),
                ),
            ),
            remark="Event-driven, so that the time is located and not sampled.",
        ),
    ),
)
