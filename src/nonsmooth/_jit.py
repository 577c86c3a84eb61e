"""How every kernel of the package is compiled: one place for Numba's options.

Reassociation and contraction let the compiler use its vector and fused multiply-add units; NaN and
infinity keep their meaning, because the iteration loop looks for them.
"""

from numba import njit

_FLOAT_OPTIONS = {"contract", "reassoc", "nsz", "arcp"}

kernel = njit(cache=True, nogil=True, error_model="numpy", fastmath=_FLOAT_OPTIONS)
