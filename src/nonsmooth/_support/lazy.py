"""Parts of SciPy that are imported when something of them is first used: together they take 0.3 s."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["csgraph", "is_sparse", "linalg", "optimize", "sparse", "sparse_linalg", "spatial"]

if TYPE_CHECKING:
    from scipy import linalg, optimize, sparse, spatial
    from scipy.sparse import csgraph
    from scipy.sparse import linalg as sparse_linalg
else:

    class _Lazy:
        """A module that is not imported yet."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, attribute: str) -> Any:
            value = getattr(import_module(self._name), attribute)
            setattr(self, attribute, value)  # the next use finds it without asking here
            return value

    linalg = _Lazy("scipy.linalg")
    optimize = _Lazy("scipy.optimize")
    sparse = _Lazy("scipy.sparse")
    spatial = _Lazy("scipy.spatial")
    csgraph = _Lazy("scipy.sparse.csgraph")
    sparse_linalg = _Lazy("scipy.sparse.linalg")


def is_sparse(value: object) -> bool:
    """Return whether a value is a sparse array or matrix of SciPy; without its import there is none."""
    return "scipy.sparse" in sys.modules and bool(sparse.issparse(value))
