"""The PettingZoo environment: one class for all games."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, SupportsIndex

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

from phantom_envs.core.checks import as_action
from phantom_envs.core.errors import GameOver, NotReset, UnknownAgent
from phantom_envs.core.game import RUNNING, Game
from phantom_envs.core.table import Table
from phantom_envs.envs.conventions import RENDER_MODES, check_render_mode, check_reset_options, render
from phantom_envs.registry import get_game

Observation = dict[str, NDArray[np.int8]]


class PhantomAECEnv(AECEnv[str, Any, Any]):
    """A game as PettingZoo's agent-environment cycle, without wrappers.

    An observation is a dict of `"observation"`, int8 (D,), and `"action_mask"`, int8 (A,): 1 for the legal actions of
    the agent to act, all zero for the others. The mask is also in `infos[agent]["action_mask"]`.

    Illegal actions raise `IllegalAction`, others than integers `InvalidAction`, a step before the first reset
    `NotReset`, and a step after the end `GameOver`; the game is as it was. An agent whose game is over takes only
    `step(None)`. `copy.deepcopy` and `pickle` in mid-game give a game that goes on exactly alike.

    Args:
        game: The game.
        num_players: Number of agents; None for the game's default.
        options: The game's options.
        render_mode: None, `"ansi"` (`render` returns the table as the agent to act sees it) or `"human"` (every step
            prints it).

    Attributes:
        table: The game itself.
    """

    def __init__(
        self,
        game: Game,
        num_players: int | None = None,
        options: Mapping[str, Any] | None = None,
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        self.render_mode = check_render_mode(render_mode)
        self.table = Table(game, num_players, options)
        self.metadata: dict[str, Any] = {
            "name": game.id,
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": False,
            "render_fps": 1,
        }
        self.possible_agents = [f"player_{seat}" for seat in range(self.table.num_players)]
        self.agents: list[str] = []
        self.agent_selection = self.possible_agents[0]
        self.rewards: dict[str, float] = {}
        self.terminations: dict[str, bool] = {}
        self.truncations: dict[str, bool] = {}
        self.infos: dict[str, dict[str, Any]] = {}
        self._cumulative_rewards: dict[str, float] = {}
        self._skip_agent_selection: str | None = None
        self._paid = False
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        low, high = game.layout(self.table.num_players).bounds()
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(low, high, dtype=np.int8),
                    "action_mask": spaces.Box(0, 1, (game.num_actions,), np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self.action_spaces = {agent: spaces.Discrete(game.num_actions) for agent in self.possible_agents}
        count = len(self.possible_agents)
        self.state_space = spaces.Box(np.tile(low, count), np.tile(high, count), dtype=np.int8)

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The same space for every agent, each with an object of its own."""
        self._seat_of(agent)
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The same space for every agent, each with an object of its own."""
        self._seat_of(agent)
        return self.action_spaces[agent]

    def reset(self, seed: SupportsIndex | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Deal a new game with the same players and options.

        Args:
            seed: Any integer from 0. Without one the first game is dealt from the system's randomness, and every
                later game from the successor of the last seed, as in the batched environment.
            options: Ignored, as PettingZoo wants of unknown ones; but the game's own options are refused here, since
                they are given when the environment is made.

        Raises:
            UnknownOption: `options` names an option of the game.
        """
        check_reset_options(self.table.game, options)
        self.table.deal(seed)
        agents = self.possible_agents
        self.agents = list(agents)
        self.rewards = dict.fromkeys(agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(agents, 0.0)
        self.terminations = dict.fromkeys(agents, False)
        self.truncations = dict.fromkeys(agents, False)
        self.infos = {agent: {"action_mask": self._no_mask()} for agent in agents}
        self._skip_agent_selection = None
        self._paid = False
        self._call()

    def observe(self, agent: str) -> Observation:
        """What `agent` knows now. May be asked for anybody at any time and changes nothing.

        Raises:
            NotReset: There was no `reset` yet.
            UnknownAgent: No agent of that name plays.
        """
        table = self.table
        self._check_dealt()
        seat = self._seat_of(agent)
        if seat == table.seat and not self.terminations.get(agent, True):
            return {"observation": table.observation.copy(), "action_mask": table.mask.copy()}
        return {"observation": table.observe(seat), "action_mask": self._no_mask()}

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Observation, reward since its last step, terminated, truncated and info of the agent to act."""
        if not self.agents:
            self._check_agents()
        agent = self.agent_selection
        return (
            self.observe(agent) if observe else None,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    def step(self, action: SupportsIndex | None) -> None:
        """Play `action` for the agent to act; None for an agent whose game is over, which then leaves `agents`.

        Raises:
            NotReset: There was no `reset` yet.
            GameOver: The game is over, and `action` is not None or all agents have left.
            InvalidAction: `action` is no integer; True and False are none.
            IllegalAction: The rules do not allow it now.
        """
        if self.attempt(action):
            return
        self._check_agents()
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            if action is not None:
                raise GameOver(f"the game is over for {agent}: its only step is step(None); or call reset()")
            self._was_dead_step(None)
        else:
            self.table.play(action)  # type: ignore[arg-type]  # it refuses, and says why

    def attempt(self, action: SupportsIndex | None) -> bool:
        """Play `action` if the agent to act lives and may play it; else change nothing. Returns whether it did."""
        agent = self.agent_selection
        table = self.table
        if self.terminations.get(agent, True) or not table.attempt(action):  # type: ignore[arg-type]  # None fails
            return False
        self._cumulative_rewards[agent] = 0.0
        if table.rewarded or self._paid:
            self._pay()
        self.infos[agent] = {"action_mask": self._no_mask()}
        self._call()
        return True

    def _call(self) -> None:
        """Make the seat to act the selected agent, or end the game for all."""
        table = self.table
        if table.status == RUNNING:
            agent = self.possible_agents[table.seat]
            self.agent_selection = agent
            self.infos[agent] = {"action_mask": table.mask.copy()}
        else:
            self.agent_selection = self.agents[0]
            self.terminations = dict.fromkeys(self.agents, table.terminated)
            self.truncations = dict.fromkeys(self.agents, table.truncated)
        if self.render_mode == "human":
            self.render()

    def _pay(self) -> None:
        rewards = self.table.rewards.tolist()
        for agent, reward in zip(self.possible_agents, rewards, strict=True):
            self.rewards[agent] = reward
            self._cumulative_rewards[agent] += reward
        self._paid = self.table.rewarded

    def _no_mask(self) -> NDArray[np.int8]:
        return np.zeros(self.table.game.num_actions, np.int8)

    def _check_dealt(self) -> None:
        if not self.table.dealt:
            raise NotReset("no game has been dealt; call reset() first")

    def _seat_of(self, agent: str) -> int:
        try:
            return self._seats[agent]
        except (KeyError, TypeError) as error:  # unhashable
            raise UnknownAgent(f"no agent {agent!r}; there are {', '.join(self.possible_agents)}") from error

    def _check_agents(self) -> None:
        self._check_dealt()
        if not self.agents:
            raise GameOver(f"this game of {self.table.game.title} is over; call reset() for the next one")

    def state(self) -> NDArray[np.int8]:
        """What all agents together know: the observations of all seats one after the other, int8 (P × D,)."""
        self._check_dealt()
        return np.concatenate([self.table.observe(seat) for seat in range(self.table.num_players)])

    def state_dict(self) -> dict[str, Any]:
        """The complete state as plain data. It holds hidden information."""
        return self.table.state_dict()

    def action_name(self, action: int) -> str:
        """The canonical name of an action now."""
        return self.table.action_name(action)

    def render(self) -> str | None:
        """The table as the agent to act sees it, or open to all when the game is over; see `render_mode`."""
        table = self.table
        self._check_dealt()
        return render(table.game, table.state, table.seat if table.seat >= 0 else None, self.render_mode)

    def close(self) -> None:
        """Nothing to release."""


class _Enforcer(OrderEnforcingWrapper[str, Any, Any]):
    """PettingZoo's outermost wrapper, with a short way for what the wrappers below it only pass on.

    A legal action of a living agent, and every look at an attribute, goes straight to the game; anything else goes
    through all wrappers. The stock ones look every attribute up through three layers, several times a step, which
    costs more than the step.
    """

    def __init__(self, env: AssertOutOfBoundsWrapper[str, Any, Any], guard: _Guard, game: PhantomAECEnv) -> None:
        super().__init__(env)
        self._guard = guard
        self._game = game

    def __getattr__(self, name: str) -> Any:
        if name in PASSED_ON and self._has_reset:
            return getattr(self._game, name)
        return super().__getattr__(name)

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if self._has_reset:
            return self._game.last(observe)
        return super().last(observe)  # type: ignore[no-any-return]  # PettingZoo ships no types

    def step(self, action: Any) -> None:
        if self._has_reset and self._game.attempt(action):
            self._has_updated = True
            self._guard.forget()
        elif isinstance(action, bool):
            as_action(action, self._game.table.game.num_actions)  # refuses it; the other wrappers take it for 0 or 1
        else:
            super().step(action)

    def __str__(self) -> str:
        return str(self.env)


class _Guard(TerminateIllegalWrapper[str, Any, Any]):
    """PettingZoo's wrapper, which keeps the last mask it saw until the next step that it hears of."""

    def forget(self) -> None:
        """A step was made without it."""
        self._prev_obs = None


PASSED_ON = frozenset({"agents", "agent_selection", "rewards", "terminations", "truncations", "infos"})


def raw_env(
    game_id: str, num_players: int | None, render_mode: str | None, options: Mapping[str, Any]
) -> PhantomAECEnv:
    """The bare environment of a game, or `UnknownGame`."""
    return PhantomAECEnv(get_game(game_id), num_players, options, render_mode)


def env(game_id: str, num_players: int | None, render_mode: str | None, options: Mapping[str, Any]) -> _Enforcer:
    """The environment in PettingZoo's usual wrappers.

    An illegal action ends the game, its agent gets -1; an action outside the space is an `AssertionError`, and so is
    a step before `reset`.
    """
    game = raw_env(game_id, num_players, render_mode, options)
    guard = _Guard(game, illegal_reward=-1)
    return _Enforcer(AssertOutOfBoundsWrapper(guard), guard, game)
