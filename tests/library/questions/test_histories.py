"""The histories of an infoset, compared with an exhaustive walk, on games larger than the smallest ones."""

import numpy as np
import pytest

from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.rules.play import start
from pttt_ooc.games.structure.infoset_places import PackedAttempts, Side
from pttt_ooc.games.structure.orders import order_counts
from pttt_ooc.library.questions.histories import BITS, own_part, read_only, walk


def rules_of(game, player):
    """A player's tables without an index, for walks without probabilities."""
    none = read_only(np.zeros(0, np.int64))
    numbers = (game.squares, game.setup_mask(player), np.array(game.winning_sets[player], np.int64))
    group = np.arange(game.squares)[None, :]
    decides = read_only(np.zeros(0, np.bool_))
    return Side(*numbers, none, none, none, group, decides, none, none, *order_counts(game, player).tables)


def every_history(game, player, own):
    """The opponent's attempts in each history in which `player` makes the given attempts and is to move."""
    found, pending = [], [(start(game), 0)]
    while pending:
        history, done = pending.pop()
        if history.player == 1 - player:
            pending += [(history.step(square), done) for square in history.legal()]
        elif history.player == player and done == len(own):
            theirs = [attempt for attempt in history.attempts if attempt.player != player]
            failed = sum(1 << attempt.square for attempt in theirs if not attempt.placed)
            found.append((history.placed[1 - player], failed, tuple(attempt.square for attempt in theirs)))
        elif history.player == player:
            after = history.step(own[done][0])
            if after.attempts[-1].placed == own[done][1]:
                pending.append((after, done + 1))
    return sorted(found)


@pytest.mark.parametrize(
    ("rule", "player", "own", "least"),
    [
        ("abrupt", 0, [(0, True), (1, True), (5, True)], 257),
        ("abrupt", 0, [(0, True), (8, False), (1, True), (5, True)], 1),
        ("abrupt", 1, [(4, False), (0, True), (5, True)], 1),
        ("classical", 0, [(0, True), (1, True), (5, True)], 513),
        ("classical", 1, [(4, False), (0, True), (5, False), (7, True)], 1),
    ],
)
def test_histories_equal_an_exhaustive_walk(rule, player, own, least):
    game = named_game(f"pttt-{rule}")
    attempts = PackedAttempts(
        np.array([square for square, _ in own]), sum(1 << square for square, placed in own if placed)
    )
    side, part = rules_of(game, 1 - player), own_part(game, player, attempts)
    reach, ends = walk(part, side, read_only(np.empty(0, np.float32)), True, False)
    found = []
    for marks, failed, count, code in ends.reshape(-1, 4).tolist():
        found.append((marks, failed, tuple(code >> BITS * slot & 15 for slot in range(count))))
    expected = every_history(game, player, own)
    assert len(expected) >= least
    assert sorted(found) == expected and set(reach.tolist()) == {1}
