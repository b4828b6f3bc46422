"""The group ``pttt lab``: commands of research, and of checks. Their modules are imported when one of them is used."""

from __future__ import annotations

from functools import cached_property
from pkgutil import resolve_name
from typing import Any

import typer

from pttt_ooc.options import Group
from pttt_ooc.pipeline.stages import DEFAULT_RUN

_FILES, _CHECKS = "pttt_ooc.cli.strategy_files", "pttt_ooc.cli.run_checks"
_ARENA = "pttt_ooc.other_games.arena.terminal.lab_commands"
_SOLVERS = "pttt_ooc.other_games.arena.research.solvers.commands"

SECTIONS = {
    "Agents and learners": {
        "score": ("pttt_ooc.cli.score:score", "agent.py:observe --game dark-hex-3x3-classical"),
        "learn": ("pttt_ooc.learners.commands:learn", "xfp --game pttt-abrupt --max-minutes 10 --set power=1"),
    },
    "Strategies and equilibria": {
        "best-response": (f"{_FILES}:best_response", "pttt_pl0.zip --output reply.zip"),
        "uniform": (f"{_FILES}:uniform", "--player 0 --output pttt_pl0.zip"),
        "infosets": (f"{_FILES}:infosets", "--player 0 --output player0-infosets.txt"),
        "export": (f"{_FILES}:export", "data/pttt-abrupt/full --output results --dtype float64"),
        "equilibria": ("pttt_ooc.cli.equilibria:equilibria", "--game dark-hex-3x3-abrupt"),
    },
    "What is on disk": {
        "fsck": (f"{_CHECKS}:fsck", "data"),
        "verify-run": (f"{_CHECKS}:verify_run", f"data/pttt-abrupt/full {DEFAULT_RUN}"),
        "workflow": ("pttt_ooc.cli.workflow_copy:copy", "games"),
    },
    "The arena: claims": {
        "experiment": (f"{_ARENA}:experiment", "examples/arena/ultimate.yaml heur1-random"),
        "claims": (f"{_ARENA}:claims", "data/arena"),
        "record": (f"{_ARENA}:record", "examples/arena/rows.yaml -o docs/records/arena/rows.jsonl"),
        "perft": (f"{_ARENA}:perft", "--game ultimate --depth 6 --moves 0,3,27"),
    },
    "The arena: proofs and trainings": {
        "endings": (f"{_SOLVERS}:endings", "-o data/arena/endings.jsonl"),
        "certify-endings": (f"{_SOLVERS}:certify_endings", "endings.jsonl -o endings.gz"),
        "errors": (f"{_SOLVERS}:errors", "data/arena/endings.jsonl tuned:time=0.01 random"),
        "attack": (f"{_SOLVERS}:attack", "-o data/arena/attack.jsonl"),
        "forced-win": (f"{_SOLVERS}:forced_win", "-o ultimate-open.gz"),
        "train-patterns": (f"{_SOLVERS}:train_patterns", "-o weights"),
        "train-ultimate": (f"{_SOLVERS}:train_ultimate", "-o ultimate.weights"),
    },
}
"""For each command of a section its function, and the arguments of an example."""


class Lab(Group):
    """The commands of :data:`SECTIONS`, made when the group is asked for them."""

    sections = {heading: tuple(section) for heading, section in SECTIONS.items()}

    @property
    def commands(self) -> Any:
        """The commands by their names."""
        return self._made

    @commands.setter
    def commands(self, _: Any) -> None:
        """Ignore what typer sets: it finds no commands in the group."""

    @cached_property
    def _made(self) -> Any:
        made = typer.Typer(add_completion=False, rich_markup_mode=None)
        for section in SECTIONS.values():
            for name, (function, arguments) in section.items():
                made.command(name, epilog=f"Example: pttt lab {name} {arguments}")(resolve_name(function))
        return typer.main.get_group(made).commands


def add_commands(app: typer.Typer) -> None:
    """Add the group to the command line."""
    lab = typer.Typer(
        cls=Lab, help="Score agents, learn games, check runs; research.", no_args_is_help=True, rich_markup_mode=None
    )
    app.add_typer(lab, name="lab")
