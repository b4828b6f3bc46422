"""Which equilibria a game has: `pttt lab equilibria`."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pttt_ooc.cli.console import say
from pttt_ooc.disk.numbers import fraction
from pttt_ooc.games.rules.catalogue import DEFAULT_GAME, exact_value, named_game
from pttt_ooc.options import DATA, DataOption, GameOption, JsonOption, ThreadsOption
from pttt_ooc.pipeline.show.tables import print_table, whole

if TYPE_CHECKING:
    from pttt_ooc.exact.equilibria.optimal_face import OptimalFace
    from pttt_ooc.exact.equilibria.supports import Supports
    from pttt_ooc.games.rules.game import Game

_LINE_SECONDS = 5.0  # between two lines of progress


def equilibria(
    game: GameOption = None,
    keep: Annotated[
        bool, typer.Option(help="Keep what some equilibrium plays: `pttt show` and the pages mark it.")
    ] = True,
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
    data: DataOption = DATA,
) -> None:
    """Tell how many equilibria a game has, and what all of them have in common.

    For each player: the dimension of the set of equilibrium strategies, counted where both players may come; the
    infosets and actions that some equilibrium plays; the least and the largest probability of each opening over all
    equilibria; and what the best pure strategy guarantees.  The game's index is read; the search takes seconds to
    minutes.
    """
    import numpy as np

    from pttt_ooc.config import Config, check_listed
    from pttt_ooc.disk.resources import cores
    from pttt_ooc.exact.double_oracle.oracle import DoubleOracle
    from pttt_ooc.exact.equilibria.optimal_face import OptimalFace
    from pttt_ooc.extras import check_extra
    from pttt_ooc.pipeline.files.equilibrium import write_supports
    from pttt_ooc.pipeline.stages.engines import open_engine
    from pttt_ooc.pipeline.stages.preparation import prepare_index

    check_extra("exact", "The command `pttt lab equilibria`")
    rules = named_game(game or DEFAULT_GAME)
    check_listed(Config(game=rules.name), "the search")
    begin = time.monotonic()
    directory = prepare_index(data, rules.name, "full")
    # One equilibrium, up to rounding: rounds of the double oracle until neither player gains anything.
    oracle = DoubleOracle(rules, threads=threads or cores())
    for _ in oracle.rounds():
        pass
    with open_engine(directory, rules.name, "full", np.float32, threads or cores()) as engine:
        # From its value the optimal face of each player, which holds all equilibrium strategies, and what they play.
        face = OptimalFace(oracle, engine)
        found = _supports(face)
        if keep:
            say(f"What some equilibrium plays is in {write_supports(directory, rules, found.plans)}.")
        record = {"game": rules.name, "value": face.value, "players": _players(rules, face, found)}
    record["seconds"] = round(time.monotonic() - begin, 1)
    print(json.dumps(record)) if as_json else _show(record)


def _supports(face: OptimalFace) -> Supports:
    """What some equilibrium plays, with lines of progress."""
    from pttt_ooc.exact.double_oracle.restricted_histories import Plans
    from pttt_ooc.exact.equilibria.supports import supports

    spoken = time.monotonic()

    def tell(player: int, reach: float, plans: Plans) -> None:
        nonlocal spoken
        if time.monotonic() - spoken > _LINE_SECONDS:
            spoken = time.monotonic()
            counts = " and ".join(f"{int(plan.counts[1]):,}" for plan in plans)
            say(f"Some equilibrium plays {counts} sequences, and perhaps more ...")

    return supports(face, tell)


def _players(rules: Game, face: OptimalFace, found: Supports) -> list[dict[str, Any]]:
    """The facts of both players."""
    import numpy as np

    from pttt_ooc.exact.equilibria.openings import opening_ranges
    from pttt_ooc.exact.equilibria.pure_maximin import best_pure
    from pttt_ooc.exact.equilibria.supports import dimensions

    facts = []
    for player, dimension in enumerate(dimensions(face, found.plans)):
        say(f"Ranges of the openings of player {player} ...")
        plan = found.plans[player]
        facts.append(
            {
                "dimension": dimension,
                "infosets": int(np.count_nonzero(plan.choices)),
                "sequences": int(plan.counts[1]),
                "openings": [
                    {"squares": one.squares, "lowest": one.lowest, "highest": one.highest}
                    for one in opening_ranges(face, player)
                ],
                "pure": best_pure(rules, player).value,
            }
        )
    return facts


def _show(record: dict[str, Any]) -> None:
    proven = exact_value(named_game(record["game"]))
    value = f"{record['value']:.12f}" if proven is None else fraction(proven, 12)
    print(f"{record['game']}: the value for player 0 is {value}")
    for player, facts in enumerate(record["players"]):
        count = "one equilibrium strategy" if not facts["dimension"] else f"dimension {facts['dimension']:,}"
        print(f"player {player}: {count}; {facts['sequences']:,} sequences at {facts['infosets']:,} infosets")
        if facts["openings"]:
            openings = [
                (whole(", ".join(map(str, one["squares"]))), f"{one['lowest']:.6f}", f"{one['highest']:.6f}")
                for one in facts["openings"]
            ]
            print_table(("  opens at", "least", "most"), openings)
        print(f"  the best pure strategy guarantees {facts['pure']}")
