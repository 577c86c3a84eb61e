"""Planar systems in generalised coordinates, with motions known in closed form."""
