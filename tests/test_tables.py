"""Tables at every width."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from phantom_envs.arena import report
from phantom_envs.arena.match import play_match
from phantom_envs.arena.summary import summarize
from phantom_envs.tables import NumberTable

WIDTHS = range(20, 121)


def shown(table: NumberTable, width: int) -> str:
    """What a terminal of that width shows of it."""
    console = Console(file=io.StringIO(), width=width)
    console.print(table)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def numbers(text: str) -> set[str]:
    """Whole numbers, not parts of them."""
    return set(re.findall(r"[-+]?\d+(?:\.\d+)?", text))


FIGURES = NumberTable(
    ("agent", "win share", "score margin", "games"),
    [("rule", "0.512 [0.498, 0.527]", "+12.35 [+12.05, +12.65]", "1234567"), ("b" * 30, "0.488", "-", "20")],
    title="3 players, seed 123456",
    caption="[95 % interval]",
)


@pytest.mark.parametrize("width", WIDTHS)
def test_no_number_is_cut(width: int) -> None:
    text = shown(FIGURES, width)
    wanted = {"0.512", "0.498", "0.527", "+12.35", "+12.05", "+12.65", "1234567", "0.488", "20", "3", "123456", "95"}
    assert wanted <= numbers(text)
    assert text.count("b") >= 30
    assert max(map(len, text.splitlines())) <= width


def test_there_is_a_table_where_it_fits() -> None:
    lines = shown(FIGURES, 120).splitlines()
    assert [line for line in lines if "0.512 [0.498, 0.527]" in line and "+12.35 [+12.05, +12.65]" in line] != []
    assert "b" * 30 in shown(FIGURES, 120)


def test_words_are_folded_before_numbers_come_below_each_other() -> None:
    wide = 1 + sum(width + 3 for width in (8, 20, 23, 7))  # a name folded to eight, the numbers in one line each
    assert "0.512 [0.498, 0.527]" in shown(FIGURES, wide)
    assert "+12.35 [+12.05, +12.65]" in shown(FIGURES, wide)
    assert "bbbbbbbb │" in shown(FIGURES, wide)
    assert "+12.35 [" not in shown(FIGURES, wide - 1)


def test_a_list_where_no_table_fits() -> None:
    lines = shown(FIGURES, 40).splitlines()
    assert "win share: 0.512 [0.498, 0.527]" in lines
    assert "games: 20" in lines


def test_markup_in_cells_is_text() -> None:
    table = NumberTable(("agent [x]",), [("[bold]rule[/bold]",)], title="[t]", caption="[c]")
    for width in (80, 10):
        flat = re.sub(r"[\s│]", "", shown(table, width))
        assert all(text in flat for text in ("agent[x]", "[bold]rule[/bold]", "[t]", "[c]"))


def test_a_table_may_be_empty() -> None:
    assert "agent" in shown(NumberTable(("agent", "games"), []), 80)


def test_every_result_of_a_match_is_shown_at_every_width() -> None:
    setting, results = play_match("phantom_trick_v0", ["rule", "random"], 3, None, 10, 0)
    summaries = summarize(setting, results)
    table = report.table(setting, results, summaries)
    for agent in report.as_data(setting, results, summaries)["agents"]:
        wanted = {f"{agent['win_share'][key]:.3f}" for key in ("mean", "low", "high")}
        wanted |= {f"{agent['margin'][key]:+.2f}" for key in ("mean", "low", "high")}
        wanted |= {str(agent["games"])}
        for width in WIDTHS:
            assert wanted <= numbers(shown(table, width))
            assert f"{agent['ms_per_decision']:.3g}" in shown(table, width)
