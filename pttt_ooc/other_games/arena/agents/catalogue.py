"""The agents by their names."""

from __future__ import annotations

from importlib import import_module

from pttt_ooc.errors import did_you_mean
from pttt_ooc.other_games.arena.agents.base import Agent, read_options
from pttt_ooc.other_games.arena.games.base import ArenaError
from pttt_ooc.other_games.arena.names import AGENTS


def agent(text: str) -> Agent:
    """An agent from its name and, after a colon, its options: ``random``, ``alphabeta:heur=3,time=0.1``.

    It is not yet seated at a game.

    Raises
    ------
    ArenaError
        There is no such agent, or it has no such options.
    """
    name, _, listed = text.strip().partition(":")
    if name not in AGENTS:
        known = ", ".join(AGENTS)
        raise ArenaError(f"The arena has no agent '{name}'{did_you_mean(name, AGENTS)}: its agents are {known}.")
    options: dict[str, str] = {}
    for part in filter(None, listed.split(",")):
        key, equals, value = part.partition("=")
        if not equals or key in options:
            fault = f"gives {key} twice" if equals else f"has '{part}', which is not KEY=VALUE"
            raise ArenaError(f"The agent '{text}' {fault}: write it as in alphabeta:heur=3,depth=2.")
        options[key] = value
    module, _, kind = AGENTS[name].rpartition(".")
    agent_class = getattr(import_module(f"pttt_ooc.other_games.arena.{module}"), kind)
    result: Agent = agent_class(**read_options(agent_class, name, options))
    return result
