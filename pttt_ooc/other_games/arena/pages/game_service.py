"""The answerer of the arena's pages: positions, which pages name by their moves, and agents, which stay ready."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pttt_ooc.other_games.arena.agents.base import Agent, Budget
from pttt_ooc.other_games.arena.agents.catalogue import agent
from pttt_ooc.other_games.arena.games.base import DRAW, FIRST, PLAYER, RESULT, UNFINISHED, ArenaError, Game, State
from pttt_ooc.other_games.arena.games.catalogue import game
from pttt_ooc.other_games.arena.matches.agent_processes import answer
from pttt_ooc.other_games.arena.pages.choices import (
    AGENTS,
    GAMES,
    SECONDS,
    SIZES,
    Offer,
    agents_of,
    game_text,
    takes_time,
)
from pttt_ooc.other_games.arena.pages.match_archive import MatchArchive
from pttt_ooc.other_games.arena.research.players.evaluations import NETWORK_DIGESTS, SHIPPED_DIGESTS
from pttt_ooc.other_games.arena.research.solvers.move_ratings import RatingCache
from pttt_ooc.site.service.answerer import AnswersByKind, methods

SHIPPED = {"path=network": tuple(NETWORK_DIGESTS), "path=shipped": tuple(SHIPPED_DIGESTS)}
"""The option that selects the package's own weights, and the games for which it has them."""

SEATED = 4
"""Maximum number of agents that stay ready; each has its own tables."""

REMEMBERED = 5000
"""Maximum number of moves of agents whose searches are remembered."""


class GameService:
    """Positions and agents.

    Parameters
    ----------
    directory
        The directory of learnt weights and policies.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._seated: OrderedDict[tuple[str, str], Agent] = OrderedDict()
        self._seating: dict[tuple[str, str], threading.Lock] = {}
        self._prepared: dict[str, threading.Thread] = {}
        self._thoughts: OrderedDict[tuple[str | int, ...], dict[str, Any]] = OrderedDict()

    def position(self, game_text: str, moves: list[int]) -> dict[str, Any]:
        """A position for a page.

        Raises
        ------
        ArenaError
            There is no such game, or a move is impossible.
        """
        rules = game(game_text)
        state, made = rules.start(), []
        for move in moves:
            made.append({"player": int(state[PLAYER]), "text": rules.tell_move(move)})
            state = rules.play(state, move)
        result = int(state[RESULT])
        return {
            "game": rules.text,
            "moves": moves,
            "made": made,
            "mover": int(state[PLAYER]),
            "over": result != UNFINISHED,
            "winner": None if result in (UNFINISHED, DRAW) else result - FIRST,
            "boards": [asdict(board) for board in rules.draw(state, moves[-1] if moves else None)],
            "thought": self._thoughts.get((rules.text, *moves)),
        }

    def ready(self, key: str) -> list[str]:
        """The keys of the agents that play a game of the choices, but for those whose weights were not learnt yet.

        The first one is made ready in a thread: whoever looks at the choices may begin soon.
        """
        if key not in self._prepared:  # once: it takes a second, or longer if it compiles
            self._prepared[key] = threading.Thread(target=self._prepare, args=(key,), daemon=True)
            self._prepared[key].start()
        return self._ready(key)

    def _ready(self, key: str) -> list[str]:
        text = next(offer.text for offer in GAMES if offer.key == key).replace(":", "-")
        return [offer.key for offer in agents_of(key) if self._has_learnt(offer, text)]

    def _prepare(self, key: str) -> None:
        self._seat(game(game_text(key, *SIZES.values())), self._ready(key)[0], SECONDS[0])

    def _has_learnt(self, offer: Offer, game_text: str) -> bool:
        if (games := _shipped_for(offer)) is not None:
            return game_text in [game.replace(":", "-") for game in games]
        _, needs, file = offer.text.partition("{directory}/")
        return not needs or any(self._directory.glob(file.format(game=f"{game_text}*")))

    def play_on(
        self, game_text: str, moves: list[int], agents: list[str | None], seconds: str, once: bool = False
    ) -> list[int]:
        """The moves, followed by the agents' moves until a person's turn or the end of the game.

        Parameters
        ----------
        agents
            The key of each player's agent, or None for a person.
        once
            Whether to add at most one move.

        Raises
        ------
        ArenaError
            See :meth:`position`; or there is no such agent, or it cannot play this game.
        """
        rules = game(game_text)
        state, played = rules.after(moves), list(moves)
        while state[RESULT] == UNFINISHED and (key := agents[int(state[PLAYER])]) is not None:
            played.append(self._choose(rules, key, seconds, state, (rules.text, *played)))
            state = rules.play(state, played[-1])
            if once:
                break
        return played

    def _choose(self, rules: Game, key: str, seconds: str, state: State, position: tuple[str | int, ...]) -> int:
        """A move of an agent; the facts about its search are remembered."""
        player = self._seat(rules, key, seconds)
        player.begin(secrets.randbits(32))
        found = answer(player, state)
        while len(self._thoughts) >= REMEMBERED:
            self._thoughts.popitem(last=False)
        thought = {"depth": found.depth, "nodes": found.nodes, "seconds": found.wall}
        line = [rules.tell_move(move) for move in player.line(state)]
        self._thoughts[*position, found.move] = {"agent": key, "line": line, **thought}
        return found.move

    def _seat(self, rules: Game, key: str, seconds: str) -> Agent:
        """An agent of the choices, ready for a game."""
        offer = next((offer for offer in AGENTS if offer.key == key), None)
        if offer is None or seconds not in SECONDS:
            raise ArenaError("There is no such opponent here; choose one of the list.")
        other_rules = rules.text not in (_shipped_for(offer) or (rules.text,))
        if other_rules or (offer.games and rules.name not in offer.games):
            raise ArenaError(f"{offer.label} does not play this game; choose another opponent.")
        if not self._has_learnt(offer, rules.text.replace(":", "-")):
            raise ArenaError(f"{offer.label} has not been trained here; choose another opponent.")
        with self._seating.setdefault((rules.text, key), threading.Lock()):  # others do not wait for its compilation
            player = self._seated.pop((rules.text, key), None)
            if player is None:
                text = offer.text.format(seconds=seconds, directory=self._directory, game=rules.text.replace(":", "-"))
                player = agent(text)
                player.seat(rules)
            if takes_time(key) and isinstance(player, Budget):
                player.time = float(seconds)  # another time needs no other tables
            self._seated[rules.text, key] = player  # the latest last
            while len(self._seated) > SEATED:
                self._seated.popitem(last=False)
            return player


def _shipped_for(offer: Offer) -> tuple[str, ...] | None:
    """The games for which the package has an agent's weights; None if the agent needs none of them."""
    return next((games for option, games in SHIPPED.items() if option in offer.text), None)


@contextmanager
def answerer(directory: str) -> Iterator[AnswersByKind]:
    """The answers about the matches below a directory."""
    archive, service, cache = MatchArchive(Path(directory)), GameService(Path(directory)), RatingCache()
    yield AnswersByKind(
        methods(
            *(archive.matches, archive.match, archive.replay, archive.standings),
            *(service.ready, service.position, service.play_on, cache.ratings, cache.rating),
        )
    )
