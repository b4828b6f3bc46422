"""Trainings of one learner with several seeds; the training is the unit of their statistics."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.disk.files import atomic_write_text, make_directory
from pttt_ooc.other_games.arena.agents.value_tables import GrowingTable, Rates, Training, ValueTable
from pttt_ooc.other_games.arena.games.base import FIRST, PLAYER, SECOND, UNFINISHED, ArenaError, Game, State
from pttt_ooc.other_games.arena.games.catalogue import game
from pttt_ooc.other_games.arena.kernels import state_words
from pttt_ooc.other_games.arena.kernels.rng import generator
from pttt_ooc.other_games.arena.matches.statistics import Rate
from pttt_ooc.other_games.arena.research.kernels.line_patterns import patterns as pattern_kernels
from pttt_ooc.other_games.arena.research.players import patterns
from pttt_ooc.other_games.arena.settings import Trainings

RESULT = "trainings.json"
GREEDY = 100
"""Games after the training, without random moves and without learning; equally good moves have equal probability."""

SMALL = 9
"""On boards of at most so many squares, all replies to a table are tried."""


_TOLD = ("claim", "seeds", "theirs", "note")


def decisive(trainings: Trainings) -> dict[str, Any]:
    """The settings on which a training depends, beside its seed."""
    return {key: value for key, value in trainings.model_dump(mode="json").items() if key not in _TOLD}


def conduct(
    name: str,
    trainings: Trainings,
    directory: Path,
    processes: int,
    tell: Callable[[str], None],
    games_in: Path | None = None,
) -> dict[str, Any]:
    """Train with each seed that has not been trained with, and write ``trainings.json``.

    Parameters
    ----------
    directory
        The trainings' directory.
    games_in
        The directory with a file for each seed.  Default: the same.

    Raises
    ------
    ArenaError
        The directory holds other trainings.
    """
    # Each seed has a file of its own, with the settings: a directory of other trainings is refused.
    place = games_in or directory
    make_directory(place)
    known = decisive(trainings)
    files = [place / f"seed-{seed}.json" for seed in range(trainings.seeds)]
    for file in files:
        if file.exists() and json.loads(file.read_text(encoding="utf-8"))["settings"] != known:
            raise ArenaError(f"{file} is of other trainings than {name}: choose another directory.")
    # Only seeds without a file are trained with, so that an interrupted run goes on.
    missing = [seed for seed, file in enumerate(files) if not file.exists()]
    if processes > 1 and len(missing) > 1:
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(min(processes, len(missing)), mp_context=context) as pool:
            for seed, row in zip(missing, pool.map(train, [trainings] * len(missing), missing), strict=True):
                _keep(files[seed], row, known, name, tell)
    else:
        for seed in missing:
            _keep(files[seed], train(trainings, seed), known, name, tell)
    # The result is read from the files: the same whether one run has made them or several.
    rows = [json.loads(file.read_text(encoding="utf-8"))["training"] for file in files]
    result = {"name": name, **trainings.model_dump(mode="json"), "trainings": rows}
    atomic_write_text(directory / RESULT, json.dumps(result, indent=1) + "\n")
    return result


def _keep(file: Path, row: dict[str, Any], known: dict[str, Any], name: str, tell: Callable[[str], None]) -> None:
    atomic_write_text(file, json.dumps({"settings": known, "training": row}) + "\n")
    tell(f"{name}: seed {row['seed']}, player 1 with draws {share(row['curve'][-1]):.2%}")


def checkpoints(games: int) -> list[int]:
    """1000, 2000, 5000, 10,000, ... games, and all of them."""
    marks = [one * 10**power for power in range(3, 12) for one in (1, 2, 5)]
    return [*(mark for mark in marks if mark < games), games]


def train(trainings: Trainings, seed: int) -> dict[str, Any]:
    """One training.

    Returns
    -------
    seed
        As given.
    curve
        Rows of games played and wins of player 1, wins of player 2 and draws so far.
    greedy
        The same three counts of games after the training, without random moves.
    lost
        For tables on a board of at most :data:`SMALL` squares: how many games each player's table loses, without
        random moves and with the first of equally good ones, if the opponent tries all replies.
    digest
        A digest of what has been learnt: the same settings give the same digest.
    seconds
        Processor time, without compilation.
    """
    return (_train_patterns if trainings.learner == "patterns" else _train_tables)(trainings, seed)


def _train_tables(trainings: Trainings, seed: int) -> dict[str, Any]:
    rewards = trainings.win, trainings.loss, trainings.draw
    explores = trainings.explore if isinstance(trainings.explore, list) else [trainings.explore]
    chosen = game(trainings.game)
    Training(chosen, seed=seed).run(1, Rates())  # compiles
    training, begin, curve = Training(chosen, seed=seed), process_time(), []
    ends = [trainings.games * part // len(explores) for part in range(1, len(explores))]
    for mark in sorted({*checkpoints(trainings.games), *ends}):
        played = training.tables[0].iterations
        explore = explores[sum(end <= played for end in ends)]
        rates = Rates(explore, trainings.step, *rewards, trainings.ties == "random", trainings.targets == "chain")
        training.run(mark - played, rates)
        curve.append([mark, *(int(number) for number in training.results[1:])])
    seconds = process_time() - begin
    arrays: list[NDArray[Any]] = []
    for table in training.tables:
        learnt = table.policy()
        order = np.argsort(learnt.keys)
        arrays += [learnt.keys[order], learnt.values[order]]
    before, lost = training.results.copy(), lost_games(chosen, training.tables)
    training.run(GREEDY, Rates(0, 0, *rewards, shuffle=True))
    row = _row(seed, curve, training.results - before, arrays, seconds)
    return row if lost is None else row | {"lost": lost}


def lost_games(chosen: Game, tables: list[GrowingTable]) -> list[int] | None:
    """How many games each player's table loses if the opponent tries all replies; None on more than SMALL squares."""
    if chosen.name != "mnk" or len(chosen.legal(chosen.start())) > SMALL:
        return None
    bot = ValueTable()
    bot.take(chosen, tables)

    def losses(state: State, player: int) -> int:
        if state[state_words.RESULT] != UNFINISHED:
            return int(state[state_words.RESULT] == (SECOND, FIRST)[player])
        moves = [bot.choose(state)] if state[PLAYER] == player else chosen.legal(state)
        return sum(losses(chosen.play(state, move), player) for move in moves)

    return [losses(chosen.start(), player) for player in (0, 1)]


def _train_patterns(trainings: Trainings, seed: int) -> dict[str, Any]:
    chosen = game(trainings.game)
    patterns.train(chosen, patterns.ROUNDS, seed)  # compiles
    begin, curve = process_time(), []
    weights, results = patterns.train(
        chosen, trainings.games, seed, lambda played, so_far: curve.append([played, *map(int, so_far[1:])])
    )
    seconds, greedy = process_time() - begin, np.zeros(4, dtype=np.int64)
    learnt = weights.copy()
    pattern_kernels(chosen.rules).train(chosen.start(), GREEDY, np.zeros(3), weights, greedy, generator(seed, 1))
    return _row(seed, curve, greedy, [learnt], seconds)


def _row(
    seed: int, curve: list[list[int]], greedy: NDArray[np.int64], arrays: list[NDArray[Any]], seconds: float
) -> dict[str, Any]:
    digest = hashlib.blake2b(digest_size=8)
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    told = {"seed": seed, "curve": curve, "greedy": [int(number) for number in greedy[1:]]}
    return told | {"digest": digest.hexdigest(), "seconds": round(seconds, 2)}


def share(counts: list[int], draws: float = 1.0) -> float:
    """The share of player 1 in a row of a curve; this part of the draws counts for player 1."""
    _, first, _, drawn = counts
    return (first + draws * drawn) / sum(counts[1:])


def decisive_share(counts: list[int]) -> float:
    """The share of player 1 in the games of a row that are not draws."""
    _, first, second, _ = counts
    return Rate(first, 0, second).rate if first + second else 0.5


def stretches(curve: list[list[int]]) -> list[list[int]]:
    """The rows of a curve for the games since the row before, each with the number of games at its end."""
    found, before = [], [0, 0, 0, 0]
    for row in curve:
        found.append([row[0], *(now - then for now, then in zip(row[1:], before[1:], strict=True))])
        before = row
    return found
