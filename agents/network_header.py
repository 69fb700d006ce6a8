"""What stands in the header of a network file, held against its tensors before anything is built from it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from reprlib import repr as brief
from typing import Any

from phantom_envs.core.errors import PhantomError

SIZES = ("observation_size", "num_actions", "width", "depth")

KNOWN = {*SIZES, "rows", "layout"}

NUMBERS = "torch.float32"
"""Numbers of every tensor."""


class WrongNetwork(PhantomError, ValueError):
    """A network file that cannot be read, or cannot play here."""


def json_object(name: str, header: Mapping[str, str]) -> dict[str, Any]:
    """The JSON object under `name` in a header, else `WrongNetwork`."""
    if name not in header:
        raise WrongNetwork(f"its header has no {name!r}")
    try:
        found = json.loads(header[name])
    except (ValueError, RecursionError) as error:  # a number of thousands of digits is a ValueError, too
        raise WrongNetwork(f"{name!r} in its header is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise WrongNetwork(f"{name!r} in its header is no JSON object but {brief(found)}")
    return found


def check_shape(shape: Mapping[str, Any], tensors: Mapping[str, tuple[str, list[int]]]) -> None:
    """Refuse a shape that does not describe the tensors, with `WrongNetwork`. Nothing is made of what it says.

    Args:
        shape: Arguments of `PolicyValueNet`.
        tensors: Type of the numbers and lengths of each tensor, by name.
    """
    if set(shape) != KNOWN:
        raise WrongNetwork(f"'network' in its header has {brief(sorted(shape))}, not {', '.join(sorted(KNOWN))}")
    for name in SIZES:
        if not _is_size(shape[name], 1):
            raise WrongNetwork(f"{name} in its header is {brief(shape[name])}, not an integer of at least 1")
    if not isinstance(shape["layout"], str):
        raise WrongNetwork(f"layout in its header is {brief(shape['layout'])}, not a digest")
    count = _check_rows(shape)
    expected_number = 2 * shape["depth"] + 5 + (2 if count else 0)
    if len(tensors) != expected_number:
        raise WrongNetwork(f"it holds {len(tensors)} tensors where its header asks for {brief(expected_number)}")
    for name, lengths in _tensors_of(shape, count).items():
        if name not in tensors:
            raise WrongNetwork(f"the tensor {name} is missing")
        numbers, found = tensors[name]
        if (numbers, list(found)) != (NUMBERS, lengths):
            raise WrongNetwork(
                f"the tensor {name} is {numbers} of {brief(list(found))} where its header asks for {NUMBERS} of "
                f"{brief(lengths)}"
            )


def _tensors_of(shape: Mapping[str, Any], count: int) -> dict[str, list[int]]:
    """Lengths of all tensors of a network, by name; `count` rows of the observation speak about actions."""
    width, expected = shape["width"], {"scale": [shape["observation_size"]]}
    layers = {f"body.{2 * layer}": (width, width) for layer in range(shape["depth"])}  # a ReLU follows each
    layers["body.0"] = (width, shape["observation_size"])
    layers |= {"policy": (shape["num_actions"], width), "value": (1, width)}
    if count:
        layers["weights"] = (count, width)
    for name, (outputs, inputs) in layers.items():
        expected |= {f"{name}.weight": [outputs, inputs], f"{name}.bias": [outputs]}
    return expected


def _check_rows(shape: Mapping[str, Any]) -> int:
    """The number of rows that speak about actions, once it is known that they lie within the observation."""
    wrong = WrongNetwork(
        f"rows in its header are {brief(shape['rows'])}, not lists of (start, count, length, first action) within "
        f"{brief(shape['observation_size'])} entries and {brief(shape['num_actions'])} actions"
    )
    if not isinstance(shape["rows"], list):
        raise wrong
    total = 0
    for row in shape["rows"]:
        if not isinstance(row, list) or len(row) != 4:
            raise wrong
        start, count, length, first = row
        if not (_is_size(start, 0) and _is_size(count, 1) and _is_size(length, 1) and _is_size(first, 0)):
            raise wrong
        if start + count * length > shape["observation_size"] or first + length > shape["num_actions"]:
            raise wrong
        total += count
    return total


def _is_size(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least
