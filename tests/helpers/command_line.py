"""The command line as a user meets it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner, Result

import nonsmooth
from nonsmooth.cli import main

SOURCES = Path(nonsmooth.__file__).parent.parent


def run(*words: object, columns: int = 80) -> Result:
    """Run `nonsmooth` in this process; what is no exit of the command is raised."""
    result = CliRunner(env={"COLUMNS": str(columns), "TERM": "dumb"}).invoke(
        main.app, [str(word) for word in words], prog_name="nonsmooth"
    )
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def run_process(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `nonsmooth` in a process of its own."""
    paths = os.pathsep.join([str(SOURCES), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", "nonsmooth", *words],
        env={**os.environ, "PYTHONPATH": paths, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8", **environment},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def assert_mistake(result: Result, message: str) -> None:
    """Check that a mistake was answered by exit code 1 and one sentence on standard error."""
    assert result.exit_code == 1
    assert result.stdout == ""
    assert re.fullmatch(r"Error: [^\n]+\n", result.stderr), result.stderr
    assert re.search(message, result.stderr), result.stderr
