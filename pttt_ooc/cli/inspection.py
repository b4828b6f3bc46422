"""Inspecting strategies: `pttt show`, `pttt compare`, `pttt mistakes`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pttt_ooc.options import (
    DATA,
    KINDS,
    DataOption,
    GameOption,
    GameValueOption,
    JsonOption,
    MemoryOption,
    ThreadsOption,
    WhoseOption,
)

if TYPE_CHECKING:
    from pttt_ooc.games.rules.game import Game
    from pttt_ooc.library.api.strategies import Strategy
    from pttt_ooc.library.api.strategy_names import NamedStrategy
    from pttt_ooc.library.questions.plan_pair import PlanPair

StrategyArgument = Annotated[str, typer.Argument(metavar="STRATEGY", help=f"A strategy: {KINDS}.")]
InfosetsOption = Annotated[
    Path | None, typer.Option("--infosets", metavar="FILE", help="The player's infosets, in the order of the rows.")
]


def add_commands(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command(epilog="Example: pttt show data/pttt-abrupt/full '|0*4.' --player 0")(show)
    app.command(epilog="Example: pttt compare mine.zip data/pttt-abrupt/full --against uniform")(compare)
    app.command(epilog="Example: pttt mistakes mine.zip --player 0 --top 20")(mistakes)


def show(
    strategy: StrategyArgument,
    infoset: Annotated[str, typer.Argument(metavar="INFOSET", help="Its text, such as '|0*4.', in quotes.")],
    player: WhoseOption = None,
    infosets: InfosetsOption = None,
    as_json: JsonOption = False,
    game: GameOption = None,
    data: DataOption = DATA,
) -> None:
    """Show what a strategy does at an infoset.

    The board is shown as the player sees it: their own marks, the marks of the opponent that they have found, and on
    all other squares the probability of an attempt.  Below it is the strategy's support at the infoset.  After
    `pttt lab equilibria`, a star marks what some equilibrium plays.
    """
    from pttt_ooc.games.rules.infoset_text import attempts_of
    from pttt_ooc.games.structure.infoset_parser import check_infoset
    from pttt_ooc.library.api.plan_reader import kept_support
    from pttt_ooc.pipeline.show.boards import attempts_sentence, board_text, support_sentences

    named, rules = named_strategies([strategy], player, [infosets], game, plans=True)
    whose, setup = named[0].player, len(rules.setup[named[0].player])
    infoset = check_infoset(rules, whose, infoset)
    # The row of probabilities.  A plan lists no infosets: it answers for this one only.
    pair = None
    if named[0].kind == "plan":
        from pttt_ooc.library.api.plan_reader import read_plan_pair

        pair = read_plan_pair(named[0])
    row = pair.row(whose, infoset) if pair else read_strategies(named, rules, data)[0][infoset]
    probabilities, attempts = row.tolist(), attempts_of(infoset)
    # What some equilibrium plays here, if that is known; it is listed by the attempts after the setup.
    support = None if pair else kept_support(named[0], rules, data)
    played = support.played_squares(whose, tuple(attempts)[setup:]) if support else None
    own = [square for square, p in enumerate(probabilities) if p > 0]
    # One object for programs; for people the board as the player sees it, then supports and values.
    if as_json:
        known = {"met": played is not None, "squares": played or []} if support else None
        steps = [{"square": s, "placed": placed} for s, placed in attempts]
        record = {"game": rules.name, "strategy": strategy, "player": whose, "infoset": infoset, "attempts": steps}
        record |= {"probabilities": probabilities, "support": own, "equilibria": known}
        print(json.dumps({**record, **(_plan_record(pair, whose, infoset) if pair else {})}))
        return
    print(f"{rules.name}, player {whose} at {infoset}: {attempts_sentence(infoset, setup)}.")
    print(f"x: marks of player 0; o: of player 1; numbers: probabilities of {strategy}.")
    print()
    print(board_text(rules, whose, infoset, probabilities, played or ()))
    print()
    print(*support_sentences(rules, own, support is not None, played), sep="\n")
    if pair:
        _show_values(pair, whose, infoset)


def _plan_record(pair: PlanPair, player: int, infoset: str) -> dict[str, Any]:
    """What is found at an infoset where nothing is listed: numbers and beliefs."""
    from pttt_ooc.site.explore.listed_pair import beliefs_record, numbers_record

    numbers, beliefs = pair.numbers(player, infoset), pair.beliefs(player, infoset)
    return {"numbers": numbers_record(numbers), "beliefs": beliefs_record(beliefs)}


def _show_values(pair: PlanPair, player: int, infoset: str) -> None:
    """Reach and values at an infoset where nothing is listed, as far as they are found."""
    from pttt_ooc.config import MOST_REPLIED_SQUARES
    from pttt_ooc.disk.numbers import decimals

    facts = pair.numbers(player, infoset)
    print(f"reach {facts.own_reach:.3g} by own attempts, {facts.opponent_reach:.3g} by the opponent's")
    if not facts.opponent_reach:
        print("Against this opponent no game gets here, so there are no values.")
        return
    best = decimals(facts.best_value) if facts.best_value == facts.best_value else ""
    print(f"value {decimals(facts.value)}" + (f", with the best response from here on {best}" if best else ""))
    if not best:
        print(
            "The best response takes long to find: it is searched where at most "
            f"{MOST_REPLIED_SQUARES} squares are left."
        )


def compare(
    a: Annotated[str, typer.Argument(metavar="A", help=f"A strategy: {KINDS}.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another one of the same player, likewise.")],
    player: WhoseOption = None,
    against: Annotated[
        str | None,
        typer.Option(metavar="STRATEGY", help="An opponent: tell what both get against it, and where they differ."),
    ] = None,
    top: Annotated[int, typer.Option(min=0, metavar="N", help="How many infosets of each kind to list.")] = 10,
    as_json: JsonOption = False,
    threads: ThreadsOption = None,
    game: GameOption = None,
    data: DataOption = DATA,
) -> None:
    """Tell how two strategies of one player differ.

    What each gets in the worst case is compared, and their probabilities at every infoset.  The infosets where they
    differ most are listed: by distance (half the sum of the differences of probabilities) times the mean of the
    strategies' own reach.  With an opponent they are also listed by value: how much A loses there because it does not
    do what B does.  What is lost at all infosets adds up to the difference of their values.
    """
    from pttt_ooc.cli import display
    from pttt_ooc.library.api.strategy_names import named_strategy
    from pttt_ooc.library.api.values import compare as compared

    named, rules = named_strategies([a, b], player, [None, None], game)
    opponent = [] if against is None else [named_strategy(against, 1 - named[0].player)]
    named, rules = _of_one_game([*named, *opponent], game)
    first, second, *others = read_strategies(named, rules, data, threads)
    comparison = compared(first, second, others[0] if others else None, top)
    if as_json:
        print(json.dumps({"inputs": [a, b], "against": against, **comparison.as_record()}))
        return
    display.comparison(comparison, (a, b), against)


def mistakes(
    strategy: StrategyArgument,
    player: WhoseOption = None,
    equilibrium: Annotated[
        str | None,
        typer.Option(
            metavar="STRATEGY",
            help="Measure against this strategy of the other player; default: the best solution in --data.",
        ),
    ] = None,
    top: Annotated[int, typer.Option(min=0, metavar="N", help="How many infosets of each sum to list.")] = 20,
    infosets: InfosetsOption = None,
    game_value: GameValueOption = None,
    as_json: JsonOption = False,
    threads: ThreadsOption = None,
    memory_mb: MemoryOption = None,
    game: GameOption = None,
    data: DataOption = DATA,
) -> None:
    """Tell where a strategy loses.

    Its exploitability comes from own mistakes and openings.  Own mistakes lose even against an opponent who plays an
    equilibrium and does not react.  Openings are what an opponent gains by reacting: where the strategy is too
    predictable.  The costliest infosets of both are listed, mirror images together, with what would be best there.  If
    the strategy that it is measured against is no exact equilibrium, there is a remainder.
    """
    import numpy as np

    from pttt_ooc.cli import display
    from pttt_ooc.config import MEMORY_MB
    from pttt_ooc.disk.resources import cores
    from pttt_ooc.library.api import strategy_reader
    from pttt_ooc.library.api.strategy_names import named_strategy
    from pttt_ooc.library.questions.losses import loss_arrays
    from pttt_ooc.library.questions.mistakes import find_mistakes
    from pttt_ooc.pipeline.stages.engines import arrays_for, open_engine
    from pttt_ooc.pipeline.stages.preparation import prepare_index

    interval = strategy_reader.parse_interval(game_value) if game_value is not None else None
    [own], rules = named_strategies([strategy], player, [infosets], game)
    # The equilibrium strategy of the opponent, against which own mistakes are measured, and the value of the game.
    name = equilibrium or str(strategy_reader.best_solution(rules, data))
    named, _ = _of_one_game([own, named_strategy(name, 1 - own.player)], rules.name)
    value = interval or strategy_reader.required_value(rules, named, data)
    # Both strategies on one index, which uses symmetry only if both have it.
    symmetry = strategy_reader.common_symmetry(named)
    directory = prepare_index(data, rules.name, symmetry)
    with open_engine(directory, rules.name, symmetry, np.float64, threads or cores()) as engine:
        # Arrays for reading and for the losses share one budget of memory.
        reading = strategy_reader.reading_needs(named, engine.index, data)
        budget, both = memory_mb or MEMORY_MB, (loss_arrays(engine.index), reading.arrays)
        arrays, own_arrays = arrays_for(engine, "mistakes", reading.fixed, both, budget, directory)
        read = [
            strategy_reader.load_strategy(one, engine.index, data, part, directory)
            for one, part in zip(named, own_arrays, strict=True)
        ]
        # Exploitability = own mistakes + openings + a remainder, which is 0 against an equilibrium.
        result = find_mistakes(read[0], read[1], engine, value, top, arrays)
    if as_json:
        print(json.dumps({"strategy": strategy, "equilibrium": name, **result.as_record()}))
        return
    display.mistakes(result, strategy, name)


def named_strategies(
    names: list[str], player: int | None, infosets: list[Path | None], game: str | None, plans: bool = False
) -> tuple[list[NamedStrategy], Game]:
    """Strategies of one player as they were named, and their game; `plans`: whether one may be a plan."""
    from pttt_ooc.library.api.strategy_names import named_strategy, player_of

    whose = player_of(names, game) if player is None else player
    found = [named_strategy(name, whose, order, plans) for name, order in zip(names, infosets, strict=True)]
    return _of_one_game(found, game)


def _of_one_game(named: list[NamedStrategy], game: str | None) -> tuple[list[NamedStrategy], Game]:
    from pttt_ooc.library.api.strategy_names import further_of

    return named, further_of(named, game)


def read_strategies(named: list[NamedStrategy], game: Game, data: Path, threads: int | None = None) -> list[Strategy]:
    """Read strategies that were named."""
    from pttt_ooc.library.api.strategies import Strategy
    from pttt_ooc.library.api.structures import configure

    configure(data, threads)
    return [Strategy.of_named(one, game) for one in named]
