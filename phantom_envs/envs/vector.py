"""Many games at once: every step plays one action in each, in compiled code, on one or several threads."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any, NamedTuple, SupportsIndex

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import ArrayLike, NDArray

from phantom_envs.core.batch import NO_RESET, RESET_NEXT_STEP, RESET_SAME_STEP, illegal, kernels, sample
from phantom_envs.core.checks import as_actions, as_row
from phantom_envs.core.crew import Crew
from phantom_envs.core.errors import GameOver, IllegalAction, InvalidBatch, InvalidOption, NotReset
from phantom_envs.core.game import RUNNING, TRUNCATED, Game, States, members
from phantom_envs.core.rng import as_seed, successor
from phantom_envs.envs.conventions import check_count
from phantom_envs.registry import get_game

AUTORESET = {
    AutoresetMode.DISABLED: NO_RESET,
    AutoresetMode.NEXT_STEP: RESET_NEXT_STEP,
    AutoresetMode.SAME_STEP: RESET_SAME_STEP,
}


class Batch(NamedTuple):
    """What a step leaves behind for N games of P players with A actions and D observation entries.

    The arrays are overwritten by the next step.
    """

    observation: NDArray[np.int8]
    """(N, D): what the seat to act knows; of a game that is over, what its last actor knows."""
    action_mask: NDArray[np.int8]
    """(N, A): 1 for the legal actions of the seat to act, all zero when the game is over."""
    seat: NDArray[np.int64]
    """(N,): seat to act, -1 when the game is over."""
    reward: NDArray[np.float64]
    """(N, P): reward of every seat for this step."""
    terminated: NDArray[np.bool_]
    """(N,): whether this step ended the game by its rules."""
    truncated: NDArray[np.bool_]
    """(N,): whether this step cut the game off at its length limit."""


def as_autoreset(mode: AutoresetMode | str) -> AutoresetMode:
    """An autoreset mode from itself, its name (`"same_step"`) or its value (`"SameStep"`)."""
    for known in AutoresetMode:
        if mode == known or (isinstance(mode, str) and mode.lower() in (known.name.lower(), known.value.lower())):
            return known
    names = ", ".join(known.name.lower() for known in AutoresetMode)
    raise InvalidOption(f"autoreset={mode!r}: choose one of {names}")


def as_seeds(seed: SupportsIndex | Sequence[int] | NDArray[Any], count: int) -> NDArray[np.uint64]:
    """`count` seeds: those given, or from a single seed that one and the numbers after it (modulo 2**64)."""
    if isinstance(seed, list | tuple | range) or (isinstance(seed, np.ndarray) and seed.ndim):
        if len(seed) != count:
            raise InvalidBatch(f"{len(seed)} seeds for {count} games; give one seed, or one for each")
        return np.array([as_seed(each) for each in seed], np.uint64)
    return np.array([(as_seed(seed) + row) % 2**64 for row in range(count)], np.uint64)  # type: ignore[arg-type]  # no sequence here


def as_weights(weights: Any) -> tuple[float, float]:
    """Two finite numbers, else `InvalidOption`."""
    try:
        win, point = map(float, weights)
    except (TypeError, ValueError) as error:
        raise InvalidOption(f"weights={weights!r}: give two numbers, of winning and of a point") from error
    if not (isfinite(win) and isfinite(point)):
        raise InvalidOption(f"weights={weights!r}: give finite numbers")
    return win, point


class PhantomVec:
    """N games of one kind that step together. All seats are played by the caller.

    Args:
        game: The game.
        num_envs: Number of games N, at least 1.
        num_players: Players in each game; None for the game's default.
        seed: Seed of the first game (row i gets seed + i) or one for every row; the first `reset` uses it.
        threads: Threads a step is spread over. The result does not depend on it.
        autoreset: What happens to a game that is over: `"same_step"` starts the next one at once (`final_observation`
            keeps the last view), `"next_step"` starts it in the next step, which ignores that row's action,
            `"disabled"` leaves it to `reset(mask=…)`; until then the row takes only action -1.
        weights: Weights of winning and of a point in the rewards, for training on a mixture; None for those of the
            option `reward`.
        options: The game's options.

    Attributes:
        batch: The arrays of the last step, see `Batch`.
        final_observation: (N, D) int8; rows that ended in the last step with `"same_step"` hold what their last actor
            knew at the end, the others older data.
    """

    def __init__(
        self,
        game: Game,
        num_envs: int = 1,
        num_players: int | None = None,
        seed: SupportsIndex | Sequence[int] | NDArray[Any] | None = None,
        threads: int = 1,
        autoreset: AutoresetMode | str = AutoresetMode.SAME_STEP,
        weights: tuple[float, float] | None = None,
        **options: Any,
    ) -> None:
        self.game = game
        self.num_envs = check_count("num_envs", num_envs)
        self.threads = check_count("threads", threads)
        self.num_players = game.check_players(num_players)
        self.options = game.check_options(options)
        self.autoreset = as_autoreset(autoreset)
        self.layout = game.layout(self.num_players)
        self.num_actions = game.num_actions
        self._seed = None if seed is None else as_seeds(seed, self.num_envs)
        self._mode = AUTORESET[self.autoreset]
        self._weights = game.weights(self.num_players, self.options) if weights is None else as_weights(weights)
        self._states = game.blank(self.num_envs, self.num_players, self.options)
        self._words = np.zeros((self.num_envs, game.num_words), np.uint64)
        self._dealt = False
        self._sampler = np.zeros((self.num_envs, 1), np.uint64)
        self._sampled = np.zeros(self.num_envs, np.int64)
        self.batch = Batch(
            np.zeros((self.num_envs, self.layout.size), np.int8),
            np.zeros((self.num_envs, self.num_actions), np.int8),
            np.full(self.num_envs, -1, np.int64),
            np.zeros((self.num_envs, self.num_players)),
            np.zeros(self.num_envs, np.bool_),
            np.zeros(self.num_envs, np.bool_),
        )
        self.final_observation = np.zeros_like(self.batch.observation)
        self._connect()

    def _connect(self) -> None:
        self._kernels = kernels(self.game)
        self._crew = Crew(min(self.threads, self.num_envs))

    def _spread(self, kernel: Callable[..., None], *arguments: Any) -> None:
        """Run a kernel over all rows."""
        self._crew.run(kernel, self.num_envs, *arguments)

    @property
    def states(self) -> States:
        """The records of all games, hidden information included. Changing them is at your own risk."""
        return self._states

    def reset(
        self, seed: SupportsIndex | Sequence[int] | NDArray[Any] | None = None, mask: ArrayLike | None = None
    ) -> Batch:
        """Deal new games in all rows, or in those marked in `mask` (N,) bool.

        Args:
            seed: As in the constructor. None goes on: with the constructor's seed the first time (or one from the
                operating system), later with the successor of each row's last seed.
            mask: Rows to reset; before the first reset of all rows it must be None.

        Raises:
            InvalidBatch: Wrong number of seeds or wrong shape of the mask.
            NotReset: A partial reset before any full one.
        """
        which = np.ones(self.num_envs, np.bool_) if mask is None else np.array(mask)
        if which.shape != (self.num_envs,) or which.dtype != np.bool_:
            raise InvalidBatch(f"mask must be bool of shape ({self.num_envs},), got {which.dtype} {which.shape}")
        if not self._dealt and not which.all():
            raise NotReset("reset all games once before you reset some of them")
        seeds = None if seed is None else as_seeds(seed, self.num_envs)
        if seeds is None and not self._dealt:
            seeds = self._seed if self._seed is not None else as_seeds(secrets.randbits(63), self.num_envs)
        if seeds is None:
            seeds = np.array([successor(each) for each in self._states["seed"]], np.uint64)
        self._states["seed"][which] = seeds[which]
        if not self._dealt or seed is not None:
            self._sampler[which, 0] = ~seeds[which]
        self._spread(self._kernels.start, self._states, which)
        self._dealt = True
        batch = self.batch
        self._spread(self._kernels.view, self._states, self._words, batch.action_mask, batch.observation, batch.seat)
        batch.reward[which] = 0.0
        batch.terminated[which] = False
        batch.truncated[which] = False
        return batch

    def step(self, actions: ArrayLike) -> Batch:
        """Play one action in every game.

        Args:
            actions: (N,) integers.

        Raises:
            InvalidAction: Wrong shape or no integers.
            IllegalAction: Some actions are not legal; the message names the rows. Nothing has changed.
            NotReset: Before the first reset.
            GameOver: With autoreset disabled, an action other than -1 for a game that is over. Nothing has changed.
        """
        played = as_actions(actions, self.num_envs)
        if not self._dealt:
            raise NotReset("no games have been dealt; call reset() first")
        if self._mode == NO_RESET:
            ended = np.flatnonzero((self._states["status"] != RUNNING) & (played != -1))
            if len(ended):
                raise GameOver(f"rows {_some(ended)} are over; reset(mask=…) them, or give them action -1")
        if illegal(self._words, played, 0, self.num_envs) >= 0:
            self._refuse(played)
        batch = self.batch
        self._spread(
            self._kernels.step,
            self._states,
            self._words,
            played,
            self._mode,
            *self._weights,
            batch.action_mask,
            batch.observation,
            batch.seat,
            batch.reward,
            batch.terminated,
            batch.truncated,
            self.final_observation,
        )
        return batch

    def _refuse(self, actions: NDArray[np.int64]) -> None:
        legal = [members(words) for words in self._words]
        rows = [row for row, allowed in enumerate(legal) if allowed and actions[row] not in allowed]
        row = rows[0]
        names = ", ".join(f"{index} ({self.game.action_name(self._states[row], index)})" for index in legal[row])
        raise IllegalAction(
            f"illegal actions in rows {_some(rows)}; in row {row} player_{self._states['seat'][row]} chose "
            f"{actions[row]}, legal are {names}"
        )

    def sample(self) -> NDArray[np.int64]:
        """A uniformly random legal action for every game, -1 where it is over; (N,), overwritten by the next call.

        Row i draws from its own generator, seeded with the game: the same at any batch size and thread count.
        """
        if not self._dealt:
            raise NotReset("no games have been dealt; call reset() first")
        self._spread(sample, self._words, self._sampler, self._sampled)
        return self._sampled

    def rule_actions(self) -> NDArray[np.int64]:
        """The rule bot's action for every game, -1 where it is over; (N,)."""
        if not self._dealt:
            raise NotReset("no games have been dealt; call reset() first")
        actions = np.full(self.num_envs, -1, np.int64)
        self._spread(self._kernels.advise, self._states, self._words, actions)
        return actions

    def bind(self, **buffers: NDArray[Any]) -> None:
        """Let the following resets and steps write into arrays of yours, by the names of `Batch`.

        Raises:
            InvalidBatch: An unknown name, or an array of the wrong shape or dtype, not contiguous or read-only.
        """
        for name, array in buffers.items():
            if name not in Batch._fields:
                raise InvalidBatch(f"no buffer {name!r}; there are {', '.join(Batch._fields)}")
            wanted = getattr(self.batch, name)
            if (array.shape, array.dtype) != (wanted.shape, wanted.dtype):
                raise InvalidBatch(
                    f"buffer {name} must be {wanted.dtype} {wanted.shape}, got {array.dtype} {array.shape}"
                )
            if not (array.flags.c_contiguous and array.flags.writeable):
                raise InvalidBatch(f"buffer {name} must be contiguous and writeable")
        self.batch = self.batch._replace(**buffers)

    def save(self) -> dict[str, NDArray[Any]]:
        """A copy of everything the games depend on, for `restore`; `NotReset` before the first reset."""
        if not self._dealt:
            raise NotReset("no games have been dealt; call reset() first")
        kept = {name: array.copy() for name, array in self.batch._asdict().items()}
        return kept | {"states": self._states.copy(), "sampler": self._sampler.copy()}

    def restore(self, saved: dict[str, NDArray[Any]]) -> Batch:
        """Go back to a `save()` of a batch with the same settings; the current buffers are filled.

        Raises:
            InvalidBatch: It was saved by a batch with other settings, or something is missing. Nothing has changed.
        """
        batch = self.batch
        own = batch._asdict() | {"states": self._states, "sampler": self._sampler}
        fits = all(
            name in saved and (saved[name].shape, saved[name].dtype) == (a.shape, a.dtype) for name, a in own.items()
        )
        blank = self.game.blank(1, self.num_players, self.options)
        bounds: dict[str, tuple[Any, Any]] = {"seat": (-1, self.num_players - 1), "status": (0, TRUNCATED)}
        bounds["actor"] = 0, self.num_players - 1
        bounds |= {name: (blank[name], blank[name]) for name in self.game.kept_fields if name != "seed"}
        if not fits or any(
            ((saved["states"][field] < low) | (saved["states"][field] > high)).any()
            for field, (low, high) in bounds.items()
        ):
            raise InvalidBatch(
                f"saved by another kind of batch; this one has {self.num_envs} games of {self.game.id} for "
                f"{self.num_players} with {self.options}"
            )
        for name, array in own.items():
            array[:] = saved[name]
        self._spread(self._kernels.view, self._states, self._words, batch.action_mask, batch.observation, batch.seat)
        self._dealt = True
        return batch

    def state_dict(self, row: int) -> dict[str, Any]:
        """The complete state of a game as plain data. It holds hidden information. `InvalidRow` if there is none."""
        return self.game.state_dict(self._states[as_row(row, self.num_envs)])

    def close(self) -> None:
        """End the threads. The batch can still be used; then it starts others."""
        self._crew.dismiss()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_kernels", "_crew", "game")} | {
            "game": self.game.id
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, game=get_game(state["game"]))
        self._connect()


def _some(rows: Sequence[int] | NDArray[Any]) -> str:
    return ", ".join(str(row) for row in rows[:10]) + (", …" if len(rows) > 10 else "")


def make_vec(
    name: str,
    num_envs: int = 1,
    num_players: int | None = None,
    seed: SupportsIndex | Sequence[int] | NDArray[Any] | None = None,
    threads: int = 1,
    autoreset: AutoresetMode | str = AutoresetMode.SAME_STEP,
    weights: tuple[float, float] | None = None,
    **options: Any,
) -> PhantomVec:
    """A batch of `num_envs` games of `name` (as `"phantom_trick_v0"`); see `PhantomVec`."""
    return PhantomVec(get_game(name), num_envs, num_players, seed, threads, autoreset, weights, **options)
