"""The base class of the environments: PettingZoo's bookkeeping of turns, rewards and ends."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv

from pttt_ooc.errors import ConfigError

Numbers = NDArray[np.int8]


class TurnEnvironment(AECEnv):  # type: ignore[misc]
    """Two players who take turns; a subclass knows the rules.

    Parameters
    ----------
    name
        The name of the game.
    actions
        The number of actions.
    shape, most
        The shape of an observation, and the greatest number in it; the least is 0.
    render_mode
        None or ``"ansi"``.

    Raises
    ------
    ConfigError
        If there is no such mode.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "is_parallelizable": False}

    def __init__(self, name: str, actions: int, shape: tuple[int, ...], most: int, render_mode: str | None) -> None:
        super().__init__()
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ConfigError(f"The render_mode is {render_mode!r}, but must be None or 'ansi'.")
        self.metadata = {**self.metadata, "name": name}
        self.render_mode = render_mode
        self.possible_agents = ["player_0", "player_1"]
        seen = spaces.Box(0, most, shape, np.int8)
        mask = spaces.Box(0, 1, (actions,), np.int8)
        self.observation_spaces = {
            agent: spaces.Dict({"observation": seen, "action_mask": mask}) for agent in self.possible_agents
        }
        self.action_spaces = {agent: spaces.Discrete(actions) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> Any:
        """The space of a player's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """The space of a player's actions."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a new game; random numbers depend on the last given seed and on the games since."""
        if seed is not None or not hasattr(self, "random"):
            self.random = np.random.default_rng(seed)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._begin()
        self.agent_selection = self.possible_agents[self._to_move()]

    def step(self, action: Any) -> None:
        """Let the selected player act."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        player = self.possible_agents.index(agent)
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        if int(action) in self._legal():
            self._act(int(action))
            returns = self._returns()
        else:
            returns = (-1.0, 1.0) if player == 0 else (1.0, -1.0)
        if returns is None:
            self.agent_selection = self.possible_agents[self._to_move()]
        else:
            self.rewards = dict(zip(self.possible_agents, returns, strict=True))
            self.terminations = dict.fromkeys(self.agents, True)
            self.agent_selection = self.possible_agents[1 - player]
        self._accumulate_rewards()

    def observe(self, agent: str) -> dict[str, Any]:
        """A player's observation and legal actions."""
        space = self.observation_space(agent)
        mask = np.zeros(space["action_mask"].shape, dtype=np.int8)
        if agent == self.agent_selection and not self.terminations[agent]:
            mask[self._legal()] = 1
        return {"observation": self._observation(self.possible_agents.index(agent)), "action_mask": mask}

    def render(self) -> str | None:
        """The board as text, if the mode is ``"ansi"``."""
        return self._text() if self.render_mode == "ansi" else None

    def close(self) -> None:
        """There is nothing to close."""

    @abstractmethod
    def _begin(self) -> None: ...

    @abstractmethod
    def _to_move(self) -> int: ...

    @abstractmethod
    def _legal(self) -> list[int]: ...

    @abstractmethod
    def _act(self, action: int) -> None: ...

    @abstractmethod
    def _returns(self) -> tuple[float, float] | None:
        """Both players' rewards at the end; None before."""

    @abstractmethod
    def _observation(self, player: int) -> Numbers: ...

    @abstractmethod
    def _text(self) -> str: ...
