"""Fictitious play in fifteen lines: each player in turn answers the other's average strategy, and mixes the answer in.

`python examples/fictitious_play.py [GAME [ROUNDS]]`; in place of GAME, the directory of a solution brings its index.
"""

import sys
from pathlib import Path

import pttt_ooc as pttt


def fictitious_play(game, rounds):
    """Both players' average strategies after some rounds."""
    average = [pttt.Strategy.uniform(game, player) for player in (0, 1)]
    for t in range(1, rounds + 1):
        for player in (0, 1):
            reply = pttt.best_response(average[1 - player])
            average[player] = pttt.mix([average[player], reply], [t, 1])
    return average


if __name__ == "__main__":
    name, rounds = (*sys.argv[1:], *["mini-2x3k2-abrupt", "100"][len(sys.argv) - 1 :])
    game = pttt.load(name).game if Path(name).is_dir() else pttt.game(name)
    found = pttt.evaluate(*fictitious_play(game, int(rounds)))
    print(f"{game}\nafter {rounds} rounds: NashConv {found.nashconv:.4f}, value {found.value:.4f}")
