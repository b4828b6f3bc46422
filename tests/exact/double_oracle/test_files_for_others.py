"""Files for other programs: linear programs as MPS and games as .efg, read by readers of their own."""

import re

import numpy as np
import pytest

from pttt_ooc.errors import GameError
from pttt_ooc.exact.double_oracle.program_file import write_program
from pttt_ooc.games.rules.catalogue import EXACT_VALUES, named_game
from pttt_ooc.pipeline.files.gambit import efg_lines
from tests.exact.double_oracle.oracles import solved
from tests.kits import naive
from tests.kits.cli_runner import main

pytest.importorskip("highspy")


def read_mps(text):
    """Costs, rows and free columns of a program in MPS, by name."""
    kinds, columns, costs, limits, free, section = {}, {}, {}, {}, set(), ""
    for line in text.splitlines():
        words = line.split()
        if line[0] != " ":
            section = words[0]
        elif section == "OBJSENSE":
            assert words == ["MAX"]
        elif section == "ROWS":
            kinds[words[1]] = words[0]
        elif section == "COLUMNS":
            for row, number in zip(words[1::2], words[2::2], strict=True):
                part = costs if kinds[row] == "N" else columns.setdefault(words[0], {})
                part[words[0] if kinds[row] == "N" else row] = float(number)
        elif section == "RHS":
            limits |= {row: float(number) for row, number in zip(words[1::2], words[2::2], strict=True)}
        elif section == "BOUNDS":
            assert words[0] == "FR"
            free.add(words[2])
    return kinds, columns, costs, limits, free


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mini-2x3k3-abrupt", "dark-hex-2x3-abrupt", "mini-2x3k3-abrupt-after-1"])
def test_the_program_has_the_value_of_the_game_for_another_reader(name, tmp_path):
    optimize = pytest.importorskip("scipy.optimize")
    oracle = solved(name)
    write_program(oracle.checked_program, oracle.game, oracle.plans, tmp_path / "last.mps")
    kinds, columns, costs, limits, free = read_mps((tmp_path / "last.mps").read_text())
    names = list(columns)
    rows = {kind: [row for row, of in kinds.items() if of == kind] for kind in "EL"}
    matrices = {kind: np.array([[columns[c].get(row, 0.0) for c in names] for row in rows[kind]]) for kind in "EL"}
    ends = {kind: [limits.get(row, 0.0) for row in rows[kind]] for kind in "EL"}
    bounds = [(None if column in free else 0, None) for column in names]
    found = optimize.linprog(
        [-costs.get(c, 0.0) for c in names], matrices["L"], ends["L"], matrices["E"], ends["E"], bounds
    )
    assert -found.fun == pytest.approx(oracle.last.best_lower, abs=1e-9)
    assert free == {column for column in names if column.startswith("v1:")}
    texts = [set(naive.infosets(oracle.game, player)) for player in (0, 1)]
    assert {row.partition(":")[2] for row in rows["E"]} <= texts[0]
    assert {column.partition(":")[2] for column in free} <= texts[1]
    for sequence in (name for name in [*names, *rows["L"]] if name[:2] in ("x0", "be")):
        _, infoset, square = sequence.split(":")
        assert int(square) in naive.legal_squares(oracle.game, infoset)


@pytest.mark.parametrize("name", ["mini-2x2k2-abrupt", "dark-hex-2x2-classical", "mini-2x3k3-abrupt-after-1-4"])
def test_a_tree_is_that_of_all_histories(name):
    game = named_game(name)
    first, *lines = efg_lines(game)
    assert first == f'EFG 2 R "{name}" {{ "player 0" "player 1" }}\n'
    labels, left = {}, iter(lines)

    def compare(history):
        line = next(left)
        if history.is_terminal():
            number, payoffs = re.fullmatch(r't "" (\d) "[a-z 01]+" { (-?\d, -?\d) }\n', line).groups()
            assert [float(payoff) for payoff in payoffs.split(", ")] == list(history.returns())
            assert labels.setdefault(("outcome", number), payoffs) == payoffs
            return
        player, number, text, actions = re.fullmatch(r'p "" (\d) (\d+) "(.*?)" { (.*) } 0\n', line).groups()
        assert (int(player) - 1, text) == (history.player, history.nodes[history.player])
        assert labels.setdefault((player, number), text) == text
        assert actions == " ".join(f'"{square}"' for square in history.legal())
        for square in history.legal():
            compare(history.attempt(square))

    compare(naive.History.start(game))
    assert next(left, None) is None
    infosets = [label for label in labels if label[0] != "outcome"]
    assert len(infosets) == sum(len(naive.infosets(game, player)) for player in (0, 1))


def test_another_program_reads_a_tree_and_finds_the_value_of_the_game(tmp_path):
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    file, name = tmp_path / "game.efg", "mini-2x2k2-abrupt"
    file.write_text("".join(efg_lines(named_game(name))))
    game = pyspiel.load_game("efg_game", {"filename": str(file)})
    solver = pyspiel.CFRPlusSolver(game)
    for _ in range(300):
        solver.evaluate_and_update_policy()
    value = pyspiel.expected_returns(game.new_initial_state(), solver.average_policy(), -1, False)
    assert value[0] == pytest.approx(float(EXACT_VALUES[name]), abs=2e-3)
    assert pyspiel.nash_conv(game, solver.average_policy()) < 1e-2


def test_a_tree_that_is_too_large_is_refused():
    with pytest.raises(GameError, match="has 919,748,961 histories; an .efg file lists each"):
        next(efg_lines(named_game("pttt-2x4k3-abrupt")))


def test_the_command_writes_both(tmp_path, capsys):
    def run(*options):
        with pytest.raises(SystemExit) as end:
            main(["exact", "--game", "mini-2x2k2-abrupt", *map(str, options)])
        return end.value.code or 0, capsys.readouterr().err

    code, told = run("--mps", tmp_path / "a.mps", "--efg", tmp_path / "a.efg")
    assert code == 0 and f"The linear program is in {tmp_path / 'a.mps'}." in told
    assert (tmp_path / "a.efg").read_text().startswith("EFG 2 R ") and "ENDATA" in (tmp_path / "a.mps").read_text()
    code, told = run("--mps", tmp_path / "b.txt")
    assert code == 1 and "the name must end with .mps" in told
    code, told = run("--max-minutes", 0, "--mps", tmp_path / "b.mps")
    assert (
        code == 1 and "No linear program was solved before the run ended" in told and not (tmp_path / "b.mps").exists()
    )
