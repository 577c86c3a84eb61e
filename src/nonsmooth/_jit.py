"""How every kernel of the package is compiled: one place for Numba's options.

Reassociation and contraction let the compiler use its vector and fused multiply-add units; NaN and
infinity keep their meaning, because the iteration loop looks for them.

A `kernel` allocates nothing, and is compiled without Numba's reference counting, whose atomic
operations on every array that a function receives made sweeps two to four times slower. What has to
make arrays is an `allocating_kernel`. Small functions that hot loops call are `inlined_kernel`s: a call
with a dozen array descriptors costs more than the arithmetic in it.
"""

from numba import njit

_OPTIONS = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract", "reassoc", "nsz", "arcp"},
}

kernel = njit(**_OPTIONS, _nrt=False)
inlined_kernel = njit(**_OPTIONS, _nrt=False, forceinline=True)
INLINED_OVERLOAD = {"_nrt": False, "forceinline": True, **{k: v for k, v in _OPTIONS.items() if k != "cache"}}
allocating_kernel = njit(**_OPTIONS)
