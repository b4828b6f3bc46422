"""A practice league on disk: the latest bots of all teams and the package's own play each other without end.

Nothing of it counts for marks.  :mod:`.practice_record` describes the directory.  All facts about a match are in its
log alone, so that a match that was cut off leaves nothing behind, and another one is played in its place.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np

from pttt_ooc.disk.files import make_directory
from pttt_ooc.other_games.arena.matches.statistics import ratings
from pttt_ooc.other_games.extreme.bot_process import Conditions
from pttt_ooc.other_games.extreme.bot_programs import BotProgram, program
from pttt_ooc.other_games.extreme.broken_off import UnableError, play_if_able
from pttt_ooc.other_games.extreme.clock import StoppedError
from pttt_ooc.other_games.extreme.league import Pairing
from pttt_ooc.other_games.extreme.opponents import HOUSE_BOTS
from pttt_ooc.other_games.extreme.practice_record import (
    STAGE,
    PracticeBot,
    PracticeMatch,
    PracticeRecord,
    logged_matches,
    tried_name,
)
from pttt_ooc.other_games.extreme.tournament import play_logged
from pttt_ooc.other_games.extreme.tournament_record import Team


@dataclass(frozen=True)
class PracticeSettings:
    """The settings of a practice league.

    Attributes
    ----------
    conditions
        How bots are run; the core is chosen for each match.
    kept
        Maximum number of matches on disk; the oldest others are deleted.
    """

    conditions: Conditions
    kept: int


class _OutdatedError(StoppedError):
    """There is a newer version of a bot."""


class Practice:
    """A practice league in a directory, played by this process alone; its threads may share it.

    Parameters
    ----------
    directory
        Made if it is missing.
    settings
        May differ from those of before: only matches with the present time limit count for the ratings.

    Attributes
    ----------
    record
        The league as it is on disk.

    Raises
    ------
    PtttError
        If the directory is damaged or cannot be used, or the package's own bots cannot be read; so do the methods.
    """

    def __init__(self, directory: Path, settings: PracticeSettings) -> None:
        for folder in ("matches", "curves"):
            make_directory(directory / folder)
        self._settings, self._lock = settings, threading.Lock()
        self._under_way: list[Pairing] = []
        self._programs: dict[tuple[str, str], BotProgram] = {}  # by name and digest of the file
        limit, walls = settings.conditions.time_limit, settings.conditions.walls
        self._ours = []
        for house in HOUSE_BOTS:
            made = house.program(limit, walls)
            self._ours.append(PracticeBot(house.key, house.name, made.name, house.digest(made), ours=True))
            self._programs[made.name, self._ours[-1].digest] = made
        known, there = PracticeRecord.read(directory), logged_matches(directory)
        self._next = max([known.next_number if known else 1, *(pairing.pool + 2 for pairing in there)])
        # With another time limit, all bots begin anew: forfeits by time no longer count.
        there_before = [*known.teams.values()] if known and known.time_limit == limit else []
        self.record = PracticeRecord(directory, limit, self._next, there_before)
        self._update(self._theirs())
        self._sweep({pairing.name for pairing in there})

    def play_next(
        self,
        teams: Sequence[Team],
        content: Callable[[Team], bytes | None],
        cores: Sequence[int],
        stopping: threading.Event,
    ) -> bool:
        """Play the match that is due; returns whether there was one between latest bots.

        Parameters
        ----------
        teams
            The teams with their latest bots.
        content
            Returns the file of a team's bot; None if there is a newer one already.
        cores
            The match is played on one of these.
        stopping
            Once it is set, the match is broken off and leaves nothing behind.
        """
        # Under the lock: take the latest bots, and reserve the pairing and its number.
        with self._lock:
            self._enter(teams)
            pairing = self._due()
            if pairing is None:
                return False
            self._next += 1
            self._under_way.append(pairing)
            bots = (self.record.teams[pairing.first], self.record.teams[pairing.second])
        # The match itself runs without the lock, beside those of other threads.  A newer bot, or a stop, leaves no
        # trace.
        try:
            with self.record.tries.trying(tried_name(bots), (StoppedError, UnableError)):
                play_if_able(
                    lambda: self._play(pairing, bots, content, cores, stopping), self._settings.conditions, stopping
                )
        except _OutdatedError:
            return False
        except StoppedError:
            return True
        finally:
            with self._lock:
                self._under_way.remove(pairing)
        # Again under the lock: make room on disk, and bring the ratings up to date.
        with self._lock:
            self._forget()
            self._update(self._theirs())
        return True

    def _play(
        self,
        pairing: Pairing,
        bots: tuple[PracticeBot, PracticeBot],
        content: Callable[[Team], bytes | None],
        cores: Sequence[int],
        stopping: threading.Event,
    ) -> None:
        programs = [made for bot in bots if (made := self._program(bot, content)) is not None]
        if len(programs) < 2:
            raise _OutdatedError
        conditions, digests = self._settings.conditions, [bot.digest for bot in bots]

        def facts() -> dict[str, object]:
            return {"digests": digests, "time_limit": conditions.time_limit, "ended_at": time.time()}

        pair = (programs[0], programs[1])
        if play_logged(self.record, pairing, pair, conditions, cores, stopping, facts) is None:
            raise StoppedError

    # -----------------------------------------------------------------------------------------
    # Bots

    def _enter(self, teams: Sequence[Team]) -> None:
        """Take the teams' latest bots, if they have changed."""
        if {*teams} == {Team(bot.key, bot.name, bot.file, bot.digest, bot.python) for bot in self._theirs()}:
            return
        known = self.record.teams
        bots = []
        for team in teams:
            before = known.get(team.key)
            paused = before.paused if before is not None and before.digest == team.digest else ""
            bots.append(PracticeBot(**vars(team), paused=paused))
        self._update(bots)
        self._forget()
        latest = {(bot.file, bot.digest) for bot in self.record.teams.values()}
        self._programs = {version: one for version, one in self._programs.items() if version in latest}

    def _theirs(self) -> list[PracticeBot]:
        return [bot for bot in self.record.teams.values() if not bot.ours]

    def _program(self, bot: PracticeBot, content: Callable[[Team], bytes | None]) -> BotProgram | None:
        known = self._programs.get((bot.file, bot.digest))
        if known is not None:
            return known
        found = content(bot)
        if found is None:
            return None
        made = program(bot.file, found, self._settings.conditions.walls, str(bot.python))
        with self._lock:
            self._programs[bot.file, bot.digest] = made
        return made

    # -----------------------------------------------------------------------------------------
    # The match that is due

    def _due(self) -> Pairing | None:
        """The next match: of two bots that have met least since both have had their latest versions.

        Bots that are not playing just now come first.  Among pairs that have met as often as each other, the one with
        the bot that has played least comes first: that is how a new bot begins to play soon.  Two of the package's own
        bots meet a quarter as often, so that their ratings can be told apart; and not at all without a team's bot.
        Pairs whose matches the machine has broken off meet later, and after the last try not at all.
        """
        # How often each two have met, matches under way included, by who began; and who plays just now.
        tried = {name: len(found.reasons) for name, found in self.record.tries.all().items()}
        begun: Counter[tuple[str, str]] = Counter(
            (match.pairing.first, match.pairing.second)
            for match in self.record.practice_matches()
            if self.record.is_current(match)
        )
        begun.update((pairing.first, pairing.second) for pairing in self._under_way)
        busy = {key for pairing in self._under_way for key in (pairing.first, pairing.second)}
        played: Counter[str] = Counter()
        for pair, count in begun.items():
            for key in pair:
                played[key] += count

        def failed_tries(pair: tuple[str, str]) -> int:
            return tried.get(tried_name([bots[key] for key in pair]), 0)

        # The order of pairs: first those that are free, then those that have met least, a failed try counting as a
        # meeting.
        def rank(pair: tuple[str, str]) -> tuple[bool, int, int, int]:
            met = begun[pair] + begun[pair[::-1]] + failed_tries(pair)
            if all(bots[key].ours for key in pair):
                met = 4 * met + 1
            counts = [played[key] for key in pair]
            return bool(busy & {*pair}), met, min(counts), sum(counts)

        # Pairs that may meet: neither bot is paused, tries are left, and they do not play each other just now.
        bots = self.record.teams
        able = [bot for bot in bots.values() if not bot.paused]
        if all(bot.ours for bot in able):
            return None
        meeting = [{pairing.first, pairing.second} for pairing in self._under_way]
        pairs = [
            pair
            for pair in combinations([bot.key for bot in able], 2)
            if failed_tries(pair) < self.record.tries.most and {*pair} not in meeting
        ]
        # In the best pair, the bot that has begun less often begins.
        for first, second in sorted(pairs, key=rank)[:1]:
            begins = (first, second) if begun[first, second] <= begun[second, first] else (second, first)
            return Pairing(STAGE, self._next - 1, *begins)
        return None

    # -----------------------------------------------------------------------------------------
    # Results

    def _update(self, theirs: Iterable[PracticeBot]) -> None:
        """Write down the teams' bots and our own, with the results of the matches that are there."""
        entered = self._league([*theirs, *self._ours])
        current = [match for match in entered.practice_matches() if entered.is_current(match)]
        before, now = self.record.teams, time.time()
        found = results(entered.teams.values(), current)
        self.record = self._league(bot.after(before.get(bot.key), now) for bot in found)
        self.record.write()

    def _league(self, bots: Iterable[PracticeBot]) -> PracticeRecord:
        limit = self._settings.conditions.time_limit
        return PracticeRecord(self.record.directory, limit, self._next, bots, self.record)

    # -----------------------------------------------------------------------------------------
    # Disk

    def _forget(self) -> None:
        """Delete the matches of teams that have left, and the oldest of the others, if there are too many."""
        there = logged_matches(self.record.directory)
        known = [pairing for pairing in there if self.record.teams.keys() >= {pairing.first, pairing.second}]
        for pairing in {*there} - {*known[-self._settings.kept :]}:
            self.record.log(pairing).unlink(missing_ok=True)
            self.record.curve(pairing).unlink(missing_ok=True)
        latest = [*self.record.teams.values()]
        self.record.tries.keep({tried_name(pair) for pair in combinations(latest, 2)})

    def _sweep(self, names: set[str]) -> None:
        """Delete what a kill has left: files that were not complete, and curves of matches that are gone."""
        for folder in ("matches", "curves"):
            for file in (self.record.directory / folder).iterdir():
                name = file.name.removesuffix(".tmp" if folder == "curves" else "")  # the analyst may be at work
                if name.removesuffix(".json") not in names:
                    file.unlink(missing_ok=True)


# ---------------------------------------------------------------------------------------------
# Ratings, and which bots forfeit too often

FORFEITS = 3
"""After so many forfeits, in half of its matches or more, a bot is not played until there is a new version."""


def results(bots: Iterable[PracticeBot], matches: Sequence[PracticeMatch]) -> list[PracticeBot]:
    """The bots with their results, the strongest first; the ones without a rating come last.

    Ratings are those of :func:`pttt_ooc.other_games.arena.matches.statistics.ratings`.  Bots that matches do not
    connect with most of the others have no rating.

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
