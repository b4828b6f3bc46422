"""The options of all commands: one meaning each; and how the commands are told of."""

from typing import Annotated, NamedTuple

import pytest
import typer

from pttt_ooc.cli.commands import app
from pttt_ooc.config import SolveConfig
from pttt_ooc.errors import GameError
from pttt_ooc.options import BoardOptions, chosen_game, spread
from tests.kits.cli_runner import commands

ROOT = typer.main.get_command(app)
COMMANDS = dict(commands(ROOT))
GROUPS = ["", *(name for name, command in ROOT.commands.items() if hasattr(command, "commands"))]


def options(name):
    """An option of all commands that have it: what is told of it, by command."""
    return {
        command: (parameter.metavar, parameter.help, parameter.opts, parameter.default)
        for command, one in COMMANDS.items()
        for parameter in one.params
        if name in parameter.opts
    }


@pytest.mark.parametrize("name", ["--data", "--json", "--threads", "--force", "--host", "--port", "--smbc", "--arena"])
def test_an_option_means_one_thing_in_all_commands(name):
    found = options(name)
    assert len(found) > 1
    assert len({(metavar, told) for metavar, told, _, _ in found.values()}) == 1, found


def test_one_option_names_the_output():
    for command, (metavar, told, opts, _) in options("--output").items():
        what = "directory" if metavar == "DIR" else "file"
        assert told.startswith(f"The {what} to write") and opts == ["--output", "-o"], command
    assert {default for _, _, _, default in options("--threads").values()} == {None}  # all cores, everywhere


@pytest.mark.parametrize("group", GROUPS)
def test_summaries_fit_eighty_columns(group, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        ROOT.main([*group.split(), "-h"], prog_name="pttt")
    told = capsys.readouterr().out
    assert "..." not in told.partition("Commands:")[2] and max(map(len, told.splitlines())) <= 80
    assert "-h, --help" in told


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_short_and_long_help(command, capsys):
    shown = []
    for option in ("-h", "--help"):
        with pytest.raises(SystemExit) as end:
            ROOT.main([*command.split(), option], prog_name="pttt")
        assert not end.value.code
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1] and shown[0].startswith(f"Usage: pttt {command} ")


def test_options_are_below_headings_the_general_ones_last(capsys):
    with pytest.raises(SystemExit):
        ROOT.main(["web", "--help"], prog_name="pttt")
    told = capsys.readouterr().out
    headings = [line for line in told.splitlines() if line.endswith(":") and not line.startswith(" ")]
    own = ["Phantom games:", "On the terminal:", "Other games:", "How bots run:"]
    assert headings == ["Arguments:", *own, "Options:"]
    assert all(
        told.count(f"\n  {option} ") == 1 for one in COMMANDS["web"].params for option in one.opts[:1] if "--" in option
    )


def test_fields_of_a_named_tuple_become_options():
    taken = []

    class Group(NamedTuple):
        size: Annotated[int | None, typer.Option(help="Of all.")] = None
        loud: bool = False

    @spread
    def command(first: str, *, group: Group, last: Annotated[float, typer.Option("--end")] = 2.0) -> None:
        taken.append((first, group, last))

    app = typer.Typer(add_completion=False)
    app.command()(command)
    made = typer.main.get_command(app)
    assert [one.name for one in made.params] == ["first", "size", "loud", "last"] and made.params[1].help == "Of all."
    made.main(["a", "--size", "3", "--end", "4"], standalone_mode=False)
    made.main(["b", "--loud"], standalone_mode=False)
    assert taken == [("a", Group(3, False), 4.0), ("b", Group(None, True), 2.0)]


@pytest.mark.parametrize(
    ("name", "board", "called"),
    [
        (None, (), None),
        ("dark-hex-3x4-classical", (), "dark-hex-3x4-classical"),
        (None, (3, 4, 2), "pttt-3x4k2-abrupt"),
        (None, (4, 3, 2, "classical"), "pttt-4x3k2-classical"),
        (None, (3, 3, 3), "pttt-abrupt"),
    ],
)
def test_a_game_is_told_by_its_name_or_its_board(name, board, called):
    assert chosen_game(name, BoardOptions(*board)) == called


@pytest.mark.parametrize(
    ("name", "board", "problem"),
    [
        ("pttt-abrupt", (3, 4, 3), "but not by both"),
        (None, (3, 4), "needs --rows, --columns and --k"),
        (None, (None, None, None, "classical"), "needs --rows, --columns and --k"),
        (None, (5, 5, 3), "a game has 1 to 16"),
        (None, (2, 3, 4), "nobody can have 4 in a row"),
    ],
)
def test_a_board_that_is_no_game_is_refused(name, board, problem):
    with pytest.raises(GameError, match=problem):
        chosen_game(name, BoardOptions(*board))


def test_the_keys_of_the_configuration_are_options():
    """With the defaults of its model; what `null` means there is what happens without the option."""
    solve = {option.opts[0]: option for option in COMMANDS["solve"].params}
    keys = {f"--{key.replace('_', '-')}": field for key, field in SolveConfig.model_fields.items()}
    assert set(solve) == {*keys, "--game", "--config", "--threads", "--data", "--symmetry", "--run", "--memory-mb"}
    for name, field in keys.items():
        told, _, default = solve[name].help.partition(".  [default: ")
        assert field.description.startswith(told) and solve[name].default is None
        usual = f"{field.default:g}" if isinstance(field.default, float) else str(field.default)
        assert default.removesuffix("]") == usual or (field.default is None and default)
    assert solve["--alpha"].help == "Discount of positive regrets.  [default: what the algorithm's authors recommend]"
    assert {option.opts[0] for option in COMMANDS["plan"].params} > {"--symmetry", "--memory-mb"}


def test_a_certificate_of_a_game_has_no_limit_of_memory():
    assert options("--memory-mb")["certify"][1].endswith("[default: 512 for two strategies, none for a game]")


def test_exact_and_plan_take_a_board():
    first, second = (options(name) for name in ("--rows", "--turn-rule"))
    assert set(first) == set(second) == {"exact", "plan"}
    assert first["exact"] == first["plan"] and second["exact"] == second["plan"]
