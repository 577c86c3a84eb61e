"""Numbers of a step's contacts for the log."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from nonsmooth.collision.certificate import ContactCertificate
from nonsmooth.collision.contacts import Contacts

WRONG_CONTACTS = "contacts not certified"
"""Status of a step whose contacts did not pass their check."""

_CHECKED = ("contacts_checked", "gap_error", "normal_error", "wrong_contacts", "missing_contacts")
DEEP = 0.1
"""An overlap counts as deep above this fraction of the smaller body's bounding radius."""


def contact_numbers(contacts: Contacts, bounding_radius: NDArray[np.float64]) -> dict[str, float]:
    """Scalars of the contact check, as in `NUMBERS`."""
    certificate = contacts.certificate
    assert certificate is not None
    deep = 0
    overlapping = np.flatnonzero(contacts.gap < 0.0)
    if len(overlapping):
        radius = bounding_radius[contacts.bodies[overlapping]].min(axis=1)
        deep = int(np.sum(contacts.gap[overlapping] < -DEEP * radius))
    checked = dict(zip(_CHECKED, check_numbers(certificate), strict=True))
    return checked | {
        "withheld_contacts": float(sum(certificate.withheld.values())),
        "deep_contacts": float(deep),
    }


def check_numbers(certificate: ContactCertificate) -> tuple[float, ...]:
    """The numbers of `_CHECKED`."""
    return (
        float(certificate.checked), _known(certificate.gap_error), _known(certificate.angle),
        0.0 if certificate.holds else 1.0, float(certificate.missing),
    )  # fmt: skip


def _known(error: float) -> float:
    return 0.0 if math.isnan(error) else error
