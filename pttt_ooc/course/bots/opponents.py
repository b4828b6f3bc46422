"""Games of a team's members against their latest bot, in a process beside the worker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from pttt_ooc.course.bots.league import League
from pttt_ooc.course.bots.submissions import Bots
from pttt_ooc.other_games.extreme.bot_programs import BotProgram, program
from pttt_ooc.other_games.extreme.bot_version import version_of
from pttt_ooc.other_games.extreme.match import check_walls
from pttt_ooc.other_games.extreme.opponents import OWN, Choice, house_choices, house_program
from pttt_ooc.other_games.extreme.play.answerer import answers_about
from pttt_ooc.other_games.extreme.walls import ExtremeError
from pttt_ooc.site.service.answerer import AnswersByKind


class TeamOpponents:
    """A team's latest accepted bot, which no other team can play against, and the package's own bots.

    Parameters
    ----------
    bots
        The bots that have been handed in.
    """

    def __init__(self, league: League, bots: Bots) -> None:
        self._bots = bots
        self.conditions = league.settings.conditions

    def choices(self, owner: str) -> Sequence[Choice]:
        """The team's bot, if one is accepted, and the package's own bots."""
        bot = self._bots.playing_bot(_team(owner))
        own = [] if bot is None else [Choice(OWN, f"your team's bot {bot.id}, {bot.file}")]
        return [*own, *house_choices()]

    def program(self, owner: str, key: str) -> BotProgram:
        """One of them; see :meth:`~pttt_ooc.other_games.extreme.opponents.Opponents.program`."""
        if self.conditions.walls:
            check_walls()
        if key != OWN:
            return house_program(key, self.conditions)
        team = _team(owner)
        entered = self._bots.playing_bot(team)
        bot = None if entered is None else self._bots.find(entered.id, team, content=True)
        if bot is None:
            raise ExtremeError("Your team has no accepted bot yet; hand one in.")
        return program(bot.file, bot.content, self.conditions.walls, str(version_of(bot.python)))


def _team(owner: str) -> int:
    """The number of the team with this key; see :func:`~pttt_ooc.other_games.extreme.pages.part.key_of`."""
    return int(owner.removeprefix("t"))


@contextmanager
def answerer(data: str) -> Iterator[AnswersByKind]:
    """The answers about games in the league in a course's directory."""
    league = League(Path(data))
    with (
        closing(Bots(league)) as bots,
        answers_about(TeamOpponents(league, bots), league.settings.games, league.data) as answers,
    ):
        yield answers
