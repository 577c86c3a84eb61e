"""Andreani, Friedlander, Mello and Santos: contact problems as bound-constrained minimisation."""

from __future__ import annotations

from nonsmooth.experiments.andreani import grasps, mcplib, pyramid
from nonsmooth.experiments.report.entries import Claim, Entry, Paper, Source

_OTHER_STARTS = (
    "Starting points and random data are not printed, the method is our implementation of BOX-QUACAN, and "
    "times are those of their machine."
)
_OTHER_GRASPS = (
    "Masses, friction and random data of the grasps are not printed, and times are those of their machine."
)

ANDREANI = Paper(
    name="andreani",
    title="Multi-rigid-body contact problems with Coulomb friction: complementarity and equivalent "
    "formulations",
    authors="Andreani, Friedlander, Mello and Santos",
    place="State University of Campinas",
    entries=(
        Entry(
            "§4.1, Harker's models",
            "Eight models of spatial competition: all solved, with 27 to 129 variables and an objective "
            "below 1e-10.",
            (
                Source(
                    "andreani-mcplib",
                    rows=(mcplib.HARKER_DIMENSION, mcplib.HARKER_OBJECTIVE),
                    claims=(Claim("Every objective is below 1e-10.", mcplib.HARKER_OBJECTIVE, most=1e-10),),
                ),
            ),
        ),
        Entry(
            "Table 1",
            "Mean iterations, evaluations, products and time of BOX-QUACAN for Scarf's economic equilibria "
            "with two normalisations.",
            (
                Source(
                    "andreani-mcplib",
                    rows=tuple(mcplib.SCARF.of(problem=name) for name in mcplib.TABLE_1),
                    in_kind=tuple(
                        mcplib.SCARF(problem=name, column=column)
                        for name in mcplib.TABLE_1
                        for column in mcplib.COLUMNS
                    ),
                    why_in_kind=_OTHER_STARTS,
                ),
            ),
        ),
        Entry(
            "Fig. 1",
            "Time of an inner iteration over the number of variables, 70 to 70,000, for Bertsekas' optimal "
            "control.",
            (
                Source(
                    "andreani-mcplib",
                    ("fig01_cost_of_inner_iterations.png", "growth.png"),
                    (mcplib.RATE, mcplib.CONTROL, mcplib.CPU_TIME, mcplib.PAPERS_OBJECTIVE),
                    in_kind=(mcplib.CPU_TIME,),
                    why_in_kind="Their method on their machine, 8.8 hours for the largest problem.",
                ),
            ),
            remark="Our implementation of their method does not solve the largest problems within its limit; "
            "semismooth Newton does.",
        ),
        Entry(
            "§4.2, sliding contacts",
            "Two robots hold a cube and both contacts slide: all 200 problems were solved.",
            (Source("andreani-grasps", ("forces.png",), (grasps.SOLVED.of(family="sliding"),)),),
        ),
        *(
            Entry(
                label,
                f"How many of the 200 problems with {what} end with which objective; the paper solved "
                f"{share}.",
                (
                    Source(
                        "andreani-grasps",
                        (picture,),
                        (grasps.SOLVED.of(family=key),),
                        (grasps.SOLVED.of(family=key),),
                        _OTHER_GRASPS,
                        (
                            Claim(
                                f"{share} of the 200 problems are solved (ours: at least that share).",
                                grasps.SOLVED(family=key, method=grasps.PAPER_METHOD),
                                least=least,
                            ),
                        ),
                    ),
                ),
            )
            for label, what, share, picture, key, least in (
                ("Fig. 2", "Coulomb's cone", "183", "fig02_objective_cone.png", "rolling", 91.5),
                ("Fig. 3", "a pyramid", "194", "fig03_objective_pyramid.png", "pyramid", 97.0),
            )
        ),
        Entry(
            "Table 2",
            "Least, mean and largest CPU time of BOX-QUACAN for the cone (a nonlinear problem) and for the "
            "pyramid (a linear one).",
            (
                Source(
                    "andreani-grasps",
                    rows=(grasps.TABLE_2,),
                    in_kind=(grasps.TABLE_2,),
                    why_in_kind=_OTHER_GRASPS,
                    claims=(
                        Claim(
                            "The cone takes more time than the pyramid.",
                            grasps.TABLE_2("mean", "rolling"),
                            over=grasps.TABLE_2("mean", "pyramid"),
                            least=1.0,
                        ),
                    ),
                ),
            ),
        ),
        Entry(
            "Table 3",
            "Mean iterations, evaluations and products of BOX-QUACAN for the cone and for the pyramid.",
            (
                Source(
                    "andreani-grasps",
                    rows=(grasps.TABLE_3,),
                    in_kind=(grasps.TABLE_3,),
                    why_in_kind=_OTHER_GRASPS,
                    claims=(
                        Claim(
                            "The cone takes about nine times as many products (tested: three to thirty "
                            "times).",
                            grasps.TABLE_3("MVP", "rolling"),
                            over=grasps.TABLE_3("MVP", "pyramid"),
                            least=3.0,
                            most=30.0,
                        ),
                    ),
                ),
            ),
        ),
        Entry(
            "§4.2, cone versus pyramid",
            "How often friction opposes the acceleration, how often a force of the pyramid is outside the "
            "cone, and how often both predict the same transition.",
            (
                Source(
                    "andreani-grasps",
                    rows=(grasps.AGAINST, grasps.OUTSIDE, grasps.SAME_TRANSITION),
                    in_kind=(grasps.AGAINST, grasps.OUTSIDE, grasps.SAME_TRANSITION),
                    why_in_kind=_OTHER_GRASPS + " The paper counts rolling contacts too.",
                ),
                Source("andreani-pyramid", ("direction_error.png", "cost.png"), (pyramid.CUBE_DIRECTION,)),
            ),
            remark="Beyond the paper: pyramids of 4 to 32 sides.",
        ),
    ),
)
