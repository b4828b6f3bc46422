"""Numbers at infosets, compared with a walk over histories."""

from itertools import product

import numpy as np
import pytest

from pttt_ooc.errors import ImpossibleInfosetError
from pttt_ooc.games.structure import infoset_places as places
from pttt_ooc.library.questions.infoset import numbers
from tests.kits import naive, naive_questions
from tests.kits.questioned import CASES, GAMES, IDS, infosets, profile_of, tables_of

EXACT = {"abs": 1e-12, "rel": 0}


def row(game, values):
    """An array over squares, NaN by default."""
    return np.array([values.get(square, np.nan) for square in range(game.squares)])


@pytest.mark.long_but("2x2", "2x3k2", "classical-after-1-4")
@pytest.mark.slow_but_one
@pytest.mark.parametrize(("game", "symmetry"), CASES, ids=IDS)
def test_numbers_are_those_of_a_walk_over_histories(game, symmetry):
    profile, tables = profile_of(game, symmetry), tables_of(game, symmetry)
    arbitrary = 0
    for player in (0, 1):
        for text, here in naive_questions.answers(game, player, tables).items():
            found = numbers(profile, player, text)
            probabilities = tables[player][text]
            assert (found.player, found.infoset, found.legal) == (player, text, tuple(here.values))
            assert found.own_reach == pytest.approx(here.own_reach, **EXACT)
            assert found.opponent_reach == pytest.approx(here.opponent_reach, **EXACT)
            assert found.joint_reach == pytest.approx(here.own_reach * here.opponent_reach, **EXACT)
            assert found.arbitrary == (here.own_reach == 0 or here.opponent_reach == 0)
            arbitrary += found.arbitrary
            value = sum(probabilities[square] * here.values[square] for square in here.values)
            expected = {
                "probabilities": {square: probabilities[square] for square in here.values},
                "regrets": {square: here.values[square] - value for square in here.values},
            }
            scale = here.opponent_reach or np.nan
            marks = {s: sum(w for h, w in here.histories if h.placed[1 - player] >> s & 1) for s in here.values}
            expected["action_values"] = {square: each / scale for square, each in here.values.items()}
            expected["best_action_values"] = {square: each / scale for square, each in here.best_values.items()}
            expected["fails"] = {square: each / scale for square, each in marks.items()}
            for name, values in expected.items():
                assert getattr(found, name) == pytest.approx(row(game, values), nan_ok=True, **EXACT), (text, name)
            assert found.value == pytest.approx(value / scale, nan_ok=True, **EXACT)
            best = max(here.best_values.values()) / scale
            assert found.best_value == pytest.approx(best, nan_ok=True, **EXACT)
    assert arbitrary or symmetry == "full"  # the strategies have zeros


def test_at_the_root_the_numbers_are_those_of_the_evaluation():
    profile = profile_of(GAMES[1], "full")
    for player, best in ((0, profile.evaluation.best_response_0), (1, profile.evaluation.best_response_1)):
        sign = 1 - 2 * player
        if player == GAMES[1].first_player:
            found = numbers(profile, player, "|")
            assert found.value == pytest.approx(sign * profile.evaluation.value, **EXACT)
            assert found.best_value == pytest.approx(best, **EXACT)
            assert (found.own_reach, found.opponent_reach, found.arbitrary) == (1, 1, False)


@pytest.mark.parametrize("text", ["|0", "|0*0*", "|9*", "|0x", "|0*1*", "|0.1.2.", "|²*", "||"])
def test_a_text_that_is_no_infoset_is_refused(text):
    with pytest.raises(ImpossibleInfosetError, match="is not an infoset of player 0: "):
        numbers(profile_of(GAMES[1], "full"), 0, text)


def test_a_text_without_the_setup_is_refused():
    game = GAMES[3]
    with pytest.raises(ImpossibleInfosetError, match="begin with"):
        numbers(profile_of(game, "none"), 0, "|")
    player, text = infosets(game)[0]
    assert numbers(profile_of(game, "none"), player, text).infoset == text


@pytest.mark.slow_but_one
@pytest.mark.parametrize(("game", "symmetry"), CASES, ids=IDS)
def test_infosets_are_exactly_those_of_a_walk_over_histories(game, symmetry):
    index = profile_of(game, symmetry).index
    for player in (0, 1):
        start = naive.setup_text(game, player)
        steps = [f"{square}{mark}" for square in range(game.squares) for mark in "*."]
        texts = [start + "".join(part) for n in (0, 1, 2) for part in product(steps, repeat=n)]
        known = set(naive.infosets(game, player))
        for text in {*texts, *(f"{one}{step}" for one in sorted(known)[::7] for step in steps)}:
            assert (places._read(index, player, text) is not None) == (text in known), text


def test_a_text_may_be_typed_with_blanks():
    assert numbers(profile_of(GAMES[1], "full"), 0, " 0* 4.").infoset == "|0*4."
