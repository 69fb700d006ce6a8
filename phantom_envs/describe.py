"""The page of a game, in Markdown: `phantom-envs describe` shows it, and the documentation includes it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from phantom_envs.core.game import Game, Option
from phantom_envs.core.layout import Block


def markdown(game: Game, num_players: int | None = None) -> str:
    """The page of a game; observation, rewards and limits are given for one player count, None for the default."""
    players = game.check_players(num_players)
    parts = [
        f"# {game.title} (`{game.id}`)",
        game.summary,
        "## Players",
        _players(game, players),
        "## Options",
        _table(("option", "default", "values", "meaning"), map(_option_row, game.options)),
        "## Actions",
        f"{game.num_actions} actions; the state says which are legal.",
        _table(("index", "name", "meaning"), _action_rows(game)),
        f"## Observation with {players} players",
        _observation_sizes(game),
        _table(("block", "offset", "shape", "values", "meaning"), map(_block_row, game.layout(players))),
        f"## Rewards with {players} players",
        _table(
            ("reward", "what is paid"), ((f"`{name}`", _payment(game, name, players)) for name in game.reward_weights)
        ),
        "## Limits",
        _limits(game, players),
    ]
    return "\n\n".join(parts) + "\n"


def _table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def _either(values: Sequence[object]) -> str:
    shown = [str(value) for value in values]
    return f"{', '.join(shown[:-1])} or {shown[-1]}"


def _players(game: Game, players: int) -> str:
    agents = f"Agents are `player_0` … `player_{players - 1}` with {players} players."
    if len(game.players) == 1:
        return f"{players}. {agents}"
    return f"{_either(game.players)}; {game.default_players} by default. {agents}"


def _option_row(option: Option) -> tuple[str, str, str, str]:
    if option.choices is not None:
        values = ", ".join(f"`{choice!r}`" for choice in option.choices)
    else:
        values = f"{option.least} … {option.most}"
    return f"`{option.name}`", f"`{option.default!r}`", values, option.meaning


def _action_rows(game: Game) -> Iterable[tuple[str, str, str]]:
    for group in game.actions:
        indexes = str(group.first) if group.count == 1 else f"{group.first} … {group.stop - 1}"
        yield indexes, f"`{group.shown}`", group.meaning


def _observation_sizes(game: Game) -> str:
    sizes = ", ".join(f"{game.layout(players).size} with {players} players" for players in game.players)
    return f"A vector of `int8`, in the frame of its seat: the own seat first, then clockwise. Entries: {sizes}."


def _block_row(block: Block) -> tuple[str, str, str, str, str]:
    shape = " × ".join(map(str, block.shape))
    return f"`{block.name}`", str(block.start), shape, f"{block.low} … {block.high}", block.meaning


def _payment(game: Game, reward: str, players: int) -> str:
    win, point = game.reward_weights[reward](players)
    paid = []
    if win:
        lone = f"{win:+g} to a lone winner, {-win / (players - 1):+.4g} to everybody else"
        paid.append(
            f"at the end of the game, with n players and w winners, {_times(win)}(n/w - 1)/(n - 1) to a winner and "
            f"{_times(-win)}1/(n - 1) to everybody else ({lone})"
        )
    if point:
        few = ", few points being good" if point < 0 else ""
        paid.append(f"whenever points are booked, {_times(point)}(own points - mean over all players){few}")
    return "; ".join(paid)


def _times(weight: float) -> str:
    return {1.0: "", -1.0: "-"}.get(weight, f"{weight:g} × ")


def _limits(game: Game, players: int) -> str:
    options = game.check_options({})
    bound = game.max_decisions(players, options)
    if bound is None:
        return "The rules set no bound on the number of decisions."
    return f"At most {bound} decisions with {players} players and the default options."
