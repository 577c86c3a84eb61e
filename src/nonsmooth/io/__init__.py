"""Files: problems and their solutions in HDF5."""

from nonsmooth.io.problem_file import read_initial, read_problem, write_problem

__all__ = ["read_initial", "read_problem", "write_problem"]
