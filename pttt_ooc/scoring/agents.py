"""Agents: by the name that a person types, and as functions of blocks of infosets."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.errors import ConfigError, StrategyError
from pttt_ooc.extras import imports

Answers = NDArray[np.floating[Any]]
Observe = Callable[[NDArray[np.bool_], NDArray[np.bool_], int], Answers]
"""Information-state tensors, bool (infosets, size); legal squares, bool (infosets, squares); the player -> numbers,
shape (infosets, squares)."""


@dataclass(frozen=True)
class Member:
    """One agent of a mixture.

    Attributes
    ----------
    agent
        The object that a person gave.
    weight
        Its probability before the game, in proportion.
    """

    agent: Any
    weight: float = 1.0


def find_agent(name: str) -> Any:
    """The agent of a name: ``FILE.py:NAME``, ``MODULE:NAME``, or a file ``.onnx``.

    Returns
    -------
    The object, or None if the name has neither form: it may be that of a strategy.

    Raises
    ------
    ConfigError
        If there is no such file, module or object.
    MissingExtraError
        If the library that reads the file is not installed.
    """
    if name.endswith(".onnx"):
        return _onnx(Path(name))
    place, colon, attribute = name.rpartition(":")
    if not colon or not attribute.isidentifier():
        return None
    module = _module_of_file(Path(place)) if place.endswith(".py") else _module(place)
    if not hasattr(module, attribute):
        raise ConfigError(f"{place} has nothing called {attribute}.")
    return getattr(module, attribute)


def _module_of_file(path: Path) -> Any:
    if not path.is_file():
        raise ConfigError(f"There is no file {path}.")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.resolve().parent))  # as for a program: it may import its neighbours
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.pop(0)
    return module


def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name and name.startswith(error.name):
            raise ConfigError(f"There is no module {name}.") from error
        raise


def _onnx(path: Path) -> Observe:
    with imports("An agent in an ONNX file"):
        import onnxruntime
    if not path.is_file():
        raise ConfigError(f"There is no file {path}.")
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    inputs = session.get_inputs()
    if len(inputs) != 1:
        raise ConfigError(f"{path}: The network has {len(inputs)} inputs, but must have one, the infostates.")

    def observe(infostates: NDArray[np.bool_], legal: NDArray[np.bool_], player: int) -> Answers:
        return cast(Answers, session.run(None, {inputs[0].name: infostates.astype(np.float32)})[0])

    return observe


def members_of(agent: Any, player: int) -> list[Member]:
    """The members of a player's agent: one, or those of a mixture.

    Parameters
    ----------
    agent
        One agent for both players; or a mapping from players to agents.  A mixture is a list of pairs of a weight and
        an agent.

    Raises
    ------
    ConfigError
        If there is none for this player, or weights are not positive.
    """
    if isinstance(agent, Mapping):
        if player not in agent:
            raise ConfigError(f"The agent has nothing for player {player}; give both players', or say --player.")
        agent = agent[player]
    if not isinstance(agent, list):
        return [Member(agent)]
    try:
        found = [Member(one, float(weight)) for weight, one in agent]
    except (TypeError, ValueError) as error:
        raise ConfigError("A mixture is a list of pairs of a weight and an agent.") from error
    if not found or not all(0 < member.weight < np.inf for member in found):
        raise ConfigError("A mixture has one or more agents, each with a weight above 0.")
    return found


def observer(agent: Any) -> Observe:
    """The agent as a function of blocks: a function, or a torch module that maps infostates to logits.

    Raises
    ------
    ConfigError
        If the agent cannot be called.
    """
    torch = sys.modules.get("torch")  # a module of torch cannot exist without it
    if torch is not None and isinstance(agent, torch.nn.Module):
        return _of_torch(agent, torch)
    if not callable(agent):
        raise ConfigError(f"An agent is a function of infostates and legal squares, not a {type(agent).__name__}.")
    takes = inspect.signature(agent).parameters
    if "player" in takes or len(takes) == 3:
        return cast(Observe, agent)
    return lambda infostates, legal, player: agent(infostates, legal)


def _of_torch(network: Any, torch: Any) -> Observe:
    def observe(infostates: NDArray[np.bool_], legal: NDArray[np.bool_], player: int) -> Answers:
        with torch.no_grad():
            return cast(Answers, network(torch.from_numpy(infostates.astype(np.float32))).cpu().numpy())

    network.eval()
    return observe


def checked_answers(answers: Any, shape: tuple[int, int]) -> Answers:
    """An agent's answers: floats of this shape, all of them numbers.

    Raises
    ------
    StrategyError
        If they are not.
    """
    array = np.asarray(answers)
    if array.shape != shape or array.dtype.kind not in "fiub":
        raise StrategyError(
            f"The agent answered with shape {array.shape} of {array.dtype}, not with floats of {shape}."
        )
    array = array.astype(np.float64, copy=False)
    if np.isnan(array).any():
        raise StrategyError("The agent answered with NaN.")
    return array
