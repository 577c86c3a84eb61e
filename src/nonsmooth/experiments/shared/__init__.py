"""Parts shared by several experiments: output folders, notation, stored work, runs of spheres."""
