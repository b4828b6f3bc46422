"""The tournament as a part of the web application: standings, matches, teams."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query, Request, Response
from fastapi import Path as PathParameter
from fastapi.responses import HTMLResponse, RedirectResponse

from pttt_ooc.other_games.extreme import analysis, boards
from pttt_ooc.other_games.extreme.match_logs import PlayedMatch
from pttt_ooc.other_games.extreme.pages.tournament_reader import (
    MatchesSnapshot,
    PracticeReader,
    PracticeSnapshot,
    TournamentReader,
    TournamentSnapshot,
    appearances,
    chances_of,
    match_of,
    steps_of,
)
from pttt_ooc.other_games.extreme.practice_record import STAGE
from pttt_ooc.other_games.extreme.tournament_record import Overall, before_latest, marks_rows, overall
from pttt_ooc.pipeline.show.miniatures import Miniature, curve
from pttt_ooc.site.shell.accounts import Signed
from pttt_ooc.site.shell.parts import Link, Part, below
from pttt_ooc.site.shell.ranking import AskedRanking, Column, Ranking, RankingQuery, fold_text, rank_changes, ranking
from pttt_ooc.site.shell.rendering import curve_path, is_seen, render, render_renewed, wants_part
from pttt_ooc.site.shell.shell import Account

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)
AREA = "Extreme"
BASE = "/extreme"
LINKS = (
    Link("/extreme/standings", "Ranking", AREA, ("/extreme/teams", "/extreme/practice")),
    Link("/extreme/matches", "Watch", AREA),
)


@dataclass(frozen=True)
class BeforeTournament:
    """What there is before the tournament.

    Attributes
    ----------
    begins
        When the tournament begins, in seconds since 1970; None: that is not known yet.
    time_limit
        Seconds for a move in the tournament.
    practice
        The practice league; None: there is none.
    practice_limit
        Seconds for a move there.
    kept
        Maximum number of practice matches that are kept.
    sign
        The file that its worker touches.
    frozen
        Returns practice as it was when its results were frozen, for an account that may see no more; else None.
    """

    begins: float | None
    time_limit: float
    practice: PracticeReader | None
    practice_limit: float
    kept: int
    sign: Path
    frozen: Callable[[Account | None], PracticeReader | None] = lambda account: None

    def seen_by(self, account: Account | None) -> PracticeSnapshot | None:
        """Practice, as an account may see it."""
        reader = self.frozen(account) or self.practice
        return reader.snapshot() if reader else None

    @property
    def over(self) -> bool:
        """Whether the tournament has begun."""
        return self.begins is not None and time.time() >= self.begins


@dataclass
class TournamentPages:
    """The state of the handlers.

    Attributes
    ----------
    shown
        The tournament.
    everything
        Whether everybody sees what bots printed and how they failed; else only a bot's own team.
    before
        What the pages show before the tournament; None: nothing.
    base
        The beginning of the addresses of its pages.
    """

    shown: TournamentReader
    everything: bool = False
    before: BeforeTournament | None = None
    base: str = BASE

    def snapshot(self) -> TournamentSnapshot:
        """The tournament as it is now; 404 if it has not begun."""
        seen = self.shown.snapshot()
        if seen is None:
            raise HTTPException(404, "The tournament has not begun.")
        return seen

    def match(self, name: str, account: Account | None) -> tuple[MatchesSnapshot, PlayedMatch]:
        """A match of the tournament or of practice by its name, and where it is; 404 if it has not been played.

        While practice is frozen, a team sees its own later matches only.
        """
        practice = self.before.practice if self.before and name.startswith(f"{STAGE}-") else None
        seen: MatchesSnapshot | None
        if self.before is not None and practice is not None:
            seen, live = self.before.seen_by(account), practice.snapshot()
            own = live.matches.get(name) if live else None
            if own is not None and account and key_of(account.id) in (own.pairing.first, own.pairing.second):
                seen = live
        else:
            seen = self.snapshot()
        if seen is None or name not in seen.matches:
            raise HTTPException(404, "There is no such match, or it has not been played yet.")
        return seen, seen.matches[name]

    def may_see(self, account: Account | None, key: str) -> bool:
        """Whether an account may see what a team's bot printed and how it failed."""
        return self.everything or (account is not None and key == key_of(account.id))


def key_of(team: int) -> str:
    """The key of one of the course's teams, by its number."""
    return f"t{team}"


async def _used(request: Request) -> TournamentPages:
    """The application's tournament, or the one that a dependency of the router has set as ``request.state.extreme``."""
    found: TournamentPages = getattr(request.state, "extreme", None) or request.app.state.extreme
    return found


UsedPages = Annotated[TournamentPages, Depends(_used)]
Ply = Annotated[int | None, Query(ge=0, le=10**6)]
Name = Annotated[str, PathParameter(pattern=r"^[A-Za-z0-9_-]{1,300}$")]
Key = Annotated[str, PathParameter(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,80}$")]
LATEST = 8
"""Matches that the standings list, and over which they show changes of places."""
_COLUMNS: dict[str, Column[Overall]] = {
    "place": Column("Place", lambda one: one.place, text=True),
    "team": Column("Team", lambda one: fold_text(one.name), text=True),
    "marks": Column("Marks", lambda one: -one.marks, falls=True),
    "won": Column("Won", lambda one: -one.won, falls=True),
    "drawn": Column("Drawn", lambda one: -one.drawn, falls=True),
    "lost": Column("Lost", lambda one: -one.lost, falls=True),
}


def part_of(
    shown: TournamentReader,
    *routers: APIRouter,
    everything: bool = False,
    before: BeforeTournament | None = None,
) -> Part:
    """The part of the application for a tournament.

    Parameters
    ----------
    routers
        Further addresses.
    everything, before
        See :class:`TournamentPages`.
    """
    own = TournamentPages(shown, everything, before)
    return replace(templates(), routers=(below(BASE, router, *routers),), links=LINKS, state=own)


def templates() -> Part:
    """The part without a tournament: templates and files for other parts."""
    return Part(
        name="extreme",
        directory=Path(__file__).parent,
        routers=(),
        links=(),
        names={
            "WIDTH": boards.WIDTH,
            "HEIGHT": boards.HEIGHT,
            "cell_text": boards.move_text,
        },
    )


# ---------------------------------------------------------------------------------------------
# Standings


@router.get("")
def begin(pages: UsedPages) -> Response:
    """A redirect to the standings."""
    return RedirectResponse(f"{pages.base}/standings", 307)


@router.get("/standings")
@router.get("/parts/standings")
def standings(request: Request, pages: UsedPages, account: Signed, asked: AskedRanking) -> Response:
    """The overall order, pools, standings and marks."""
    seen = pages.shown.snapshot()
    if is_seen(request, seen.stamp if seen else "none"):
        return Response(status_code=204)
    facts = {"base": pages.base, "before": pages.before, **_standings(pages, seen, asked)}
    return render_renewed(request, "extreme/standings.html", "extreme/parts/standings.html", account, **facts)


def _standings(pages: TournamentPages, seen: TournamentSnapshot | None, asked: RankingQuery) -> dict[str, Any]:
    def order(places: Sequence[Overall]) -> Ranking[Overall]:
        return ranking(places, _COLUMNS, lambda one: one.name, f"{pages.base}/standings", asked)

    if seen is None:
        return {"seen": None, "stamp": "none", "ranking": order([])}
    tables = seen.state.tables
    stages = [(stage, [table for table in tables if table.stage == stage.name]) for stage in seen.record.stages]
    places = overall(seen.record, tables)
    former = overall(seen.record, before_latest(seen.record, seen.state, LATEST))
    shown = order(places)
    return {
        "seen": seen,
        "stamp": seen.stamp,
        "ranking": shown,
        "points": {one.team: _points_over_time(seen, one.team) for one in shown.rows},
        "stages": [(stage, found) for stage, found in stages if found][::-1],
        "marks": marks_rows(seen.record, tables),
        "recent": seen.state.played[-1 : -1 - LATEST : -1],
        "changes": rank_changes({one.team: one.place for one in places}, {one.team: one.place for one in former}),
        "latest": LATEST,
    }


def _points_over_time(seen: TournamentSnapshot, team: str) -> Miniature | None:
    """The sum of a team's points after each of its matches."""
    sums = [0]
    for one in seen.of_team(team):
        sums.append(sums[-1] + one.score.points[one.pairing.second == team])
    return curve(sums, f"The sum of points over {len(sums) - 1} matches: {sums[-1]}") if len(sums) > 2 else None


# ---------------------------------------------------------------------------------------------
# Matches


@router.get("/matches")
def matches(
    request: Request, pages: UsedPages, account: Signed, team: Annotated[str, Query(max_length=81)] = ""
) -> Response:
    """All played matches, or one team's; before the tournament, practice."""
    if pages.before is not None and pages.shown.snapshot() is None:
        return RedirectResponse(f"{pages.base}/practice", 307)
    seen = pages.shown.snapshot() if not team else pages.snapshot()
    if team and seen is not None and team not in seen.record.teams:
        raise HTTPException(404, f"There is no team {team}.")
    played = [] if seen is None else seen.of_team(team) if team else seen.state.played
    shown = {"seen": seen, "found": played[::-1], "team": team, "stamp": seen.stamp if seen else "none"}
    return render(request, "extreme/matches.html", account, practised=bool(pages.before), base=pages.base, **shown)


@router.get("/matches/{name}")
def match(request: Request, pages: UsedPages, account: Signed, name: Name, ply: Ply = None) -> Response:
    """A match, move by move."""
    seen, played = pages.match(name, account)
    found, steps = match_of(seen, played.pairing), steps_of(seen, played.pairing)
    at = len(steps) if ply is None else ply
    if at > len(steps):
        raise HTTPException(404, f"The match has {len(steps)} moves; move {ply} is not one of them.")
    position = analysis.after(found, at)
    chances = chances_of(seen, played.pairing)
    keys = (played.pairing.first, played.pairing.second)
    shown = {
        "base": pages.base,
        "seen": seen,
        "played": played,
        "keys": keys,
        "teams": [seen.record.teams[key] for key in keys],
        "found": found,
        "steps": steps,
        "moves": [{"player": step.player, "text": boards.move_text(step.cell), "step": step} for step in steps],
        "ply": at,
        "boards": boards.boards_of(position, steps[at - 1].cell if at else None),
        "to_move": position,
        "points": position.points(),
        "chances": chances,
        "curve": curve_path(chances) if chances else None,
        "bars": boards.bars_of([step.player for step in steps], [step.seconds for step in steps]),
        "longest": max((step.seconds for step in steps), default=0.0),
        "limit": float(found.get("time_limit", seen.record.conditions.get("time_limit", 0))),
        "practice": played.pairing.stage == STAGE,
        "open": [pages.may_see(account, key) for key in keys],
        "loser": {"P1": 1, "P2": 0}.get(played.winner),
    }
    return render(request, "extreme/match_part.html" if wants_part(request) else "extreme/match.html", account, **shown)


# ---------------------------------------------------------------------------------------------
# Teams


@router.get("/teams/{key}")
def team(request: Request, pages: UsedPages, account: Signed, key: Key) -> Response:
    """A team's matches and statistics."""
    return render(request, "extreme/team.html", account, base=pages.base, **team_facts(pages.snapshot(), key))


def team_facts(seen: TournamentSnapshot, key: str) -> dict[str, Any]:
    """The facts about a team; 404 if there is none."""
    if key not in seen.record.teams:
        raise HTTPException(404, f"There is no team {key}.")
    found = list(appearances(seen, key))
    played = [(steps_of(seen, one.pairing), int(one.pairing.second == key)) for one in seen.of_team(key)]
    losses = Counter(one.message for one in found if one.result == "lost")
    rows = [
        {"stage": table.stage, "pool": table.pool + 1, "of": len(table.rows), **asdict(row)}
        for table in seen.state.tables
        for row in table.rows
        if row.team == key
    ]
    return {
        "seen": seen,
        "team": seen.record.teams[key],
        "rows": rows,
        "marks": seen.record.marks(seen.state.tables)[key],
        "appearances": found,
        "opponents": _by_opponent(found),
        "losses": losses.most_common(),
        "times": analysis.times(played),
        "limit": float(seen.record.conditions.get("time_limit", 0)),
        "turns": sorted((one for one in found if one.before is not None), key=analysis.Appearance.drop, reverse=True),
    }


def _by_opponent(found: list[analysis.Appearance]) -> list[dict[str, Any]]:
    """For each stage and opponent, the match in which the team began, and the other one."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for one in found:
        row = rows.setdefault((one.stage, one.opponent), {"stage": one.stage, "opponent": one.opponent, "sides": {}})
        row["sides"][one.side] = one
    return list(rows.values())
