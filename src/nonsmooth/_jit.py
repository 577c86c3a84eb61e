"""How every kernel of the package is compiled: one place for Numba's options.

Arithmetic is strict: no reassociation, no fused multiply-add. Numba keeps a copy of a small kernel in every
kernel that calls it, each optimised on its own, and which copy runs depends on what was compiled or loaded
first; if the compiler may round differently in each, a first run differs from the second in the last bits.
Strictness costs 5 to 10 % in scalar kernels. NaN and infinity keep their meaning, because the iteration
loop looks for them.

A `kernel` allocates nothing, and is compiled without Numba's reference counting, whose atomic
operations on every array that a function receives made sweeps two to four times slower. What has to
make arrays is an `allocating_kernel`. Small functions that hot loops call are `inlined_kernel`s: a call
with a dozen array descriptors costs more than the arithmetic in it. A `lane_kernel` is one of those whose
loops have to become vectors, for which the sign of a zero must not matter.
"""

from numba import njit

_OPTIONS = {"cache": True, "nogil": True, "error_model": "numpy"}

kernel = njit(**_OPTIONS, _nrt=False)
inlined_kernel = njit(**_OPTIONS, _nrt=False, forceinline=True)
lane_kernel = njit(**_OPTIONS, _nrt=False, forceinline=True, fastmath={"nsz"})
INLINED_OVERLOAD = {"_nrt": False, "forceinline": True, **{k: v for k, v in _OPTIONS.items() if k != "cache"}}
allocating_kernel = njit(**_OPTIONS)
