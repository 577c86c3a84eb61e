"""How kernels are compiled: once for the types of their arguments, and called by who may call them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.paths import ROOT
from nonsmooth._support import jit

FILES = [path for folder in ("src", "tests", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
NO_ENTRY = {"inner_kernel", "inlined_kernel", "lane_kernel"}
COMPILED = NO_ENTRY | {"kernel", "allocating_kernel", "njit", "overload"}


def decorators(node: ast.AST) -> set[str]:
    if not isinstance(node, ast.FunctionDef):
        return set()
    inside = [part for decorator in node.decorator_list for part in ast.walk(decorator)]
    return {part.id for part in inside if isinstance(part, ast.Name)}


def calls_of_python(node: ast.AST) -> Iterator[str]:
    """Names that are called outside compiled functions."""
    if decorators(node) & COMPILED:
        return
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id == "njit":
            return
        yield ast.unparse(node.func)
    for child in ast.iter_child_nodes(node):
        yield from calls_of_python(child)


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)


@pytest.fixture(scope="module")
def without_entry() -> set[tuple[str, str]]:
    """Module and name of every kernel that has no entry for Python."""
    found = set()
    for path in FILES:
        if path.is_relative_to(ROOT / "src") and "kernels" in str(path):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if decorators(node) & NO_ENTRY:
                    found.add((module_of(path), node.name))  # type: ignore[attr-defined]
    assert len(found) > 200
    return found


def test_python_calls_no_kernel_without_an_entry(without_entry: set[tuple[str, str]]) -> None:
    """Such a call would end the process."""
    for path in FILES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        here = module_of(path) if path.is_relative_to(ROOT / "src") else ""
        names = {name for module, name in without_entry if module == here}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    if (node.module, alias.name) in without_entry:
                        names.add(alias.asname or alias.name)
                    of_module = f"{node.module}.{alias.name}"
                    names |= {
                        f"{alias.asname or alias.name}.{name}" for m, name in without_entry if m == of_module
                    }
        assert not names & set(calls_of_python(tree)), path


def test_a_constant_is_not_compiled_for_anew() -> None:
    @jit.kernel
    def half(number):  # type: ignore[no-untyped-def]
        return number // 2

    @jit.kernel
    def halves():  # type: ignore[no-untyped-def]
        return half(4) + half(6) + half(8)

    assert halves() == 9
    assert len(half.signatures) == 1
