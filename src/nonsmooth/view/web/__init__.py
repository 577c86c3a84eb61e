"""The browser page: a scene, its bodies and marks, and a panel to move through a run."""
