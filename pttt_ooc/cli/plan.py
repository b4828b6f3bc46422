"""What a run will need, and which stages it will run: `pttt plan`, `pttt why`."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pttt_ooc.disk.resources import cores
from pttt_ooc.options import (
    BoardOptions,
    ConfigOption,
    GameOption,
    JsonOption,
    ThreadsOption,
    chosen_game,
    spread,
    with_keys,
)

if TYPE_CHECKING:
    from pttt_ooc.config import Config
    from pttt_ooc.games.rules.game import Game
    from pttt_ooc.pipeline.stages.memory_plan import MemoryPlan


def add_commands(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    example = "Example: pttt plan --game pttt-2x5k3-abrupt --memory-mb 1024"
    app.command(epilog=example, cls=with_keys("symmetry", "memory_mb"))(plan)
    app.command(epilog="Example: pttt why data/pttt-abrupt/full")(why)


@spread
def plan(
    *,
    context: typer.Context,
    game: GameOption = None,
    board: BoardOptions,
    config: ConfigOption = None,
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell what memory and disk a run will need.

    Nothing is written.  For a game whose infosets cannot be listed, it tells what `snakemake frontier` and `pttt exact`
    need.  Memory and disk follow from the size of the game; all but the smallest budget is approximate.
    """
    from pttt_ooc.cli.sections import load_with_options
    from pttt_ooc.games.rules.catalogue import named_game
    from pttt_ooc.games.rules.game import MOST_ENUMERATED_SQUARES
    from pttt_ooc.pipeline.stages.memory_plan import plan_memory

    checked = load_with_options(config, chosen_game(game, board), context.obj)
    if named_game(checked.game).squares > MOST_ENUMERATED_SQUARES:
        _show_frontier(named_game(checked.game), checked.memory_mb, as_json)
        return
    projected = plan_memory(checked, threads or cores())
    if as_json:
        print(json.dumps(_record(projected)))
    else:
        _show(projected)


def _show_frontier(game: Game, budget_mb: int, as_json: bool) -> None:
    """Print what a run beyond enumeration needs."""
    from pttt_ooc.pipeline.frontier.needs import needs_of_game

    found = needs_of_game(game, budget_mb)
    if as_json:
        print(json.dumps({"game": game.name, "listed": False, **asdict(found)}))
        return
    print(
        f"{game.name}: at most {found.infosets:.1e} infosets, which cannot be listed; the workflow's stages cannot run."
    )
    print(
        f"`snakemake frontier` or `pttt exact --game {game.name}` finds an interval for its value, in rounds, which "
        "narrows until it is exact or a limit is reached."
    )
    if found.smallest_mb > budget_mb:
        print(f"This budget is too small: it needs {found.smallest_mb} MB to begin.")
        return
    print(
        f"It needs {found.smallest_mb} MB to begin. A memory_mb of {budget_mb} has room for about "
        f"{found.sequences:,} sequences; `pttt-3x4k3-abrupt` was exact after 80,000."
    )
    print("Nobody knows beforehand how many rounds it takes. A saved run goes on with more minutes or memory.")


def why(
    place: Annotated[
        Path,
        typer.Argument(metavar="PLACE", help="A configuration, or a directory with one or with the results of a run."),
    ] = Path("config.yaml"),
) -> None:
    """Tell which stages of the workflow are stale, and why.

    Nothing is written.  A directory of results, such as data/GAME/SYMMETRY, is compared with what config.yaml asks for,
    taken for that game, symmetry and run.
    """
    from pttt_ooc.pipeline.stages.staleness import reasons, requested_stages, status_lines

    config, directory = _asked_at(place)
    for line in status_lines(reasons(directory, requested_stages(config, directory))):
        print(line)


def _asked_at(place: Path) -> tuple[Config, Path]:
    """A configuration, and the directory of its results."""
    from pttt_ooc.cli.sections import load_file
    from pttt_ooc.config import check_config
    from pttt_ooc.pipeline.stages.directories import results_of, run_of, structure_of

    file = place / "config.yaml" if place.is_dir() else place
    if file.exists() or not place.is_dir():
        config, _ = load_file(file)
        data = place / "data" if place.is_dir() else Path("data")
        return config, results_of(data, config.game, config.symmetry, config.run)
    usual = Path("config.yaml")
    content = load_file(usual)[0].model_dump(mode="json") if usual.exists() else {}
    structure = structure_of(place)
    named = {"game": structure.absolute().parent.name, "symmetry": structure.absolute().name, "run": run_of(place)}
    return check_config({**content, **named}, str(place)), place


def _record(plan: MemoryPlan) -> dict[str, object]:
    stages = {name: asdict(each) for name, each in plan.stages.items()}
    facts = {"game": plan.game, "symmetry": plan.symmetry, "budget_mb": plan.budget_mb, "counts": dict(plan.counts)}
    disk = {"disk_mb": round(plan.disk_mb, 1), "most_disk_mb": round(plan.most_disk_mb, 1)}
    facts |= {"sequences": plan.sequences, "stages": stages, "exact_from_mb": plan.exact_from_mb, **disk}
    return facts


def _show(plan: MemoryPlan) -> None:
    from pttt_ooc.pipeline.show.tables import print_table
    from pttt_ooc.pipeline.stages.memory_plan import HEADINGS

    if plan.counts:
        infosets = sum(plan.counts["total_infosets"])
        print(f"{plan.game}, symmetry {plan.symmetry}: {infosets:,} infosets, {plan.counts['histories']:,} histories")
    else:
        print(f"{plan.game}: its infosets are not listed (listed: true lists them)")
    print(f"The budget of memory is {plan.budget_mb:g} MB; all figures but the smallest budgets are approximate.\n")
    print_table(HEADINGS, plan.rows())
    print(f"\nAll results take {_size(plan.disk_mb)} of disk, with {_size(plan.most_disk_mb)} at most on the way.")
    if any(each.mapped_mb for each in plan.stages.values()):
        print("What does not fit into the budget is read from files, which takes longer on a slow disk.")
    if plan.exact_from_mb:
        print(
            f"An exact equilibrium needs a memory_mb of {plan.exact_from_mb}; "
            "with less, the result is the solver's strategies."
        )
    too_small = max(each.smallest_mb for each in plan.stages.values())
    if too_small > plan.budget_mb:
        print(f"This budget is too small: at least {too_small} MB are needed.")


def _size(megabytes: float) -> str:
    from pttt_ooc.disk.numbers import size

    return size(round(megabytes * 1e6))
