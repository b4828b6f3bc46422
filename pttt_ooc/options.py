"""Options shared by several commands, with their help texts, and groups of commands.

An option has the same meaning in all commands.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, NamedTuple, get_args, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from pttt_ooc.errors import GameError
from pttt_ooc.games.rules.catalogue import DEFAULT_GAME, GAMES, named_game, tic_tac_toe_name
from pttt_ooc.types import TurnRule


class Group(TyperGroup):
    """Commands in sections, whose summaries are shown in full, on several lines where the terminal is narrow."""

    sections: Mapping[str, Sequence[str]] = {}
    """The names of the commands below each heading; if empty, all are below one."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a line for each command."""
        shown = [name for name in self.list_commands(ctx) if not self.commands[name].hidden]
        widest = max(map(len, shown))
        for heading, names in (self.sections or {"Commands": shown}).items():
            with formatter.section(heading):
                formatter.write_dl(
                    [(f"{name:{widest}}", self.commands[name].get_short_help_str(1000)) for name in names]
                )


class OptionSections(TyperCommand):
    """A command whose options are below headings: those of typer's ``rich_help_panel``."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write a line for each parameter."""
        below = dict[str, list[tuple[str, str]]]()
        for one in self.get_params(ctx):
            kind = "Arguments" if one.param_type_name == "argument" else "Options"
            if (record := one.get_help_record(ctx)) is not None:
                below.setdefault(getattr(one, "rich_help_panel", None) or kind, []).append(record)
        for heading, records in sorted(below.items(), key=lambda item: item[0] == "Options"):  # the general ones last
            with formatter.section(heading):
                formatter.write_dl(records)


def group(summary: str, sections: Mapping[str, Sequence[str]] | None = None) -> typer.Typer:
    """A group of commands, for `add_typer`; for `sections` see :class:`Group`."""
    made = type("Sections", (Group,), {"sections": sections or {}})
    return typer.Typer(cls=made, help=summary, no_args_is_help=True, rich_markup_mode=None)


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """A command for typer in which every parameter that is a named tuple becomes one option for each field.

    Options are listed in the order of the parameters; those of a named tuple that comes first are listed last.
    """
    taken = inspect.signature(command, eval_str=True).parameters
    groups = {name: one.annotation for name, one in taken.items() if hasattr(one.annotation, "_field_defaults")}
    parameters, named = list[inspect.Parameter](), inspect.Parameter.KEYWORD_ONLY  # as typer calls it, in any order
    first = next(iter(taken))
    for name, one in sorted(taken.items(), key=lambda item: item[0] == first and first in groups):
        if kind := groups.get(name):
            hints = get_type_hints(kind, include_extras=True)
            parameters += [
                one.replace(
                    name=field, annotation=hints[field], default=kind._field_defaults.get(field, one.empty), kind=named
                )
                for field in kind._fields
            ]
        else:
            parameters.append(one.replace(kind=named))

    @wraps(command)
    def spread_command(**values: Any) -> None:
        for name, kind in groups.items():
            values[name] = kind(**{field: values.pop(field) for field in kind._fields})
        command(**values)

    spread_command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    spread_command.__annotations__ = {one.name: one.annotation for one in parameters}
    return spread_command


def with_keys(*keys: str) -> type[TyperCommand]:
    """The class of a command with an option for each of these keys of the configuration; a section means all its keys.

    Names, types, defaults and help are those of the configuration's model.  Options are made when they are asked for,
    since the model takes long to import.  The command finds the given values in ``context.obj``: ``{"run":
    "other", "solve": {"alpha": 1.5}}``.
    """

    class KeyedCommand(TyperCommand):
        _own: list[Any]
        _all: list[Any]

        @property
        def params(self) -> Any:
            if not self._all:
                self._all = [*self._own, *(option for key in keys for option in _options_of(key))]
            return self._all

        @params.setter
        def params(self, own: Any) -> None:
            self._own, self._all = own, []

        def invoke(self, ctx: Any) -> Any:
            """Run the command."""
            given = {one.name: ctx.params.pop(one.name) for one in self.params[len(self._own) :]}
            ctx.obj = {}
            for name, value in given.items():
                if value is not None:
                    section, _, key = name.rpartition(".")
                    (ctx.obj.setdefault(section, {}) if section else ctx.obj)[key] = value
            return super().invoke(ctx)

    return KeyedCommand


def _options_of(key: str) -> Iterator[Any]:
    """The option of a key of the configuration, or those of a section, whose names begin with the section's name."""
    from pttt_ooc.config import Config

    section = getattr(Config.model_fields[key].annotation, "model_fields", None)
    fields = section or {key: Config.model_fields[key]}
    parameters = []
    for name, field in fields.items():
        kind: Any = field.annotation
        if NoneType in get_args(kind):  # null means the same as no option
            kind = get_args(kind)[0]
        kind = kind.__origin__ if hasattr(kind, "__metadata__") else kind
        told, _, default = (field.description or "").rstrip(".").partition("; null: ")
        default = default or (f"{field.default:g}" if kind is float else field.default)
        metavar = "MB" if name.endswith("_mb") else "NAME" if kind is str else None
        option = typer.Option(f"--{name.replace('_', '-')}", metavar=metavar, help=f"{told}.  [default: {default}]")
        annotation = Annotated[kind | None, option]
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation))

    def command(**values: Any) -> None:
        """Have the parameters."""

    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    made = typer.Typer(add_completion=False)
    made.command()(command)
    for option in typer.main.get_command(made).params:
        option.name = f"{key}.{option.name}" if section else option.name
        yield option


def check_game(name: str | None) -> str | None:
    """The same name; an UnknownGameError if no game has it."""
    if name is not None:
        named_game(name)
    return name


def _games(incomplete: str) -> list[str]:
    """Games whose names a shell proposes."""
    return [name for name in GAMES if name.startswith(incomplete)]


GameOption = Annotated[
    str | None,
    typer.Option(
        "--game",
        metavar="NAME",
        help=f"The game; `pttt info` lists them.  [default: what the files say, or else {DEFAULT_GAME}]",
        autocompletion=_games,
        callback=check_game,
    ),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="A config.yaml; options of this command override it."),
]
PlayerOption = Annotated[int, typer.Option("--player", min=0, max=1, help="Whose infosets: 0 or 1.")]
WhoseOption = Annotated[
    int | None,
    typer.Option("--player", min=0, max=1, help="Whose strategy it is: 0 or 1; default: what a tensor's shape tells."),
]
DataOption = Annotated[Path, typer.Option("--data", metavar="DIR", help="Where the command keeps its data.")]
OutputFileOption = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write.")]
OutputZipOption = Annotated[Path, typer.Option("--output", "-o", metavar="FILE.zip", help="The file to write.")]
OutputDirectoryOption = Annotated[
    Path, typer.Option("--output", "-o", metavar="DIR", help="The directory to write to; made if missing.")
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace an existing file, except for inputs.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
ThreadsOption = Annotated[
    int | None, typer.Option("--threads", min=1, metavar="N", help="Number of threads; default: all cores.")
]
MemoryOption = Annotated[
    int | None,
    typer.Option(min=1, metavar="MB", help="Memory limit; the rest is mapped from files.  [default: 512]"),
]
LevelOption = Annotated[int, typer.Option(min=0, max=9, help="Zip compression: 0 none, 1 fast, 9 small.")]
Infosets0Option = Annotated[
    Path | None, typer.Option("--infosets0", metavar="FILE", help="Player 0's infosets, in the order of the rows.")
]
Infosets1Option = Annotated[
    Path | None, typer.Option("--infosets1", metavar="FILE", help="Player 1's infosets, in the order of the rows.")
]
GameValueOption = Annotated[
    str | None,
    typer.Option(metavar="X", help="The value of the game: a number or LOW,HIGH; default: the best known."),
]
HostOption = Annotated[
    str, typer.Option("--host", metavar="ADDRESS", help="The address to listen on; 0.0.0.0: all addresses.")
]
PortOption = Annotated[int, typer.Option("--port", min=0, max=65535, metavar="N", help="0: any free port.")]
BrowserOption = Annotated[bool, typer.Option("--browser/--no-browser", help="Whether to open the page in a browser.")]
KINDS = "a .zip, .npy or .h5, the directory of a solution, or the word uniform"

DATA = Path("data")
"""The directory of the workflow's results."""

COURSE = Path("course")
"""The directory of a course."""


class BoardOptions(NamedTuple):
    """A board of phantom tic-tac-toe, as the key `game` of config.yaml describes it; None: not given."""

    rows: Annotated[int | None, typer.Option(min=1, metavar="N", help="In place of --game: rows of the board.")] = None
    columns: Annotated[int | None, typer.Option(min=1, metavar="N", help="Its columns.")] = None
    k: Annotated[int | None, typer.Option("--k", min=1, metavar="N", help="N in a row win.")] = None
    turn_rule: Annotated[
        TurnRule | None,
        typer.Option(help="What a failed attempt costs. abrupt: the turn; classical: nothing.  [default: abrupt]"),
    ] = None


def chosen_game(name: str | None, board: BoardOptions) -> str | None:
    """The name of the game that ``--game`` or a board's options give; None if neither are given.

    Raises
    ------
    GameError
        If both are given, or only a part of the board, or there is no such board.
    UnknownGameError
        If no game has this name.
    """
    if any(value is not None for value in board):
        rows, columns, k, turn_rule = board
        if name is not None:
            raise GameError("A game is told by --game, or by --rows, --columns, --k and --turn-rule, but not by both.")
        if rows is None or columns is None or k is None:
            raise GameError("A board needs --rows, --columns and --k, such as --rows 3 --columns 4 --k 3.")
        name = tic_tac_toe_name(rows, columns, k, turn_rule or "abrupt")
    return check_game(name)
