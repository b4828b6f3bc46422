"""What a page of Explore shows, as files: the board as SVG, PNG and TikZ, the numbers as CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool
from PIL import Image, ImageColor, ImageDraw, ImageFont

from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.rules.infoset_text import DIGITS
from pttt_ooc.site.explore.address import Address
from pttt_ooc.site.explore.boards import OURS, SIZE, THEIRS, BoardSquare, Layer
from pttt_ooc.site.explore.explorer import AskedPage, Look, UsedExplorer, look
from pttt_ooc.site.explore.pages import page_contents
from pttt_ooc.site.shell.accounts import Signed
from pttt_ooc.site.shell.rendering import render_part

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
    "p half": {"font-size": "16"},
    "p long": {"font-size": "15"},
}
"""How a picture is painted, by classes: the colours of the light pages."""

_PAPER = "#fefefe"
_FINE = 6  # pixels per unit while a picture is drawn: twice as many as in the result
_COLOURS = {OURS: "cyan!60!blue", THEIRS: "orange"}
_TEX = {"×": r"$\times$", "○": r"$\circ$"}


@router.get("/explore/board.svg")
async def svg(request: Request, explorer: UsedExplorer, account: Signed, asked: AskedPage) -> Response:
    """The board, in the colours of the light pages."""
    address, shown = _require_contents(explorer.game, await look(explorer, account, asked))
    facts = {"game": explorer.game, "address": address, "cells": shown["drawn"]}
    text = await run_in_threadpool(render_part, request, "explore/board.svg", **facts)
    painted = re.sub('class="([^"]*)"', lambda found: f"{found[0]} {_paint(found[1])}", text)
    return _file(painted, "image/svg+xml", "board.svg")


def _paint(kinds: str) -> str:
    """The attributes of an element of these classes, instead of a style sheet."""
    first, *more = kinds.split()
    found = {**_PAINT[first], **{name: text for one in more for name, text in _MORE.get(f"{first} {one}", {}).items()}}
    return " ".join(f'{name}="{text}"' for name, text in found.items())


@router.get("/explore/board.png")
async def png(explorer: UsedExplorer, account: Signed, asked: AskedPage) -> Response:
    """The board as pixels, 300 to the side of a square, in the same colours."""
    address, shown = _require_contents(explorer.game, await look(explorer, account, asked))
    out = io.BytesIO()
    picture = await run_in_threadpool(picture_of, explorer.game, shown["drawn"], not address.bare)
    picture.save(out, "png")
    return _file(out.getvalue(), "image/png", "board.png")


@router.get("/explore/board.tex")
async def tikz(explorer: UsedExplorer, account: Signed, asked: AskedPage) -> Response:
    """The board as a TikZ picture."""
    address, shown = _require_contents(explorer.game, await look(explorer, account, asked))
    return _file(tikz_of(explorer.game, address, shown["drawn"]), "application/x-tex", "board.tex")


@router.get("/explore/numbers.csv")
async def table(explorer: UsedExplorer, account: Signed, asked: AskedPage) -> Response:
    """The numbers of each attempt, with all digits."""
    address, shown = _require_contents(explorer.game, await look(explorer, account, asked))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    beside = ["probability beside it"] if address.beside else []
    writer.writerow(("player", "infoset", "squares", *_COLUMNS, *beside))
    for row in shown["rows"]:
        squares = " ".join(map(str, row["squares"]))
        added = [row["beside"]] if address.beside else []
        writer.writerow((address.player, address.at, squares, *(row[name] for name in _NAMES), *added))
    return _file(out.getvalue(), "text/csv", "numbers.csv")


def picture_of(game: Game, cells: Sequence[BoardSquare], figures: bool = True) -> Image.Image:
    """The picture of a board, with numbers or without; drawn larger first, so that edges are smooth."""
    picture = Image.new("RGB", (game.columns * _FINE * SIZE + 4 * _FINE, game.rows * _FINE * SIZE + 4 * _FINE), _PAPER)
    for cell in cells:
        square = Image.new("RGB", (_FINE * SIZE, _FINE * SIZE), _PAPER)
        pen = _Pen(square)
        if cell.mark:
            for x in range(-SIZE, SIZE, 14):
                pen.line((x, SIZE, x + SIZE, 0), _PAINT["hatch"])
        height = SIZE // max(1, len(cell.layers))
        for nth, layer in enumerate(cell.layers):
            pen.layer(layer, nth * height, height, figures)
        pen.text((7, 12), DIGITS[cell.square], _PAINT["square"], "lm")
        if cell.mark:
            pen.mark(cell.mark, _PAINT["mark"]["fill"] if cell.own else _MORE["mark theirs"]["fill"])
        pen.box((0, 0, SIZE, SIZE), _PAINT["cell"])
        picture.paste(square, ((2 + cell.x) * _FINE, (2 + cell.y) * _FINE))
    return picture.reduce(2)


class _Pen:
    """Draws on the picture of one square, in its units."""

    def __init__(self, square: Image.Image) -> None:
        self._draw = ImageDraw.Draw(square)

    def layer(self, layer: Layer, top: float, height: float, figures: bool) -> None:
        """What a square shows of one strategy, from `top` on."""
        kind = f"{'hollow' if layer.hollow else 'shade'} {layer.tone}"
        paint = {**_PAINT["hollow" if layer.hollow else "shade"], **_MORE.get(kind, {})}
        shade = _blend_with_paper(paint.get("stroke", paint["fill"]), float(layer.opacity) if layer.tone else 0.0)
        if layer.hollow:
            inside = (5, top + 5, SIZE - 5, top + height - 5)
            self.box(inside, {"stroke": shade, "stroke-width": "8"})
            self.dashes(inside, _PAINT["never"])
        elif layer.tone:
            self._draw.rectangle(self._fine((0, top, SIZE, top + height)), shade)
        middle = (SIZE / 2, top + height / 2)
        if layer.played:
            self._draw.circle(self._fine(middle), _FINE * height // 8, _PAINT["played"]["fill"])
        if figures and layer.figure:
            size = "15" if len(layer.figure) > 6 else "16" if height < SIZE else "23"
            paint = {**_PAINT["p"], **(_MORE["p zero"] if layer.faint else {}), "font-size": size}
            self.text((middle[0] + (7 if height < SIZE else 0), middle[1]), layer.figure, paint, "mm")

    def line(self, ends: Sequence[float], paint: Mapping[str, str]) -> None:
        """A straight line between two points."""
        self._draw.line(self._fine(ends), paint["stroke"], round(_FINE * float(paint.get("stroke-width", "1"))))

    def box(self, ends: Sequence[float], paint: Mapping[str, str]) -> None:
        """A frame, half of its width on each side of the ends."""
        width = float(paint["stroke-width"])
        left, top, right, bottom = ends
        outside = (left - width / 2, top - width / 2, right + width / 2, bottom + width / 2)
        self._draw.rectangle(self._fine(outside), None, paint["stroke"], round(_FINE * width))

    def dashes(self, ends: Sequence[float], paint: Mapping[str, str]) -> None:
        """A dashed frame."""
        left, top, right, bottom = ends
        for at in range(int(left), int(right), 9):
            for y in (top, bottom):
                self.line((at, y, min(at + 4, right), y), paint)
        for at in range(int(top), int(bottom), 9):
            for x in (left, right):
                self.line((x, at, x, min(at + 4, bottom)), paint)

    def text(self, at: Sequence[float], text: str, paint: Mapping[str, str], anchor: str) -> None:
        """A text; the font lacks the minus, so this is a hyphen."""
        font = ImageFont.load_default(_FINE * float(paint["font-size"]))
        self._draw.text((_FINE * at[0], _FINE * at[1]), text.replace("−", "-"), paint["fill"], font, anchor)

    def mark(self, mark: str, colour: str) -> None:
        """A player's mark in the middle, which the font lacks."""
        paint, (low, high) = {"stroke": colour, "stroke-width": "5"}, (34, 66)
        if mark == "×":
            self.line((low, low, high, high), paint)
            self.line((low, high, high, low), paint)
        else:
            self._draw.ellipse(self._fine((low, low, high, high)), None, colour, 5 * _FINE)

    def _fine(self, numbers: Sequence[float]) -> tuple[float, ...]:
        return tuple(_FINE * one for one in numbers)


def _blend_with_paper(colour: str, opacity: float) -> str:
    """A colour mixed with the paper's."""
    parts = zip(ImageColor.getrgb(colour), ImageColor.getrgb(_PAPER), strict=True)
    return "#" + "".join(f"{round(opacity * one + (1 - opacity) * paper):02x}" for one, paper in parts)


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


def _require_contents(game: Game, view: Look) -> tuple[Address, dict[str, Any]]:
    """The page's address and contents; an HTTPException with a sentence if there are none."""
    if view.impossible:
        raise HTTPException(404, view.impossible)
    if not view.answers:
        raise HTTPException(503, view.failed or "These strategies are not ready yet; ask again in a moment.")
    return view.address, page_contents(game, view.address, view.answers)


def _file(text: str | bytes, kind: str, name: str) -> Response:
    return Response(text, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})
