"""All games of a match, in parallel processes; games on disk are not played again."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from pttt_ooc.disk.files import atomic_write_text, make_directory
from pttt_ooc.disk.locks import hold
from pttt_ooc.other_games.arena.agents.catalogue import agent
from pttt_ooc.other_games.arena.games.base import ArenaError
from pttt_ooc.other_games.arena.games.catalogue import game
from pttt_ooc.other_games.arena.matches import log
from pttt_ooc.other_games.arena.matches.agent_processes import AgentProcess, LocalAgent
from pttt_ooc.other_games.arena.matches.referee import PlayedGame, play
from pttt_ooc.other_games.arena.matches.settings import Match

Listener = Callable[[list[dict[str, Any]]], bool]
"""Called after each batch with all games that have ended; true ends the match early."""


def ignore(games: list[dict[str, Any]]) -> bool:
    """Do nothing, and never end early."""
    return False


def run(
    match: Match, directory: Path | None = None, processes: int = 1, tell: Listener = ignore
) -> list[dict[str, Any]]:
    """Play the games of a match that have not been played.

    Parameters
    ----------
    directory
        Where the games are kept: ``match.json``, ``games.jsonl`` and ``effort.jsonl``.  None: they are not kept.
    processes
        Games at the same time; with 1, they are played in this process.
    tell
        Called after each batch.

    Returns
    -------
    The games in their order, as :meth:`~pttt_ooc.other_games.arena.matches.referee.PlayedGame.game_json` gives them.

    Raises
    ------
    ArenaError
        The directory holds another match, or an agent cannot play the game.
    """
    if directory is None:
        return _sort_by_number(_play_all(match, [], None, processes, tell))
    make_directory(directory)
    with hold(directory / "lock", lambda process: f"{directory} is in use (process {process}).", error=ArenaError):
        _same_match(match, directory / "match.json")
        for name in (log.GAMES, log.EFFORT):
            log.mend(directory / name)
        done = log.read_lines(directory / log.GAMES)
        games = _play_all(match, done, directory, processes, tell)
        if len(games) > len(done):
            for name in (log.GAMES, log.EFFORT):
                log.put_in_order(directory / name)
    return _sort_by_number(games)


def _sort_by_number(games: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(games, key=lambda one: int(one["number"]))


def _same_match(match: Match, file: Path) -> None:
    """A directory holds one match; only the number of games may grow."""
    settings = match.to_json()
    if file.exists():
        stored = json.loads(file.read_text(encoding="utf-8"))
        if stored | {"games": 0} != settings | {"games": 0}:
            differing = ", ".join(
                key for key in stored | settings if key != "games" and stored.get(key) != settings.get(key)
            )
            raise ArenaError(f"{file.parent} holds another match ({differing} differ): choose another directory.")
        settings["games"] = max(settings["games"], stored["games"])
    elif (file.parent / log.GAMES).exists():
        raise ArenaError(f"{file.parent} holds {log.GAMES} of something else: choose another directory.")
    atomic_write_text(file, json.dumps(settings, indent=2) + "\n")


def _play_all(
    match: Match, done: list[dict[str, Any]], directory: Path | None, processes: int, tell: Listener
) -> list[dict[str, Any]]:
    numbers = {int(one["number"]) for one in done}
    games = [one for one in done if one["number"] < match.games]
    missing = [number for number in range(match.games) if number not in numbers]
    if not missing:
        return games
    for batch in _batches(match, missing, processes):
        if directory is not None:
            log.append(directory / log.EFFORT, [one.effort_json() for one in batch])
            log.append(directory / log.GAMES, [one.game_json() for one in batch])
        games += [one.game_json() for one in batch]
        if tell(games):
            break
    return games


def _batches(match: Match, missing: list[int], processes: int) -> Iterator[list[PlayedGame]]:
    """Batches of games as they end."""
    slow = any(agent(text).limited_by_time for text in match.agents)  # each pair of games is worth keeping at once
    size = 2 if slow else max(1, min(50, len(missing) // (4 * processes)))
    parts = [missing[start : start + size] for start in range(0, len(missing), size)]
    if processes == 1:
        table = SeatedAgents(match)
        try:
            for part in parts:
                yield table.play(part)
        finally:
            table.close()
        return
    context = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(processes, mp_context=context, initializer=_sit_down, initargs=(match,))
    try:
        yield from _as_they_end(executor, parts, processes)
    except BrokenProcessPool:
        raise ArenaError("A process of the match has died; the same command plays what is missing.") from None
    finally:
        executor.shutdown(cancel_futures=True)


def _as_they_end(
    executor: ProcessPoolExecutor, parts: Iterable[list[int]], processes: int
) -> Iterator[list[PlayedGame]]:
    waiting: set[Future[list[PlayedGame]]] = set()
    for part in parts:
        waiting.add(executor.submit(_play_here, part))
        if len(waiting) > processes:
            ended, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            yield from (one.result() for one in ended)
    while waiting:
        ended, waiting = wait(waiting, return_when=FIRST_COMPLETED)
        yield from (one.result() for one in ended)


class SeatedAgents:
    """The two agents of a match, seated."""

    def __init__(self, match: Match) -> None:
        self._match, self._game = match, game(match.game)
        self._seats: list[LocalAgent | AgentProcess] = []
        for text, apart in zip(match.agents, match.isolated, strict=True):
            if apart:
                self._seats.append(AgentProcess(self._game, text, match.limit, match.clock))
            else:
                self._seats.append(LocalAgent(self._game, text))

    def play(self, numbers: Iterable[int]) -> list[PlayedGame]:
        """Play games by their numbers."""
        return [play(self._match, self._game, self._seats, number) for number in numbers]

    def close(self) -> None:
        """End the agents' processes."""
        for seat in self._seats:
            seat.close()


_seated: SeatedAgents | ArenaError | None = None


def _sit_down(match: Match) -> None:
    """Seat the agents in a process of the pool."""
    global _seated
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends the pool
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    try:
        _seated = SeatedAgents(match)
    except ArenaError as error:
        _seated = error


def _end_with_parent(parent: int) -> None:
    """End this process, and the agents' processes, when the one that started it is gone."""
    pause = threading.Event()
    while os.getppid() == parent:
        pause.wait(1)
    if isinstance(_seated, SeatedAgents):
        _seated.close()
    os._exit(1)


def _play_here(numbers: list[int]) -> list[PlayedGame]:
    if isinstance(_seated, ArenaError):
        raise _seated
    assert _seated is not None
    return _seated.play(numbers)
