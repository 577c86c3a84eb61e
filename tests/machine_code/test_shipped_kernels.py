"""Kernels that come compiled: they run, give the same bits, and where they do not fit it is said once."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from helpers.command_line import SOURCES, run
from nonsmooth._support import shipped_kernels
from nonsmooth.machine_code import compile as compilation

WORK = """
import numpy as np
from nonsmooth.problem.kernels import cones

def work(kind=np.float64):
    rng = np.random.default_rng(1)
    x, friction = rng.standard_normal((50, 3)).astype(kind), rng.random(50)
    cones.project_cones(x, friction, 0, x)
    return x.tobytes().hex()
"""
"""A call of a kernel from Python, which contains others."""


def python(code: str, cache: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code with an empty cache of Numba's own."""
    paths = os.pathsep.join([str(SOURCES), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-W", "always", "-c", code],
        env=os.environ | {"PYTHONPATH": paths, "NUMBA_CACHE_DIR": str(cache)} | environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def shipped_from(folder: Path) -> str:
    """Code that lets a process find shipped kernels in a folder."""
    return f"""
from pathlib import Path
from nonsmooth._support import shipped_kernels
shipped_kernels.FOLDER = Path({str(folder)!r})
"""


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder with compiled kernels as a wheel has them, and what they computed when they were compiled."""
    folder, cache = tmp_path_factory.mktemp("compiled"), tmp_path_factory.mktemp("cache")
    code = f"""
from pathlib import Path
from nonsmooth._support import shipped_kernels
shipped_kernels.output = Path({str(folder)!r})
{WORK}
print(work())
shipped_kernels.write_stamp(shipped_kernels.output)
"""
    done = python(code, cache)
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def test_only_kernels_with_an_entry_for_python_are_written(shipped: tuple[Path, str]) -> None:
    names = sorted(file.name for file in shipped[0].iterdir())
    assert [re.sub(r"[0-9a-f]{16}$", "…", name) for name in names] == [
        "problem.cones.project_cones.…",
        shipped_kernels.STAMP,
    ]


def test_shipped_kernels_run_without_compilation_and_give_the_same_bits(
    shipped: tuple[Path, str], tmp_path: Path
) -> None:
    done = python(
        shipped_from(shipped[0]) + WORK + "print(work())", tmp_path, NONSMOOTH_COMPILATION="forbidden"
    )
    assert (done.stderr, done.stdout) == ("", shipped[1])
    assert list(tmp_path.iterdir()) == []  # Numba's cache was not even opened


def test_compilation_is_an_error_where_it_is_forbidden(tmp_path: Path) -> None:
    done = python(WORK + "work()", tmp_path, NONSMOOTH_COMPILATION="forbidden")
    assert (
        "CompilationError: nonsmooth.problem.kernels.cones.project_cones is not compiled for " in done.stderr
    )


def stamped(folder: Path, shipped: Path, what: str) -> str:
    """Write a stamp with one entry of another origin to a folder; return the entry that belongs there."""
    stamp: dict[str, str] = json.loads((shipped / shipped_kernels.STAMP).read_text(encoding="utf-8"))
    (folder / shipped_kernels.STAMP).write_text(json.dumps(stamp | {what: "another"}), encoding="utf-8")
    return stamp[what]


@pytest.mark.parametrize("what", ["kernel sources", "Python", "Numba", "llvmlite", "processor"])
def test_every_entry_of_the_stamp_must_fit(
    shipped: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    here = stamped(tmp_path, shipped[0], what)
    monkeypatch.setattr(shipped_kernels, "FOLDER", tmp_path)
    found = shipped_kernels.misfit.__wrapped__()
    assert found == f"those that came were compiled for {what} another, and here it is {here}"


def test_kernels_that_do_not_fit_are_compiled_and_it_is_said_once(
    shipped: tuple[Path, str], tmp_path: Path
) -> None:
    stamped(tmp_path, shipped[0], "Numba")
    code = shipped_from(tmp_path) + WORK + "first = work()\nprint(first)\nwork(np.float32)"
    done = python(code, tmp_path / "cache")
    assert done.stdout == shipped[1]
    assert done.returncode == 0
    said = [line for line in done.stderr.splitlines() if "CompilationWarning" in line]
    assert len(said) == 1  # of two kernels
    assert "those that came were compiled for Numba another" in said[0]
    assert "run `nonsmooth compile`" in said[0]


def test_a_processor_without_the_features_of_the_baseline_does_not_use_them(
    shipped: tuple[Path, str], tmp_path: Path
) -> None:
    own = shipped_kernels.baseline()
    if own is None or "avx2" not in own.features:
        pytest.skip("NUMBA_ENABLE_AVX masks features of x86-64 only")
    code = shipped_from(shipped[0]) + "print(shipped_kernels.misfit())"
    assert python(code, tmp_path).stdout == "None\n"
    masked = python(code, tmp_path, NUMBA_ENABLE_AVX="0").stdout
    assert masked == "those that came need a processor with avx, avx2\n"


def test_every_architecture_is_found_under_each_of_its_names(monkeypatch: pytest.MonkeyPatch) -> None:
    for machine, name in {
        "x86_64": "x86_64",
        "AMD64": "x86_64",
        "arm64": "aarch64",
        "aarch64": "aarch64",
    }.items():
        monkeypatch.setattr("platform.machine", lambda machine=machine: machine)
        assert shipped_kernels.baseline() is shipped_kernels.BASELINES[name]
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert shipped_kernels.baseline() is None


# ---- nonsmooth compile ------------------------------------------------------------------------------


def test_compile_compiles_in_processes_and_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "compiled").mkdir()
    seen: list[tuple[int, int]] = []

    def progress(done: int, total: int, what: str) -> None:
        seen.append((done, total))

    compilation.compile_all(progress, 2, tmp_path / "compiled", only=["events"])
    assert seen[0][0] == 0
    assert seen[-1][0] == seen[-1][1] > 500
    assert seen == sorted(seen)
    assert any(0 < done < total for done, total in seen)
    assert (tmp_path / "compiled" / shipped_kernels.STAMP).exists()
    assert len(list((tmp_path / "compiled").iterdir())) > 1
    assert len(list((tmp_path / "cache").rglob("*.nbi"))) > 1


def test_command_compile_says_what_was_done(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(compilation, "compile_all", lambda progress, processes: asked.append(processes))
    shown = run("compile", "--processes", "3")
    assert asked == [3]
    assert re.fullmatch(r"\d+ kernels are compiled \(\d+\.\d MB\), in \S+ s\.\n", shown.stdout)
    monkeypatch.setattr(shipped_kernels, "misfit", lambda: None)
    assert "there is nothing to do" in run("compile", columns=200).stdout
    assert asked == [3]


def test_info_says_which_kernels_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    reason = "this installation came without compiled ones"
    assert f"kernels       are compiled when first used: {reason}" in run("info", columns=200).stdout
    monkeypatch.setattr(shipped_kernels, "misfit", lambda: None)
    assert re.search(r"^kernels       came compiled, for \S+ and Numba \d", run("info").stdout, re.M)
