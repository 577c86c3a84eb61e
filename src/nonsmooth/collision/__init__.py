"""Collision detection: broad phase, narrow phase, contacts, and their matching with the previous step."""

from nonsmooth.collision.contact_forces import ContactForces
from nonsmooth.collision.contacts import Contacts
from nonsmooth.collision.detector import Detector
from nonsmooth.collision.matching import match_impulses

__all__ = ["ContactForces", "Contacts", "Detector", "match_impulses"]
