"""The Gymnasium environments: one seat learns, the others are played by given opponents."""

from __future__ import annotations

import operator
import secrets
from collections.abc import Mapping, Sequence
from typing import Any, SupportsIndex

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from phantom_envs.core.checks import as_action
from phantom_envs.core.errors import GameOver, InvalidBatch, NotReset
from phantom_envs.core.game import Game
from phantom_envs.envs.conventions import RENDER_MODES, check_count, check_render_mode, check_reset_options, render
from phantom_envs.envs.learner_games import LearnerGames, Opponent
from phantom_envs.envs.vector import as_autoreset, as_seeds
from phantom_envs.registry import get_game

Observation = NDArray[np.int8]


def _spaces(game: Game, num_players: int) -> tuple[spaces.Space[Any], spaces.Space[Any]]:
    low, high = game.layout(num_players).bounds()
    return spaces.Box(low, high, dtype=np.int8), spaces.Discrete(game.num_actions)


class SingleAgentEnv(gymnasium.Env[Observation, Any]):
    """A game as its learner sees it: `step` plays the learner's action and then all others up to its next decision.

    An observation is int8 (D,); the legal actions are in `info["action_mask"]`, int8 (A,), and in `action_masks()`.
    The reward is what the learner gained since its last decision. If the game ends while the others play, that step
    terminates. The observation after the end is what the learner knows then, the mask all zero.

    `copy.deepcopy` and `pickle` in mid-game give a game that goes on exactly alike (a policy among the opponents must
    allow it).

    Args:
        game: Id of the game, as `"phantom_trick_v0"`.
        num_players: Number of players P; None for the game's default.
        opponents: `"random"`, `"rule"` (the game's rule bot) or a policy, a callable
            `policy(observation (K, D), action_mask (K, A)) -> actions (K,)`. One for all, or a sequence of P - 1,
            clockwise from the learner.
        seat: The learner's seat, or `"rotate"`: seat 0 in the first game after a seed, then the next seat each game.
        illegal_action: `"raise"` raises `IllegalAction` and changes nothing; `"random"` plays a random legal action
            instead, for tools that do not know of masks.
        render_mode: None, `"ansi"` or `"human"`.
        options: The game's options.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 1}  # noqa: RUF012  # Gymnasium's type

    def __init__(
        self,
        game: str,
        num_players: int | None = None,
        opponents: Opponent | Sequence[Opponent] = "random",
        seat: int | str = 0,
        illegal_action: str = "raise",
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        self.render_mode = check_render_mode(render_mode)
        self.games = LearnerGames(get_game(game), 1, num_players, opponents, seat, illegal_action, options)
        self.observation_space, self.action_space = _spaces(self.games.game, self.games.num_players)

    def reset(
        self, *, seed: SupportsIndex | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Deal a new game and play up to the learner's first decision.

        Args:
            seed: Any integer from 0. Without one the first game is dealt from the system's randomness, and every
                later game from the successor of the last seed.
            options: Ignored, but the game's own options are refused: they are given when the environment is made.
        """
        super().reset(seed=None if seed is None else operator.index(seed))
        check_reset_options(self.games.game, options)
        with self.games.all_or_nothing():
            _deal(self.games, seed, np.ones(1, np.bool_))
        return self._look()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play the learner's `action`, then the others.

        Raises:
            NotReset: There was no `reset` yet.
            GameOver: The game is over.
            InvalidAction: `action` is no integer; True and False are none.
            IllegalAction: The rules do not allow it now; or a policy chose something that they do not allow.
        """
        games = self.games
        index = as_action(action, games.game.num_actions)
        games.check_dealt()
        if not games.running[0]:
            raise GameOver(f"this game of {games.game.title} is over; call reset() for the next one")
        played = games.check_actions([index])
        with games.all_or_nothing():
            games.step(np.ones(1, np.bool_), played)
        observation, info = self._look()
        return observation, float(games.rewards[0]), bool(games.terminated[0]), bool(games.truncated[0]), info

    def _look(self) -> tuple[Observation, dict[str, Any]]:
        if self.render_mode == "human":
            self.render()
        return self.games.observation[0].copy(), {"action_mask": self.games.mask[0].copy()}

    def action_masks(self) -> NDArray[np.bool_]:
        """The learner's legal actions, bool (A,), as sb3-contrib's MaskablePPO asks for them."""
        return np.asarray(self.games.mask[0], np.bool_)

    @property
    def seat(self) -> int:
        """The learner's seat in this game."""
        return int(self.games.learner[0])

    def state_dict(self) -> dict[str, Any]:
        """The complete state as plain data. It holds hidden information."""
        return self.games.game.state_dict(self.games.states[0])

    def action_name(self, action: int) -> str:
        """The canonical name of an action now."""
        self.games.check_dealt()
        return self.games.game.action_name(self.games.states[0], action)

    def render(self) -> str | None:
        """The table as the learner sees it."""
        self.games.check_dealt()
        return render(self.games.game, self.games.states[0], self.seat, self.render_mode)


class SingleAgentVectorEnv(VectorEnv[Observation, Any, NDArray[Any]]):
    """N games of one learner each, stepped together; see `SingleAgentEnv` for what is not said here.

    The infos hold `"action_mask"`, int8 (N, A), and in Gymnasium's manner `"_action_mask"`, which rows have it: all.

    Args:
        game: Id of the game.
        num_envs: Number of games N.
        num_players: Number of players P; None for the game's default.
        opponents: As in `SingleAgentEnv`. A policy is asked for many games at once.
        seat: The learner's seat, or `"rotate"`: row i has seat i modulo P in the first game after a seed, then the
            next seat each game.
        illegal_action: As in `SingleAgentEnv`; an `IllegalAction` leaves all games as they were.
        autoreset_mode: Gymnasium's: `NEXT_STEP` deals the next game in the step after the last one, which ignores that
            row's action; `SAME_STEP` at once, leaving the end in `infos["final_obs"]` and `infos["final_info"]`;
            `DISABLED` leaves it to `reset(options={"reset_mask": …})`.
        render_mode: None, `"ansi"` or `"human"`.
        options: The game's options.
    """

    def __init__(
        self,
        game: str,
        num_envs: int = 1,
        num_players: int | None = None,
        opponents: Opponent | Sequence[Opponent] = "random",
        seat: int | str = 0,
        illegal_action: str = "raise",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        self.num_envs = check_count("num_envs", num_envs)
        self.render_mode = check_render_mode(render_mode)
        self.autoreset_mode = as_autoreset(autoreset_mode)
        self.metadata = {**SingleAgentEnv.metadata, "autoreset_mode": self.autoreset_mode}
        self.games = LearnerGames(get_game(game), self.num_envs, num_players, opponents, seat, illegal_action, options)
        self.single_observation_space, self.single_action_space = _spaces(self.games.game, self.games.num_players)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def reset(
        self,
        *,
        seed: SupportsIndex | Sequence[int | None] | NDArray[Any] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[Observation, dict[str, Any]]:
        """Deal new games in all rows, or in those marked in `options["reset_mask"]`, bool (N,).

        Args:
            seed: One seed (row i gets seed + i), or one for each row, where None goes on from the row's last seed.
            options: `"reset_mask"`; others as in `SingleAgentEnv.reset`.
        """
        if isinstance(seed, SupportsIndex) and not isinstance(seed, np.ndarray):
            super().reset(seed=operator.index(seed))
        check_reset_options(self.games.game, options)
        rows = self._rows((options or {}).get("reset_mask"))
        with self.games.all_or_nothing():
            _deal(self.games, seed, rows)
        return self.games.observation.copy(), self._infos()

    def _rows(self, mask: Any) -> NDArray[np.bool_]:
        """The rows that `reset_mask` marks; None marks all."""
        if mask is None:
            return np.ones(self.num_envs, np.bool_)
        rows = np.asarray(mask)
        if rows.shape != (self.num_envs,) or rows.dtype != np.bool_ or not rows.any():
            raise InvalidBatch(
                f"reset_mask must be bool of shape ({self.num_envs},) and mark a row, got {rows.dtype} {rows.shape}"
            )
        if not self.games.dealt and not rows.all():
            raise NotReset("reset all games once before you reset some of them")
        return rows.copy()

    def step(
        self, actions: Any
    ) -> tuple[Observation, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Play one action (N,) of every learner, then the others.

        Raises:
            NotReset: There was no `reset` yet.
            GameOver: With `DISABLED`, some games are over.
            InvalidAction: Wrong shape or no integers.
            IllegalAction: Some actions are not legal; or a policy chose something illegal. Nothing has changed.
        """
        games = self.games
        games.check_dealt()
        over = ~games.running
        if self.autoreset_mode == AutoresetMode.DISABLED and over.any():
            rows = ", ".join(map(str, np.flatnonzero(over)[:10]))
            raise GameOver(f"rows {rows} are over; reset(options={{'reset_mask': …}}) them first")
        played = games.check_actions(actions)
        infos: dict[str, Any] = {}
        with games.all_or_nothing():
            games.step(~over, played)
            if over.any():
                _deal(games, None, over)
            rewards, terminated, truncated = games.rewards.copy(), games.terminated, games.truncated
            ended = terminated | truncated
            if self.autoreset_mode == AutoresetMode.SAME_STEP and ended.any():
                infos = self._final(ended)
                _deal(games, None, ended)
        return games.observation.copy(), rewards, terminated, truncated, infos | self._infos()

    def _infos(self) -> dict[str, Any]:
        return {"action_mask": self.games.mask.copy(), "_action_mask": np.ones(self.num_envs, np.bool_)}

    def _final(self, ended: NDArray[np.bool_]) -> dict[str, Any]:
        """The infos on games that end and make room for the next in the same step, as Gymnasium has them."""
        final_obs = np.full(self.num_envs, None, dtype=object)
        for row in np.flatnonzero(ended):
            final_obs[row] = self.games.observation[row].copy()
        mask = np.zeros_like(self.games.mask)
        return {
            "final_obs": final_obs,
            "_final_obs": ended,
            "final_info": {"action_mask": mask, "_action_mask": ended.copy()},
            "_final_info": ended.copy(),
        }

    def action_masks(self) -> NDArray[np.bool_]:
        """The learners' legal actions, bool (N, A)."""
        return self.games.mask.astype(np.bool_)

    def render(self) -> tuple[Any, ...]:
        """Every table as its learner sees it."""
        games = self.games
        games.check_dealt()
        return tuple(
            render(games.game, state, int(seat), self.render_mode)
            for state, seat in zip(games.states, games.learner, strict=True)
        )


def _deal(games: LearnerGames, seed: Any, which: NDArray[np.bool_]) -> None:
    """Deal in the rows `which`: from `seed` (see `SingleAgentVectorEnv.reset`), else on from their last seeds."""
    fresh = np.full(games.count, not games.dealt)
    seeds = games.next_seeds() if games.dealt else as_seeds(secrets.randbits(63), games.count)
    if isinstance(seed, Sequence) and None in seed:
        given = [each is not None for each in seed]
        new = as_seeds([0 if each is None else each for each in seed], games.count)
        fresh |= given
        seeds = np.where(given, new, seeds)
    elif seed is not None:
        fresh[:] = True
        seeds = as_seeds(seed, games.count)
    games.deal(which, seeds, fresh)
