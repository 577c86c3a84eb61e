"""Numba's options for all kernels of the package.

Arithmetic is strict: no reassociation, no fused multiply-add. Numba keeps a copy of a small kernel in every
kernel that calls it, each optimised separately, and the copy that runs depends on the order of compilation
and loading; if rounding may differ between copies, a first run differs from the second in the last bits.
Strictness costs 5 to 10 % in scalar kernels. NaN and infinity keep their meaning, because the iteration
loop looks for them.

A `kernel` allocates nothing, and is compiled without Numba's reference counting, whose atomic
operations on every array that a function receives made sweeps two to four times slower. A kernel that
creates arrays is an `allocating_kernel`. An `inner_kernel` is called only by other kernels: without an entry
point for Python it compiles in three quarters of the time, and a call from Python would crash. So is an
`inlined_kernel`, a small function that hot loops call: a call with a dozen array descriptors costs more than
the arithmetic in it. A `lane_kernel` is one of those whose loops have to become vectors, for which the sign
of a zero must not matter.
"""

from collections.abc import Callable
from typing import Any

from numba import njit, types

from nonsmooth._support import numba_internals

_OPTIONS = {"nogil": True, "error_model": "numpy"}
_INNER = {**_OPTIONS, "_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
if numba_internals.KNOWN:
    _INNER["pipeline_class"] = numba_internals.InnerCompiler


def _compiler(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile for argument types only: Numba would compile again for every constant in a call."""

    def compile_later(function: Callable[..., Any]) -> Any:
        dispatcher = njit(**options)(function)
        if numba_internals.KNOWN:
            dispatcher._cache = numba_internals.KernelCache(dispatcher)
        else:
            dispatcher.enable_caching()
        resolve = dispatcher.get_call_template

        def by_types(args: Any, keywords: Any) -> Any:
            return resolve(
                [types.unliteral(kind) for kind in args],
                {name: types.unliteral(kind) for name, kind in dict(keywords).items()},
            )

        dispatcher.get_call_template = by_types
        return dispatcher

    return compile_later


kernel = _compiler(**_OPTIONS, no_cfunc_wrapper=True, _nrt=False)
inner_kernel = _compiler(**_INNER)
inlined_kernel = _compiler(**_INNER, forceinline=True)
lane_kernel = _compiler(**_INNER, forceinline=True, fastmath={"nsz"})
INLINED_OVERLOAD = {**_INNER, "forceinline": True}
allocating_kernel = _compiler(**_OPTIONS, no_cfunc_wrapper=True)
