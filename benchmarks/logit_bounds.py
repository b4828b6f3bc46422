"""What a bound of logits costs: ``python -m benchmarks.logit_bounds GAME``.

R-NaD's update (NeuRD) stops moving a logit away once it is a bound or more from the mean of its infoset.  This takes
strategies of regret matching that are nearly an equilibrium, cuts their logits at each bound, and prints the mean
exploitability of the result, which is exact.  A learner under the bound may do somewhat better, with other strategies.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import pttt_ooc as pttt
from pttt_ooc.learners.deep.observation import Sight
from pttt_ooc.learners.learning_game import LearningGame, open_learning_game

BOUNDS = (2.0, 4.0, 6.0, 8.0, 20.0)
SMALLEST = 1e-9  # a probability of zero has no logit


def cut(rows: NDArray[np.floating], legal: NDArray[np.bool_], bound: float) -> NDArray[np.floating]:
    """Rows of probabilities, shape (infosets, squares), whose logits are at most `bound` from their mean."""
    logits = np.where(legal, np.log(np.maximum(rows, SMALLEST)), 0.0)
    means = logits.sum(axis=1, keepdims=True) / legal.sum(axis=1, keepdims=True)
    weights = np.exp(np.clip(logits - means, -bound, bound)) * legal
    return weights / weights.sum(axis=1, keepdims=True)


def exploitability(game: LearningGame, pair: Sequence[NDArray[np.floating]], bound: float) -> float:
    """Half of NashConv after :func:`cut`; a pair of probabilities in the index's order of sequences."""
    sight = Sight(game.index)

    def policies(player: int) -> Callable[[NDArray[np.int64]], NDArray[np.floating]]:
        return lambda infosets: cut(sight.rows(player, pair[player], infosets), sight.codes[infosets] == 0, bound)

    found = [game.strategy(p, sight.probabilities(p, policies(p))) for p in (0, 1)]
    return game.evaluator(*found).nashconv / 2


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game")
    parser.add_argument("--iterations", type=int, default=60, help="of discounted regret matching")
    parser.add_argument("--data", type=Path, default=Path("data"))
    options = parser.parse_args(arguments)
    pttt.configure(data=options.data)
    with open_learning_game(options.data, options.game, "full", "float32", 1) as game:
        session = pttt.iterate(pttt.game(options.game), "dcfr", evaluate_every=10**9)
        while session.iteration < options.iterations:
            next(session)
        pair = [np.array(strategy.probabilities) for strategy in session.average]
        print(f"without a bound  {game.evaluator(*(game.strategy(p, pair[p]) for p in (0, 1))).nashconv / 2:.3g}")
        for bound in BOUNDS:
            print(f"bound {bound:<10g} {exploitability(game, pair, bound):.3g}", flush=True)


if __name__ == "__main__":
    main()
