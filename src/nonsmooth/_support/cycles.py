"""The processor's cycle counter inside kernels: what the parts of a compiled step cost.

A kernel cannot call Python's clocks. On x86 the counter runs at a constant rate; elsewhere it may not be
readable, and all readings are zero.
"""

from __future__ import annotations

import platform
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

_READABLE = platform.machine().lower() in ("x86_64", "amd64")


@intrinsic  # type: ignore[untyped-decorator]
def cycles(typing_context: Any) -> Any:
    """Return the reading of the counter as an int64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if not _READABLE:
            return ir.Constant(ir.IntType(64), 0)
        signature_of_it = ir.FunctionType(ir.IntType(64), ())
        counter = builder.module.declare_intrinsic("llvm.readcyclecounter", (), signature_of_it)
        return builder.call(counter, ())

    return types.int64(), generate
