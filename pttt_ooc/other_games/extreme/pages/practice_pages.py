"""Practice before the tournament: ratings, matches, and the same as JSON and CSV.  Nothing of it counts for marks."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi.responses import HTMLResponse

from pttt_ooc.disk.numbers import decimals
from pttt_ooc.other_games.extreme.pages.exports import CSVResponse, Rows, played_row, table_of
from pttt_ooc.other_games.extreme.pages.part import BeforeTournament, TournamentPages, UsedPages, key_of
from pttt_ooc.other_games.extreme.pages.tournament_reader import PracticeSnapshot
from pttt_ooc.other_games.extreme.practice_record import PracticeBot
from pttt_ooc.pipeline.show.miniatures import Miniature, curve
from pttt_ooc.site.service.pulse import read_sign
from pttt_ooc.site.shell.accounts import Signed
from pttt_ooc.site.shell.ranking import AskedRanking, Column, RankingQuery, fold_text, rank_changes, ranking
from pttt_ooc.site.shell.rendering import render_renewed
from pttt_ooc.site.shell.shell import Account

router = APIRouter()
SINCE = 24 * 3600.0
"""Seconds over which changes of ranks are shown."""
_COLUMNS: dict[str, Column[PracticeBot]] = {
    "rank": Column("Rank", lambda bot: None if bot.points is None else -bot.points, text=True),
    "bot": Column("Bot", lambda bot: fold_text(bot.name), text=True),
    "rating": Column("Rating", lambda bot: None if bot.points is None else -bot.points, falls=True),
    "matches": Column("Matches", lambda bot: -bot.matches, falls=True),
    "won": Column("Won", lambda bot: -bot.won, falls=True),
    "drawn": Column("Drawn", lambda bot: -bot.drawn, falls=True),
    "lost": Column("Lost", lambda bot: -bot.lost, falls=True),
    "forfeits": Column("Forfeits", lambda bot: -bot.forfeits, falls=True),
}
RECENT = 25
"""Matches that the page lists; all are in the files."""
BotKey = Annotated[str, Query(pattern=r"^([A-Za-z][A-Za-z0-9_]{0,80})?$")]


@router.get("/practice", include_in_schema=False, response_class=HTMLResponse)
@router.get("/parts/practice", include_in_schema=False, response_class=HTMLResponse)
def practice(request: Request, pages: UsedPages, account: Signed, asked: AskedRanking, bot: BotKey = "") -> Response:
    """Ratings and the latest matches: of all bots, or of one."""
    facts = _facts(pages, account, bot, asked)
    return render_renewed(request, "extreme/practice.html", "extreme/parts/practice.html", account, **facts)


def _before(pages: TournamentPages) -> BeforeTournament:
    if pages.before is None:
        raise HTTPException(404, "There is no practice here.")
    return pages.before


def _facts(pages: TournamentPages, account: Account | None, key: str, asked: RankingQuery) -> dict[str, Any]:
    """What the page of a practice league shows; `key`: the bot whose matches are shown; empty: all."""
    before = _before(pages)
    seen, live = before.seen_by(account), before.practice.snapshot() if before.practice else None
    own = key_of(account.id) if account is not None else ""
    if key and (seen is None or key not in seen.record.teams):
        raise HTTPException(404, f"There is no bot {key} in practice.")
    sign = read_sign(before.sign)
    bots = [*seen.record.teams.values()] if seen else []
    ranks = {bot.key: place for place, bot in enumerate(bots, 1) if bot.points is not None}
    since, hour = time.time() - SINCE, int(time.time() // 3600)
    former = sorted(((points, bot.key) for bot in bots if (points := bot.points_at(since)) is not None), reverse=True)
    order = ranking(bots, _COLUMNS, lambda bot: bot.name, f"{pages.base}/practice", asked)
    if order.column == "rank":
        order.rows.sort(key=lambda bot: bot.key != own)  # a team sees its own bot first
    matches = [*seen.matches.values()][::-1] if seen else []
    of_own = live.of_team(own)[::-1] if live and own else []
    only = [one for one in matches if key in (one.pairing.first, one.pairing.second)] if key else matches
    latest = f"{len(of_own)}{of_own[0].pairing.name if of_own else ''}"
    parts = (seen.stamp if seen else "", latest, sign.alive, bool(sign.waits_for), before.over, hour)
    return {
        "before": before,
        "seen": seen,
        "live": live,
        "frozen": before.frozen(account) is not None,
        "key": key,
        "own": own,
        "sign": sign,
        "base": pages.base,
        "ranking": order,
        "ranks": ranks,
        "changes": rank_changes(ranks, {one: place for place, (_, one) in enumerate(former, 1)}),
        "curves": {bot.key: drawn for bot in bots if (drawn := _curve(bot)) is not None},
        "of_own": [] if key else of_own[:10],
        "only": only[:RECENT],
        "more": max(0, len(only) - RECENT),
        "given_up": seen.record.given_up() if seen else [],
        "stamp": "-".join(map(str, parts)),
    }


def _curve(bot: PracticeBot) -> Miniature | None:
    points = [one for _, one in bot.history]
    ends = [decimals(one, 0) for one in points[:1] + points[-1:]]
    return curve(points, f"Ratings over {len(points)} changes: from {' to '.join(ends)}")


# ---------------------------------------------------------------------------------------------
# Programs


def _snapshot(pages: TournamentPages) -> PracticeSnapshot:
    seen = _before(pages).seen_by(None)
    if seen is None:
        raise HTTPException(404, "There has been no practice.")
    return seen


def _bots(seen: PracticeSnapshot) -> Rows:
    kept = ("key", "name", "ours", "points", "error", "won", "drawn", "lost", "forfeits", "paused")
    rows = [{**asdict(bot), "matches": bot.matches} for bot in seen.record.teams.values()]
    return [{name: row[name] for name in (*kept, "matches")} for row in rows]


def _matches(seen: PracticeSnapshot) -> Rows:
    return [
        {
            **played_row(one),
            "time_limit": one.time_limit,
            "ended_at": one.ended_at,
            "current": seen.record.is_current(one),
        }
        for one in seen.matches.values()
    ]


@router.get("/api/practice", summary="Extreme TicTacToe: practice")
def ratings(pages: UsedPages) -> dict[str, Any]:
    """The ratings of the bots that practise, the strongest first; nothing of it counts for marks."""
    seen, before = _snapshot(pages), _before(pages)
    return {
        "begins": before.begins,
        "time_limit": before.time_limit,
        "practice_limit": seen.record.time_limit,
        "kept": before.kept,
        "bots": _bots(seen),
    }


@router.get("/api/practice/matches", summary="Extreme TicTacToe: practice matches")
def matches(pages: UsedPages) -> Rows:
    """The practice matches that are kept, the oldest first; `current`: between latest versions, which count."""
    return _matches(_snapshot(pages))


@router.get("/practice.csv", include_in_schema=False)
def ratings_csv(pages: UsedPages) -> CSVResponse:
    """A row for each bot."""
    return table_of(_bots(_snapshot(pages)))


@router.get("/practice/matches.csv", include_in_schema=False)
def matches_csv(pages: UsedPages) -> CSVResponse:
    """A row for each practice match."""
    return table_of(_matches(_snapshot(pages)))
