"""The page Explore: one infoset, what happens there, and where it leads; and the convergence curve of its run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse

from pttt_ooc.disk.numbers import gap, probability, share, value_for
from pttt_ooc.games.rules.catalogue import describe_game, exact_value
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.rules.infoset_text import DIGITS, attempts_of
from pttt_ooc.games.rules.play import first_infoset
from pttt_ooc.pipeline.show.boards import attempts_sentence, unknown_support
from pttt_ooc.site.explore import boards
from pttt_ooc.site.explore.address import LAYERS, PATH, Address
from pttt_ooc.site.explore.explorer import AskedPage, Look, UsedExplorer, look
from pttt_ooc.site.explore.sources import Snapshot, Source
from pttt_ooc.site.service.wire import Message
from pttt_ooc.site.shell.accounts import Signed
from pttt_ooc.site.shell.rendering import render, wants_part
from pttt_ooc.site.shell.shell import Account

Shown = dict[str, Any]
Outcome = tuple[float | None, str | None]
"""How likely an outcome is, and the page that follows, if the player decides again."""

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)
_IMPOSSIBLE, _FAILED = 404, 503
_ROUNDING = 1e-9


@router.get("/explore")
async def explore(
    request: Request,
    explorer: UsedExplorer,
    account: Signed,
    asked: AskedPage,
    here: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """One infoset; if the typed one is impossible, `here` is kept."""
    view = await look(explorer, account, asked, here)
    page = await run_in_threadpool(_page, request, account, explorer.game, view)
    if view.impossible or view.failed:
        page.status_code = _IMPOSSIBLE if view.impossible else _FAILED
    return page


def _page(request: Request, account: Account | None, game: Game, view: Look) -> HTMLResponse:
    address = view.address
    context: Shown = {"offered": view.offered, "pair": view.pair, "other_source": view.beside, "game": game}
    context |= {"address": address, "impossible": view.impossible, "nearest": view.nearest}
    context |= {"failed": view.failed, "waiting": view.waiting, "games": _games(request)}
    context["run"] = run_of((view.latest[address.player], view.latest[address.opponent]), address)
    context |= {"typed": view.typed, "layers": LAYERS, "scale": boards.SCALES.get(address.layer), "back": None}
    if view.answers:
        context |= page_contents(game, address, view.answers)
    if not view.failed and (view.typed or not view.impossible):
        context |= _place(game, address, view.answers, context.get("square"))
    return _render(request, account, **context)


def _games(request: Request) -> list[tuple[str, str, str]]:
    """Name, name for people and page of each game, if there are several."""
    explorers = request.app.state.explore.all
    games = [one.game for one in explorers]
    return [(game.name, describe_game(game), f"{PATH}?game={game.name}") for game in games] if len(games) > 1 else []


def _render(request: Request, account: Account | None, **context: Any) -> HTMLResponse:
    """The page, or, for the page's script, only its content."""
    part = wants_part(request)
    template = "explore/parts/explore.html" if part else "explore/explore.html"
    return render(request, template, account, **context, partial=part)


# ---------------------------------------------------------------------------------------------
# Contents of a page


def _place(game: Game, address: Address, answers: Sequence[Message], square: int | None) -> Shown:
    """The infosets on the way to an infoset, as cards, its mirror images, and the player's attempts."""
    setup = len(game.setup[address.player])
    attempts = attempts_of(address.at)[setup:]
    likely: Sequence[float | None] = answers[0]["path"] if answers else [None] * len(attempts)
    texts = [address.at[: 2 * (setup + n) + 1] for n in range(len(attempts) + 1)]
    walked: list[Shown] = [
        {
            "title": text,
            "address": address.place(text),
            "facts": [f"{DIGITS[one]} {'placed' if placed else 'failed'}", *([] if p is None else [probability(p)])],
            "kind": "never" if p == 0 else "",
        }
        for text, (one, placed), p in zip(texts, attempts, likely, strict=False)
    ]
    now = "to move" if square is None else f"{DIGITS[square]} …"
    walked.append({"title": address.at, "facts": [now], "kind": "here"})
    walked[0]["title"] = "start"
    return {
        "walked": walked,
        "back": address.place(texts[-2]) if attempts else None,
        "done": attempts_sentence(address.at, setup),
        "mirrored": [(text, address.place(text)) for text in boards.mirror_images(game, address.at)],
    }


def page_contents(game: Game, address: Address, answers: Sequence[Message]) -> Shown:
    """The boards and the numbers of a page."""
    answer = answers[0]
    believed = answer["beliefs"]
    classes: list[list[int]] = answer["classes"]
    first = {square: one[0] for one in classes for square in one}
    rows = [_row(answers, one) for one in classes]
    other = address.other or first_infoset(game, address.opponent)
    after = {(one, placed): (p, text and address.place(text)) for one, placed, p, text in answer["after"]}
    return {
        "numbers": answer["numbers"],
        "facts": _facts(game, address, answer["facts"]),
        "drawn": boards.strategy_board(game, address.player, address.at, answers, address.layer),
        "equilibria": answer["equilibria"],
        "unknown_support": unknown_support(game),
        "rows": rows,
        "attempts": [_attempt(row, after) for row in rows],
        "choices": {square: address.place(address.at, first[square]) for square in answer["numbers"]["legal"]},
        "square": first.get(address.square) if address.square is not None else None,
        "images": answer["images"],
        "outcomes": [
            _outcome(address, way, not nth)
            for nth, way in enumerate(sorted(answer["ways"], key=lambda way: not way["placed"]))
        ],
        "beliefs": believed,
        "belief_board": boards.belief_board(game, address.player, address.at, believed["marks"]),
        "other_at": other,
        "turned": address.to(player=address.opponent, at=other, other=address.at),
        "other_board": boards.row_board(game, address.opponent, other, answer["other_row"]),
        "true_boards": [
            (boards.true_board(game, address.player, mine, theirs), p) for mine, theirs, p in believed["boards"]
        ],
    }


def _facts(game: Game, address: Address, facts: Message) -> Shown:
    """The values of the pair of strategies for the player at the beginning of the game, and the value of the game."""
    proven = exact_value(game)
    mine = proven if proven is None or address.player == 0 else -proven
    return {
        "proven": mine,
        "value": value_for(address.player, facts["value"]),
        "best": facts["best_responses"][address.player],
    }


def _row(answers: Sequence[Message], squares: Sequence[int]) -> Shown:
    """The numbers of one attempt, or of attempts that mirror each other."""
    facts, square = answers[0]["numbers"], squares[0]
    row = {name: facts[name][square] for name in ("action_values", "best_action_values", "regrets", "fails")}
    sums = [sum(answer["numbers"]["probabilities"][one] for one in squares) for answer in answers]
    best, most = row["best_action_values"], facts["best_value"]
    is_best = best is not None and most is not None and best >= most - _ROUNDING
    return {"squares": squares, "probabilities": sums[0], "beside": sums[-1], "is_best": is_best, **row}


def _attempt(row: Shown, after: Mapping[tuple[int, bool], Outcome]) -> Shown:
    """The card of an attempt, which leads to both outcomes."""
    square, fails, p = row["squares"][0], row["fails"], row["probabilities"]
    told = after if any(one == square for one, _ in after) else {}
    other = (None, None) if told or fails is None else (1 - fails, None)
    ways = [("placed", *told.get((square, True), other)), ("failed", *told.get((square, False), (fails, None)))]
    texts = [(word, f"{word} {share(chance)}" if chance is not None else word, to) for word, chance, to in ways]
    return {
        "title": ", ".join(DIGITS[one] for one in row["squares"]),
        "figure": share(p),
        "share": p,
        "ways": [{"text": text, "address": to, "label": f"{DIGITS[square]} {text}"} for _, text, to in texts],
        "kind": "best" if row["is_best"] else "never" if not p else "",
    }


def _outcome(address: Address, way: Message, first: bool) -> Shown:
    """The card of an outcome of the chosen attempt; `first`: it gets the focus."""
    word, p, over = "placed" if way["placed"] else "failed", way["probability"], not way["decides"]
    return {
        "title": word,
        "address": None if over else address.place(way["infoset"]),
        "figure": "possible" if p is None else probability(p),
        "facts": [told] if (told := _ends(way, address.player)) else [],
        "more": {"data-outcome": word} | ({"data-focus": ""} if first else {}),
    }


def _ends(way: Message, me: int) -> str:
    """How a game ends after an outcome, before the player's next turn."""
    p, over = way["probability"], not way["decides"]
    if not p:
        return "never against this opponent" if p is not None else "the game is over" if over else ""
    ends = [(f"player {me} wins", way["wins"]), ("a draw", way["draws"]), (f"player {me} loses", way["loses"])]
    told = [f"{end}{f' with probability {probability(q)}' * (not over or q < 1)}" for end, q in ends if q > 0]
    how = "the game is over: " if over else "the game ends before the next turn: " if told else ""
    return how + ", ".join(told)


# ---------------------------------------------------------------------------------------------
# The convergence curve of a run


WIDE, NARROW = (640.0, 160.0), (344.0, 170.0)
"""Widths and heights: a phone gets its own curve, so that letters keep their size."""

_LETTER = 7.6  # the largest width of a digit in a label
_TOP, _BOTTOM, _RIGHT = 14.0, 26.0, 18.0


@dataclass(frozen=True)
class Tick:
    """A line across the picture, with its label."""

    at: float
    label: str


@dataclass(frozen=True)
class Mark:
    """A snapshot on the curve.

    Attributes
    ----------
    x, y
        Its position.
    iteration, gap
        See :class:`~pttt_ooc.site.explore.sources.Snapshot`; the gap as text.
    address
        The page of the snapshot.
    chosen
        Whether the page shows it now.
    """

    x: float
    y: float
    iteration: int
    gap: str
    address: Address
    chosen: bool


@dataclass(frozen=True)
class Curve:
    """A picture in a box of `width` by `height`, its inside between `left` and `right`, `top` and `bottom`."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float
    path: str
    marks: Sequence[Mark]
    across: Sequence[Tick]
    along: Sequence[Tick]


@dataclass(frozen=True)
class Run:
    """The run that a strategy comes from, as a page shows it.

    Attributes
    ----------
    label
        The label of the source.
    curves
        The curves in the sizes :data:`WIDE` and :data:`NARROW`.
    chosen
        The position of the shown snapshot among the marks.
    """

    label: str
    curves: tuple[Curve, Curve]
    chosen: int

    @property
    def marks(self) -> Sequence[Mark]:
        """All snapshots, the earliest first."""
        return self.curves[0].marks


def run_of(sources: Sequence[Source], address: Address) -> Run | None:
    """The run of the first strategy with snapshots; None if there is none.

    The last snapshot is the strategy itself: its address has no iteration.
    """
    for source in sources:
        if source.snapshots and (address.iteration is None or source.has(address.iteration)):
            iterations = [one.iteration for one in source.snapshots]
            chosen = len(iterations) - 1 if address.iteration is None else iterations.index(address.iteration)
            wide, narrow = (_curve(source, address, chosen, *box) for box in (WIDE, NARROW))
            return Run(source.label, (wide, narrow), chosen)
    return None


def _curve(source: Source, address: Address, chosen: int, width: float, height: float) -> Curve:
    points = [(t, g) for t, g in source.curve if t > 0 and g > 0]
    points = points or [(one.iteration, 1.0) for one in source.snapshots]  # a gap of 0 has no logarithm
    least = min(g for _, g in points)
    last = source.snapshots[-1].iteration
    low, high = _axis_ends(least, max(g for _, g in points))
    levels = [(v, _label(v)) for v in _levels(low, high)]
    left = 12 + _LETTER * max(len(label) for _, label in levels)
    right, bottom, span = width - _RIGHT, height - _BOTTOM, math.log10(max(last, 2))

    def x(iteration: int) -> float:
        return round(left + 8 + (right - left - 8) * math.log10(iteration) / span, 1)

    def y(level: float) -> float:
        share = (high - math.log10(max(level, least))) / (high - low)
        return round(_TOP + (bottom - _TOP) * share, 1)

    def mark(number: int, one: Snapshot) -> Mark:
        target = address.to(iteration=None if number + 1 == len(source.snapshots) else one.iteration)
        return Mark(x(one.iteration), y(one.gap), one.iteration, gap(one.gap), target, number == chosen)

    path = "M" + "L".join(f"{x(t)} {y(g)}" for t, g in points)
    marks = [mark(number, one) for number, one in enumerate(source.snapshots)]
    across = [Tick(y(v), label) for v, label in levels]
    along = [Tick(x(t), str(t)) for t in _round_iterations(last)]
    return Curve(width, height, round(left, 1), right, _TOP, bottom, path, marks, across, along)


def _axis_ends(least: float, most: float) -> tuple[float, float]:
    """Logarithms of the ends of an axis that includes two levels."""
    low, high = math.log10(least), math.log10(most)
    margin = max(0.08 * (high - low), 0.1)
    return low - margin, high + margin


def _levels(low: float, high: float) -> list[float]:
    """Round levels between two powers of ten, or else the one in the middle."""
    factors = (1.0,) if high - low > 2 else (1.0, 2.0, 5.0)
    levels = [f * 10.0**e for e in range(math.floor(low), math.ceil(high) + 1) for f in factors]
    inside = [v for v in levels if low <= math.log10(v) <= high]
    return inside or [10 ** ((low + high) / 2)]


def _label(level: float) -> str:
    return f"{level:.1g}".replace("e-0", "e-")


def _round_iterations(last: int) -> list[int]:
    """Powers of ten up to an iteration; if they are few, also their halves and fifths."""
    factors = (1,) if last >= 1000 else (1, 2, 5)
    powers = range(len(str(last)))
    return [f * 10**e for e in powers for f in factors if f * 10**e <= last]
