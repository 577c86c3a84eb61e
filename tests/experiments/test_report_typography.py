"""Numbers and text in the report and in figures: minus signs, powers of ten, indices, labels of axes."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from matplotlib.axes import Axes
from matplotlib.text import Text

from nonsmooth.experiments.report.page import report_templates
from nonsmooth.experiments.report.typography import number, percent, typeset
from nonsmooth.experiments.report.verdicts import judge_row
from nonsmooth.experiments.shared.notation import for_figures
from nonsmooth.experiments.shared.plots import WIDEST, legend_below, new_axes, new_figure, save_figure
from nonsmooth.experiments.summary import exact_row


@pytest.mark.parametrize(
    ("plain", "html"),
    [
        ("error 4.4e-16", "error 4.4\u202f×\u202f10<sup>−16</sup>"),
        ("up to 1e-6", "up to 10<sup>−6</sup>"),
        ("from -3 to 2", "from −3 to 2"),
        ("TR-2014-11, semismooth-newton", "TR-2014-11, semismooth-newton"),
        ("v_x after 1 s", "v<sub>x</sub> after 1\u00a0s"),
        ("steps_of_it.csv, bert_oc", "steps_of_it.csv, bert_oc"),
        ("events of kind 'stick', the ball's", "events of kind ‘stick’, the ball’s"),
        ("a < b & c", "a &lt; b &amp; c"),
    ],
)
def test_text_is_set_as_one_prints_it(plain: str, html: str) -> None:
    assert typeset(plain) == html


def test_numbers_have_minus_signs_and_powers_of_ten() -> None:
    assert number(None) == ""
    assert number(float("nan")) == "–"
    assert number(-0.0196234) == "−0.0196234"
    assert number(-1.500191e-13) == "−1.5\u202f×\u202f10<sup>−13</sup>"
    assert number(1234567.0) == "1.23457\u202f×\u202f10<sup>6</sup>"
    assert percent(-0.00025) == "−0.025\u00a0%"
    assert percent(2.5) == "+250\u00a0%"


def test_tables_leave_out_empty_columns_and_name_every_cell() -> None:
    row = judge_row(exact_row("v_x", 1.0, 0.5, "m/s", "a note"))
    table = report_templates().get_template("numbers.html.j2").module.all_numbers([row])
    assert "data-head='paper'" not in table  # the paper prints none of them
    for head in ("quantity", "reference", "ours", "unit", "apart", "verdict"):
        assert f"data-head='{head}'" in table
    assert "−50\u00a0%" in table
    assert "a note" in table


def test_figures_print_numbers_as_the_page_does() -> None:
    assert for_figures("event-driven: 1.9e-12 m") == r"event-driven: $1.9\times10^{-12}$ m"
    assert for_figures("below 1e-10, -3 N") == "below $10^{-10}$, −3 N"
    assert for_figures("$x_1$ at -3") == "$x_1$ at -3"  # set by hand


def test_wide_figures_shrink_so_that_their_text_can_be_read() -> None:
    assert tuple(new_figure((12.0, 6.0)).get_size_inches()) == pytest.approx((WIDEST, 0.5 * WIDEST))
    assert tuple(new_figure((7.0, 5.0)).get_size_inches()) == pytest.approx((7.0, 5.0))


def test_saved_figures_have_few_labels_and_legends_that_fit(tmp_path: Path) -> None:
    figure, (short, long) = new_axes((9.0, 4.0), columns=2)
    for k in range(6):
        short.loglog([4e-4, 8e-3], [1.0, 2.0], label=f"a label that takes much room, number {k}")
    long.loglog([1e-9, 1.0], [1.0, 2.0])
    legend_below(figure, 6)
    save_figure(figure, tmp_path / "figure.png")
    shown = [text.get_text() for text in short.get_xticklabels(minor=True) if text.get_text()]
    assert len(shown) >= 2
    assert all(text.startswith((r"$2\times", r"$5\times")) for text in shown)
    assert not any(text.get_text() for text in long.get_xticklabels(minor=True))
    box = figure.legends[0].get_window_extent()
    assert 0.0 <= box.x0 < box.x1 <= figure.bbox.width
    boxes = sorted((text.get_window_extent() for text in _seen_below(short)), key=lambda box: box.x0)
    assert all(left.x1 <= right.x0 for left, right in pairwise(boxes))


def _seen_below(ax: Axes) -> list[Text]:
    """Labels of the horizontal axis that are inside its limits."""
    low, high = ax.get_xlim()
    every = ax.get_xticklabels(minor=True) + ax.get_xticklabels()
    return [text for text in every if text.get_text() and low <= text.get_position()[0] <= high]
