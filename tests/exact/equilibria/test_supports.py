"""What some equilibrium plays, and dimensions, against linear programs over all sequences of small games."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from pttt_ooc.exact.equilibria.supports import dimensions, rank_of, supports
from pttt_ooc.games.rules.catalogue import named_game
from tests.kits import naive
from tests.kits.equilibria import face_of
from tests.kits.fractions_rank import fraction_rank
from tests.kits.helpers import symmetric_table

pytest.importorskip("flint")
pytest.importorskip("scipy")
from scipy import sparse

from tests.kits.naive_face import NaiveFace

GAMES = [
    *("dark-hex-2x2-abrupt", "mini-2x2k2-abrupt", "mini-2x2k2-classical", "mini-2x3k2-classical"),
    *("mini-2x3k3-abrupt-after-1-4", "mini-2x3k3-classical-after-1-4", "mini-3x2k2-abrupt"),
]
TINY = 1e-7


def played(face):
    """The sequences that some equilibrium strategy plays: one linear program after the other."""
    found, left = set(), set(face.sequences[face.player][1:])
    while left:
        value, plan = face.extreme(dict.fromkeys(left, 1.0))
        if value < TINY:
            return found
        news = {sequence for sequence in left if plan[sequence] > TINY}
        found |= news
        left -= news
    return found


def met(game, both):
    """Those of both players' sequences whose infosets both players come to, while they play only `both`."""
    found = set(), set()

    def walk(history):
        if history.is_terminal():
            return
        for square in history.legal():
            sequence = history.nodes[history.player], square
            if sequence in both[history.player]:
                found[history.player].add(sequence)
                walk(history.attempt(square))

    walk(naive.History.start(game))
    return found


def orbits(game, sequences):
    """The classes of sequences that are mirror images of each other, each as the frozen set of its members."""
    return {frozenset((naive.image(game, text, g), g[square]) for g in game.symmetries) for text, square in sequences}


def hull_dimension(face, classes):
    """The dimension of what all equilibrium strategies do on some classes of sequences, from their extreme points."""
    classes, rng = [sorted(one) for one in classes], np.random.default_rng(7)

    def extreme(direction):
        objective = {sequence: weight for one, weight in zip(classes, direction, strict=True) for sequence in one}
        _, plan = face.extreme(objective)
        # The mean over the symmetries of the game is a symmetric plan.
        return np.array([sum(plan[sequence] for sequence in one) for one in classes])

    points, settled = [extreme(rng.normal(size=len(classes)))], np.zeros((0, len(classes)))
    while len(settled) < len(classes):
        direction = rng.normal(size=len(classes))
        direction -= settled.T @ (settled @ direction)
        direction /= np.linalg.norm(direction)
        high, low = extreme(direction), extreme(-direction)
        step = high - low
        if direction @ step > 1e-6:
            points += [high, low]
        else:
            step = direction
        step = step - settled.T @ (settled @ step)
        settled = np.vstack([settled, step / np.linalg.norm(step)])
    # The extreme points are rational: their differences span the directions of the hull.
    rows = [[Fraction(float(entry)).limit_denominator(5000) for entry in point] for point in points]
    assert np.abs(np.array(rows, float) - np.array(points)).max() < 1e-7
    return fraction_rank([[a - b for a, b in zip(row, rows[0], strict=True)] for row in rows[1:]])


@pytest.mark.slow_but_one
@pytest.mark.long_but("2x2", "abrupt-after-1-4")
@pytest.mark.parametrize("name", GAMES)
def test_supports_and_dimensions_are_those_of_all_sequences(name):
    game, face = named_game(name), face_of(name)
    found = supports(face)
    references = [NaiveFace(game, player) for player in (0, 1)]
    expected = met(game, [played(reference) for reference in references])
    for player, reference in enumerate(references):
        # The strategy in the interior plays exactly these sequences, and it is an equilibrium strategy.
        strategy = found.interior[player]
        rows = symmetric_table(strategy)
        worst = -naive.best_response_value(game, 1 - player, rows)
        assert worst == pytest.approx(reference.value, abs=1e-9)
        infosets = {text for text, _ in expected[player]}
        representatives = {min(naive.image(game, text, g) for g in game.symmetries) for text in infosets}
        assert {(t, s) for t in infosets for s in range(game.squares) if rows[t][s] > TINY} == expected[player]
        classes, plan = orbits(game, expected[player]), found.plans[player]
        assert int(plan.counts[1]) == len(classes)
        assert int(np.count_nonzero(plan.choices)) == len(representatives)
        assert dimensions(face, found.plans)[player] == hull_dimension(reference, classes)


# ---------------------------------------------------------------------------------------------
# The rank


def random_matrix(rng, rows, columns, density):
    return [[rng.randint(-4, 4) if rng.random() < density else 0 for _ in range(columns)] for _ in range(rows)]


def test_the_rank_is_that_of_elimination_in_fractions():
    rng, seen = Random(5), set()
    for _ in range(300):
        rows, columns = rng.randint(1, 9), rng.randint(1, 9)
        matrix = random_matrix(rng, rows, columns, rng.choice((0.1, 0.25, 0.5, 1.0)))
        for _ in range(rng.randint(0, 3)):  # rows that depend on others
            one, other = rng.choice(matrix), rng.choice(matrix)
            matrix.append([2 * a - 3 * b for a, b in zip(one, other, strict=True)])
        expected = fraction_rank(matrix)
        seen.add((expected, min(len(matrix), columns)))
        assert rank_of(sparse.csr_matrix(np.array(matrix, float))) == expected
    assert len(seen) > 20


def test_large_entries_empty_matrices_and_stored_zeros():
    assert rank_of(sparse.csr_matrix(np.array([[2.0**52, 1.0], [1.0, 1.0]]))) == 2
    assert rank_of(sparse.csr_matrix((3, 2))) == 0
    stored_zero = sparse.csr_matrix(([0.0, 1.0], ([0, 1], [0, 1])), shape=(2, 2))
    assert rank_of(stored_zero) == 1


def test_a_fraction_is_refused():
    with pytest.raises(ValueError, match="whole numbers"):
        rank_of(sparse.csr_matrix(np.array([[0.5, 1.0]])))
