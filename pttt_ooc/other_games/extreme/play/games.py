"""The games of all people against bots: one for each person at a time."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pttt_ooc.disk.resources import available_bytes
from pttt_ooc.other_games.extreme.opponents import Opponents
from pttt_ooc.other_games.extreme.play.bot_game import BotGame
from pttt_ooc.other_games.extreme.play.game_store import BotGameStore, State
from pttt_ooc.other_games.extreme.referee import Cell
from pttt_ooc.other_games.extreme.walls import ExtremeError
from pttt_ooc.site.service.answerer import Later

_KEPT = 200  # people whose latest game is kept
_WITHOUT_MOVES = "The server was started again before the first move."
_WITH_MOVES = "The server was started again; the moves so far are kept."


@dataclass(frozen=True)
class _Game:
    """A game; one from before the server was started has no `game`, only what was kept of it, and takes no moves."""

    number: str
    opponent: str
    label: str
    game: BotGame | None
    kept: State = field(default_factory=dict)

    @classmethod
    def of_kept(cls, state: State) -> _Game:
        """A game that was kept; one that was not over has ended without a result."""
        if state["turn"] != "over":
            why = _WITH_MOVES if state["moves"] else _WITHOUT_MOVES
            state = {**state, "turn": "over", "hinted": False, "why": why}
        return cls(state["number"], state["opponent"], state["label"], None, state)

    @property
    def over(self) -> bool:
        return self.game is None or self.game.over

    @property
    def hints(self) -> bool:
        return bool(self.kept["hints"]) if self.game is None else self.game.hints


class BotGames:
    """The games of all people.  One thread calls the methods; each :class:`~pttt_ooc.site.service.answerer.Later` may
    run in another.

    Parameters
    ----------
    most
        Maximum number of games at the same time.
    directory
        Where the games are kept, for the next time that the server is started.
    """

    def __init__(self, opponents: Opponents, most: int, directory: Path) -> None:
        self._opponents, self._most, self._store = opponents, most, BotGameStore(directory, _KEPT)
        self._games: dict[str, _Game] = {}  # by person, the latest last
        self._ending: list[BotGame] = []  # games that may still have a process

    def choices(self, owner: str) -> list[dict[str, str]]:
        """The bots that a person may play against."""
        return [vars(choice) for choice in self._opponents.choices(owner)]

    def begin(self, owner: str, opponent: str, side: int, opening: Sequence[Sequence[int]] = ()) -> str:
        """Begin a game, which ends the person's former one; returns its number, which cannot be guessed.

        Raises
        ------
        ExtremeError
            If there is no such opponent, too many games are being played, the machine has no memory for another one,
            or the opening is against the rules.
        """
        cells: list[Cell] = [(big, row, column) for big, row, column in opening]
        label = next((one.label for one in self._opponents.choices(owner) if one.key == opponent), None)
        if label is None:
            raise ExtremeError("There is no such opponent here; choose one of the list.")
        self._end(owner)
        former = self._latest(owner)
        hints = bool(opening) and former is not None and former.hints
        conditions = self._opponents.conditions
        if sum(not one.over for one in self._games.values()) >= self._most:
            raise ExtremeError(f"{self._most} games are being played on this server; try again in a few minutes.")
        if available_bytes() < conditions.memory_mb << 20:
            raise ExtremeError("The server has no memory for another game now; try again in a few minutes.")
        number = secrets.token_hex(8)
        program = partial(self._opponents.program, owner, opponent)

        def keep(game: BotGame) -> None:
            self._store.keep(owner, partial(self._facts, _Game(number, opponent, label, game)))

        game = BotGame(program, side, conditions, cells, hints, keep)
        keep(game)
        self._games[owner] = _Game(number, opponent, label, game)
        for other in [one for one, found in self._games.items() if found.over][:-_KEPT]:
            del self._games[other]
        return number

    def latest(self, owner: str) -> str | None:
        """The number of the person's latest game, if it is kept."""
        found = self._latest(owner)
        return None if found is None else found.number

    def _latest(self, owner: str) -> _Game | None:
        if owner in self._games:
            return self._games[owner]
        state = self._store.latest(owner)
        return None if state is None else _Game.of_kept(state)

    def state(self, owner: str, number: str) -> State:
        """The state of a person's game; see :meth:`~pttt_ooc.other_games.extreme.play.bot_game.BotGame.state`.

        Raises
        ------
        ExtremeError
            If there is no such game of this person; so do the other methods.
        """
        found = self._game(owner, number)
        return {**self._facts(found), "shared": found.over and self._store.is_shared(number)}

    def _facts(self, found: _Game) -> State:
        limit = self._opponents.conditions.time_limit
        facts = {"number": found.number, "opponent": found.opponent, "label": found.label, "time_limit": limit}
        return {**facts, **(found.kept if found.game is None else found.game.state())}

    def share(self, owner: str, number: str, shared: bool) -> None:
        """Share a finished game with everybody who knows its number, or stop sharing it; a restart changes neither.

        What the bot printed and how it failed belongs to the team, and is not shared.
        """
        if not shared:
            self._store.stop_sharing(owner, number)
            return
        state = self.state(owner, number)
        if state["match"] is None:
            raise ExtremeError("A game can be shared once it has been played to its end.")
        secret = {"detail": "", "printed": ["", ""]}
        self._store.share(owner, number, {**state, "shared": True, "match": {**state["match"], **secret}})

    def shared_state(self, number: str) -> State:
        """See :meth:`~pttt_ooc.other_games.extreme.play.game_store.BotGameStore.shared_state`."""
        return self._store.shared_state(number)

    def change(self, owner: str, number: str, seen: str, seconds: float) -> Later:
        """The state as soon as it differs from the one that was seen, or after some seconds.

        Parameters
        ----------
        seen
            The :func:`~pttt_ooc.other_games.extreme.boards.stamp` of a state.
        """
        game = self._game(owner, number).game
        wait = partial(game.wait_for_change, seen, seconds) if game else bool
        return Later(wait, partial(self.state, owner, number))

    def move(self, owner: str, number: str, ply: int, cell: Sequence[int], seconds: float = 0.0) -> Later:
        """See :meth:`~pttt_ooc.other_games.extreme.play.bot_game.BotGame.move`; the state after it, with the bot's
        answer.

        Parameters
        ----------
        seconds
            The longest wait for the bot's answer.
        """
        big, row, column = cell
        game = self._game(owner, number).game
        if game:
            game.move(ply, (big, row, column))
        return Later(partial(game.wait_for_bot, seconds) if game else bool, partial(self.state, owner, number))

    def hint(self, owner: str, number: str, ply: int) -> None:
        """Mark a game as one with hints; see :meth:`~pttt_ooc.other_games.extreme.play.bot_game.BotGame.hint`."""
        if game := self._game(owner, number).game:
            game.hint(ply)

    def resign(self, owner: str, number: str) -> None:
        """Resign; see :meth:`~pttt_ooc.other_games.extreme.play.bot_game.BotGame.resign`."""
        if game := self._game(owner, number).game:
            game.resign()

    def leave(self, owner: str, number: str) -> None:
        """End a game without a result."""
        if game := self._game(owner, number).game:
            game.end()

    def close(self) -> None:
        """End all games; they are kept as they were."""
        self._store.stop_keeping()
        for owner in self._games:
            self._end(owner)
        for game in self._ending:
            game.join()
        self._store.close()

    def _end(self, owner: str) -> None:
        if owner in self._games and (game := self._games[owner].game):
            game.forget()
            game.end()
            self._ending = [one for one in self._ending if not one.over] + [game]

    def _game(self, owner: str, number: str) -> _Game:
        found = self._latest(owner)
        if found is None or found.number != number:
            raise ExtremeError("This game is gone: a later one has begun, or it was too long ago.")
        return found
