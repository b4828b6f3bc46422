"""Outcomes of attempts and earlier infosets, compared with a walk over histories."""

import numpy as np
import pytest

from pttt_ooc.errors import GameError, ImpossibleInfosetError
from pttt_ooc.library.questions.infoset import earlier, following
from tests.kits import naive, naive_questions
from tests.kits.questioned import CASES, GAMES, IDS, infosets, profile_of, tables_of

EXACT = {"abs": 1e-12, "rel": 0}
ENDS = ("returns", "wins", "draws", "loses")


@pytest.mark.long_but("2x2", "2x3k2", "classical-after-1-4")
@pytest.mark.long_but("2x2", "2x3k2", "classical-after-1-4")
@pytest.mark.slow_but_one
@pytest.mark.parametrize(("game", "symmetry"), CASES, ids=IDS)
def test_outcomes_are_those_of_a_walk_over_histories(game, symmetry):
    profile, tables = profile_of(game, symmetry), tables_of(game, symmetry)
    ended = never = 0
    for player in (0, 1):
        deciding = set(naive.infosets(game, player))
        for text, here in naive_questions.answers(game, player, tables).items():
            found = following(profile, player, text)
            expected = {}
            for square in here.values:
                for (placed, after), ends in naive_questions.outcomes(
                    game, player, here, tables[1 - player], square
                ).items():
                    expected[square, placed] = after, ends
            assert [(one.square, one.placed) for one in found] == sorted(expected)
            for one in found:
                after, ends = expected[one.square, one.placed]
                assert (one.infoset, one.decides) == (after, after in deciding)
                mass = sum(ends.values())
                reached = here.opponent_reach or np.nan
                assert one.probability == pytest.approx(mass / reached, nan_ok=True, **EXACT)
                shares = [ends[name] / (mass or np.nan) for name in ENDS]
                given = [getattr(one, name) for name in ENDS]
                # Sums are divided by a small number: rounding shows in the last digits.
                assert given == pytest.approx(shares, nan_ok=True, abs=1e-11), (text, one)
                ended += ends["wins"] > 0
                never += not one.decides
    assert ended and never


def test_one_square_gives_its_own_outcomes():
    profile = profile_of(GAMES[1], "full")
    every = following(profile, 0, "|0*")
    for square in (1, 5):
        assert repr(following(profile, 0, "|0*", square)) == repr(tuple(o for o in every if o.square == square))


def test_a_square_that_cannot_be_attempted_is_refused():
    profile = profile_of(GAMES[1], "full")
    with pytest.raises(GameError, match=r"cannot attempt square 0 at '\|0\*'; choose one of 1, 2, 3, 4, 5"):
        following(profile, 0, "|0*", 0)
    with pytest.raises(ImpossibleInfosetError):
        following(profile, 0, "|0*0*", 1)


@pytest.mark.slow_but_one
@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_earlier_infosets_are_prefixes_of_the_text(game):
    index = profile_of(game, "full").index
    for player, text in infosets(game):
        first = len(naive.setup_text(game, player))
        assert earlier(index, player, text) == tuple(text[:end] for end in range(first, len(text) + 1, 2))
    with pytest.raises(ImpossibleInfosetError):
        earlier(index, 0, "|0*0*")
