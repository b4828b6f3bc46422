"""The program of an agent's own process: it answers the referee's questions, one line of JSON each."""

from __future__ import annotations

import json
import socket
import sys
from dataclasses import asdict
from typing import Any

import numpy as np

from pttt_ooc.other_games.arena.agents.base import Agent
from pttt_ooc.other_games.arena.agents.catalogue import agent
from pttt_ooc.other_games.arena.games.base import ArenaError
from pttt_ooc.other_games.arena.games.catalogue import game
from pttt_ooc.other_games.arena.matches.agent_processes import answer


def main(descriptor: str, game_text: str, agent_text: str) -> None:
    """Serve a socket that the referee has opened."""
    player, refused = None, None
    try:
        player = agent(agent_text)
        player.seat(game(game_text))
    except ArenaError as error:
        refused = str(error)
    with socket.socket(fileno=int(descriptor)) as connection, connection.makefile("rb") as questions:
        for line in questions:
            reply = {"refused": refused} if player is None or refused else _reply(player, json.loads(line))
            connection.sendall(json.dumps(reply).encode() + b"\n")


def _reply(player: Agent, question: dict[str, Any]) -> dict[str, Any]:
    try:
        if "begin" in question:
            player.begin(*question["begin"])
        elif "state" in question:
            result = answer(player, np.array(question["state"], dtype=np.int64))
            result.move = int(result.move)
            return asdict(result)
    except Exception as error:
        return {"forfeit": f"it failed: {type(error).__name__}: {error}"}
    return {}


if __name__ == "__main__":
    main(*sys.argv[1:])
