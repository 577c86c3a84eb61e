"""The solvers that take part, each in a process of its own: one file per package, run by `process.py`.

These files are started by their path, possibly by another Python than ours (Siconos comes with the
system's), so they import neither each other nor, except for the file of our own solvers, `nonsmooth`. Each
defines

    version() -> str                   raises ImportError where the package is not installed
    prepare(task) -> begin             reads what stays; raises NotImplementedError if it cannot take it
    begin() -> solve                   untimed: the problem anew in memory, as the package wants it
    solve() -> dict                    timed: impulses, and optionally joint_impulses, iterations, says, note
"""
