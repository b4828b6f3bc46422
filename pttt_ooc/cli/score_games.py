"""Agents that are played: `pttt lab score --games`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pttt_ooc.games.rules.catalogue import named_game

if TYPE_CHECKING:
    from pttt_ooc.games.rules.game import Game
    from pttt_ooc.library.scoring.agent_answers import Manner
    from pttt_ooc.library.scoring.aivat import GamesScore, JudgedMatch
    from pttt_ooc.library.scoring.opponents import Opponents

CERTIFICATE = ".txt.gz"
"""How the name of a certificate ends."""


def score_played(
    rules: Game,
    agents: dict[int, Any],
    equilibrium: str | None,
    games: int,
    manner: Manner,
    seed: int,
    matches: Path | None,
    as_json: bool,
) -> None:
    """Play the agents, and print what they lose."""
    from pttt_ooc.library.api.strategy_reader import best_solution
    from pttt_ooc.library.api.structures import data_directory
    from pttt_ooc.library.scoring.aivat import play_matches, score_judged

    name = equilibrium or str(best_solution(rules, data_directory(), plans=True))
    known = read_opponents(rules, name)
    judged = play_matches(known, agents, games, manner, seed)
    if matches is not None:
        _write_matches(matches, judged)
    found = score_judged(known, judged)
    print(json.dumps({"equilibrium": name, **found.as_record()}) if as_json else games_text(found, name))


def game_of_plan(name: str) -> str | None:
    """The name of the game of a plan or a certificate; None if it is something else."""
    from pttt_ooc.exact.certificates import certificate
    from pttt_ooc.library.api.strategy_names import named_strategy

    if name.endswith(CERTIFICATE):
        return certificate.read_game(Path(name)).name
    found = named_strategy(name, 0, plans=True)
    return found.game if found.kind == "plan" else None


def read_opponents(rules: Game, name: str) -> Opponents:
    """Both players' strategies of a name: a solution, a plan, a certificate or any other strategy.

    Raises
    ------
    PtttError
        If it cannot be read, is for another game, or needs a list of infosets that are not listed.
    """
    from pttt_ooc.config import Config, check_listed
    from pttt_ooc.errors import StrategyFileError
    from pttt_ooc.exact.certificates import certificate
    from pttt_ooc.library.api.plan_reader import read_plan_pair
    from pttt_ooc.library.api.strategies import Strategy
    from pttt_ooc.library.api.strategy_names import named_strategy
    from pttt_ooc.library.scoring.opponents import ListedOpponents, PlanOpponents

    if name.endswith(CERTIFICATE):
        found = certificate.read(Path(name))
        if found.game != rules:
            raise StrategyFileError(f"{name} is a certificate of {found.game.name}, not of {rules.name}.")
        return PlanOpponents.of_certificate(found)
    both = [named_strategy(name, player, plans=True) for player in (0, 1)]
    if both[0].kind == "plan":
        if both[0].game != rules.name:
            raise StrategyFileError(f"{name} is a plan of {both[0].game}, not of {rules.name}.")
        pair = read_plan_pair(both[0])
        return PlanOpponents.of_facts(rules, pair.plans, pair.facts)
    check_listed(Config(game=rules.name), "a strategy that is no plan")
    return ListedOpponents(*(Strategy.of_named(one, rules) for one in both))


def played_agent_of(name: str, game: str) -> Any:
    """The agent of a name where nothing is listed: uniform play or a plan of this game; None for anything else."""
    from pttt_ooc.errors import StrategyFileError
    from pttt_ooc.library.api.plan_reader import read_plan_pair
    from pttt_ooc.library.api.strategy_names import named_strategy
    from pttt_ooc.library.scoring.players import RowAgent, uniform_agent

    named = named_strategy(name, 0, plans=True)
    if named.kind == "plan":
        if named.game != game:
            raise StrategyFileError(f"{name} is a plan of {named.game}, not of {game}.")
        return RowAgent(read_plan_pair(named).row)
    return uniform_agent(named_game(game)) if named.kind == "uniform" else None


def games_text(found: GamesScore, name: str) -> str:
    """What is printed about a score."""
    from pttt_ooc.disk import numbers
    from pttt_ooc.library.scoring.aivat import FEW_LOSSES

    loss, plain = found.loss, found.plain_loss
    width = f", together at most {numbers.gap(found.best_width)} more" if found.best_width else ""
    lines = [
        f"{found.game}, {found.games:,} games against {name}: loses {loss.mean:.6f} a game, 95% interval "
        f"{loss.low:.6f} to {loss.high:.6f}; payoff {found.payoff_0.mean:+.6f} as player 0 and "
        f"{found.payoff_1.mean:+.6f} as player 1; a best response gets {found.best_0:+.6f} and "
        f"{found.best_1:+.6f}{width}.",
        f"By plain averaging: loses {plain.mean:.6f}, 95% interval {plain.low:.6f} to {plain.high:.6f}"
        + (f"; as narrow an interval would need {found.plain_games:,} games." if found.plain_games else "."),
        "Lost on average at each attempt: " + ", ".join(f"{one:.4f}" for one in found.loss_by_attempt) + ".",
    ]
    if found.inexact_attempts:
        lines.append(
            f"At {found.inexact_attempts:,} of {found.attempts:,} attempts too many squares are left for an exact "
            "loss; there the plan's own play stands for the best response. The mean and its interval stay right."
        )
    if found.illegal:
        lines.append(f"Illegal attempts: {found.illegal:,}, besides {found.attempts:,} legal ones.")
    if (belief := found.calibration) is not None:
        lines.append(
            f"Beliefs stated before {belief.stated:,} attempts: Brier score {belief.brier:.6f}, the exact beliefs' "
            f"{belief.exact_brier:.6f}; the stated ones are worse by {belief.excess:.6f} on average."
        )
    if found.lossy_games < FEW_LOSSES:
        lines.append(
            f"Only {found.lossy_games} of the games had a loss, too few to trust the interval: rare losses may not "
            "have come up.  Play more games."
        )
    return "\n".join(lines)


def _write_matches(path: Path, judged: list[JudgedMatch]) -> None:
    from pttt_ooc.disk.files import atomic_write_text

    atomic_write_text(path, "".join(f"{json.dumps(one.as_record())}\n" for one in judged))
