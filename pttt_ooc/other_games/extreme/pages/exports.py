"""The contents of the pages, as JSON below ``/api/extreme`` and as CSV."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path as Directory
from typing import IO, Annotated, Any, cast

from fastapi import APIRouter, HTTPException, Path, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import PlainTextResponse, StreamingResponse

from pttt_ooc.other_games.extreme.kit import NAME, kit_text
from pttt_ooc.other_games.extreme.match_logs import PlayedMatch
from pttt_ooc.other_games.extreme.pages.part import Key, Name, TournamentPages, UsedPages, part_of, team_facts
from pttt_ooc.other_games.extreme.pages.tournament_reader import (
    TournamentReader,
    TournamentSnapshot,
    chances_of,
    match_of,
    steps_of,
)
from pttt_ooc.other_games.extreme.tournament_record import marks_rows, standings_rows
from pttt_ooc.other_games.extreme.walls import ExtremeError
from pttt_ooc.pipeline.show.tables import csv_text
from pttt_ooc.site.shell.accounts import Signed, known_bearer, signed_in
from pttt_ooc.site.shell.parts import Part
from pttt_ooc.site.shell.shell import Account, Shell, UsedShell
from pttt_ooc.site.shell.zip_stream import Pieces

router = APIRouter()
Rows = list[dict[str, Any]]
LARGEST_LOGS = 1 << 30
"""Maximum bytes of the logs that are sent as one zip."""
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")  # beginnings of formulas in spreadsheets


class CSVResponse(PlainTextResponse):
    """A table as CSV."""

    media_type = "text/csv; charset=utf-8"


def table_of(rows: Sequence[dict[str, Any]]) -> CSVResponse:
    """Rows as CSV; spreadsheets take no text in it for a formula."""
    return CSVResponse(csv_text([{key: _harmless(value) for key, value in row.items()} for row in rows]))


def _harmless(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULAS) else value


def _with_names(seen: TournamentSnapshot, rows: Rows) -> Rows:
    return [{"team": row["team"], "name": seen.name_of(row["team"]), **row} for row in rows]


def played_row(one: PlayedMatch) -> dict[str, Any]:
    """A match as a row of a table."""
    first, second = one.score.points
    return {
        "match": one.pairing.name,
        "stage": one.pairing.stage,
        "pool": one.pairing.pool + 1,
        "first": one.pairing.first,
        "second": one.pairing.second,
        "first_points": first,
        "second_points": second,
        "winner": one.winner,
        "message": one.message,
        "plies": one.plies,
        "seconds": one.seconds,
    }


@router.get("/extreme_kit.py", include_in_schema=False)
def kit() -> PlainTextResponse:
    """The file with which teams play without the package."""
    headers = {"Content-Disposition": f'attachment; filename="{NAME}"'}
    return PlainTextResponse(kit_text(), media_type="text/x-python; charset=utf-8", headers=headers)


@router.get("/api/standings", summary="Extreme TicTacToe: standings")
def standings(pages: UsedPages) -> dict[str, Any]:
    """The teams, the pools of all stages that have begun, and the marks."""
    seen = pages.snapshot()
    record, tables = seen.record, seen.state.tables
    return {
        "seed": record.seed,
        "over": seen.over,
        "teams": {key: team.name for key, team in record.teams.items()},
        "standings": [asdict(table) for table in tables],
        "marks": record.marks(tables),
    }


@router.get("/standings.csv", include_in_schema=False)
def standings_csv(pages: UsedPages) -> CSVResponse:
    """A row for each team and stage."""
    seen = pages.snapshot()
    return table_of(_with_names(seen, standings_rows(seen.state.tables)))


@router.get("/marks.csv", include_in_schema=False)
def marks_csv(pages: UsedPages) -> CSVResponse:
    """A row for each team."""
    seen = pages.snapshot()
    return table_of(_with_names(seen, marks_rows(seen.record, seen.state.tables)))


@router.get("/api/matches", summary="Extreme TicTacToe: matches")
def matches(pages: UsedPages) -> Rows:
    """All matches that have been played."""
    return [played_row(one) for one in pages.snapshot().state.played]


@router.get("/matches.csv", include_in_schema=False)
def matches_csv(pages: UsedPages) -> CSVResponse:
    """A row for each match."""
    return table_of([played_row(one) for one in pages.snapshot().state.played])


@router.get("/api/matches/{name}", summary="Extreme TicTacToe: a match")
async def match(request: Request, pages: UsedPages, shell: UsedShell, name: Name) -> dict[str, Any]:
    """A match, move by move; only a bot's own team sees what it printed and how it failed."""
    return await run_in_threadpool(_match, pages, await _account(request, shell), name)


async def _account(request: Request, shell: Shell) -> Account | None:
    if shell.accounts is None:
        return None
    return await signed_in(request) or await run_in_threadpool(known_bearer, request, shell)


def _match(pages: TournamentPages, account: Account | None, name: str) -> dict[str, Any]:
    seen, one = pages.match(name, account)
    log = _log(pages, account, one, match_of(seen, one.pairing))
    return {**log, "chances_of_first": chances_of(seen, one.pairing)}


def _log(pages: TournamentPages, account: Account | None, one: PlayedMatch, found: dict[str, Any]) -> dict[str, Any]:
    """A match's log, without what this account may not see."""
    open_to = [pages.may_see(account, key) for key in (one.pairing.first, one.pairing.second)]
    loser = {"P1": 1, "P2": 0}.get(one.winner)
    hidden = {
        "detail": found["detail"] if loser is not None and open_to[loser] else "",
        "printed": [text if seen_by else "" for text, seen_by in zip(found["printed"], open_to, strict=True)],
    }
    return {**found, **hidden}


@router.get("/matches.zip", include_in_schema=False)
async def matches_zip(request: Request, pages: UsedPages, shell: UsedShell) -> StreamingResponse:
    """The logs of all matches that have been played, each as JSON; 413 if they are too large."""
    account = await _account(request, shell)
    seen = await run_in_threadpool(pages.snapshot)
    files = [seen.record.log(one.pairing) for one in seen.state.played]
    size = await run_in_threadpool(lambda: sum(file.stat().st_size for file in files))
    if size > LARGEST_LOGS:
        raise HTTPException(
            413, f"The logs have {size >> 20} MB, more than {LARGEST_LOGS >> 20} MB; download them match by match."
        )
    headers = {"Content-Disposition": 'attachment; filename="matches.zip"'}
    return StreamingResponse(_iter_zip(pages, account, seen), media_type="application/zip", headers=headers)


def _iter_zip(pages: TournamentPages, account: Account | None, seen: TournamentSnapshot) -> Iterator[bytes]:
    """A zip, one match at a time; a log that is damaged is there as a sentence."""
    pieces = Pieces()
    with zipfile.ZipFile(cast(IO[bytes], pieces), "w") as archive:
        for one in seen.state.played:
            try:
                text = json.dumps(_log(pages, account, one, seen.record.match(one.pairing)))
                name = f"{one.pairing.name}.json"
            except (ExtremeError, KeyError, TypeError, ValueError) as error:
                name = f"{one.pairing.name}-damaged.txt"
                text = str(error) if isinstance(error, ExtremeError) else "The log of this match is damaged."
            archive.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)
            yield pieces.take()
    yield pieces.take()


@router.get("/matches/{name}/moves.csv", include_in_schema=False)
def match_csv(pages: UsedPages, account: Signed, name: Name) -> CSVResponse:
    """A row for each move."""
    seen, one = pages.match(name, account)
    chances = chances_of(seen, one.pairing)
    rows = []
    for ply, step in enumerate(steps_of(seen, one.pairing)):
        big, row, column = step.cell
        rows.append(
            {
                "ply": ply + 1,
                "team": (one.pairing.first, one.pairing.second)[step.player],
                "flag": "xo"[step.player],
                "big_board": big,
                "row": row,
                "column": column,
                "bonus": step.bonus,
                "won_small_board": step.won,
                "missed_bonus": step.missed,
                "seconds": step.seconds,
                "processor_seconds": step.processor,
                "waited_seconds": step.waited,
                "chance_of_first_after": chances[ply + 1] if chances else None,
            }
        )
    return table_of(rows)


@router.get("/api/teams/{key}", summary="Extreme TicTacToe: a team")
def team(pages: UsedPages, key: Key) -> dict[str, Any]:
    """A team's matches, from its side, the times of its moves, and the reasons of its losses."""
    facts = team_facts(pages.snapshot(), key)
    return {
        "team": key,
        "name": facts["team"].name,
        "file": facts["team"].file,
        "stages": facts["rows"],
        "marks": facts["marks"],
        "lost_by": dict(facts["losses"]),
        "times": [asdict(one) for one in facts["times"]],
        "matches": [asdict(one) for one in facts["appearances"]],
    }


@router.get("/teams/{key}/{table}.csv", include_in_schema=False)
def team_csv(pages: UsedPages, key: Key, table: Annotated[str, Path(pattern="^(matches|times)$")]) -> CSVResponse:
    """A row for each match, or for each ten moves of a match."""
    facts = team_facts(pages.snapshot(), key)
    return table_of([asdict(one) for one in facts["appearances" if table == "matches" else "times"]])


def parts(directory: str) -> list[Part]:
    """The part for a tournament's directory, with pages and exports, in which everybody sees everything."""
    return [part_of(TournamentReader(Directory(directory)), router, everything=True)]
