"""Where things touch: broad phase, narrow phase, contacts, and their match with the last step's."""

from nonsmooth.collision.contacts import Contacts
from nonsmooth.collision.detector import Detector
from nonsmooth.collision.matching import match_impulses

__all__ = ["Contacts", "Detector", "match_impulses"]
