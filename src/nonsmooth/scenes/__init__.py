"""Ready-made systems with parameters."""

from nonsmooth.scenes.filling import filling

__all__ = ["filling"]
