"""The results of a practice league: ratings with intervals, and which bots forfeit too often."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from pttt_ooc.other_games.arena.matches.statistics import ratings
from pttt_ooc.other_games.extreme.practice_record import PracticeBot, PracticeMatch

FORFEITS = 3
"""After so many forfeits, in half of its matches or more, a bot is not played until there is a new version."""


def results(bots: Iterable[PracticeBot], matches: Sequence[PracticeMatch]) -> list[PracticeBot]:
    """The bots with their results, the strongest first; the ones without a rating come last.

    Ratings are those of :func:`pttt_ooc.other_games.arena.matches.statistics.ratings`.  Bots that matches do not
    connect with most of the others have none.

    Parameters
    ----------
    matches
        The matches that count, the oldest first.
    """
    counted = [_count_results(bot, matches) for bot in bots]
    rated = _largest_group([bot.key for bot in counted], matches)
    if len(rated) > 1:
        place = {key: number for number, key in enumerate(rated)}
        scores = np.zeros((len(rated), len(rated)))
        for match in matches:
            one, other = match.pairing.first, match.pairing.second
            if one in place and other in place:
                share = _share(match.score.points)
                scores[place[one], place[other]] += share
                scores[place[other], place[one]] += 1 - share
        found = ratings(scores)
        counted = [
            replace(bot, points=round(float(found.points[at]), 1), error=round(float(found.errors[at]), 1))
            if (at := place.get(bot.key)) is not None
            else bot
            for bot in counted
        ]
    return sorted(counted, key=lambda bot: (bot.points is None, -(bot.points or 0.0)))


def _share(points: tuple[int, int]) -> float:
    """The first bot's share of a match: 1, 1/2 or 0."""
    return (1 + (points[0] > points[1]) - (points[0] < points[1])) / 2


def _count_results(bot: PracticeBot, matches: Sequence[PracticeMatch]) -> PracticeBot:
    own = [match for match in matches if bot.key in (match.pairing.first, match.pairing.second)]
    shares = [abs((match.pairing.second == bot.key) - _share(match.score.points)) for match in own]
    forfeits = [match.message for match in own if match.forfeited_by == bot.key]
    paused = bot.paused
    if not bot.ours and len(forfeits) >= FORFEITS and 2 * len(forfeits) >= len(own):
        paused = forfeits[-1]
    return replace(
        bot,
        paused=paused,
        points=None,
        error=None,
        won=shares.count(1),
        drawn=shares.count(0.5),
        lost=shares.count(0),
        forfeits=len(forfeits),
    )


def _largest_group(keys: Sequence[str], matches: Sequence[PracticeMatch]) -> list[str]:
    """The largest set of bots that are connected by matches."""
    group: dict[str, set[str]] = {key: {key} for key in keys}
    for match in matches:
        one, other = group[match.pairing.first], group[match.pairing.second]
        if one is not other:
            one |= other
            for key in other:
                group[key] = one
    return max((sorted(one) for one in group.values()), key=lambda one: (len(one), one), default=[])
