"""Threads that walk through one kernel together: a barrier that spins, made of atomic operations.

A sweep over one colour of contacts takes a few microseconds, less than it costs to wake a thread. So the
threads stay inside the kernel for many sweeps and meet at a `barrier` after each colour.
"""

import sys

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from nonsmooth._support.jit import inlined_kernel

_SPINS = 2000
"""Looks at the counter before a thread lets others run: enough for a colour, short against a time slice."""

if sys.platform == "win32":

    @inlined_kernel
    def _let_others_run():
        return None

else:
    _sched_yield = types.ExternalFunction("sched_yield", types.int32())

    @inlined_kernel
    def _let_others_run():
        _sched_yield()


def _first_item(context, builder, array_type, array):
    return context.make_array(array_type)(context, builder, array).data


@intrinsic
def _atomic_increment(typing, counter):
    """Add one to counter[0], an array of int64, for all threads to see; returns what it was."""

    def generate(context, builder, signature, arguments):
        pointer = _first_item(context, builder, signature.args[0], arguments[0])
        return builder.atomic_rmw("add", pointer, ir.Constant(ir.IntType(64), 1), "seq_cst")

    return types.int64(counter), generate


@intrinsic
def _atomic_load(typing, counter):
    """Return counter[0] as other threads left it."""

    def generate(context, builder, signature, arguments):
        pointer = _first_item(context, builder, signature.args[0], arguments[0])
        return builder.load_atomic(pointer, "acquire", 8)

    return types.int64(counter), generate


@inlined_kernel
def barrier(gate, threads, met):
    """Wait until all threads are here for the (met + 1)-th time; returns met + 1.

    `gate` is an int64 array that starts at zero and counts arrivals; every thread counts its meetings.
    """
    met += 1
    if threads > 1:
        _atomic_increment(gate)
        spins = 0
        while _atomic_load(gate) < threads * met:
            spins += 1
            if spins > _SPINS:
                _let_others_run()
                spins = 0
    return met
