"""Numbers that are infinite, or none at all, end a training: what follows from them is lost."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from phantom_envs.core.errors import PhantomError


class NotFinite(PhantomError, ArithmeticError):
    """A loss, gradient or weight that is infinite or no number."""


def not_finite(steps: int, what: str) -> str:
    """What is said of it, `steps` steps into a training."""
    return (
        f"not finite after {steps:,} steps: {what}. Training cannot go on from here, and these weights are not kept; a "
        "smaller learning rate may help"
    )


def require_finite(steps: int, **terms: Tensor) -> None:
    """Raise `NotFinite` if one of these single numbers is not, `steps` steps into a training."""
    if not torch.isfinite(torch.stack([term.detach() for term in terms.values()])).all():
        shown = ", ".join(f"{name} {term.item():g}" for name, term in terms.items() if not term.isfinite())
        raise NotFinite(not_finite(steps, shown))


def require_finite_weights(steps: int, net: nn.Module) -> None:
    """Raise `NotFinite` if a weight of a network is not finite."""
    require_finite(steps, **{name: parameter.abs().max() for name, parameter in net.named_parameters()})
