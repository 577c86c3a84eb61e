"""Output of runs: pictures and films, the browser page, and exports."""
