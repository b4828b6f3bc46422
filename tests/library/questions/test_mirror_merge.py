"""Merged mirror images, compared with a walk over the histories of all of them."""

import math
from collections import defaultdict

import numpy as np
import pytest

from pttt_ooc.errors import ImpossibleInfosetError
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.library.questions import mirror_merge
from pttt_ooc.library.questions.answers import Beliefs, Board
from pttt_ooc.library.questions.infoset import numbers
from pttt_ooc.library.questions.mirror_merge import merge_infoset
from tests.kits import naive_questions
from tests.kits.questioned import CASES, IDS, profile_of, tables_of

EXACT = {"abs": 1e-12, "rel": 0, "nan_ok": True}
MIRRORED = [
    (case, name)
    for case, name in zip(CASES, IDS, strict=True)
    if len(case[0].symmetries) > 1 and "pttt" not in name and "classical-after" not in name
]


def mirrored(text, g):
    return "|" + "".join(f"{g[int(text[n])]}{text[n + 1]}" for n in range(1, len(text), 2))


def shares(weights):
    return [w / sum(weights) for w in weights]


class Walked:
    """Numbers of an infoset and its images, from the histories of each."""

    def __init__(self, game, player, text, tables, known):
        self.game, self.player, self.opponent = game, player, tables[1 - player]
        self.group = game.symmetries
        self.texts = [mirrored(text, g) for g in self.group]
        self.here = [known[one] for one in self.texts]
        self.rows = [tables[player][one] for one in self.texts]
        kinds = ([h.own_reach * h.opponent_reach for h in self.here], [h.opponent_reach for h in self.here])
        self.weights = shares(next((w for w in kinds if sum(w) > 0), [1.0] * len(self.group)))

    def mean(self, of_image):
        """The weighted mean of a function of each image's number; NaN only if all weights are zero."""
        told = [(w, of_image(n)) for n, w in enumerate(self.weights) if w > 0]
        return sum(w * value for w, value in told)

    def given(self, n, value):
        return value / self.here[n].opponent_reach if self.here[n].opponent_reach else math.nan

    def distinct(self, of_infoset):
        return sum(of_infoset(n) for n in {text: n for n, text in enumerate(self.texts)}.values())

    def board(self, history, n):
        """The masks of both players' marks, seen from the infoset."""
        back = {target: square for square, target in enumerate(self.group[n])}
        return tuple(
            sum(1 << back[s] for s in range(self.game.squares) if history.placed[p] >> s & 1)
            for p in (self.player, 1 - self.player)
        )


@pytest.mark.long_but("2x2", "2x3k2")
@pytest.mark.slow_but_one
@pytest.mark.parametrize(("game", "symmetry"), [case for case, _ in MIRRORED], ids=[name for _, name in MIRRORED])
def test_mirror_images_are_merged(game, symmetry):
    profile, tables = profile_of(game, symmetry), tables_of(game, symmetry)
    for player in (0, 1):
        known = naive_questions.answers(game, player, tables)
        for text, here in known.items():
            walked = Walked(game, player, text, tables, known)
            found = merge_infoset(profile, player, text, boards=1000)
            assert found.images == tuple(sorted(set(walked.texts)))
            check_numbers(found.numbers, walked, here, text)
            check_beliefs(found.beliefs, walked)


def check_numbers(found, walked, here, text):
    own = walked.distinct(lambda n: walked.here[n].own_reach)
    joint = walked.distinct(lambda n: walked.here[n].own_reach * walked.here[n].opponent_reach)
    assert (found.infoset, found.legal) == (text, tuple(here.values))
    assert found.own_reach == pytest.approx(own, **EXACT) and found.joint_reach == pytest.approx(joint, **EXACT)
    value = [sum(row[s] * h.values[s] for s in h.values) for row, h in zip(walked.rows, walked.here, strict=True)]
    for s in here.values:
        seen = [g[s] for g in walked.group]
        expected = {
            "probabilities": walked.mean(lambda n, seen=seen: walked.rows[n][seen[n]]),
            "action_values": walked.mean(lambda n, seen=seen: walked.given(n, walked.here[n].values[seen[n]])),
            "best_action_values": walked.mean(
                lambda n, seen=seen: walked.given(n, walked.here[n].best_values[seen[n]])
            ),
            "fails": walked.mean(
                lambda n, seen=seen: walked.given(
                    n, sum(w for h, w in walked.here[n].histories if h.placed[1 - walked.player] >> seen[n] & 1)
                )
            ),
            # of each attempt that mirrors it, at each image; an attempt that mirrors itself counts once
            "regrets": sum(walked.here[n].values[seen[n]] - value[n] for n in range(len(seen)))
            * len(set(walked.texts))
            / len(seen),
        }
        for name, number in expected.items():
            assert getattr(found, name)[s] == pytest.approx(number, **EXACT), (text, s, name)
    assert found.value == pytest.approx(walked.mean(lambda n: walked.given(n, value[n])), **EXACT)
    assert found.arbitrary == all(not h.own_reach or not h.opponent_reach for h in walked.here)


def check_beliefs(found, walked):
    boards = defaultdict(float)
    for n, weight in enumerate(walked.weights):
        histories = walked.here[n].histories
        reached = sum(w for _, w in histories)
        for history, w in histories if weight > 0 else ():
            boards[walked.board(history, n)] += weight * (w / reached if reached else 1 / len(histories))
    boards = {board: p for board, p in boards.items() if p > 0}
    assert {(one.mine, one.theirs): one.probability for one in found.boards} == pytest.approx(boards, abs=1e-12)
    for s in range(walked.game.squares):
        assert found.marks[s] == pytest.approx(sum(p for (_, m), p in boards.items() if m >> s & 1), abs=1e-12)
    assert found.marks + found.empty == pytest.approx(
        [sum(p for (m, _), p in boards.items() if not m >> s & 1) for s in range(walked.game.squares)], abs=1e-12
    )
    assert sum(found.opponent_attempts.values()) == pytest.approx(1)
    assert found.arbitrary == all(not h.opponent_reach for h in walked.here)


@pytest.mark.slow
@pytest.mark.parametrize("symmetry", ["none", "full"])
def test_outcomes_are_merged(symmetry):
    game = named_game("mini-2x3k2-abrupt")
    profile, tables = profile_of(game, symmetry), tables_of(game, symmetry)
    for player in (0, 1):
        known = naive_questions.answers(game, player, tables)
        for text, here in list(known.items())[::3]:
            walked = Walked(game, player, text, tables, known)
            for s in here.values:
                ends = [
                    {
                        placed: told
                        for (placed, _), told in naive_questions.outcomes(
                            game, player, h, walked.opponent, g[s]
                        ).items()
                    }
                    for g, h in zip(walked.group, walked.here, strict=True)
                ]
                found = merge_infoset(profile, player, text, s)
                first = next(one[0] for one in found.classes if s in one)
                for one in found.outcomes:

                    def happens(n, name, placed=one.placed, ends=ends, walked=walked):
                        told = ends[n].get(placed, {})
                        return walked.given(n, sum(told.values()) if name is None else told.get(name, 0.0))

                    p = walked.mean(lambda n: happens(n, None))
                    assert one.probability == pytest.approx(p, **EXACT)
                    for name in ("returns", "wins", "draws", "loses"):
                        share = walked.mean(lambda n, name=name: happens(n, name)) / p if p > 0 else math.nan
                        assert getattr(one, name) == pytest.approx(share, abs=1e-11, rel=0, nan_ok=True)
                    assert one.infoset == f"{text}{first}{'*' if one.placed else '.'}"


def test_a_symmetric_strategy_does_the_same_at_all_images():
    game = named_game("mini-2x3k2-abrupt")
    profile = profile_of(game, "full")
    together, alone = merge_infoset(profile, 0, "|0*").numbers, numbers(profile, 0, "|0*")
    assert together.probabilities == pytest.approx(alone.probabilities, **EXACT)
    assert together.own_reach == pytest.approx(4 * alone.own_reach, **EXACT)
    assert together.joint_reach == pytest.approx(4 * alone.joint_reach, **EXACT)


def test_squares_that_mirror_each_other_make_a_class():
    profile = profile_of(named_game("mini-2x3k2-abrupt"), "none")
    assert merge_infoset(profile, 0, "|").classes == ((0, 2, 3, 5), (1, 4))
    assert merge_infoset(profile, 0, "|1*").classes == ((0, 2), (3, 5), (4,))
    assert merge_infoset(profile, 0, "|0*").classes == ((1,), (2,), (3,), (4,), (5,))


def test_equally_likely_boards_are_sorted_by_their_squares():
    """The order of the search must not decide which boards are left out."""
    likely = [Board(1, 8, 0.25), Board(1, 2, 0.25), Board(2, 1, 0.25), Board(1, 4, 0.125), Board(0, 8, 0.125)]
    for given in (likely, likely[::-1]):
        one = Beliefs(0, "|", 1.0, np.zeros(6), np.ones(6), tuple(given), {1: 1.0})
        listed = [
            [
                (board.mine, board.theirs)
                for board in mirror_merge._beliefs(one, [one], [range(6)], np.ones(1), count).boards
            ]
            for count in (2, 4, 9)
        ]
        assert listed == [[(1, 2), (1, 8)], [(1, 2), (1, 8), (2, 1), (0, 8)], [(1, 2), (1, 8), (2, 1), (0, 8), (1, 4)]]


def test_invalid_infosets_are_refused():
    with pytest.raises(ImpossibleInfosetError):
        merge_infoset(profile_of(named_game("mini-2x3k2-abrupt"), "none"), 0, "|0*0*")
