"""How many of the poses of each pair of shapes an engine gets wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from _narrow import shapes as catalogue
from _narrow.engines import ENGINES, Engine, Unavailable
from _narrow.judge import LOOSE, Answer, fault
from _narrow.poses import Pose, Shapes, poses


class Finding(NamedTuple):
    """What an engine found at a pose, what is wrong with it, and whether it is so by the loose rule too."""

    engine: str
    pose: Pose
    answer: Answer
    wrong: str | None
    coarse: bool


class Engines:
    """Engines for every pair of shapes, made when they are first needed."""

    def __init__(self, every: Shapes) -> None:
        self._every = every
        self._made: dict[tuple[object, ...], Engine | None] = {}

    def get(self, name: str, pose: Pose) -> Engine | None:
        """The engine for the shapes of a pose, None if it is not installed or lacks one of them."""
        key = (name, pose.names, pose.variants)
        if key not in self._made:
            pair = tuple(self._every.shape(*shape) for shape in zip(pose.names, pose.variants, strict=True))
            try:
                self._made[key] = ENGINES[name](pair)
            except Unavailable:
                self._made[key] = None
        return self._made[key]


def findings(
    pair: tuple[str, str], count: int, names: tuple[str, ...], every: Shapes, seed: int = 0
) -> Iterator[Finding]:
    """What the named engines find at `count` poses of a pair; those without the shapes are left out."""
    engines = Engines(every)
    for pose in poses(pair, count, every, seed):
        for name in names:
            engine = engines.get(name, pose)
            if engine is None:
                continue
            answer = engine.answer(pose.position, pose.quaternion)
            wrong = fault(pose, answer, every)
            coarse = wrong is not None and fault(pose, answer, every, LOOSE) is not None
            yield Finding(name, pose, answer, wrong, coarse)


def print_table(
    count: int, names: tuple[str, ...], pairs: list[tuple[str, str]], show: int = 0, seed: int = 0
) -> None:
    """Print the number of wrong answers for each pair and engine; `show` faults of each are listed below."""
    every = Shapes()
    print(f"wrong answers of {count} poses (in brackets: wrong even if {LOOSE:.0e} of the size is allowed)")
    print(f"{'pair':<26}" + "".join(f"{name:>16}" for name in names))
    total = {name: [0, 0, 0] for name in names}
    listed = []
    for pair in pairs:
        seen = {name: [0, 0, 0] for name in names}
        for found in findings(pair, count, names, every, seed):
            for numbers in (seen[found.engine], total[found.engine]):
                numbers[0] += 1
                numbers[1] += found.wrong is not None
                numbers[2] += found.coarse
            if found.wrong is not None and seen[found.engine][1] <= show:
                listed.append(f"{found.engine}: {found.pose.label}: {found.wrong}")
        print(f"{pair[0] + ' – ' + pair[1]:<26}" + "".join(_cell(seen[name]) for name in names), flush=True)
    print(f"{'all':<26}" + "".join(_cell(total[name]) for name in names))
    print(f"{'poses':<26}" + "".join(f"{total[name][0]:>16,}" for name in names))
    for line in listed:
        print(line)


def _cell(numbers: list[int]) -> str:
    judged, wrong, coarse = numbers
    return f"{'–' if not judged else f'{wrong:,} ({coarse:,})':>16}"


ALL = catalogue.pairs()
