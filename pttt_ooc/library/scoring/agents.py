"""Agents: by the name that a person types, and as functions of blocks of infosets."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import sysconfig
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.errors import ConfigError, PtttError, StrategyError
from pttt_ooc.extras import imports, sentence
from pttt_ooc.games.rules.game import Game
from pttt_ooc.library.api.openspiel import told_game
from pttt_ooc.library.scoring.checkpoints import (
    Answers,
    Checkpoint,
    Observe,
    environment_observations,
    inputs_of,
    read_checkpoint,
)

_NASHBENCH = ("observation", "legal_action_mask")  # the parameters of its policies
_STRATEGIES = (".npy", ".h5")  # files that hold a strategy, not an agent; a zip may hold either
_OTHERS = (str(Path(__file__).parents[2]), sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), "<frozen")


@dataclass(frozen=True)
class Member:
    """One agent of a mixture.

    Attributes
    ----------
    agent
        The object that a person gave.
    weight
        Its probability of being drawn, in proportion.
    """

    agent: Any
    weight: float = 1.0

    @cached_property
    def observe(self) -> Observe:
        """The agent as a function of blocks, made once: what compiles for the first player is there for the second."""
        return observer(self.agent)


def find_agent(name: str) -> Any:
    """The agent of a name: ``FILE.py:NAME``, ``MODULE:NAME``, or a file of :func:`.checkpoints.read_checkpoint`.

    Returns
    -------
    The object, or None if the name has no such form: it may name a strategy.

    Raises
    ------
    ConfigError
        If there is no such file, module or object, or if the file or module itself fails.
    MissingExtraError
        If the library that reads the file is not installed.
    """
    if name.endswith((".onnx", ".cleanrl_model", ".zip")):
        return read_checkpoint(Path(name))
    if name.endswith(".py"):
        raise ConfigError(f"{name} is a Python file; say which of its objects is the agent: {name}:NAME.")
    if Path(name).is_file() and not name.lower().endswith((*_STRATEGIES, ".zip")):
        raise ConfigError(
            f"{name}: Not a known kind of file; an agent is FILE.py:NAME (so is a module of torch), a file .onnx, "
            ".cleanrl_model or .zip of Stable-Baselines3, or a strategy: a .zip, .npy or .h5."
        )
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
        with errors_of(f"{path} cannot be loaded", ConfigError):
            spec.loader.exec_module(module)
    finally:
        sys.path.pop(0)
    return module


def _module(name: str) -> Any:
    with errors_of(f"The module {name} cannot be loaded", ConfigError):
        try:
            return import_module(name)
        except ModuleNotFoundError as error:
            if error.name and f"{name}.".startswith(f"{error.name}."):
                file = Path(f"{name}.py")
                meant = f"; if the file {file} is meant, write {file}:NAME" if file.is_file() else ""
                raise ConfigError(f"There is no module {name}{meant}.") from error
            raise


@contextmanager
def errors_of(what: str, kind: type[PtttError] = StrategyError) -> Iterator[None]:
    """Run code that somebody else wrote; turn its errors into a sentence that ends with their place in that code.

    Parameters
    ----------
    what
        The beginning of the sentence.
    kind
        The error to raise.  Errors of this package are passed on as they are.
    """
    try:
        yield
    except (PtttError, MemoryError):
        raise
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if not frame.filename.startswith(_OTHERS)]
        place = f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""
        if isinstance(error, ModuleNotFoundError) and error.name:
            missing = sentence(f"its import{place}", [error.name.partition(".")[0]])
            raise kind(f"{what}: {missing}") from error
        said = str(error).strip().partition("\n")[0].rstrip(" .")  # some libraries write whole pages
        raise kind(f"{what}: {type(error).__name__}{said and ': '}{said}{place}.") from error


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
            raise ConfigError(f"The agent has nothing for player {player}; give both players'.")
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


def members_of_both(agent: Any) -> tuple[list[Member], list[Member]]:
    """:func:`members_of` both players; the same ones if one agent plays both."""
    first = members_of(agent, 0)
    if isinstance(agent, Mapping) and agent.get(1) is not agent[0]:
        return first, members_of(agent, 1)
    return first, first


def told_game_of(agents: Iterable[Any]) -> Game | None:
    """The game that agents name, as OpenSpiel's policies do; None if none does.

    Raises
    ------
    ConfigError
        If they name several games.
    GameError
        If there is no such game here.
    """
    found = {game.name: game for policy in policies_of(agents) if (game := told_game(policy))}
    if len(found) > 1:
        raise ConfigError(f"The agents are for different games: {' and '.join(found)}.")
    return next(iter(found.values()), None)


def policies_of(agents: Iterable[Any]) -> Iterator[Any]:
    """The policies of OpenSpiel among agents, players' agents and mixtures."""
    for agent in agents:
        if isinstance(agent, Mapping):
            yield from policies_of(agent.values())
        elif isinstance(agent, list):
            yield from policies_of(pair[-1] for pair in agent)
        elif hasattr(agent, "action_probabilities"):
            yield agent


def observer(agent: Any) -> Observe:
    """The agent as a function of blocks: a function, or a torch module that maps its inputs to numbers.

    Raises
    ------
    ConfigError
        If the agent cannot be called, or takes other arguments.
    """
    torch = sys.modules.get("torch")  # a module of torch cannot exist without it
    if torch is not None and isinstance(agent, torch.nn.Module):
        return _of_torch(agent, torch)
    if not callable(agent):
        raise ConfigError(
            f"An agent is a function of infostates and legal squares, but this is of the type {type(agent).__name__}."
        )
    if isinstance(agent, Checkpoint):
        return agent
    takes = parameters_of(agent)
    if takes == _NASHBENCH:
        return _of_nashbench(agent)
    if "observations" in takes:
        return _of_observations(agent, wants_player(agent))
    _check_parameters(agent, takes)
    if wants_player(agent):
        return cast(Observe, agent)
    return lambda infostates, legal, player: agent(infostates, legal)


def parameters_of(agent: Any) -> tuple[str, ...]:
    """The names of a function's parameters that have no default.

    Raises
    ------
    ConfigError
        If they cannot be read.
    """
    try:
        found = inspect.signature(agent).parameters.values()
    except ValueError as error:  # of a builtin
        raise ConfigError(f"The parameters of {agent!r} cannot be read; wrap it in a function.") from error
    return tuple(one.name for one in found if one.default is one.empty)


def _check_parameters(agent: Any, takes: tuple[str, ...]) -> None:
    if inspect.isclass(agent):
        raise ConfigError(f"{agent.__name__} is a class; the agent must be an object of it.")
    if takes == ("observation",) or "infoset" in takes:
        raise ConfigError(f"The agent is a function of ({', '.join(takes)}): it can only be played, with --games.")
    try:
        inspect.signature(agent).bind(*range(3 if wants_player(agent) else 2))
    except TypeError as error:
        raise ConfigError(
            f"The agent is a function of ({', '.join(takes)}), but must be one of (infostates, legal) or of "
            "(infostates, legal, player)."
        ) from error


def wants_player(agent: Any) -> bool:
    """Whether a function also takes the player: as its third parameter, or as one of this name."""
    takes = parameters_of(agent)
    return "player" in takes or len(takes) == 3


def _of_observations(agent: Any, with_player: bool) -> Observe:
    def observe(infostates: NDArray[np.bool_], legal: NDArray[np.bool_], player: int) -> Answers:
        observations = environment_observations(infostates, legal.shape[1], player)
        return cast(Answers, agent(observations, legal, *((player,) if with_player else ())))

    return observe


def _of_nashbench(policy: Any) -> Observe:
    """nashbench calls a policy for one infoset, under `vmap`; its observation is the seat, then OpenSpiel's tensor."""
    with imports("A policy of nashbench"):
        import jax
    many = jax.vmap(policy)

    def ask(infostates: Any, legal: Any, seat: Any) -> Any:
        seats = jax.numpy.broadcast_to(seat, (len(infostates), 2))
        return many(jax.numpy.concatenate([seats, infostates], axis=1).astype(np.float32), legal)

    compiled, sizes = jax.jit(ask), {0}
    devices: list[Any] | None = None

    def observe(infostates: NDArray[np.bool_], legal: NDArray[np.bool_], player: int) -> Answers:
        nonlocal devices
        seat, count = np.eye(2, dtype=np.bool_)[player], len(legal)
        if devices is None:
            # Weights that are bound to a device take a computation there unless it is compiled: then its inputs do.
            devices = []
            if jax.device_count() > 1 or jax.default_backend() != "cpu":
                first = ask(infostates[:1], legal[:1], seat)
                devices = [*first.devices()] if getattr(first, "committed", False) else []
        most = max(sizes)
        if count < most and count not in sizes:
            # To compile for a last block takes longer than to ask for some rows again, unless its size comes again.
            infostates, legal = (np.resize(one, (most, one.shape[1])) for one in (infostates, legal))
        sizes.add(count)
        given = jax.device_put((infostates, legal, seat), devices[0] if len(devices) == 1 else None)
        return np.asarray(compiled(*given))[:count]

    return observe


def _of_torch(network: Any, torch: Any) -> Observe:
    # A network takes what its first matrix takes; one without a matrix gets information states.
    parameters = list(network.parameters())
    size = next((int(one.shape[1]) for one in parameters if one.ndim == 2), None)

    def observe(infostates: NDArray[np.bool_], legal: NDArray[np.bool_], player: int) -> Answers:
        given = torch.from_numpy(inputs_of(infostates, legal.shape[1], player, size))
        with torch.no_grad():  # on the network's device, and in its precision; bytes travel faster than numbers
            if not parameters:
                return cast(Answers, network(given.float()))
            return cast(Answers, network(given.to(parameters[0].device).to(parameters[0].dtype)))

    network.eval()
    return observe


def checked_answers(answers: Any, shape: tuple[int, int]) -> Answers:
    """An agent's answers, an array or a tensor on any device: floats of this shape, which may be NaN.

    Raises
    ------
    StrategyError
        If they are not.
    """
    array = np.asarray(answers.detach().cpu().double() if hasattr(answers, "detach") else answers)
    if array.shape != shape or array.dtype.kind not in "fiub":
        known = array.dtype.kind != "O"
        found = f"shape {array.shape} of {array.dtype}" if known else f"an object of the type {type(answers).__name__}"
        raise StrategyError(
            f"The agent answered with {found}, not with floats of {shape}: a row for each infoset, a number for each "
            "square."
        )
    return array.astype(np.float64, copy=False)
