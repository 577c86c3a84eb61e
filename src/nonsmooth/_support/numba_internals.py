"""What this package uses of Numba that is not public, and why. Without it Numba compiles everything itself.

Before a dispatcher compiles, it asks its `_cache`. `KernelCache` answers from the kernels that came with the
package, and makes Numba's own cache, which first tests whether its folder can be written, only to compile.

A kernel without an entry for Python becomes part of the kernels that call it. Numba optimises it and makes
machine code for it all the same, which nothing ever runs: that took two fifths of all compilation.
`InnerCompiler` keeps it as it is for its callers, where LLVM optimises it.
"""

from __future__ import annotations

import pickle
from functools import cached_property
from typing import Any

from llvmlite import ir
from llvmlite.binding import parse_assembly

from nonsmooth._support import shipped_kernels

try:
    from numba.core.caching import FunctionCache
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler, CompileResult
    from numba.core.serialize import dumps

    if not all(hasattr(CompileResult, name) for name in ("_reduce", "_rebuild")):
        raise ImportError
except ImportError:  # pragma: no cover - a Numba of another make
    KNOWN = False
else:
    KNOWN = True


class _InnerLibrary(JITCodeLibrary):
    """The code of an inner kernel: for its callers, and for the machine nothing but its environments.

    Numba looks up the environments, which hold a kernel's constants, in machine code.
    """

    def _optimize_final_module(self) -> None:
        """Leave it to the callers."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        code = self._final_module
        environments = self._codegen._create_empty_module(self.name)
        for variable in code.global_variables:
            if variable.name.startswith("_ZN08NumbaEnv"):
                address = ir.GlobalVariable(environments, ir.IntType(64), variable.name)
                address.linkage, address.initializer = "common", ir.Constant(ir.IntType(64), 0)
        self._final_module = parse_assembly(str(environments))
        super()._finalize_final_module()
        self._final_module = code


class InnerCompiler(Compiler):
    """Numba's compiler for kernels that only kernels call."""

    def compile_extra(self, function: Any) -> Any:
        """Compile a function."""
        self.state.library = _InnerLibrary(self.state.targetctx.codegen(), function.__qualname__)
        self.state.library.enable_object_caching()  # Numba's cache keeps it
        return super().compile_extra(function)


class KernelCache:
    """The cache of a dispatcher, with the methods that Numba's dispatchers call."""

    def __init__(self, dispatcher: Any) -> None:
        self._function = dispatcher.py_func
        self._inner = dispatcher.targetoptions.get("no_cpython_wrapper", False)

    @cached_property
    def _own(self) -> Any:
        return FunctionCache(self._function)

    @property
    def cache_path(self) -> str:
        """The folder of Numba's own cache."""
        return str(self._own.cache_path)

    def flush(self) -> None:
        """Forget what Numba's own cache holds."""
        self._own.flush()

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return the kernel for the types of arguments, ready to run; None if it must be compiled."""
        file = None if self._inner else shipped_kernels.find(self._function, signature)
        if file is not None:
            target.refresh()
            return CompileResult._rebuild(target, *pickle.loads(file.read_bytes()))
        found = self._own.load_overload(signature, target)
        if found is None:
            shipped_kernels.before_compilation(self._function, signature)
        return found

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep a kernel that was compiled."""
        self._own.save_overload(signature, result)
        if shipped_kernels.output is not None and not self._inner:
            shipped_kernels.write(self._function, signature, dumps(result._reduce()))
