"""Experiments of Melanz, Fang, Jayakumar and Negrut."""
