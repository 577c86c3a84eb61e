"""The solvers of the bench, each in a separate process: one file per package, run by `process.py`.

These files are started by their path, possibly by another Python than ours (Siconos is installed with the
system's), so they import neither each other nor, except for the file of our solvers, `nonsmooth`. Each
defines

    version() -> str                   raises ImportError if the package is not installed
    prepare(task) -> begin             reads constant data; raises NotImplementedError if not supported
    begin() -> solve                   untimed: the problem in memory, in the form of the package
    solve() -> dict                    timed: impulses, and optionally joint_impulses, iterations, says, note
"""
