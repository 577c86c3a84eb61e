"""Negrut and Serban, TR-2016-12: joints and contacts with friction in one cone complementarity problem."""

from __future__ import annotations

from nonsmooth.experiments.mechanisms import slider_crank, stirrer
from nonsmooth.experiments.mechanisms.report import JOINT_ERROR
from nonsmooth.experiments.report.entries import Entry, Paper, Source

NEGRUT = Paper(
    name="negrut",
    title="Posing multibody dynamics with friction and contact as a differential complementarity problem",
    authors="Negrut and Serban",
    place="TR-2016-12, University of Wisconsin–Madison, 2017",
    entries=(
        Entry(
            "Fig. 1",
            "A sketch of two bodies in contact, with the local frame at the contact point.",
            sketch=True,
            remark="It is the report's only figure, and it shows no result.",
        ),
        Entry(
            "Eqs. 9 and 13 to 15",
            "Joints and contacts with friction in one problem, derived in the report without results.",
            (
                Source(
                    "stirrer",
                    ("scene.png", "torque.png", "work.png"),
                    (stirrer.UNEXPLAINED, JOINT_ERROR, stirrer.MISSED),
                ),
            ),
            remark="A driven four-bar stirs a bed of spheres; the balance of work and heat verifies it.",
        ),
        Entry(
            "Eq. 9c",
            "Joints on velocity level with a term that corrects positions, without contacts.",
            (Source("slider-crank", ("motion.png", "convergence.png"), (slider_crank.TORQUE, JOINT_ERROR)),),
            remark="This is the scheme “stabilised”; “projected” and “rattle” are our additions. "
            "Mechanisms with independent references follow below.",
        ),
    ),
)
