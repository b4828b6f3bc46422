"""What a page of Explore shows, as files: the board as SVG and TikZ, the numbers as CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool

from pttt_ooc.explore.address import Address
from pttt_ooc.explore.boards import OURS, SIZE, THEIRS, BoardSquare, Layer
from pttt_ooc.explore.explorer import AskedPage, Look, UsedExplorer, look
from pttt_ooc.explore.pages import answered
from pttt_ooc.rules.game import Game
from pttt_ooc.rules.infoset_text import DIGITS
from pttt_ooc.web.accounts import Signed
from pttt_ooc.web.rendering import render_part

router = APIRouter(include_in_schema=False)
_COLUMNS = ("probability", "value", "value with best response", "regret", "fails")
_NAMES = ("probabilities", "action_values", "best_action_values", "regrets", "fails")
_TEXT = {"fill": "#1f2933", "font-size": "23", "text-anchor": "middle"}
_PAINT: Mapping[str, Mapping[str, str]] = {
    "shade": {"fill": "#62a1dd"},
    "hollow": {"fill": "none", "stroke": "#62a1dd", "stroke-width": "8"},
    "never": {"fill": "none", "stroke": "#5d6874", "stroke-dasharray": "4 5"},
    "known": {},
    "hatch": {"fill": "none", "stroke": "#c9d0d7", "stroke-width": "3"},
    "cell": {"fill": "none", "stroke": "#c9d0d7", "stroke-width": "1.5"},
    "square": {"fill": "#1f2933", "font-size": "13"},
    "p": _TEXT,
    "mark": {**_TEXT, "font-size": "52"},
    "played": {"fill": "#1b6e3c"},
}
_MORE: Mapping[str, Mapping[str, str]] = {
    "shade theirs": {"fill": "#e39a66"},
    "hollow theirs": {"stroke": "#e39a66"},
    "mark theirs": {"fill": "#a04914"},
    "p zero": {"fill": "#5d6874"},
    "p half": {"font-size": "19"},
    "p long": {"font-size": "15"},
}
"""How a picture is painted, by classes: the colours of the light pages."""

_COLOURS = {OURS: "cyan!60!blue", THEIRS: "orange"}
_TEX = {"×": r"$\times$", "○": r"$\circ$"}


@router.get("/explore/board.svg")
async def svg(request: Request, explorer: UsedExplorer, account: Signed, asked: AskedPage) -> Response:
    """The board, in the colours of the light pages."""
    address, shown = _shown(explorer.game, await look(explorer, account, asked))
    facts = {"game": explorer.game, "address": address, "cells": shown["drawn"]}
    text = await run_in_threadpool(render_part, request, "explore/board.svg", **facts)
    painted = re.sub('class="([^"]*)"', lambda found: f"{found[0]} {_paint(found[1])}", text)
    return _file(painted, "image/svg+xml", "board.svg")


def _paint(kinds: str) -> str:
    """The attributes of an element of these classes: pages do without styles inside."""
    first, *more = kinds.split()
    found = {**_PAINT[first], **{name: text for one in more for name, text in _MORE.get(f"{first} {one}", {}).items()}}
    return " ".join(f'{name}="{text}"' for name, text in found.items())


@router.get("/explore/board.tex")
async def tikz(explorer: UsedExplorer, account: Signed, asked: AskedPage) -> Response:
    """The board as a TikZ picture."""
    address, shown = _shown(explorer.game, await look(explorer, account, asked))
    return _file(tikz_of(explorer.game, address, shown["drawn"]), "application/x-tex", "board.tex")


@router.get("/explore/numbers.csv")
async def table(explorer: UsedExplorer, account: Signed, asked: AskedPage) -> Response:
    """The numbers of each attempt, with all digits."""
    address, shown = _shown(explorer.game, await look(explorer, account, asked))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    beside = ["probability beside it"] if address.beside else []
    writer.writerow(("player", "infoset", "squares", *_COLUMNS, *beside))
    for row in shown["rows"]:
        squares = " ".join(map(str, row["squares"]))
        added = [row["beside"]] if address.beside else []
        writer.writerow((address.player, address.at, squares, *(row[name] for name in _NAMES), *added))
    return _file(out.getvalue(), "text/csv", "numbers.csv")


def tikz_of(game: Game, address: Address, cells: Sequence[BoardSquare]) -> str:
    """The TikZ picture of a board; it needs the package ``tikz``."""
    lines = [f"% Player {address.player} at {address.at}: {address.layer}", r"\begin{tikzpicture}[scale=1.6]"]
    for cell in cells:
        x, y = cell.x // SIZE, game.rows - 1 - cell.y // SIZE
        height = 1 / max(1, len(cell.layers))
        for nth, layer in enumerate(cell.layers):
            low = y + 1 - height * (nth + 1)
            lines += _tikz_layer(layer, x, low, height, not address.bare)
        lines.append(rf"  \node[anchor=north west, font=\tiny] at ({x},{y + 1}) {{{DIGITS[cell.square]}}};")
        if cell.mark:
            lines.append(rf"  \node[font=\Large] at ({x + 0.5},{y + 0.5}) {{{_TEX[cell.mark]}}};")
    lines += [rf"  \draw (0,0) grid ({game.columns},{game.rows});", r"\end{tikzpicture}", ""]
    return "\n".join(lines)


def _tikz_layer(layer: Layer, x: int, low: float, height: float, figures: bool) -> list[str]:
    """What a square shows of one strategy, in a rectangle of width 1 whose lower left corner is ``(x, low)``."""
    lines, shade = [], f"{_COLOURS[layer.tone]}!{round(100 * float(layer.opacity))}" if layer.tone else "white"
    if layer.hollow:
        inside = f"({x + 0.06},{low + 0.06:g}) rectangle ({x + 0.94},{low + height - 0.06:g})"
        lines = [rf"  \draw[line width=2pt, {shade}] {inside};", rf"  \draw[densely dashed, gray] {inside};"]
    elif shade != "white":
        lines = [rf"  \fill[{shade}] ({x},{low:g}) rectangle ({x + 1},{low + height:g});"]
    middle = f"({x + 0.5},{low + height / 2:g})"
    if layer.played:
        lines.append(rf"  \fill[black] {middle} circle (0.08);")
    if figures and layer.figure:
        lines.append(rf"  \node at {middle} {{{_number(layer.figure)}}};")
    return lines


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
