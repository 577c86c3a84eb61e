"""Experiments of Studer and Glocker."""
