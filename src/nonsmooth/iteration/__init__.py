"""Common engine of all iterative methods: goal, solver, iteration, loop, status, solution, certificate."""
