"""What is known at each infoset of a small game, by a plain walk over all histories.

Like `kits/naive.py`, this shares with the package only the rules as data.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from pttt_ooc.games.rules.game import Game
from tests.kits import naive


@dataclass
class Infoset:
    """What is known at one infoset; counterfactual values are sums over histories, weighted with the opponent's reach.

    Attributes
    ----------
    own_reach, opponent_reach
        Of the player and, summed over histories, of the opponent.
    histories
        Each history with the opponent's reach, which may be 0.
    values, best_values
        Counterfactual value of each attempt, if the player goes on with the strategy or with the best response.
    """

    own_reach: float
    opponent_reach: float = 0.0
    histories: list[tuple[naive.History, float]] = field(default_factory=list)
    values: dict[int, float] = field(default_factory=dict)
    best_values: dict[int, float] = field(default_factory=dict)


def answers(game: Game, player: int, strategies: tuple[naive.Strategy, naive.Strategy]) -> dict[str, Infoset]:
    """What is known at all infosets of `player`."""
    own, opponent = strategies[player], strategies[1 - player]
    found: dict[str, Infoset] = {}

    def walk(history: naive.History, reach: float) -> None:
        text = history.nodes[history.player]
        if history.player == player and not history.is_terminal():
            if text not in found:
                found[text] = Infoset(naive.reach(game, player, text, own))
            found[text].opponent_reach += reach
            found[text].histories.append((history, reach))
        for square in history.legal():
            walk(history.attempt(square), reach * (1.0 if history.player == player else opponent[text][square]))

    walk(naive.History.start(game), 1.0)

    def payoff(history: naive.History, mine, known: dict) -> float:
        """Expected payoff of `player`, who follows the rows `mine`."""
        if history.is_terminal():
            return history.returns()[player]
        if history.nodes not in known:
            row = (mine if history.player == player else opponent)[history.nodes[history.player]]
            known[history.nodes] = sum(
                row[square] * payoff(history.attempt(square), mine, known) for square in history.legal() if row[square]
            )
        return known[history.nodes]

    choices: dict[str, list[float]] = {}
    under_strategy: dict = {}
    under_choices: dict = {}
    for text in sorted(found, key=len, reverse=True):  # what the best response does later is known first
        here = found[text]
        for square in naive.legal_squares(game, text):
            after = [(history.attempt(square), reach) for history, reach in here.histories]
            here.values[square] = sum(reach * payoff(each, own, under_strategy) for each, reach in after)
            here.best_values[square] = sum(reach * payoff(each, choices, under_choices) for each, reach in after)
        best = max(here.best_values, key=lambda square: here.best_values[square])
        choices[text] = [float(square == best) for square in range(game.squares)]
    return found


def outcomes(
    game: Game, player: int, here: Infoset, opponent: naive.Strategy, square: int
) -> dict[tuple[bool, str], dict[str, float]]:
    """What an attempt leads to, by its outcome and the player's text after it.

    Returns
    -------
    Counterfactual reach of what happens up to the player's next turn: it ``returns``, or the game ends, and the player
    ``wins``, ``draws`` or ``loses``.  Outcomes that the rules allow are there even if they have no reach.
    """
    found: dict[tuple[bool, str], dict[str, float]] = {}
    for history, reach in here.histories:
        after = history.attempt(square)
        text = after.nodes[player]
        ends = found.setdefault((text.endswith("*"), text), defaultdict(float))
        pending = [(after, reach)]
        while pending:
            each, weight = pending.pop()
            if each.is_terminal():
                ends["draws" if each.winner is None else "wins" if each.winner == player else "loses"] += weight
            elif each.player == player:
                ends["returns"] += weight
            else:
                row = opponent[each.nodes[1 - player]]
                pending += [(each.attempt(s), weight * row[s]) for s in each.legal()]
    return found
