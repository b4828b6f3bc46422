"""Agents in files of other people's programs: ONNX, Stable-Baselines3, CleanRL.

Their libraries are optional (the extra ``scoring``).  The size of its input shows what a network takes:
information states, or the observations of the package's PettingZoo environments.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.errors import ConfigError
from pttt_ooc.extras import check_modules, imports

Answers = NDArray[np.floating[Any]]
Observe = Callable[[NDArray[np.bool_], NDArray[np.bool_], int], Answers]
"""Information-state tensors, bool (infosets, size); legal squares, bool (infosets, squares); the player -> numbers,
shape (infosets, squares)."""
Outputs = Literal["probabilities", "logits"]

_WHITE, _BLACK, _STATES = 3, 5, 9  # of a cell of Dark Hex: player 1's mark, player 0's


@dataclass(frozen=True)
class Checkpoint:
    """An agent in a file that says what its numbers are.

    Attributes
    ----------
    observe
        The numbers.
    outputs
        Their kind; ``"values"``: of actions, so that only the greedy agent is defined.
    """

    observe: Observe
    outputs: Literal["probabilities", "logits", "values"]

    def __call__(self, infostates: NDArray[np.bool_], legal: NDArray[np.bool_], player: int) -> Answers:
        """The numbers at a block of infosets."""
        return self.observe(infostates, legal, player)

    def meaning(self, greedy: bool) -> Outputs:
        """The kind of the numbers for the greedy agent, or for the one that mixes.

        Raises
        ------
        ConfigError
            If only the greedy one is defined.
        """
        if self.outputs == "values":
            if not greedy:
                raise ConfigError("The network tells values of actions, not probabilities; score it with --greedy.")
            return "logits"
        return self.outputs


def environment_observations(infostates: NDArray[np.bool_], squares: int, player: int) -> NDArray[np.int8]:
    """What the package's PettingZoo environment shows at these infosets.

    Parameters
    ----------
    infostates
        bool, shape (infosets, size).
    squares
        Of the board.

    Returns
    -------
    int8, shape (infosets, squares, 2): the player's own marks, and the player's failed attempts.
    """
    size = infostates.shape[1] - squares * squares
    states = infostates[:, :size]
    if size == 3 * squares:
        marks = states.reshape(-1, 3, squares)[:, [2, 1]]  # player 0's, player 1's
    else:
        marks = states.reshape(-1, squares, _STATES)[:, :, [_BLACK, _WHITE]].transpose(0, 2, 1)
    return np.stack([marks[:, player], marks[:, 1 - player]], axis=2).astype(np.int8)


def inputs_of(infostates: NDArray[np.bool_], squares: int, player: int, size: int | None) -> NDArray[np.float32]:
    """The inputs of a network that takes `size` numbers: float32, shape (infosets, size).

    Parameters
    ----------
    size
        None: the network does not say, so it gets information states.

    Raises
    ------
    ConfigError
        If it takes neither information states nor observations of the environment.
    """
    if size in (None, infostates.shape[1]):
        return infostates.astype(np.float32)
    if size == 2 * squares:
        return environment_observations(infostates, squares, player).reshape(-1, size).astype(np.float32)
    raise ConfigError(
        f"The network takes {size} numbers, but information states have {infostates.shape[1]}, and the environment's "
        f"observations {2 * squares}."
    )


def read_checkpoint(path: Path) -> Observe | None:
    """The agent in a file; None if the kind of file is unknown.

    Raises
    ------
    ConfigError
        If there is no such file, or its network has another form.
    MissingExtraError
        If the library that reads the file is not installed.
    """
    if path.suffix == ".onnx":
        return _onnx(path)
    if path.suffix == ".cleanrl_model":
        return _cleanrl(path)
    if path.suffix == ".zip" and _is_of_stable_baselines(path):
        return _stable_baselines(path)
    return None


def _check_file(path: Path) -> None:
    if not path.is_file():
        raise ConfigError(f"There is no file {path}.")


@contextmanager
def _reading(path: Path, kind: str) -> Iterator[None]:
    """Turn a library's errors for a damaged file into a ConfigError; `kind`: what it should be."""
    try:
        yield
    except ModuleNotFoundError:
        raise
    except Exception as error:
        said = str(error).strip().partition("\n")[0].rstrip(" .")  # some libraries write whole pages
        raise ConfigError(f"{path}: It cannot be read as {kind} ({type(error).__name__}: {said}).") from error


def _onnx(path: Path) -> Observe:
    _check_file(path)
    with imports("An agent in an ONNX file"):
        import onnxruntime
    with _reading(path, "an ONNX network"):
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    inputs = session.get_inputs()
    if len(inputs) != 1:
        raise ConfigError(f"{path}: The network has {len(inputs)} inputs, but must have one, the infostates.")
    shape = inputs[0].shape
    if shape and isinstance(shape[0], int):
        raise ConfigError(f"{path}: The network takes batches of {shape[0]}; export it for batches of any size.")
    width = shape[-1] if shape else None
    size = width if isinstance(width, int) else None

    def observe(infostates: NDArray[np.bool_], legal: NDArray[np.bool_], player: int) -> Answers:
        given = inputs_of(infostates, legal.shape[1], player, size)
        return cast(Answers, session.run(None, {inputs[0].name: given})[0])

    return observe


def _cleanrl(path: Path) -> Observe:
    """The weights that CleanRL's `--save-model` writes; layers and activations are those of ppo.py and dqn.py."""
    _check_file(path)
    with imports("A checkpoint of CleanRL"):
        import torch
    with _reading(path, "weights of torch"):
        weights = torch.load(path, map_location="cpu", weights_only=True)
    found = {name: value.numpy() for name, value in weights.items()}
    part = "actor" if any(name.startswith("actor.") for name in found) else "network"
    names = sorted((n for n in found if n.startswith(f"{part}.") and n.endswith(".weight")), key=_layer)
    other = {name.partition(".")[0] for name in found} - {"actor", "critic"} if part == "actor" else set()
    if not names or other or any(found[name].ndim != 2 for name in names):
        raise ConfigError(
            f"{path}: It has {', '.join(sorted(found))}, but a network of CleanRL's ppo.py has linear layers actor.0, "
            "actor.2 and so on, and one of dqn.py network.0, network.2 and so on; give other networks as an object in "
            "Python."
        )
    layers = [(found[name].T, found[f"{name.removesuffix('weight')}bias"]) for name in names]
    activation = np.tanh if part == "actor" else lambda x: np.maximum(x, 0)

    def observe(infostates: NDArray[np.bool_], legal: NDArray[np.bool_], player: int) -> Answers:
        x = inputs_of(infostates, legal.shape[1], player, layers[0][0].shape[0])
        for number, (matrix, bias) in enumerate(layers, start=1):
            x = x @ matrix + bias
            if number < len(layers):
                x = activation(x)
        return x

    return Checkpoint(observe, "logits" if part == "actor" else "values")


def _layer(name: str) -> int:
    number = name.split(".")[1]
    return int(number) if number.isdigit() else -1


def _is_of_stable_baselines(path: Path) -> bool:
    _check_file(path)
    try:
        with zipfile.ZipFile(path) as archive:
            return {"data", "policy.pth"} <= {*archive.namelist()}
    except zipfile.BadZipFile:
        return False  # the strategy reader says so


def _stable_baselines(path: Path) -> Observe:
    """Policies of PPO, A2C, MaskablePPO (probabilities) and of DQN (values)."""
    check_modules(("torch", "stable_baselines3"), "A checkpoint of Stable-Baselines3")
    with imports("A checkpoint of Stable-Baselines3"):
        import torch
        from stable_baselines3.common.save_util import load_from_zip_file

        with _reading(path, "a checkpoint of Stable-Baselines3"):
            data, parameters, _ = load_from_zip_file(path, device="cpu")
    policy = data["policy_class"](
        data["observation_space"], data["action_space"], lambda _: 0.0, **data.get("policy_kwargs", {})
    )
    policy.load_state_dict(parameters["policy"])
    policy.set_training_mode(False)
    values = hasattr(policy, "q_net")
    if not values and not hasattr(policy, "get_distribution"):
        raise ConfigError(f"{path}: Its policy, {type(policy).__name__}, has no probabilities of actions.")
    space = data["observation_space"]
    by_name = hasattr(space, "spaces")
    shape = space["observation"].shape if by_name else space.shape

    def observe(infostates: NDArray[np.bool_], legal: NDArray[np.bool_], player: int) -> Answers:
        seen = inputs_of(infostates, legal.shape[1], player, int(np.prod(shape))).reshape(-1, *shape)
        given: Any = torch.from_numpy(seen)
        if by_name:
            given = {"observation": given, "action_mask": torch.from_numpy(legal.astype(np.float32))}
        with torch.no_grad():
            numbers = policy.q_net(given) if values else policy.get_distribution(given).distribution.logits
        return cast(Answers, numbers.numpy())

    return Checkpoint(observe, "values" if values else "logits")
