"""Self-contained HTML pages: Jinja2 templates of a package on a shared frame, parts and style."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment

Filter = Callable[..., object]


@cache
def templates(room: str, *filters: Filter) -> Environment:
    """Return the templates of a package, which may use the shared ones beside this module.

    All text is escaped unless it is marked as HTML (`markupsafe.Markup`); an undefined name in a template is
    an error. `filters` are available in the templates by name.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    found = Environment(
        loader=ChoiceLoader([PackageLoader(room), PackageLoader(__package__)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters |= {each.__name__: each for each in filters}
    return found
