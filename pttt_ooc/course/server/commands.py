"""The course's commands: ``pttt submit``, ``pttt course ...``; ``pttt serve`` is in ``cli/servers``.

What they need is imported when they run: ``pttt --help`` comes at once, and all but ``submit`` need the extra
``course``.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pttt_ooc.course.server.copy_commands import add_copy_commands, database_of
from pttt_ooc.disk.outputs import check_output
from pttt_ooc.extras import extra
from pttt_ooc.options import COURSE, DataOption, ForceOption, JsonOption, group

if TYPE_CHECKING:
    pass

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The team's name.")]
NumberArgument = Annotated[int, typer.Argument(metavar="NUMBER", help="Number of the submission.")]

course = group("Look after a course: its teams, and copies of it.")


def add_commands(app: typer.Typer) -> None:
    """Give the commands to the command line."""
    app.command(epilog="Example: PTTT_TOKEN=... pttt submit pttt_pl0.zip --player 0 --server https://course.example")(
        submit
    )
    app.command(epilog="Example: PTTT_TOKEN=... pttt pick strategies 17 --server https://course.example")(pick)
    app.add_typer(course, name="course")


def submit(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE [FILE]", help="A zip with one .npy file; or player 0's and player 1's."),
    ],
    server: Annotated[str, typer.Option(metavar="URL", envvar="PTTT_SERVER", help="The course.")],
    token: Annotated[
        str | None,
        typer.Option(metavar="TOKEN", envvar="PTTT_TOKEN", help="Your team's; better in the environment than here."),
    ] = None,
    player: Annotated[int | None, typer.Option(min=0, max=1, help="Player of a single file: 0 or 1.")] = None,
    wait: Annotated[bool, typer.Option(help="Whether to wait for the verdict.")] = True,
    as_json: JsonOption = False,
) -> None:
    """Submit a strategy to a course, or one for each player, which a page then shows together.

    The exit code is 0 if it was accepted (or, with --no-wait, received), and 1 if it was refused or rejected.
    """
    from pttt_ooc.course.server.client import submit as send_files

    if not send_files(files, player, server, token, wait, as_json):
        raise typer.Exit(1)


def pick(
    assignment: Annotated[str, typer.Argument(metavar="ASSIGNMENT", help="The assignment's name.")],
    number: Annotated[str, typer.Argument(metavar="NUMBER", help="Your submission; none: the last ones count.")],
    server: Annotated[str, typer.Option(metavar="URL", envvar="PTTT_SERVER", help="The course.")],
    token: Annotated[
        str | None,
        typer.Option(metavar="TOKEN", envvar="PTTT_TOKEN", help="Your team's; better in the environment than here."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Pick which of your submissions counts, where teams choose; until the assignment closes."""
    from pttt_ooc.course.server.client import pick as send_pick

    send_pick(assignment, number, server, token, as_json)


# ---------------------------------------------------------------------------------------------
# Looking after a course


_database = partial(database_of, what="The course")


@course.command("add-team", epilog="Example: pttt course add-team 'Team A'")
def add_team(name: NameArgument, data: DataOption = COURSE) -> None:
    """Add a team, and print its token, once: only a hash of it is kept."""
    with _database(data) as database:
        from pttt_ooc.course.people import teams

        print(teams.add_team(database, name))


@course.command("rotate-token", epilog="Example: pttt course rotate-token 'Team A'")
def rotate_token(name: NameArgument, data: DataOption = COURSE) -> None:
    """Print a new token for a team; the old one is good for nothing from now on."""
    with _database(data) as database:
        from pttt_ooc.course.people import teams

        print(teams.rotate_token(database, name))


@course.command("remove-team", epilog="Example: pttt course remove-team 'Team A' --yes")
def remove_team(
    name: NameArgument,
    data: DataOption = COURSE,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Remove a team with all its submissions and files."""
    with _database(data) as database:
        from pttt_ooc.course.data.storage import Storage
        from pttt_ooc.course.people import teams

        if not yes and not typer.confirm(f"Remove {name} with all its submissions?"):
            raise typer.Exit(1)
        files = teams.remove_team(database, name)
        storage = Storage(data)
        for file in files:
            storage.upload(file).unlink(missing_ok=True)
        print(f"{name} is removed, and {len(files)} submissions with it.")


@course.command("list-teams", epilog="Example: pttt course list-teams")
def list_teams(data: DataOption = COURSE) -> None:
    """List the teams with the numbers of their submissions."""
    with _database(data) as database:
        from pttt_ooc.course.data.names import readable_name
        from pttt_ooc.course.people import teams
        from pttt_ooc.pipeline.show.tables import print_table, whole

        rows = teams.list_teams(database)
    since = (time.strftime("%Y-%m-%d", time.gmtime(team.created_at)) for team in rows)
    cells = [
        (whole(readable_name(team.name)), team.submissions, team.accepted, day)
        for team, day in zip(rows, since, strict=True)
    ]
    print_table(("team", "submissions", "accepted", "since"), cells)


@course.command(epilog="Example: pttt course rejudge 17")
def rejudge(number: NumberArgument, data: DataOption = COURSE) -> None:
    """Judge a rejected submission again, such as one that the server could not judge."""
    with _database(data) as database:
        from pttt_ooc.course.strategies.judging import judge_again

        judge_again(database, number)
        print(f"Submission {number} is in the queue again.")


@course.command("open", epilog="Example: pttt course open 17")
def open_submission(number: NumberArgument, data: DataOption = COURSE) -> None:
    """Let everybody play against an accepted submission; its team can do so on its page."""
    _open_to_play(number, True, data)
    print(f"Everybody may play against submission {number}.")


@course.command("close", epilog="Example: pttt course close 17")
def close_submission(number: NumberArgument, data: DataOption = COURSE) -> None:
    """Close a submission for play."""
    _open_to_play(number, False, data)
    print(f"Nobody can play against submission {number} any more.")


def _open_to_play(number: int, opened: bool, data: Path) -> None:
    with _database(data) as database:
        from pttt_ooc.course.strategies.submissions import open_to_play

        open_to_play(database, number, opened)


@course.command(epilog="Example: pttt course kit starter-kit.zip")
def kit(
    file: Annotated[Path, typer.Argument(metavar="FILE.zip", help="The starter kit to write.")],
    force: ForceOption = False,
    data: DataOption = COURSE,
) -> None:
    """Write the starter kit that the course hands out.

    It has both lists of infosets, the uniform strategies, and programs to start from.
    """
    check_output(file, [data], force=force, suffix=".zip")
    with extra("course", "The course"):
        from pttt_ooc.course.strategies.starter_kit import write_kit_of
        from pttt_ooc.disk.rights import private
    with private():  # the index, which is made in the course's directory
        write_kit_of(data, file)
    print(f"{file}: {file.stat().st_size / 1e6:.1f} MB.")


add_copy_commands(course, "course")
