"""Contacts in closed form: spheres, capsules, boxes and planes."""
