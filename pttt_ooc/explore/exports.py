"""What a page of Explore shows, as files: the board as SVG and TikZ, the numbers as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool

from pttt_ooc.explore.address import Address
from pttt_ooc.explore.boards import SIZE, BoardSquare
from pttt_ooc.explore.explorer import UsedExplorer
from pttt_ooc.explore.inspection import Asked, Look, look
from pttt_ooc.explore.pages import answered
from pttt_ooc.rules.game import Game
from pttt_ooc.rules.infoset_text import DIGITS
from pttt_ooc.web.accounts import Signed
from pttt_ooc.web.rendering import render_part

router = APIRouter(include_in_schema=False)
_COLUMNS = ("probability", "value", "value with best response", "regret", "fails")
_NAMES = ("probabilities", "action_values", "best_action_values", "regrets", "fails")
_TEX = {"×": r"$\times$", "○": r"$\circ$"}


@router.get("/explore/board.svg")
async def svg(request: Request, explorer: UsedExplorer, account: Signed, asked: Asked) -> Response:
    """The board, in the colours of the light pages."""
    address, shown = _shown(explorer.game, await look(explorer, account, asked))
    facts = {"game": explorer.game, "address": address, "cells": shown["drawn"][0]}
    text = await run_in_threadpool(render_part, request, "explore/board.svg", **facts)
    return _file(text, "image/svg+xml", "board.svg")


@router.get("/explore/board.tex")
async def tikz(explorer: UsedExplorer, account: Signed, asked: Asked) -> Response:
    """The board as a TikZ picture."""
    address, shown = _shown(explorer.game, await look(explorer, account, asked))
    return _file(tikz_of(explorer.game, address, shown["drawn"][0]), "application/x-tex", "board.tex")


@router.get("/explore/numbers.csv")
async def table(explorer: UsedExplorer, account: Signed, asked: Asked) -> Response:
    """The numbers of each attempt, with all digits."""
    address, shown = _shown(explorer.game, await look(explorer, account, asked))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("player", "infoset", "squares", *_COLUMNS))
    for row in shown["rows"]:
        squares = " ".join(map(str, row["squares"]))
        writer.writerow((address.player, address.at, squares, *(row[name] for name in _NAMES)))
    return _file(out.getvalue(), "text/csv", "numbers.csv")


def tikz_of(game: Game, address: Address, cells: Sequence[BoardSquare]) -> str:
    """The TikZ picture of a board; it needs the package ``tikz``."""
    lines = [f"% Player {address.player} at {address.at}", r"\begin{tikzpicture}[scale=1.6]"]
    for cell in cells:
        x, y = cell.x // SIZE, game.rows - 1 - cell.y // SIZE
        if not cell.mark and float(cell.opacity):
            shade = round(100 * float(cell.opacity))
            lines.append(rf"  \fill[blue!60!white!{shade}!white] ({x},{y}) rectangle ({x + 1},{y + 1});")
        lines.append(rf"  \node[anchor=north west, font=\tiny] at ({x},{y + 1}) {{{DIGITS[cell.square]}}};")
        if cell.mark:
            lines.append(rf"  \node[font=\Large] at ({x + 0.5},{y + 0.5}) {{{_TEX[cell.mark]}}};")
        elif cell.figure:
            lines.append(rf"  \node at ({x + 0.5},{y + 0.5}) {{{_number(cell.figure)}}};")
            if cell.small:
                lines.append(rf"  \node[font=\scriptsize] at ({x + 0.5},{y + 0.22}) {{{_number(cell.small)}}};")
    lines += [rf"  \draw (0,0) grid ({game.columns},{game.rows});", r"\end{tikzpicture}", ""]
    return "\n".join(lines)


def _number(text: str) -> str:
    return f"${text.replace('−', '-')}$"


def _shown(game: Game, view: Look) -> tuple[Address, dict[str, Any]]:
    """The page's address and contents; an HTTPException with a sentence if there are none."""
    if view.impossible:
        raise HTTPException(404, view.impossible)
    if not view.answers:
        raise HTTPException(503, view.failed or "These strategies are being prepared; ask again in a moment.")
    return view.address, answered(game, view.address, view.answers)


def _file(text: str, kind: str, name: str) -> Response:
    return Response(text, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})
