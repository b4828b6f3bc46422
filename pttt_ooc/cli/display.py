"""Tables on the command line: games, evaluations, solutions."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from pttt_ooc.cfr.solving.evaluation import Evaluation, WorstCase
from pttt_ooc.disk import numbers
from pttt_ooc.disk.manifests import read_manifest
from pttt_ooc.disk.numbers import duration, span
from pttt_ooc.games.rules.catalogue import (
    EXACT_VALUES,
    GAMES,
    PUBLISHED_VALUES,
    aim,
    exact_value,
    named_game,
    reference_value,
)
from pttt_ooc.games.rules.game import MOST_ENUMERATED_SQUARES, Game
from pttt_ooc.games.structure.counts import counts_of, total_infosets
from pttt_ooc.games.structure.views import Pairs, find_pairs
from pttt_ooc.pipeline.show.tables import print_facts, print_table, whole
from pttt_ooc.pipeline.stages.directories import manifest_of
from pttt_ooc.types import Interval

if TYPE_CHECKING:
    from pttt_ooc.library.api.values import Comparison
    from pttt_ooc.library.questions.losses import Loss, Losses
    from pttt_ooc.library.questions.mistakes import Mistakes

JSON_KEYS = (
    *("game", "symmetry", "inputs", "value", "best_response_0", "best_response_1", "nashconv"),
    *("exploitability_0", "exploitability_1", "game_value", "seconds"),
)
_SHORT = 24  # characters of a fraction in a table
_EXACT = 1e-9  # half the width of an interval that is shown as a number


# ---------------------------------------------------------------------------------------------
# Games


def games() -> None:
    """List the named games with their rules and sizes."""
    rows = []
    for name in [*GAMES, *(name for name in EXACT_VALUES if name not in GAMES)]:
        game = named_game(name)
        large = game.squares > MOST_ENUMERATED_SQUARES
        sizes = ["-", "-"] if large else [f"{n:,}" for n in total_infosets(name)]
        rules = (f"{game.rows}x{game.columns}", aim(game), game.turn_rule, _setup(game) or "-")
        value = exact_value(game)
        told = "-" if value is None else numbers.fraction(value, most=_SHORT)
        rows.append((name, *rules, *sizes, told))
    print_table(("game", "board", "a player wins with", "turns", "setup", "infosets of 0", "of 1", "value"), rows)
    print("\nabrupt: a failed attempt passes the turn; classical: it keeps the turn.")
    print(
        "Values are for player 0, and proven: `pttt verify` checks the proofs in the folder proof/ of the repository."
    )
    print("Other boards have names of the same form: pttt-ROWSxCOLUMNSkK-RULE, dark-hex-ROWSxCOLUMNS-RULE, and with")
    print("-after-SQUARE-SQUARE... for marks that are placed before the game; up to ten squares.")
    print("`pttt info NAME` tells more about one of them.")


def _setup(game: Game) -> str:
    """The squares of the setup, in the order in which they are placed."""
    first, second = game.setup
    return " ".join(str((first, second)[i % 2][i // 2]) for i in range(len(first) + len(second)))


def one_game(game: Game) -> None:
    """Print the rules of a game and, unless its board is too large, its exact size."""
    if game.squares > MOST_ENUMERATED_SQUARES:
        print(game.name)
        print_facts([*_rules(game), _known_value(game)])
        return
    pairs = find_pairs(game)
    counts = counts_of(game, pairs)
    print(game.name)
    print_facts(_facts(game, pairs, counts["histories"], counts["terminal_histories"]))
    print()
    both = [counts["infosets_0"], counts["infosets_1"]]
    depths = [(n, *(f"{one[n]:,}" if n < len(one) else "-" for one in both)) for n in range(max(map(len, both)))]
    together = ("all", *(f"{n:,}" for n in counts["total_infosets"]))
    print_table(("own attempts", "infosets of player 0", "infosets of player 1"), [*depths, together])


def _facts(game: Game, pairs: Pairs, histories: int, terminal: int) -> list[tuple[str, str]]:
    return [
        *_rules(game),
        ("histories", f"{histories:,}, of these {terminal:,} at the end of a game"),
        ("views", " and ".join(f"{_views(pairs, player):,} (player {player} to move)" for player in (0, 1))),
        ("pairs of views", f"{len(pairs.mover):,}"),
        _known_value(game),
    ]


def _rules(game: Game) -> list[tuple[str, str]]:
    turn = {"abrupt": "passes the turn", "classical": "keeps the turn"}[game.turn_rule]
    return [
        ("board", f"{game.rows} x {game.columns} squares, numbered row by row from 0"),
        ("a player wins with", aim(game)),
        ("a failed attempt", turn),
        ("setup", _setup(game) or "none"),
        ("symmetries", str(len(game.symmetries))),
    ]


def _known_value(game: Game) -> tuple[str, str]:
    value = exact_value(game)
    if value is None:
        return "value for player 0", f"not proven yet; `pttt exact --game {game.name}` finds it"
    published = f"; published: {PUBLISHED_VALUES[game.name]}" if game.name in PUBLISHED_VALUES else ""
    told = numbers.fraction(value, 12)
    return "value for player 0", f"{told} (proven by proof/{game.name}.txt.gz{published})"


def _views(pairs: Pairs, player: int) -> int:
    mine = pairs.mover == player
    return len(set(zip(pairs.placed[player][mine].tolist(), pairs.failed[player][mine].tolist(), strict=True)))


# ---------------------------------------------------------------------------------------------
# Evaluations and solutions


def evaluation(result: Evaluation, game: Game, symmetry: str, inputs: tuple[str, str], as_json: bool) -> None:
    """Print an evaluation, as a table or as one JSON object.

    Parameters
    ----------
    inputs
        The names of the strategies of player 0 and player 1.
    """
    question = {"game": game.name, "symmetry": symmetry, "inputs": list(inputs)}
    if as_json:
        record = question | asdict(result)
        print(json.dumps({key: record[key] for key in JSON_KEYS}))
        return
    print_facts(
        [
            ("game", game.name),
            *((f"P{player}", whole(name)) for player, name in enumerate(inputs)),
            ("value of P0 against P1, for player 0", f"{result.value:+.9f}"),
            ("best response of player 0, to P1", f"{result.best_response_0:+.9f}"),
            ("best response of player 1, to P0", f"{result.best_response_1:+.9f}"),
            ("NashConv, the sum of both", numbers.exploitability(result.nashconv, 9)),
            ("exploitability of P0", _exploitability(result.exploitability_0, game, result.game_value)),
            ("exploitability of P1", _exploitability(result.exploitability_1, game, result.game_value)),
            _game_value(game, result.game_value),
            ("time", duration(result.seconds, 1)),
        ]
    )


def worst_case(result: WorstCase, game: Game, symmetry: str, name: str, options: str, as_json: bool) -> None:
    """Print how good one strategy is, as a table or as one JSON object.

    Parameters
    ----------
    name
        The name of the strategy.
    options
        The options that named its player and its game.
    """
    if as_json:
        print(json.dumps({"game": game.name, "symmetry": symmetry, "inputs": [name], **asdict(result)}))
        return
    facts = [
        ("game", game.name),
        (f"player {result.player}", whole(name)),
        ("worst case, for the player", f"{result.worst_case:+.9f}"),
        _game_value(game, result.game_value),
        ("exploitability", _exploitability(result.exploitability, game, result.game_value)),
    ]
    if result.exploitability is not None:
        facts.append(("scale", numbers.scale(result.exploitability, result.uniform_exploitability)))
    print_facts([*facts, ("time", duration(result.seconds, 1))])
    if result.exploitability is not None and result.exploitability > _EXACT:
        print(f"\n`pttt mistakes {name}{options}` tells where it loses.")


def _half_width(bounds: Interval | None) -> float:
    return (bounds[1] - bounds[0]) / 2 if bounds else 0.0


def _exploitability(number: float | None, game: Game, bounds: Interval | None) -> str:
    """An exploitability, and how far it may be wrong if the game's value is only known to lie within `bounds`."""
    if number is None:
        return f"unknown, like the value of this game: `pttt solve --game {game.name}` finds it, or give --game-value"
    half = _half_width(bounds)
    told = numbers.exploitability(number, 9, half if half > _EXACT else 0.0)
    return told + (f", give or take {numbers.gap(half)}" if half > _EXACT else "")


def _game_value(game: Game, bounds: Interval | None) -> tuple[str, str]:
    """The value of the game: the proven one, or the interval that strategies were measured against."""
    proven, known = exact_value(game), reference_value(game)
    if proven is not None and known is not None and bounds is not None and _within(bounds, known):
        return "value of the game, for player 0", numbers.fraction(proven, 9)
    if bounds is None:
        return "value of the game, for player 0", "unknown"
    if _half_width(bounds) < _EXACT:
        return "value of the game, for player 0", f"{sum(bounds) / 2:+.9f}"
    return "value of the game lies in", span(*bounds, 9)


def _within(bounds: Interval, known: Interval) -> bool:
    """Whether the interval is the proven value, as far as double precision tells."""
    return known[0] - numbers.NOISE <= bounds[0] and bounds[1] <= known[1] + numbers.NOISE


def solution(directory: Path) -> None:
    """Print the result of a solve."""
    manifest = read_manifest(manifest_of(directory, "solve"), "solve")
    result, proven = manifest["result"], exact_value(named_game(str(manifest["game"])))
    print(f"The solution is in {directory / 'solution.zarr'}.")
    print_facts(
        [
            ("value of the game lies in", span(result["value_lower"], result["value_upper"], 9)),
            *([] if proven is None else [("value of the game, proven", numbers.fraction(proven, 9))]),
            ("NashConv", numbers.gap(result["nashconv"])),
            ("iterations", f"{result['iteration']} in {duration(result['seconds'])}"),
            ("stopped by", str(result["stopped_by"])),
        ]
    )


def comparison(result: Comparison, names: tuple[str, str], against: str | None) -> None:
    """Print how two strategies of one player differ.

    Parameters
    ----------
    names
        The names of the strategies.
    against
        The name of the opponent.
    """
    rows = [("worst case of", result.worst_cases), (f"against {whole(against)},", result.values)]
    values = [
        (f"{what} {whole(name)}, for player {result.player}", f"{value:+.9f}")
        for what, pair in rows
        if pair
        for name, value in zip(names, pair, strict=True)
    ]
    print_facts(
        [
            ("game", result.game),
            *values,
            ("infosets compared", f"{result.infosets:,}"),
            ("with other probabilities", f"{result.different:,}"),
            ("mean distance, weighted by reach", f"{result.mean_distance:.6f}"),
        ]
    )
    if result.largest:
        print()
        _print_distances(result, names)
    if result.losses is not None and result.losses.infosets:
        print()
        _print_losses("lost by the first", result.losses, "played ", "best")


def _print_distances(result: Comparison, names: tuple[str, str]) -> None:
    first_name, second_name = map(whole, names)
    rows = []
    for one in result.largest:
        square = max(
            range(len(one.probabilities[0])), key=lambda s: abs(one.probabilities[0][s] - one.probabilities[1][s])
        )
        first, second = one.probabilities[0][square], one.probabilities[1][square]
        reach = (f"{one.reach[0]:.4g}", f"{one.reach[1]:.4g}")
        furthest = f"square {square}: {first:.4f}, {second:.4f}"
        rows.append((one.infoset, f"{one.weight:.4g}", f"{one.distance:.4f}", *reach, furthest))
    headings = ("infoset", "weight", "distance", f"reach by {first_name}", f"by {second_name}", "most different")
    print_table(headings, rows)


def mistakes(result: Mistakes, name: str, equilibrium: str) -> None:
    """Print where a strategy loses.

    Parameters
    ----------
    name, equilibrium
        The names of the strategy and of the opponent's strategy.
    """
    me, other = result.player, 1 - result.player
    parts = [
        ("  own mistakes: lost even if the opponent does not react", f"{result.own.total:.9f}"),
        ("  openings: gained by an opponent who reacts", f"{result.openings.total:.9f}"),
    ]
    if abs(result.remainder) >= _EXACT:
        told = numbers.gap(result.remainder)
        parts.append((f"  remainder: player {other}'s strategy is no exact equilibrium", told))
    print_facts(
        [
            ("game", result.game),
            (f"player {me}", whole(name)),
            (f"player {other}", whole(equilibrium)),
            ("exploitability", numbers.exploitability(result.exploitability, 9)),
            *parts,
        ]
    )
    print()
    both = (result.own.by_depth, result.openings.by_depth)
    depths = [(n, *(f"{one[n]:.6f}" if n < len(one) else "-" for one in both)) for n in range(max(map(len, both)))]
    print_table(("own attempts before", "own mistakes", "openings"), depths)
    for heading, part, you, best in (
        ("own mistakes", result.own, "you play it ", "best"),
        ("openings", result.openings, "played ", "best reply"),
    ):
        if part.infosets:
            print()
            _print_losses(heading, part, you, best)


def _print_losses(heading: str, part: Losses, you: str, best: str) -> None:
    """Print a list of infosets; `you` precedes the probability of the costliest square, `best` is the last heading."""
    rows = []
    for one in part.infosets:
        loss = f"{one.loss:.6f}" if abs(one.loss) >= 1e-6 else f"{one.loss:.1e}"
        costs = (_square(one, one.costliest, you), _square(one, one.best))
        rows.append((one.infoset, one.images, loss, f"{one.reach:.4g}", *costs))
    print_table((heading, "mirror images", "loss", f"reach by player {part.player}", "costs most", best), rows)


def _square(one: Loss, square: int, you: str = "") -> str:
    """A square, with the probability of its attempt."""
    return f"square {square} ({you}{numbers.percent(one.probabilities[square])})"
