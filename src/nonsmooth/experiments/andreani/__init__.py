"""Experiments of Andreani, Friedlander, Mello and Santos, and its grasps."""
