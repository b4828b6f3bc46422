"""Certificates, which prove values of games and of strategies as fractions: `pttt certify`, `pttt verify`."""

from __future__ import annotations

import json
import math
import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pttt_ooc.cli.console import say
from pttt_ooc.disk import numbers
from pttt_ooc.disk.outputs import check_output
from pttt_ooc.errors import ConfigError
from pttt_ooc.games.rules.catalogue import DEFAULT_GAME, named_game
from pttt_ooc.options import (
    DATA,
    KINDS,
    DataOption,
    ForceOption,
    GameOption,
    Infosets0Option,
    Infosets1Option,
    JsonOption,
    OutputFileOption,
)
from pttt_ooc.pipeline.show.tables import print_facts, whole

if TYPE_CHECKING:
    from pttt_ooc.exact.certificates.certificate import Certificate
    from pttt_ooc.exact.certificates.inside_optimum import FreeReach
    from pttt_ooc.games.rules.game import Game

_EXACT = 1e-13  # a gap that is rounding only
_LINE_SECONDS = 2.0  # seconds between two lines of progress


def add_commands(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command(epilog="Example: pttt certify --game dark-hex-3x3-abrupt")(certify)
    app.command(epilog="Example: pttt verify certificate.txt.gz")(verify)


def certify(
    p0: Annotated[str | None, typer.Argument(metavar="P0", help=f"Player 0's strategy: {KINDS}.")] = None,
    p1: Annotated[str | None, typer.Argument(metavar="P1", help="Player 1's strategy, likewise.")] = None,
    output: OutputFileOption = Path("certificate.txt.gz"),
    force: ForceOption = False,
    infosets0: Infosets0Option = None,
    infosets1: Infosets1Option = None,
    memory_mb: Annotated[
        int | None,
        typer.Option(min=1, metavar="MB", help="Memory limit.  [default: 512 for two strategies, none for a game]"),
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Save the search of a game there, as `pttt exact` does, and go on from it."),
    ] = None,
    gap: Annotated[
        float | None, typer.Option(min=0, metavar="X", help="For a game, stop at an interval of this width.")
    ] = None,
    as_json: JsonOption = False,
    game: GameOption = None,
    data: DataOption = DATA,
) -> None:
    """Write a certificate, which proves a game's value.

    Without strategies, an equilibrium of --game is found and its value proven, as a fraction.  With --gap, both
    players' plans guarantee an interval of that width.  For two strategies, what both guarantee is proven, and so how
    much they can lose.
    Except for an equilibrium, probabilities are rounded to multiples of 1e-31.  A certificate lists all infosets that
    the strategies reach, so it is for strategies that reach at most a few million.
    Anybody can check it: with `pttt verify`, or with proof/verify.py, which needs nothing but Python.
    """
    # Even --force replaces no strategy that the certificate is about.
    inputs = (p0, p1, infosets0, infosets1)
    check_output(output, inputs, force=force, suffix=".gz")
    from pttt_ooc.exact.certificates.certificate import write

    begin = time.monotonic()
    # For a game, find an equilibrium and prove its value; two strategies are taken as they are.
    if p0 is None:
        if infosets0 or infosets1:
            raise ConfigError("The options --infosets0 and --infosets1 are for two strategies; leave them out.")
        certificate, free = _of_game(named_game(game or DEFAULT_GAME), state, gap, memory_mb)
    elif p1 is None:
        raise ConfigError(f"{p0} is one strategy; name player 1's too, or a --game to find an equilibrium of.")
    else:
        if state or gap is not None:
            raise ConfigError("The options --state and --gap are for a game; leave them out.")
        certificate, free = _of_pair((p0, p1), (infosets0, infosets1), memory_mb, game, data), None
    write(certificate, output)
    facts = _facts(certificate) | {"file": str(output), "bytes": output.stat().st_size}
    if free:
        facts |= {"dimensions": list(free.dimensions), "free": [int(part.sum()) for part in free.sequences]}
    _show(facts, certificate, time.monotonic() - begin, as_json)


def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A certificate.")],
    as_json: JsonOption = False,
) -> None:
    """Verify a certificate: both best responses are computed again, in integers.

    The last line says what is proven.  The program proof/verify.py does the same without this package.
    """
    from pttt_ooc.errors import CertificateError
    from pttt_ooc.exact.certificates.certificate import verify_certificate

    if not file.is_file():
        raise CertificateError(f"{file}: There is no such file.")
    begin = time.monotonic()
    certificate, found = verify_certificate(file)
    visited = [response.visited for response in found.responses]
    _show(_facts(certificate) | {"visited": visited}, certificate, time.monotonic() - begin, as_json)


def _of_game(
    game: Game, state: Path | None, gap: float | None, memory_mb: int | None
) -> tuple[Certificate, FreeReach | None]:
    """The certificate of an equilibrium, or of an interval, found from scratch or from a saved run; and what is free.

    What is free is None for an interval, and for a vertex.
    """
    from pttt_ooc.exact.certificates.equilibrium import Progress, exact_equilibrium, proven_interval
    from pttt_ooc.exact.certificates.integer_plan import check_board
    from pttt_ooc.exact.double_oracle.oracle import DoubleOracle
    from pttt_ooc.exact.double_oracle.saved_state import SavedState
    from pttt_ooc.extras import check_extra
    from pttt_ooc.pipeline.show.rounds import round_text

    check_board(game)
    check_extra("exact", "The command `pttt certify`")
    say(f"{game.name}: getting ready ...")
    oracle, begin, spoken = DoubleOracle(game, memory_mb=memory_mb or math.inf), time.monotonic(), 0.0
    free: FreeReach | None = None
    width = _EXACT if gap is None else gap

    def tell(line: str, always: bool = False) -> None:
        nonlocal spoken
        if always or time.monotonic() - spoken > _LINE_SECONDS:
            spoken = time.monotonic()
            say(f"{line}, {spoken - begin:.0f} s so far")

    def tell_progress(progress: Progress) -> None:
        nonlocal free
        free = progress.free
        tell(
            f"program {progress.programs}, {progress.fractions} of them in fractions, gap {numbers.gap(progress.gain)}"
        )

    with SavedState(state, oracle) if state else nullcontext() as saved:
        for last in oracle.rounds(width):
            tell(round_text(last))
            if saved:
                saved.save(last.is_equilibrium(width))
    if gap is not None:
        tell("an interval up to rounding; now in fractions", always=True)
        return proven_interval(game, oracle.plans), None
    tell("an equilibrium up to rounding; now in fractions", always=True)
    found = exact_equilibrium(game, oracle.plans, tell_progress, oracle.checked_program, oracle.is_inside)
    return found, free


def _of_pair(
    names: tuple[str, str],
    infosets: tuple[Path | None, Path | None],
    memory_mb: int | None,
    asked: str | None,
    data: Path,
) -> Certificate:
    """The certificate of what two strategies guarantee."""
    from pttt_ooc.config import MEMORY_MB
    from pttt_ooc.disk.memory import MemoryNeeds, process_needs, thread_needs
    from pttt_ooc.exact.certificates.behaviours import rounded_plan
    from pttt_ooc.exact.certificates.certificate import Certificate, guarantees
    from pttt_ooc.exact.certificates.integer_plan import check_board
    from pttt_ooc.library.api import strategy_reader
    from pttt_ooc.library.api.strategy_names import further_of, named_strategy
    from pttt_ooc.pipeline.stages.directories import results_of
    from pttt_ooc.pipeline.stages.preparation import open_index

    named = [named_strategy(names[p], p, infosets[p]) for p in (0, 1)]
    game = further_of(named, asked)
    check_board(game)
    index = open_index(data, game.name, strategy_reader.common_symmetry(named))
    reading, scratch = strategy_reader.reading_needs(named, index, data), results_of(data, game.name, "none")
    needs = MemoryNeeds({**process_needs(), **reading.fixed}, reading.arrays, thread_needs())
    arrays = needs.within(memory_mb or MEMORY_MB, scratch).allocate()
    first, second = (
        rounded_plan(strategy_reader.load_strategy(named[p], index, data, arrays[p], scratch)) for p in (0, 1)
    )
    found = guarantees(game, (first, second))
    return Certificate(game, found.lower, found.upper, (first, second))


def _facts(certificate: Certificate) -> dict[str, Any]:
    return {
        "game": certificate.game.name,
        "lower": str(certificate.lower),
        "upper": str(certificate.upper),
        "exact": certificate.exact,
        "infosets": [plan.infosets for plan in certificate.plans],
        "digits": [len(str(plan.denominator)) for plan in certificate.plans],
    }


def _show(facts: dict[str, Any], certificate: Certificate, seconds: float, as_json: bool) -> None:
    from pttt_ooc.exact.certificates.certificate import statement

    if as_json:
        print(json.dumps(facts | {"seconds": round(seconds, 3)}))
        return
    lower, upper = certificate.lower, certificate.upper
    value = f"{float(lower):.15f}" if lower == upper else f"{float(lower):.15f} .. {float(upper):.15f}"
    lines = {"game": certificate.game.name, "value for player 0": value}
    labels = {
        "infosets": "infosets of the plans",
        "digits": "digits of denominators",
        "visited": "infosets visited",
        "dimensions": "dimensions of the face",
        "free": "sequences with free reach",
    }
    for fact, label in labels.items():
        if fact in facts:
            first, second = facts[fact]
            lines[label] = f"{first:,} and {second:,}"
    if "file" in facts:
        lines["certificate"] = f"{whole(facts['file'])}, {facts['bytes']:,} bytes"
    print_facts(lines.items())
    print(f"proven: {statement(lower, upper)}")
