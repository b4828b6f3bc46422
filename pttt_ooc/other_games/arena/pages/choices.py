"""Choices in the browser: games, opponents, and their time to think."""

from __future__ import annotations

import re
from dataclasses import dataclass

MNK = "mnk"
"""The key of k-in-a-row on a board, whose size can be chosen."""


@dataclass(frozen=True)
class Offer:
    """A choice.

    Attributes
    ----------
    key
        Its name in addresses and forms.
    label
        Its name for people.
    text
        Its name in the catalogues of games and agents; ``{seconds}`` stands for the time to think, ``{directory}``
        for the directory of the matches.
    games
        The names of the games that an agent plays; empty: all games.
    """

    key: str
    label: str
    text: str
    games: tuple[str, ...] = ()


GAMES = (
    Offer("ultimate", "Ultimate tic-tac-toe", "ultimate"),
    Offer("ultimate-open", "Ultimate, won boards stay open", "ultimate:open"),
    Offer("ultimate-most", "Ultimate, most boards win", "ultimate:most"),
    Offer(MNK, "K-in-a-row on a board", MNK),
    Offer("near", "K-in-a-row without end, near other marks", "infinite:near"),
    Offer("growing", "K-in-a-row on a board that grows", "infinite:growing"),
    Offer("fixed", "K-in-a-row on a board of 11 x 11", "infinite:fixed+limiter5"),
    Offer("extreme", "Extreme tic-tac-toe, two boards", "extreme"),
)

_ULTIMATE, _EXTREME, _ROWS = ("ultimate",), ("extreme",), ("mnk", "infinite")
_CLOCK = "time={seconds},clock=wall"
AGENTS = (
    Offer("strongest", "Tuned alpha-beta, neural network", f"tuned:{_CLOCK},slots=262144,path=network", _ULTIMATE),
    Offer("shipped", "Tuned alpha-beta, learnt weights", f"tuned:{_CLOCK},slots=262144,path=shipped", _ULTIMATE),
    Offer("tuned", "Tuned alpha-beta", f"tuned:{_CLOCK},slots=262144", _ULTIMATE),
    Offer(
        "learnt",
        "Tuned alpha-beta, weights of your own",
        f"tuned:{_CLOCK},slots=262144,path={{directory}}/ultimate.weights",
        _ULTIMATE,
    ),
    Offer("strong", "Strong bot of the tournament", f"strong:{_CLOCK}", _EXTREME),
    Offer("alphabeta", "Alpha-beta, in the same time", f"alphabeta:{_CLOCK}", _ULTIMATE),
    Offer("extreme-alphabeta", "Alpha-beta of the tournament", f"alphabeta:heur=1,{_CLOCK}", _EXTREME),
    Offer("mcts", "Monte Carlo tree search", f"mcts:{_CLOCK},room=400000"),
    Offer("minimax-2", "Minimax, depth 2", "minimax:depth=2", _ULTIMATE),
    Offer("alphabeta-2", "Alpha-beta, depth 2", "alphabeta:depth=2", _ULTIMATE),
    Offer("expectimax-1", "Expectimax, depth 1", "expectimax:depth=1", _ULTIMATE),
    Offer("patterns", "Learnt patterns on lines", "patterns:path={directory}/patterns.weights", _ROWS),
    Offer("table", "Learnt table of values", "table:path={directory}/policies/{game}", _ROWS),
    Offer("qfeatures", "Q-learning by features", "qfeatures", _ULTIMATE),
    Offer("qtable", "Q-learning by states", "qtable", _ULTIMATE),
    Offer("random", "Chance", "random"),
)
"""The agents: the first one that plays a game without a user's weights is the strongest."""

SECONDS = ("0.1", "0.5", "2")
"""Seconds to think, for agents with a clock."""

SIZES = {"rows": 5, "columns": 5, "need": 4}
"""What the form for a new game of k-in-a-row proposes."""


def sizes_of(key: str) -> tuple[str, ...]:
    """Which of :data:`SIZES` a game has; KeyError if there is no such offer."""
    name = _name_of(key)
    return tuple(SIZES) if name == "mnk" else ("need",) if name == "infinite" else ()


def agents_of(key: str) -> tuple[Offer, ...]:
    """The agents that play a game; KeyError if there is no such offer."""
    name = _name_of(key)
    return tuple(offer for offer in AGENTS if not offer.games or name in offer.games)


def takes_time(key: str) -> bool:
    """Whether an agent thinks for as long as it may; KeyError if there is no such agent."""
    return "{seconds}" in {offer.key: offer.text for offer in AGENTS}[key]


def label_of(text: str) -> str:
    """A game's name for people, from its name with options; the text itself if it is no game of the choices.

    Examples
    --------
    >>> label_of("mnk:5x5+need4")
    '4-in-a-row on a board of 5 x 5'
    >>> label_of("infinite:near+need4+limiter2")
    '4-in-a-row without end, near other marks (limiter 2)'
    """
    name, _, options = text.partition(":")
    if name == "mnk":
        size, _, need = options.partition("+need")
        return f"{need or size.partition('x')[0]}-in-a-row on a board of {' x '.join(size.split('x'))}"
    form, *others = text.split("+")
    need = next((one.removeprefix("need") for one in others if one.startswith("need")), "")
    others = [one for one in others if not one.startswith("need")]
    exact = next((offer.label for offer in GAMES if offer.text == "+".join([form, *others])), None)
    told = ", ".join(re.sub(r"(\d+)$", r" \1", one) for one in others)
    near = next((f"{offer.label} ({told})" for offer in GAMES if offer.text == form), text)
    label = exact or near
    return label.replace("K-", f"{need}-") if need else label


_NAMES = {
    "random": "Chance",
    "mcts": "Monte Carlo tree search",
    "tuned": "Tuned alpha-beta",
    "alphabeta": "Alpha-beta",
    "minimax": "Minimax",
    "expectimax": "Expectimax",
    "qtable": "Q-learning by states",
    "qfeatures": "Q-learning by features",
    "strong": "Strong bot of the tournament",
    "patterns": "Learnt patterns on lines",
    "table": "Learnt table of values",
    "engine": "Program",
    "file": "Python file",
}
_OPTIONS = {"depth": "depth {}", "time": "{} s a move", "nodes": "{} positions a move", "heur": "heuristic {}"}


def agent_name(text: str) -> str:
    """An agent's name for people, from its name with options.

    Examples
    --------
    >>> agent_name("tuned:path=shipped,nodes=4000")
    'Tuned alpha-beta (learnt, 4000 positions a move)'
    """
    name, _, options = text.partition(":")
    told: list[str] = []
    for option in filter(None, options.split(",")):
        key, _, value = option.partition("=")
        if key == "path":
            learnt = "neural network" if value == "network" else "learnt"
            told.append(learnt if name in ("tuned", "mcts") else value.rpartition("/")[2])
        elif key == "nodes" and name == "mcts":
            told.append(f"{value} games a move")
        elif key != "clock":
            told.append(_OPTIONS.get(key, key + " {}").format(value.rpartition("/")[2]))
    return _NAMES.get(name, name) + (f" ({', '.join(told)})" if told else "")


def _name_of(key: str) -> str:
    return {offer.key: offer.text for offer in GAMES}[key].partition(":")[0]


def game_text(key: str, rows: int, columns: int, need: int) -> str:
    """The game's name with its options; KeyError if there is no such offer."""
    text = {offer.key: offer.text for offer in GAMES}[key]
    if key == MNK:
        return f"{text}:{rows}x{columns}+need{need}"
    return f"{text}+need{need}" if text.startswith("infinite") else text
