"""What several experiments use: output folders, notation, work that is kept, runs of spheres."""
