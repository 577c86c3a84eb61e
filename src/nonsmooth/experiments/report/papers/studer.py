"""Studer and Glocker: normal cone inclusions written as equations with proximal maps."""

from __future__ import annotations

from nonsmooth.experiments.report.entries import Claim, Entry, Paper, Source
from nonsmooth.experiments.studer import block, load

_DRAWN = "It shows no result."


def _drawn(label: str, theirs: str, picture: str, remark: str = "") -> Entry:
    return Entry(label, theirs, (Source("studer-block", (picture,)),), remark=remark)


STUDER = Paper(
    name="studer",
    title="Representation of normal cone inclusion problems in dynamics via non-linear equations",
    authors="Studer and Glocker",
    place="Archive of Applied Mechanics 76 (2006) 327–348",
    entries=(
        Entry(
            "Fig. 1",
            "A sketch of a point mass on a unilateral constraint with its contact force.",
            sketch=True,
            remark=_DRAWN,
        ),
        Entry(
            "Fig. 2",
            "A sketch of a point mass with spatial friction, its load and its friction force.",
            sketch=True,
            remark=_DRAWN,
        ),
        _drawn(
            "Fig. 3",
            "The proximal map onto the half line: zero below zero, the identity above.",
            "fig03_prox_half_line.png",
        ),
        _drawn(
            "Fig. 4",
            "Why the projection contracts: two points come closer when they are projected onto a set.",
            "fig04_contraction.png",
        ),
        _drawn(
            "Fig. 5",
            "An upper bound of the iteration's Lipschitz constant over ω, for a matrix that is diagonally "
            "dominant and for one that is not.",
            "fig05_lipschitz.png",
            "The paper does not print its matrices: ours are a dominant one and that of the block.",
        ),
        Entry(
            "Fig. 6",
            "A scheme of Jprox and Sprox: which forces of the other constraints a sweep uses.",
            sketch=True,
            remark="It shows no result; both methods are the solvers jor-prox and sor-prox.",
        ),
        Entry(
            "Fig. 7",
            "A sketch of the planar block on two corners, with loads and contact laws.",
            sketch=True,
            remark="It shows no result; its matrix is beside Eqs. 74 to 77.",
        ),
        Entry(
            "Eqs. 74 to 77",
            "The matrix G of the block on two corners, printed with one decimal, which is only semidefinite.",
            (Source("studer-block", rows=(*block.PRINTED, block.LEAST_EIGENVALUE)),),
            remark="The printed J = 0.018 does not give the printed G: J = 0.0175 does, and is rounded "
            "there.",
        ),
        Entry(
            "Fig. 8",
            "Iterations of JORprox and SORprox over the relaxation parameter, for a block that sticks, "
            "slides, or has one corner open.",
            (
                Source(
                    "studer-block",
                    ("fig08_iterations.png",),
                    (block.FORCE, block.ACCELERATION, block.LOCAL_LIMIT, block.MEASURED_END, block.FEWEST),
                    claims=(
                        Claim(
                            "Both methods converge for some ω although it cannot be guaranteed.",
                            block.FEWEST,
                            least=1.0,
                            most=499.0,
                        ),
                    ),
                ),
            ),
            remark="The paper prints neither loads nor numbers of iterations; ours are derived by hand.",
        ),
        _drawn(
            "Fig. 9",
            "The set-valued unilateral law and its exact regularisation, a shifted straight line.",
            "fig09_exact_regularisation.png",
        ),
        _drawn(
            "Fig. 10",
            "The force laws as equations: where the shifted regularised law meets the set-valued one.",
            "fig10_force_laws.png",
        ),
        Entry(
            "§5.8, in motion",
            "The same block, which the paper solves at one instant.",
            (
                Source(
                    "studer-load",
                    ("motion.png", "forces.png"),
                    (load.SWITCHED, load.SPEED_AFTER, load.DISSIPATED, load.ACCELERATIONS),
                ),
            ),
            remark="Not in the paper: a load history moves the block through its three states, and the times "
            "of all transitions are checked against closed forms.",
        ),
    ),
)
