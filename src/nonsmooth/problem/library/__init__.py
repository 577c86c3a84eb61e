"""Small named problems with known solutions, which ship with the package."""

from nonsmooth.problem.library.named import NAMED, NamedProblem, by_name
from nonsmooth.problem.library.packing import sphere_packing
from nonsmooth.problem.library.random_problems import random_problem
from nonsmooth.problem.library.shipped import shipped_problems

__all__ = ["NAMED", "NamedProblem", "by_name", "random_problem", "shipped_problems", "sphere_packing"]
