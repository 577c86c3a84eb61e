"""Experiments of Mazhar and of Negrut."""
