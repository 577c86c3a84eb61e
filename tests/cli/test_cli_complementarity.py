"""Complementarity problems on the command line."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import pytest

from helpers import command_line
from nonsmooth.complementarity.library import NAMED

run = partial(command_line.run, columns=100)


def test_without_a_name_problems_and_solvers_are_listed() -> None:
    output = run("complementarity").output
    assert all(name in output for name in (*NAMED, "lemke", "box-trust-region"))


def test_the_list_has_a_section() -> None:
    assert "josephy" in run("list", "complementarity").output


def test_a_problem_is_solved_and_compared_with_the_known_answer() -> None:
    result = run("complementarity", "josephy", "--tolerance", "1e-10")
    assert result.exit_code == 0
    assert "Solved" in result.output
    assert "natural map" in result.output
    assert "known solution" in result.output


def test_json_has_the_answer_and_its_certificate() -> None:
    words = ("--solver", "box-trust-region", "--option", "hessian=full", "--start", "zero", "--json")
    answer = json.loads(run("complementarity", "josephy", *words).stdout)
    assert answer["status"] == "solved"
    assert answer["solver"] == "box-trust-region"
    np.testing.assert_allclose(answer["point"], [np.sqrt(1.5), 0.0, 0.0, 0.5], atol=1e-6)
    assert answer["certificate"]["natural_map"] <= 1e-8


def test_a_limit_is_exit_code_two() -> None:
    result = run("complementarity", "josephy", "--solver", "semismooth-newton", "--max-iterations", "1")
    assert result.exit_code == 2
    assert "iteration limit" in result.output


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("joseph",), "did you mean josephy?"),
        (("josephy", "--start", "nowhere"), "josephy has no start 'nowhere'"),
        (("josephy", "--solver", "path"), "there is no solver 'path'"),
        (("josephy", "--solver", "lemke"), "lemke supports linear problems"),
    ],
)
def test_mistakes_are_one_sentence(words: tuple[str, ...], sentence: str) -> None:
    result = run("complementarity", *words)
    assert result.exit_code == 1
    assert sentence in result.output
