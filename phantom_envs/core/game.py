"""What a game is: a record, some compiled functions over it, and the words that describe it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from phantom_envs.core.actions import Actions
from phantom_envs.core.errors import InvalidOption, InvalidPlayers, UnknownOption
from phantom_envs.core.layout import Layout

Record: TypeAlias = Any
"""One record of a game's state dtype: a numba record, or `numpy.void` when run uncompiled."""

States: TypeAlias = NDArray[np.void]
"""A vector of records."""

MAX_PLAYERS = 6

RUNNING, TERMINATED, TRUNCATED = 0, 1, 2

HEADER: list[tuple[Any, ...]] = [
    ("seed", np.uint64),  # what this game was dealt from
    ("rng", np.uint64, (1,)),  # generator of all chance to come in this game
    ("num_players", np.int8),  # players in this game
    ("seat", np.int8),  # seat to act, -1 when the game is over
    ("actor", np.int8),  # seat that made the last step, 0 before the first
    ("status", np.int8),  # RUNNING, TERMINATED or TRUNCATED
    ("winners", np.uint8),  # set of the winning seats, empty until the game is over
    ("points", np.int16, (MAX_PLAYERS,)),  # per seat, points booked by the last step; cleared before each step
]
"""Fields that every state begins with. `deal` finds the first three set, and all else zero but the option fields."""

GIVEN = ("seed", "num_players")
"""Fields of the header that a new game takes over."""


@dataclass(frozen=True)
class Option:
    """A setting of a game.

    Attributes:
        name: Keyword argument of `env` and `make_vec`.
        default: Value when not given.
        meaning: One sentence for the documentation.
        choices: The values it takes, or
        least, most: the bounds of an integer.
        field: Field of the record that holds the value, if the rules need it.
    """

    name: str
    default: str | int
    meaning: str
    choices: tuple[str | int, ...] | None = None
    least: int = 0
    most: int = 0
    field: str | None = None

    def check(self, value: Any) -> str | int:
        """`value` if the option takes it, else `InvalidOption`."""
        if self.choices is not None:
            if not isinstance(value, bool) and value in self.choices:
                return self.choices[self.choices.index(value)]
            raise InvalidOption(f"{self.name}={value!r}: choose one of {', '.join(map(repr, self.choices))}")
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or not self.least <= value <= self.most:
            raise InvalidOption(f"{self.name}={value!r}: give an integer from {self.least} to {self.most}")
        return int(value)


def _never(s: Record) -> bool:
    return False


@dataclass(frozen=True, eq=False)
class Game:
    """A game: everything the faces, agents, records and pages need to know of it.

    The compiled functions take one record; `words` is the set of legal actions as `uint64` of shape (num_words,).

    Attributes:
        name: Name without version, as in `state_dict`.
        version: Raised whenever the same seed and actions would give another game, observation or reward.
        title: Name as written in prose.
        summary: One sentence.
        players: Player counts, ascending.
        default_players: Player count when none is given.
        options: All options; the first is `reward`.
        reward_weights: Per reward name, a function of the player count that gives the weight of winning and the
            weight of a point (negative where few points are good).
        dtype: The state, beginning with `HEADER`.
        actions: The action space, and the names of actions.
        max_decisions: Bound on the decisions of a game by player count and options, or None if the rules set none.
        layout: The observation's blocks by player count.
        deal: `deal(s)` sets a new game up.
        legal: `legal(s, words)` fills the set of legal actions of the seat to act; empty when over.
        apply: `apply(s, action)` plays a legal action.
        observe: `observe(s, seat, out)` writes what `seat` knows into int8 `out`.
        resample: `resample(s, seat)` redraws what `seat` cannot know from `s["rng"]`.
        rule_action: `rule_action(s, words)` is the rule bot's choice for the seat to act.
        state_dict: The complete state, hidden information included, as plain JSON-able data.
        picture: The table in text, as a seat sees it (None: everything), in colour or not.
    """

    name: str
    version: int
    title: str
    summary: str
    players: tuple[int, ...]
    default_players: int
    options: tuple[Option, ...]
    reward_weights: Mapping[str, Callable[[int], tuple[float, float]]]
    dtype: np.dtype[np.void]
    actions: Actions
    max_decisions: Callable[[int, Mapping[str, Any]], int | None]
    layout: Callable[[int], Layout]
    deal: Callable[[Record], None]
    legal: Callable[[Record, Any], None]
    apply: Callable[[Record, int], None]
    observe: Callable[[Record, int, Any], None]
    resample: Callable[[Record, int], None]
    rule_action: Callable[[Record, Any], int]
    state_dict: Callable[[Record], dict[str, Any]]
    picture: Callable[[Record, int | None, bool], str]
    deal_field: str | None = None
    """Field of the record that counts the deals of a game, or None where a game is a single one."""
    secret: Callable[[Record], bool] = _never
    """`secret(s)`: whether what the seat to act chooses now stays hidden from all others once it is chosen."""
    extras: Mapping[str, Callable[[], str]] = field(default_factory=dict)
    """Further pages of `phantom-envs describe`, by flag name (a board, say)."""

    def __reduce__(self) -> tuple[Callable[[str], Game], tuple[str]]:
        """A game is copied and pickled as a reference to the `GAME` of its folder."""
        return _game_of, (self.deal.__module__.rpartition(".")[0],)

    @property
    def id(self) -> str:
        """Name with version, as `phantom_trick_v0`."""
        return f"{self.name}_v{self.version}"

    @property
    def num_actions(self) -> int:
        """Size of the action space."""
        return self.actions.size

    def action_name(self, s: Record, action: int) -> str:
        """Canonical name of an action in a state, `0 <= action < num_actions`."""
        return self.actions.name(s, action)

    @property
    def num_words(self) -> int:
        """Number of 64-bit words of a set of actions."""
        return (self.num_actions + 63) // 64

    def check_players(self, num_players: Any) -> int:
        """`num_players` (None: the default) if the game is played by that many, else `InvalidPlayers`."""
        if num_players is None:
            return self.default_players
        if isinstance(num_players, bool) or num_players not in self.players:
            counts = ", ".join(map(str, self.players))
            raise InvalidPlayers(f"{self.title} is played by {counts}; got num_players={num_players!r}")
        return int(num_players)

    def check_options(self, given: Mapping[str, Any]) -> dict[str, str | int]:
        """All options with their values; `UnknownOption` or `InvalidOption` where one does not fit."""
        known = {option.name: option for option in self.options}
        for name in given:
            if name not in known:
                raise UnknownOption(f"{self.id} has no option {name!r}; it has {', '.join(known)}")
        return {name: option.check(given.get(name, option.default)) for name, option in known.items()}

    def dense_options(self, given: Mapping[str, Any]) -> dict[str, str | int]:
        """`check_options`, but with the last reward, the one that comes most often, unless one is given."""
        return self.check_options({"reward": list(self.reward_weights)[-1]} | dict(given))

    def weights(self, num_players: int, options: Mapping[str, Any]) -> tuple[float, float]:
        """Weight of winning and weight of a point for these settings."""
        return self.reward_weights[str(options["reward"])](num_players)

    @property
    def kept_fields(self) -> tuple[str, ...]:
        """The fields that a new game in the same record takes over: its seed, the number of players, the options."""
        return GIVEN + tuple(option.field for option in self.options if option.field is not None)

    def blank(self, count: int, num_players: int, options: Mapping[str, Any]) -> States:
        """`count` records with player count and options set, not dealt yet."""
        states = np.zeros(count, self.dtype)
        states["num_players"] = num_players
        states["seat"] = -1
        for option in self.options:
            if option.field is not None:
                states[option.field] = options[option.name]
        return states


def _game_of(folder: str) -> Game:
    game: Game = import_module(folder).GAME
    return game


def members_of(value: Any) -> list[int]:
    """The members of one set of up to 64 numbers, ascending."""
    bits = int(value)
    return [index for index in range(bits.bit_length()) if bits >> index & 1]


def members(words: NDArray[np.uint64]) -> list[int]:
    """The members of a set in several words, as of actions, ascending."""
    return [64 * word + index for word, value in enumerate(words.tolist()) for index in members_of(value)]


def seat_or_none(seat: Any) -> int | None:
    """A seat as `state_dict` has it: None for -1."""
    return int(seat) if seat >= 0 else None
