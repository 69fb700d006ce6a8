"""Self-play with masked PPO: one network plays all seats of many games at once and learns from all of them.

    python -m training.ppo --game phantom_trick_v0 --num-players 4 --total-steps 6000000

Schulman et al., "Proximal policy optimization algorithms" (2017). A transition leads from a decision of a seat to the
same seat's next decision, see `phantom_envs.core.gae`. The games write straight into the rollout's buffers.
"""

from __future__ import annotations

import math
import shlex
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from agents.network import PolicyValueNet, save_network
from agents.neural import NeuralAgent
from phantom_envs.core.gae import turn_advantages
from phantom_envs.envs.vector import PhantomVec, make_vec
from training.checkpoints import Checkpoint, Unusable, save_checkpoint
from training.command import command
from training.evaluate import Evaluation, evaluate, table
from training.finite import NotFinite, require_finite, require_finite_weights
from training.interrupts import Interrupts
from training.monitor import Monitor, print_table
from training.resume import resume
from training.run_folder import RunRefused, begin_run, check_free, in_use
from training.settings import (
    Count,
    Depth,
    InvalidSetting,
    Number,
    Positive,
    Seed,
    Share,
    Steps,
    Threads,
    Weight,
    Whole,
    Width,
    check_device,
    check_game,
    check_settings,
    minibatch_of,
    plain,
)

NOT_KEPT = ("run", "resume", "more_steps", "device", "threads")
"""Settings that a resumed run does not take from its beginning."""


MINIBATCH = 4096
"""Decisions per gradient step, unless others are asked for."""


@dataclass
class Config:
    """Everything that can be set, with the command line made from it."""

    game: str = "phantom_trick_v0"
    """Game to learn."""
    num_players: int | None = None
    """Players; None for the game's default."""
    options: dict[str, int | str] = field(default_factory=dict)
    """Options of the game, as `--options plays 4`; its last `reward`, which comes most often, unless you give one."""
    win_bonus: Number = 0.5
    """Weight of winning that is added to that reward: points alone say little once all have enough of them."""
    run: Path | None = None
    """Folder of settings, checkpoints, tensorboard files and, at the end, `agent.safetensors`; None for a new one in
    `runs/`."""
    resume: bool = False
    """Go on from the newest whole checkpoint in the folder `run`, with the settings it was begun with but for `device`
    and `threads`."""
    more_steps: Whole = 0
    """With `resume`: steps to go beyond the total that the run was begun with."""
    seed: Seed = 0
    """Seed of the network, the deals and the choices."""
    device: str = "cpu"
    """Where the network runs: cpu, cuda, cuda:1, …"""
    threads: Threads = 2
    """Threads of torch and of the games."""
    bfloat16: bool = True
    """Compute in bfloat16 where that is safe (autocast)."""

    total_steps: Steps = 8_000_000
    """Decisions of the learning seats, forced ones included, over all games."""
    num_envs: Count = 512
    """Games at a time."""
    rollout: Count = 64
    """Steps of each game between updates."""
    epochs: Count = 2
    """Passes over a rollout."""
    minibatch: Count | None = None
    """Decisions per gradient step; None for 4096, or the whole rollout where that is less."""
    learning_rate: Positive = 1e-3
    """Of Adam, falling linearly to zero."""
    discount: Share = 1.0
    """Gamma, per decision of a seat."""
    trace: Share = 0.95
    """Lambda of the advantage estimate."""
    clip: Positive = 0.2
    """Bound on the change of a probability ratio."""
    entropy: Weight = 0.02
    """Weight of the entropy at the start."""
    entropy_end: Weight = 0.002
    """Weight of the entropy at the end; linear in between."""
    value_weight: Weight = 0.5
    """Weight of the value loss."""
    max_grad_norm: Positive = 0.5
    """Bound on the norm of the gradient."""
    width: Width = 256
    """Units of a hidden layer."""
    depth: Depth = 2
    """Hidden layers."""

    pool_fraction: Share = 0.0
    """Share of the games in which all seats but one are played by a past self."""
    pool_every: Count = 20
    """Updates between two past selves that are kept."""
    pool_size: Count = 10
    """Past selves that are kept."""

    evaluate_every: Weight = 60.0
    """Seconds between evaluations against the baselines; 0 for none but the last."""
    evaluate_deals: Count = 100
    """Deals of an evaluation while training, each played in every seat."""
    final_deals: Whole = 1000
    """Deals of the evaluation at the end, each played in every seat; 0 for none."""
    checkpoint_every: Weight = 30.0
    """Seconds between checkpoints."""


@dataclass
class Rollout:
    """T steps of N games. Observation, mask and seat have one row more: what follows the last step."""

    observation: NDArray[np.int8]  # (T + 1, N, D)
    mask: NDArray[np.int8]  # (T + 1, N, A)
    seat: NDArray[np.int64]  # (T + 1, N)
    reward: NDArray[np.float64]  # (T, N, P)
    terminated: NDArray[np.bool_]  # (T, N)
    truncated: NDArray[np.bool_]  # (T, N)
    action: NDArray[np.int64]  # (T, N)
    log_prob: NDArray[np.float32]  # (T + 1, N)
    value: NDArray[np.float32]  # (T + 1, N)
    counts: NDArray[np.bool_]  # (T + 1, N): a choice among several actions, and not a past self's
    advantage: NDArray[np.float32]  # (T, N)
    complete: NDArray[np.bool_]  # (T, N)

    @classmethod
    def empty(cls, steps: int, vec: PhantomVec) -> Rollout:
        """Room for `steps` steps of `vec`."""
        n, t = vec.num_envs, steps
        return cls(
            np.zeros((t + 1, n, vec.layout.size), np.int8),
            np.zeros((t + 1, n, vec.num_actions), np.int8),
            np.zeros((t + 1, n), np.int64),
            np.zeros((t, n, vec.num_players)),
            np.zeros((t, n), np.bool_),
            np.zeros((t, n), np.bool_),
            np.zeros((t, n), np.int64),
            np.zeros((t + 1, n), np.float32),
            np.zeros((t + 1, n), np.float32),
            np.zeros((t + 1, n), np.bool_),
            np.zeros((t, n), np.float32),
            np.zeros((t, n), np.bool_),
        )


class Trainer:
    """The state of a run.

    Raises:
        PhantomError: A setting has a value that it does not take.
    """

    def __init__(self, config: Config) -> None:
        check_settings(config)
        game, players, options = check_game(config)
        self.config = config
        self.minibatch = minibatch_of(config, MINIBATCH)
        self.device = check_device(config.device)
        torch.set_num_threads(config.threads)
        torch.manual_seed(config.seed)
        self.rng = np.random.default_rng(config.seed)
        win, point = game.weights(players, options)
        weights = (win + config.win_bonus, point)
        self.vec = make_vec(game.id, config.num_envs, players, threads=config.threads, weights=weights, **options)
        self.net = PolicyValueNet.for_game(self.vec.game, self.vec.num_players, config.width, config.depth)
        self.net.to(self.device)
        self.optimizer = torch.optim.Adam(self.net.parameters(), config.learning_rate, eps=1e-5, fused=True)
        self.rollout = Rollout.empty(config.rollout, self.vec)
        self.pool: list[PolicyValueNet] = []
        self.steps = 0
        self.updates = 0
        self.seconds = 0.0
        self.saved: int | None = None  # steps at the latest checkpoint
        self.losses: dict[str, float] = {}

    # --- playing ---------------------------------------------------------------------------------------------------

    def forward(
        self, net: PolicyValueNet, observation: NDArray[np.int8], mask: NDArray[np.int8]
    ) -> tuple[Tensor, Tensor]:
        """Logits and values of a batch, in the precision of the run."""
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.config.bfloat16):
            logits, values = net(self.tensor(observation), self.tensor(mask))
        return logits, values

    def tensor(self, array: NDArray[Any]) -> Tensor:
        """An array on the device, without a copy on the CPU."""
        return torch.from_numpy(array).to(self.device, non_blocking=True)

    def start(self) -> None:
        """Deal the first games; a resumed run gets other deals than it had."""
        r = self.rollout
        self.vec.bind(observation=r.observation[-1], action_mask=r.mask[-1], seat=r.seat[-1])
        self.vec.reset(seed=int(self.rng.integers(2**63)))

    @torch.no_grad()
    def collect(self, monitor: Monitor) -> None:
        """Play a rollout: the network's choices into its buffers, the games' answers beside them."""
        r, config = self.rollout, self.config
        for array in (r.observation, r.mask, r.seat):
            array[0] = array[-1]
        games = np.arange(config.num_envs)
        pool_games = int(config.pool_fraction * config.num_envs) if self.pool else 0  # the first; one seat learns
        past = self.pool[self.rng.integers(len(self.pool))] if self.pool else self.net
        for t in range(config.rollout + 1):
            own = (games >= pool_games) | (r.seat[t] == games % self.vec.num_players)
            free = r.mask[t].sum(1) > 1  # a forced move needs no network, and there is nothing to learn from it
            r.counts[t] = own & free
            rows = np.flatnonzero(r.counts[t])
            with monitor.time("inference"):
                chosen, r.log_prob[t, rows], r.value[t, rows] = self.choose(self.net, t, rows)
            if t == config.rollout:
                break
            self.steps += int(own.sum())
            r.action[t] = r.mask[t].argmax(1)
            r.action[t, rows] = chosen
            others = np.flatnonzero(free & ~own)
            with monitor.time("inference"):
                if len(others):
                    r.action[t, others] = self.choose(past, t, others)[0]
            with monitor.time("environment"):
                self.vec.bind(
                    observation=r.observation[t + 1],
                    action_mask=r.mask[t + 1],
                    seat=r.seat[t + 1],
                    reward=r.reward[t],
                    terminated=r.terminated[t],
                    truncated=r.truncated[t],
                )
                self.vec.step(r.action[t])
        with monitor.time("update"):
            ended = r.terminated | r.truncated
            turn_advantages(
                r.value, r.reward, r.seat, r.counts, ended, config.discount, config.trace, r.advantage, r.complete
            )

    def choose(
        self, net: PolicyValueNet, t: int, rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.float32]]:
        """Actions drawn from a network's policy at step `t` in `rows`, their log-probabilities, and values.

        Raises:
            NotFinite: A probability or value is not.
        """
        logits, values = self.forward(net, self.rollout.observation[t, rows], self.rollout.mask[t, rows])
        log_probs = torch.log_softmax(logits, 1)
        noise = torch.empty_like(log_probs).exponential_()
        actions = (log_probs - noise.log_()).argmax(1)  # the Gumbel-max trick draws from the softmax
        log_prob = log_probs.gather(1, actions[:, None]).squeeze(1)
        if len(rows):
            require_finite(self.steps, log_prob=log_prob.abs().max(), value=values.abs().max())
        return actions.cpu().numpy(), log_prob.cpu().numpy(), values.cpu().numpy()

    # --- learning --------------------------------------------------------------------------------------------------

    def learn(self) -> None:
        """Several passes of clipped policy-gradient steps over the rollout.

        Raises:
            NotFinite: A loss, gradient or weight is not; the network is not to be used any more.
        """
        config, r = self.config, self.rollout
        done = min(1.0, self.steps / config.total_steps)
        for group in self.optimizer.param_groups:
            group["lr"] = config.learning_rate * (1.0 - done)
        entropy_weight = config.entropy + (config.entropy_end - config.entropy) * done

        rows = torch.from_numpy(np.flatnonzero(r.complete.ravel()))
        if not len(rows):  # nothing was decided whose outcome is known
            self.losses = {}
            return
        observation = torch.from_numpy(r.observation[:-1].reshape(-1, self.vec.layout.size))
        mask = torch.from_numpy(r.mask[:-1].reshape(-1, self.vec.num_actions))
        action, log_prob, advantage, value = (
            torch.from_numpy(array.ravel()) for array in (r.action, r.log_prob[:-1], r.advantage, r.value[:-1])
        )
        target = advantage + value
        used = advantage[rows]
        spread = used.std() if len(used) > 1 else 0.0
        advantage = (advantage - used.mean()) / (spread + 1e-8)
        sums: dict[str, float] = dict.fromkeys(("policy", "value", "entropy", "kl", "clipped"), 0.0)
        passes = 0
        for _ in range(config.epochs):
            order = rows[torch.from_numpy(self.rng.permutation(len(rows)))]
            for chosen in torch.split(order, self.minibatch):
                old, gain, goal = (each[chosen].to(self.device) for each in (log_prob, advantage, target))
                with torch.autocast(self.device.type, torch.bfloat16, enabled=config.bfloat16):
                    logits, predicted = self.net(observation[chosen].to(self.device), mask[chosen].to(self.device))
                log_probs = torch.log_softmax(logits, 1)
                new = log_probs.gather(1, action[chosen].to(self.device)[:, None]).squeeze(1)
                ratio = (new - old).exp()
                policy_loss = -torch.min(ratio * gain, ratio.clamp(1 - config.clip, 1 + config.clip) * gain).mean()
                value_loss = 0.5 * (predicted - goal).square().mean()
                entropy = -(log_probs.exp() * log_probs).sum(1).mean()
                loss = policy_loss + config.value_weight * value_loss - entropy_weight * entropy
                self.optimizer.zero_grad()
                loss.backward()
                norm = torch.nn.utils.clip_grad_norm_(self.net.parameters(), config.max_grad_norm)
                require_finite(self.steps, policy=policy_loss, value=value_loss, entropy=entropy, gradient=norm)
                self.optimizer.step()
                with torch.no_grad():
                    log_ratio = new - old
                    clipped = ((ratio - 1).abs() > config.clip).float().mean()
                    terms = (policy_loss, value_loss, entropy, (ratio - 1 - log_ratio).mean(), clipped)
                for name, term in zip(sums, terms, strict=True):
                    sums[name] += term.item()
                passes += 1
        require_finite_weights(self.steps, self.net)
        self.losses = {name: total / passes for name, total in sums.items()}
        self.losses["explained_variance"] = explained_variance(value[rows], target[rows])

    def evaluate(self, deals: int) -> list[Evaluation]:
        """The network as it is against the baselines."""
        return evaluate(NeuralAgent.of(self.net), self.config.game, self.vec.num_players, self.vec.options, deals)

    def keep_past_self(self) -> None:
        """Add the present network to the pool; the oldest goes when it is full."""
        twin = PolicyValueNet(**self.net.shape).to(self.device)
        twin.load_state_dict(self.net.state_dict())
        self.pool = [*self.pool, twin][-self.config.pool_size :]

    # --- keeping ---------------------------------------------------------------------------------------------------

    def save(self, folder: Path) -> None:
        """Write a checkpoint with everything that `load` needs to go on, unless this step has one.

        Raises:
            OSError: It cannot be written; the checkpoints that were there are as they were.
        """
        if self.saved == self.steps:
            return
        tensors = {f"net.{name}": tensor for name, tensor in self.net.state_dict().items()}
        for index, past in enumerate(self.pool):
            tensors |= {f"pool.{index}.{name}": tensor for name, tensor in past.state_dict().items()}
        for index, state in self.optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{index}.{name}": tensor for name, tensor in state.items()}
        tensors["torch_rng"] = torch.get_rng_state()
        about = settings_of(self.config) | {
            "updates": self.updates,
            "seconds": self.seconds,
            "pool": len(self.pool),
            "rng": self.rng.bit_generator.state,
        }
        save_checkpoint(folder, self.steps, tensors, about)
        self.saved = self.steps

    def load(self, checkpoint: Checkpoint) -> None:
        """Go on from a checkpoint.

        Raises:
            Unusable: It does not fit, or is not finite. This trainer must then load another before it is used.
        """
        for name, tensor in checkpoint.tensors.items():
            if not torch.isfinite(tensor).all():
                raise Unusable(f"its {name} is not finite")
        try:
            self._load(checkpoint.step, checkpoint.tensors, checkpoint.about)
        except (KeyError, TypeError, ValueError, OverflowError, RuntimeError) as error:
            raise Unusable(f"it does not fit the run: {error}") from error

    def _load(self, step: int, tensors: Mapping[str, Tensor], about: Mapping[str, Any]) -> None:
        def part(prefix: str) -> dict[str, Tensor]:
            return {name.removeprefix(prefix): each for name, each in tensors.items() if name.startswith(prefix)}

        self.net.load_state_dict(part("net."))
        self.pool = []
        for index in range(about["pool"]):
            self.keep_past_self()
            self.pool[-1].load_state_dict(part(f"pool.{index}."))
        moments: dict[int, dict[str, Tensor]] = {}
        for key, tensor in part("optimizer.").items():
            number, name = key.split(".", 1)
            moments.setdefault(int(number), {})[name] = tensor
        found = {index: {name: each.shape for name, each in state.items()} for index, state in moments.items()}
        shapes = enumerate(parameter.shape for parameter in self.net.parameters())
        scalar = torch.Size()
        if moments and found != {i: {"step": scalar, "exp_avg": shape, "exp_avg_sq": shape} for i, shape in shapes}:
            raise Unusable("its optimizer is of another shape")
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": moments, "param_groups": groups})
        torch.set_rng_state(tensors["torch_rng"])
        self.rng.bit_generator.state = about["rng"]
        self.steps, self.updates, self.seconds = step, about["updates"], about["seconds"]
        if not (step >= 0 and self.updates >= 0 and 0 <= self.seconds < math.inf):
            raise Unusable("its steps, updates or seconds make no sense")
        self.saved = step


def explained_variance(predicted: Tensor, target: Tensor) -> float:
    """1 - Var(target - predicted) / Var(target): 1 is perfect, 0 no better than the mean."""
    return float(1.0 - (target - predicted).var(correction=0) / (target.var(correction=0) + 1e-12))


def settings_of(config: Config) -> dict[str, Any]:
    """What a run keeps of its settings, as plain JSON data: its steps apart, since a resumed run may make more."""
    kept = plain(config, NOT_KEPT)
    return {"total_steps": kept.pop("total_steps"), "config": kept}


def as_begun(config: Config, settings: Mapping[str, Any]) -> Config:
    """`config` with the settings that `settings_of` gave when the run was begun, and `more_steps`.

    Raises:
        Unusable: They are not settings of this script.
    """
    try:
        begun = replace(config, **settings["config"], total_steps=settings["total_steps"] + config.more_steps)
        check_settings(begun)
    except (KeyError, TypeError, InvalidSetting) as error:
        raise Unusable(f"its settings are not those of this script: {error}") from error
    return begun


def resumed(config: Config, folder: Path) -> Trainer:
    """A trainer that goes on with the run in `folder`; see `training.resume`."""

    def go_on(checkpoint: Checkpoint) -> Trainer:
        trainer = Trainer(as_begun(config, checkpoint.about))
        trainer.load(checkpoint)
        return trainer

    return resume(folder, lambda settings: Trainer(as_begun(config, settings)), go_on)


def train(config: Config) -> list[Evaluation]:
    """Run the training of `config` to its end and evaluate what it learned.

    A checkpoint that cannot be written, as on a full disk, is told and tried again later; training goes on. SIGINT
    (Ctrl-C) and SIGTERM end it with a last checkpoint.

    Raises:
        PhantomError: A setting or the folder is at fault (nothing has been written), or a loss is no longer finite.
        OSError: The folder or, at the end, the agent cannot be written.
        SystemExit: A signal came; the status is 128 and its number.
    """
    check_settings(config)
    if config.resume:
        if config.run is None:
            raise InvalidSetting("--resume needs --run: the folder of the run that is to go on")
        if not config.run.is_dir():
            raise RunRefused(f"there is no folder {config.run} to go on in; is --run as it was?")
        with in_use(config.run):
            return _train(resumed(config, config.run), config.run)
    if config.more_steps:
        raise InvalidSetting(f"more_steps={config.more_steps}: only with --resume; a new run takes --total-steps")
    if config.run is not None:
        check_free(config.run)
    trainer = Trainer(config)
    folder = begin_run(config.run, config.game, settings_of(config))
    with in_use(folder):
        return _train(trainer, folder)


def _train(trainer: Trainer, folder: Path) -> list[Evaluation]:
    config = trainer.config
    with Interrupts() as interrupts, Monitor(folder, config.total_steps, trainer.steps) as monitor:

        def save() -> None:
            try:
                trainer.save(folder)
            except OSError as error:
                monitor.display.say(
                    f"no checkpoint at {trainer.steps:,} steps ({error.strerror}); earlier ones stay, training goes on"
                )

        monitor.display.say(f"training in {folder}, from step {trainer.steps:,} to {config.total_steps:,}")
        try:
            trainer.start()
            began, saved_at, evaluated_at = time.monotonic() - trainer.seconds, time.monotonic(), time.monotonic()
            while trainer.steps < config.total_steps:
                with interrupts.deferred():
                    trainer.collect(monitor)
                    with monitor.time("update"):
                        trainer.learn()
                    trainer.updates += 1
                    if config.pool_fraction and trainer.updates % config.pool_every == 0:
                        trainer.keep_past_self()
                    trainer.seconds = time.monotonic() - began
                    monitor.update(trainer.steps, trainer.losses)
                if time.monotonic() - saved_at >= config.checkpoint_every:
                    save()
                    saved_at = time.monotonic()
                if config.evaluate_every and time.monotonic() - evaluated_at >= config.evaluate_every:
                    monitor.report(trainer.steps, trainer.evaluate(config.evaluate_deals))
                    evaluated_at = time.monotonic()
            save()
            about = {"game": config.game, "num_players": trainer.vec.num_players, "options": trainer.vec.options}
            about |= {"steps": trainer.steps, "seconds": round(trainer.seconds, 1), "seed": config.seed}
            save_network(folder / "agent.safetensors", trainer.net, about)
            monitor.display.say(f"the agent is in {folder / 'agent.safetensors'}")
            evaluations = trainer.evaluate(config.final_deals) if config.final_deals else []
        except KeyboardInterrupt:
            if not interrupts.hasty:  # else it came amid an update
                with interrupts.deferred():
                    save()
            again = f"python -m training.ppo --run {shlex.quote(str(folder))} --resume"
            monitor.display.say(f"stopped at {trainer.steps:,} of {config.total_steps:,} steps; to go on: {again}")
            raise SystemExit(128 + interrupts.number) from None
        except NotFinite:
            latest = "no checkpoint yet" if trainer.saved is None else f"a checkpoint of {trainer.saved:,} steps"
            monitor.display.say(f"broken off at {trainer.steps:,} steps; {folder} has {latest}")
            raise
    if evaluations:
        title = f"{config.game}, {trainer.vec.num_players} players, seed {config.seed}: {trainer.steps:,} steps"
        print_table(table(f"{title} in {trainer.seconds:.0f} s", evaluations))
    return evaluations


if __name__ == "__main__":
    sys.exit(command("training.ppo", Config, train, __doc__))
