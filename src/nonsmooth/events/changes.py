"""Changes of the contacts' modes, as events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nonsmooth.events.run import EventKind
from nonsmooth.events.smooth import Closed
from nonsmooth.model.generalised import GapContact


def changes(
    contacts: Sequence[GapContact], before: Closed | None, after: Closed, candidates: Closed
) -> Iterator[tuple[EventKind, int]]:
    """Yield the kind of each change and the contact's index; nothing without previous modes.

    `candidates` has the sliding directions at the decision: a reversal is a sliding that had stopped.
    """
    if before is None:
        return
    for i, contact in enumerate(contacts):
        was, stays = i in before, i in after
        if was and not stays:
            yield EventKind.OPENING, i
        elif stays and not was:
            yield EventKind.CLOSING, i
        if not (was and stays) or contact.static_friction == 0.0:
            continue
        old, new = before[i], after[i]
        if old is None and new is not None:
            yield EventKind.SLIP, i
        elif old is not None and new is None:
            yield EventKind.STICK, i
        elif old is not None and new is not None and candidates.get(i) is None and float(old @ new) < 0.0:
            yield EventKind.REVERSAL, i
