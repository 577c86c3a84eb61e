"""Columns of the log of steps: see `step_log`."""

NAMES = (
    "time", "residual", "iterations", "solved",
    "contacts", "kinetic_energy", "potential_energy", "contact_work", "dissipation", "complementarity",
    "force_error", "penetration", "late_contacts", "largest_speed", "joint_error", "impacts", "impact_work",
    "reduced_impacts", "unfinished_impacts", "flight_work", "contacts_checked", "gap_error", "normal_error",
    "wrong_contacts", "missing_contacts", "withheld_contacts", "deep_contacts",
)  # fmt: skip
(
    TIME, RESIDUAL, ITERATIONS, SOLVED,
    CONTACTS, KINETIC, POTENTIAL, CONTACT_WORK, DISSIPATION, COMPLEMENTARITY,
    FORCE_ERROR, PENETRATION, LATE, SPEED, JOINT_ERROR, IMPACTS, IMPACT_WORK,
    REDUCED, UNFINISHED, FLIGHT_WORK, CHECKED, GAP_ERROR, NORMAL_ERROR,
    WRONG, MISSING, WITHHELD, DEEP,
) = range(len(NAMES))  # fmt: skip
