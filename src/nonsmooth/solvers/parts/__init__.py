"""Parts shared by several solvers."""
