"""Mechanisms of joints, compared with references."""
