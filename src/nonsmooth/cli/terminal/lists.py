"""Lists for the terminal: names, with one line of description each."""

from __future__ import annotations

from nonsmooth.cli.terminal.console import OUT


def list_scenes() -> None:
    """Show the ready-made scenes and their parameters, and those in generalised coordinates."""
    from inspect import signature

    from nonsmooth.cli.terminal.tables import name_list
    from nonsmooth.scenes import SCENES
    from nonsmooth.scenes.closed_form import MODELS

    rows = [
        (each.name, each.summary, f"--set {', '.join(signature(each.build).parameters)}")
        for each in SCENES.values()
    ]
    OUT.print(name_list("Scenes", rows))
    rows = [
        (each.name, each.summary, f"{each.build.__name__}({', '.join(signature(each.build).parameters)})")
        for each in MODELS.values()
    ]
    OUT.print(name_list("In generalised coordinates: classes of nonsmooth.scenes.closed_form", rows))


def list_experiments() -> None:
    """Show the experiments and their papers."""
    from nonsmooth.cli.terminal.tables import name_list
    from nonsmooth.experiments import REGISTRY

    OUT.print(name_list("Experiments", [(each.name, each.summary, each.paper) for each in REGISTRY.values()]))


def list_solvers() -> None:
    """Show the solvers of contact problems and the problems they support."""
    from nonsmooth.cli.terminal.tables import name_list
    from nonsmooth.solvers import REGISTRY

    joints = {True: "joints", False: "no joints"}
    rows = [(s.name, s.summary, f"{', '.join(s.laws)}; {joints[s.takes_joints]}") for s in REGISTRY.values()]
    OUT.print(name_list("Solvers", rows))


def list_problems() -> None:
    """Show the contact problems of the library, and the problem files that ship with it."""
    from nonsmooth.cli.terminal.tables import name_list
    from nonsmooth.io import read_fclib
    from nonsmooth.problem.library import NAMED, shipped_problems

    OUT.print(name_list("Problems", [(each.name, each.summary, each.source) for each in NAMED.values()]))
    infos = {name: read_fclib(path).info for name, path in shipped_problems().items()}
    rows = [(name, info.title, info.math_info) for name, info in infos.items()]
    OUT.print(name_list("Problems in FCLib's format", rows))


def list_complementarity() -> None:
    """Show the complementarity problems and the solvers for them."""
    from nonsmooth.cli.terminal.tables import name_list
    from nonsmooth.complementarity import REGISTRY
    from nonsmooth.complementarity.library import NAMED

    rows = [
        (each.name, each.summary, f"{each.source}; --start {', '.join(each.starts)}")
        for each in NAMED.values()
    ]
    OUT.print(name_list("Complementarity problems", rows))
    solvers = [(each.name, each.summary, "") for each in REGISTRY.values()]
    OUT.print(name_list("Solvers of complementarity problems", solvers))
