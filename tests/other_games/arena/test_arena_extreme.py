"""The agents for Extreme: the tournament's strong bot, and alpha-beta with its example's heuristic."""

import numpy as np
import pytest

from pttt_ooc.other_games.arena.agents.catalogue import agent
from pttt_ooc.other_games.arena.games.base import PLAYER, ArenaError
from pttt_ooc.other_games.arena.games.catalogue import game
from pttt_ooc.other_games.arena.kernels import extreme_values
from pttt_ooc.other_games.arena.kernels.clock import VALUE
from pttt_ooc.other_games.arena.pages.choices import AGENTS
from pttt_ooc.other_games.arena.pages.game_service import GameService
from pttt_ooc.other_games.arena.research.players.strong import Searcher
from pttt_ooc.other_games.extreme.bots.alphabeta_bot import TeamAlphabeta
from pttt_ooc.other_games.extreme.referee import FLAGS, Referee

EXTREME = game("extreme")


def positions(games, seed):
    """Positions of games of chance, with the referee's own."""
    draw = np.random.default_rng(seed)
    for _ in range(games):
        state, referee = EXTREME.start(), Referee()
        while moves := EXTREME.legal(state):
            move = int(draw.choice(moves))
            state = EXTREME.play(state, move)
            assert referee.play((move // 81, move % 81 // 9, move % 9))
            if referee.result()[1] == "-":
                yield state, referee


def test_the_heuristic_is_that_of_the_example():
    bot, values = TeamAlphabeta(), set()
    for state, referee in positions(3, 5):
        bot.board = referee.board
        for player in (0, 1):
            bot.me, bot.opponent = FLAGS[player], FLAGS[1 - player]
            assert extreme_values.evaluate(state, 1) * (1 - 2 * player) == bot.evaluate()
        values.add(bot.evaluate())
    assert len(values) > 60


@pytest.mark.slow
def test_strong_makes_the_moves_of_the_bots_search():
    player = agent("strong:nodes=500,slots=4096")
    player.seat(EXTREME)
    for number, (state, _) in enumerate(positions(1, 6)):
        if number % 20 == 0:
            player.begin(number)
            assert player.choose(state) == Searcher(4096).choose(state, 600.0, nodes=500)
            assert 0 < player.effort.nodes <= 501 and player.effort.depth > 0
    assert not player.limited_by_time and agent("strong:time=0.1").limited_by_time


def test_strong_refuses_other_games_and_odd_tables():
    with pytest.raises(ArenaError, match="plays extreme only, not ultimate"):
        agent("strong").seat(game("ultimate"))
    for text, reason in (("tuned:heur=1", "not enough"), ("alphabeta:heur=1,memory=symmetry", "no images in extreme")):
        with pytest.raises(ArenaError, match=reason):
            agent(text).seat(EXTREME)
    with pytest.raises(ArenaError, match="no heuristic for mnk"):
        agent("alphabeta").seat(game("mnk:3x3+need3"))


@pytest.mark.slow
def test_alphabeta_finds_what_minimax_finds():
    names = "minimax:heur=1,depth=1", "alphabeta:heur=1,depth=1", "alphabeta:heur=1,depth=1,memory=zobrist"
    searches, values = [agent(name) for name in names], set()
    for one in searches:
        one.seat(EXTREME)
    for number, (state, _) in enumerate(positions(1, 8)):
        if number % 9 == 8:
            for one in searches:
                one.choose(state)
            found = {int(one._control[VALUE]) for one in searches}
            assert len(found) == 1
            values |= found
    assert len(values) > 5


@pytest.mark.slow
@pytest.mark.parametrize("key", [offer.key for offer in AGENTS if offer.games == ("extreme",)])
def test_a_person_plays_against_it_in_the_browser(tmp_path, key):
    """Whole games, in which the person makes the first legal move; bonus moves are made at once."""
    service, moves = GameService(tmp_path), []
    while EXTREME.legal(state := EXTREME.after(moves)):
        assert state[PLAYER] == 0
        moves = service.play_on("extreme", [*moves, EXTREME.legal(state)[0]], [None, key], "0.1", False)
        if len(moves) > 30:
            break
    seen = service.position("extreme", moves)
    big, row, column = moves[-1] // 81, moves[-1] % 81 // 9, moves[-1] % 9
    assert seen["made"][-1]["text"] == f"({big}, {row}, {column})"
    with pytest.raises(ArenaError, match="does not play this game"):
        service.play_on("ultimate", [], [key, None], "0.1", True)


def test_moves_are_read_as_they_are_shown():
    for move in range(162):
        assert EXTREME.read_move(EXTREME.tell_move(move)) == move == EXTREME.read_move(EXTREME.show_move(move))
