"""Settings of training scripts, and what values they take. All are checked before anything is written."""

from __future__ import annotations

import json
import math
from collections.abc import Collection
from dataclasses import asdict, dataclass
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import torch

from phantom_envs.core.errors import PhantomError
from phantom_envs.core.game import Game
from phantom_envs.registry import get_game


class InvalidSetting(PhantomError, ValueError):
    """A setting that does not take that value."""


@dataclass(frozen=True)
class Bounds:
    """Finite numbers from `least` to `most`; `above` leaves out `least` itself."""

    least: float = -math.inf
    most: float = math.inf
    above: bool = False

    def hold(self, number: float) -> bool:
        """Whether a number lies within."""
        beyond = number > self.least if self.above else number >= self.least
        return beyond and number <= self.most and (isinstance(number, Integral) or math.isfinite(number))

    def __str__(self) -> str:
        parts = [] if self.least == -math.inf else [f"{'above' if self.above else 'of at least'} {self.least:,}"]
        parts += [] if self.most == math.inf else [f"at most {self.most:,}"]
        return " and ".join(parts) or "that is finite"


Steps = Annotated[int, Bounds(1)]
Whole = Annotated[int, Bounds(0)]
Count = Annotated[int, Bounds(1, 2**24)]
Threads = Annotated[int, Bounds(1, 1024)]
Width = Annotated[int, Bounds(1, 2**16)]
Depth = Annotated[int, Bounds(1, 100)]
Seed = Annotated[int, Bounds(0, 2**32 - 1)]
Number = Annotated[float, Bounds()]
Weight = Annotated[float, Bounds(0)]
Positive = Annotated[float, Bounds(0, above=True)]
Share = Annotated[float, Bounds(0, 1)]


def check_settings(config: Any) -> None:
    """Check the fields of a dataclass against their annotations.

    Raises:
        InvalidSetting: One has a value that it does not take.
    """
    for name, hint in get_type_hints(type(config), include_extras=True).items():
        value = getattr(config, name)
        if not _fits(value, hint):
            raise InvalidSetting(f"{name}={value!r}: give {_describe(hint)}")


def check_game(config: Any) -> tuple[Game, int, dict[str, Any]]:
    """The game, number of players and options that `game`, `num_players` and `options` of a dataclass ask for.

    Raises:
        PhantomError: There is no such game, or it is not played so.
    """
    game = get_game(config.game)
    return game, game.check_players(config.num_players), game.dense_options(config.options)


def minibatch_of(config: Any, usual: int) -> int:
    """Decisions of a gradient step: `minibatch` of a dataclass; without it `usual`, or a whole rollout of fewer.

    Raises:
        InvalidSetting: It is more than `num_envs` × `rollout` of the dataclass.
    """
    whole: int = config.num_envs * config.rollout
    if config.minibatch is None:
        return min(usual, whole)
    if config.minibatch > whole:
        raise InvalidSetting(
            f"minibatch={config.minibatch}: a rollout has {whole:,} decisions (num_envs × rollout); give no more"
        )
    return int(config.minibatch)


def check_device(name: str) -> torch.device:
    """The device of that name, which is there and computes.

    Raises:
        InvalidSetting: It is not.
    """
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        raise InvalidSetting(f"device={name!r} cannot be used here ({reason}); device=cpu always can") from error
    return device


def plain(config: Any, without: Collection[str] = ()) -> dict[str, Any]:
    """The fields of a dataclass as plain JSON data, NumPy's numbers too."""
    kept = {name: value for name, value in asdict(config).items() if name not in without}
    data: dict[str, Any] = json.loads(json.dumps(kept, default=lambda number: number.item()))
    return data


def _fits(value: Any, hint: Any) -> bool:
    if get_origin(hint) is Annotated:
        kind, bounds = get_args(hint)
        return _fits(value, kind) and bounds.hold(value)
    if get_origin(hint) in (Union, UnionType):  # the former where one of the kinds has bounds
        return any(_fits(value, each) for each in get_args(hint))
    if hint in (int, float):
        return isinstance(value, Integral if hint is int else Real) and not isinstance(value, bool)
    return isinstance(value, get_origin(hint) or hint)


def _describe(hint: Any) -> str:
    if get_origin(hint) is Union:
        return " or ".join("None" if each is NoneType else _describe(each) for each in get_args(hint))
    if get_origin(hint) is not Annotated:
        return str(getattr(hint, "__name__", hint))
    kind, bounds = get_args(hint)
    return f"a {'whole ' if kind is int else ''}number {bounds}"
