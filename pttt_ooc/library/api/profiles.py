"""Profiles: questions about a pair of strategies."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pttt_ooc.disk.numbers import gap
from pttt_ooc.games.rules.play import History
from pttt_ooc.games.structure import strategy as structure
from pttt_ooc.library.api.strategies import Strategy
from pttt_ooc.library.api.structures import checked_player, data_directory, engine_of, is_big
from pttt_ooc.library.api.values import check_one_game, checked_strategy
from pttt_ooc.library.questions import profile as core
from pttt_ooc.library.questions.answers import Beliefs, Numbers, Outcome
from pttt_ooc.library.questions.infoset import beliefs as find_beliefs
from pttt_ooc.library.questions.infoset import earlier, following, numbers
from pttt_ooc.library.questions.sampled_games import sample_game
from pttt_ooc.pipeline.show.tables import html_table


class Profile(core.PreparedProfile):
    """A pair of strategies, prepared for questions.

    Infosets are named by their texts, as in :class:`Strategy`.  Values are from the point of view of the player whose
    infoset it is.

    Attributes
    ----------
    evaluation
        Value and best responses; see :func:`evaluate`.
    directory
        The profile's directory; None if it is in memory.

    Examples
    --------
    >>> import pttt_ooc as pttt
    >>> game = pttt.game("mini-2x3k2-abrupt")
    >>> profile = pttt.profile(pttt.Strategy.uniform(game, 0), pttt.Strategy.uniform(game, 1))
    >>> profile
    Profile of mini-2x3k2-abrupt: value 0.550123, NashConv 0.67
    >>> found = profile.at(0, "|0*2.")
    >>> round(found.value, 4), round(found.best_value, 4), found.fails.round(2).tolist()
    (0.5069, 1.0, [nan, 0.0, nan, 0.5, 0.0, 0.0])
    """

    def __repr__(self) -> str:
        evaluation = self.evaluation
        where = f", in {self.directory}" if self.directory else ""
        return f"Profile of {self.game.name}: value {evaluation.value:.6f}, NashConv {gap(evaluation.nashconv)}{where}"

    def _repr_html_(self) -> str:
        evaluation = self.evaluation
        rows = [
            ("value for player 0", f"{evaluation.value:.6f}"),
            ("best response of player 0", f"{evaluation.best_response_0:.6f}"),
            ("best response of player 1", f"{evaluation.best_response_1:.6f}"),
            ("NashConv", gap(evaluation.nashconv)),
            ("directory", self.directory or "in memory"),
        ]
        return html_table(f"Profile of {self.game.name}", rows)

    def at(self, player: int, infoset: str) -> Numbers:
        """The strategy's probabilities at an infoset, and the value of each attempt.

        Raises
        ------
        ImpossibleInfosetError
            If it is not an infoset of the player; the message says why.
        """
        return numbers(self, checked_player(player), infoset)

    def beliefs(self, player: int, infoset: str, boards: int = 10, orders: int = 0) -> Beliefs:
        """What the player believes about the board at an infoset, given the opponent's strategy.

        Parameters
        ----------
        boards
            Number of boards to list, the likeliest first.
        orders
            Number of the opponent's infosets to list for each board.
        """
        player = checked_player(player)
        return find_beliefs(self.index, self.strategies[1 - player], player, infoset, boards, orders)

    def following(self, player: int, infoset: str, square: int | None = None) -> tuple[Outcome, ...]:
        """The outcomes of an attempt at an infoset, failed and placed; default: of all attempts."""
        return following(self, checked_player(player), infoset, square)

    def earlier(self, player: int, infoset: str) -> tuple[str, ...]:
        """The player's own infosets on the way to an infoset, from the first to the infoset itself."""
        return earlier(self.index, checked_player(player), infoset)

    def best_response(self, player: int) -> Strategy:
        """The player's best response to the opponent's strategy."""
        return Strategy.of(core.best_response_of(self, checked_player(player)))

    def play(self, rng: np.random.Generator | int | None = None) -> History:
        """A random game between the two strategies.

        Parameters
        ----------
        rng
            A random generator, or the seed of a new one.
        """
        return sample_game(self.strategies, np.random.default_rng(rng))


def profile(
    strategy0: structure.Strategy, strategy1: structure.Strategy, directory: str | Path | None = None
) -> Profile:
    """Prepare a pair of strategies for questions, or open the profile if it exists.

    Parameters
    ----------
    strategy0, strategy1
        Of player 0 and of player 1.
    directory
        For all profiles; each has its own directory, named by a digest.  Default: small games in memory, big ones in
        ``data/profiles``.

    Raises
    ------
    StrategyError
        If the strategies are not those of players 0 and 1 in one game.

    Examples
    --------
    >>> import pttt_ooc as pttt
    >>> solution = pttt.solve(pttt.game("mini-2x3k2-abrupt"), target_nashconv=1e-4)
    >>> profile = pttt.profile(solution[0], solution[1])
    >>> round(profile.at(0, "|").value, 3)
    0.765
    >>> [one.infoset for one in profile.following(0, "|1*", square=4)]
    ['|1*4.', '|1*4*']
    >>> profile.best_response(1)
    Strategy of player 1 in mini-2x3k2-abrupt: 107 infosets, kept up to symmetry
    """
    first, second = checked_strategy(strategy0), checked_strategy(strategy1)
    check_one_game([first, second])
    game = first.index.game
    if directory is None and is_big(game):
        directory = data_directory() / "profiles"
    engine = engine_of(game, core.symmetry_of(first, second))
    place = None if directory is None else Path(directory)
    return Profile.prepare(first, second, engine, place)
