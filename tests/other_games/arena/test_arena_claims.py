"""proof/verify_ultimate.py: it proves the committed claims, and refuses wrong ones, each with line and reason."""

import gzip
import random
import re
import runpy
import sys

import pytest

from pttt_ooc.other_games.arena.research.solvers import claims, endings
from tests.kits import verify_program
from tests.kits.verify_program import PROOF
from tests.kits.verify_program import zipped as written
from tests.other_games.arena import fuzzed_ultimate
from tests.other_games.arena import naive_ultimate as naive
from tests.other_games.arena.test_arena_endings import COMMITTED as ENDINGS
from tests.other_games.arena.test_arena_endings import late_positions

PROGRAM = PROOF / "verify_ultimate.py"
OPEN = PROOF / "ultimate-open.gz"
CLAIMS = PROOF / "ultimate-endings.gz"


def verify(path):
    """What the program prints, or its sentence if it refuses."""
    return "\n".join(verify_program.verify(path, program=PROGRAM))


def lines(path):
    return gzip.decompress(path.read_bytes()).decode("ascii").splitlines(keepends=True)


def digits(moves):
    return "".join(f"{move // 9}{move % 9}" for move in moves)


def test_the_program_is_a_page_of_the_standard_library():
    source = PROGRAM.read_text()
    assert len(source.splitlines()) <= 130
    assert set(re.findall(r"^(?:from|import) (\w+)", source, re.M)) <= set(sys.stdlib_module_names)


@pytest.mark.slow
def test_the_first_player_wins_with_open_boards():
    assert verify(OPEN).splitlines() == ["open boards", "proven: 1 claim; the last is: - 0 wins 43"]


@pytest.mark.slow
def test_there_is_a_claim_for_each_move_of_each_ending():
    """As its value says: a win of the mover, a win of the other player, or a draw of both."""
    wanted = []
    for ending in endings.read(ENDINGS):
        mover = len(ending.moves) % 2
        for move, worth in ending.values.items():
            begin = digits((*ending.moves, move))
            goals = (
                [f"{mover} draws", f"{1 - mover} draws"]
                if not worth
                else [f"{mover if worth > 0 else 1 - mover} wins 81"]
            )
            wanted += [f"{begin} {goal}" for goal in goals]
    first, boards, *rest = lines(CLAIMS)
    assert (first, boards) == ("ultimate claims 1\n", "closed boards\n")
    assert [line.rpartition(" ")[0] for line in rest] == wanted


@pytest.mark.slow
def test_a_sample_of_the_claims_about_endings_is_proven(tmp_path):
    head, rest = lines(CLAIMS)[:2], lines(CLAIMS)[2:]
    some = random.Random(5).sample(rest, 200)
    assert f"proven: {len(some)} claims" in verify(written("".join([*head, *some]), tmp_path / "some.gz"))


@pytest.mark.full
def test_all_claims_about_endings_are_proven():
    assert f"proven: {len(lines(CLAIMS)) - 2} claims" in verify(CLAIMS)


def test_claims_are_made_and_proven_for_endings_whose_values_a_brute_force_knows(tmp_path):
    solver, found, wrong = endings.EndingSolver(12), [], []
    for moves, _, values in late_positions(40, 3):
        mover = len(moves) % 2
        ending = endings.Ending(tuple(moves), 0, max(values.values()), values)
        found += claims.of_ending(ending, solver)
        for move, worth in values.items():  # the opposite
            loser = mover if worth <= 0 else 1 - mover
            wrong.append(claims.Claim((*moves, move), loser, 81, ()))
    assert len({(claim.player, claim.plies) for claim in found}) == 4
    file = tmp_path / "claims.gz"
    file.write_bytes(claims.encode_claims(found, open_boards=False))
    assert f"proven: {len(found)} claims" in verify(file)
    for claim in wrong[:40]:
        file.write_bytes(claims.encode_claims([claim], open_boards=False))
        assert re.match(r"refused: line 3: (no win|the moves end too early): ", verify(file))


@pytest.mark.parametrize("stay_open", [False, True])
def test_the_rules_of_the_program_are_the_plain_ones(stay_open):
    """In random games: the same moves to the end, the same winner, and who can still win."""
    program = runpy.run_path(str(PROGRAM))
    draw, ends = random.Random(3), set()
    for _ in range(60):
        position, plain = program["START"], naive.Position(stay_open=stay_open)
        while moves := plain.moves():
            assert program["legal"](position, stay_open) == moves
            move = draw.choice(moves)
            plain.make(*move)
            position = program["after"](position, move, stay_open)
            for player, sign in enumerate("xo"):
                free = [n for n in range(9) if plain.winners[n] == "." and "." in plain.boards[n]]
                mine = [n in free or plain.winners[n] == sign for n in range(9)]
                assert program["can_win"](position, player) == any(all(mine[n] for n in row) for row in naive.ROWS)
        assert program["legal"](position, stay_open) == []
        ends.add(plain.outcome())
        assert [program["has_line"](won) for won in position[1]] == [plain.outcome() == sign for sign in "xo"]
    assert ends >= {"x", "o"}


def test_damaged_files_are_refused(tmp_path):
    first, boards, claim = lines(OPEN)
    begin, moves = claim[:12], claim[12:]
    for damaged, reason in {
        first.replace("1", "2") + boards + claim: "the first line is not 'ultimate claims 1'",
        first + "boards\n" + claim: "the second line is neither 'open boards' nor 'closed boards'",
        "": "the first line is not 'ultimate claims 1'",
        first: "the second line is neither 'open boards' nor 'closed boards'",
        first + boards: "there are no claims",
        first + boards[:-1]: "the last line has no end",
        first + boards + claim[:-1]: "the last line has no end",
        first + boards + claim.replace("wins 43", "wins 043"): "line 3: this is not a claim with its proof",
        first + boards + begin + moves[:400] + "\n": "line 3: the moves end too early: ",
        first + boards + begin + "4" + moves: "line 3: this is not a claim with its proof",
        first + boards + "\n" + claim: "line 3: this is not a claim with its proof",
        first + boards + begin + moves[:2] + "40" + moves[4:]: "line 3: 4.0 is not legal: ",
        first + boards + "4400" + begin[1:] + moves: "line 3: 0.0 is not legal",
        first + boards + claim.replace("wins 43", "wins 42"): "line 3: a win after 43 plies: ",
        first + boards + claim.replace("0 wins", "1 wins"): "line 3: ",
        first + "closed boards\n" + claim: "line 3: ",
    }.items():
        assert verify(written(damaged, tmp_path / "win.gz")).startswith(f"refused: {reason}"), reason
    assert verify(tmp_path / "none.gz").startswith("refused: ")
    assert "far too dense" in verify(written("0" * 10**6, tmp_path / "bomb.gz"))
    (tmp_path / "half.gz").write_bytes(OPEN.read_bytes()[:-9])
    assert "not one whole gzip file" in verify(tmp_path / "half.gz")


def test_moves_that_are_too_many_or_lose_are_refused(tmp_path):
    """A game whose last move is left to a claim: it wins, or it does not."""
    draw, seen = random.Random(1), set()
    for _ in range(30):
        moves, position = [], naive.Position()
        while not position.outcome():
            before = position.copy()
            move = draw.choice(position.moves())
            position.make(*move)
            moves.append(9 * move[0] + move[1])
        if "draw" in (position.outcome(), before.outcome()):
            continue
        winner = len(moves) % 2 ^ 1
        for player, plies, more in [(winner, len(moves), ""), (winner, len(moves), "44"), (winner, len(moves) - 1, "")]:
            text = f"{digits(moves[:-1])} {player} wins {plies} {digits(moves[-1:])}{more}\n"
            text = f"ultimate claims 1\nclosed boards\n{text}"
            seen.add(re.sub(r"[\d.xo ]+", " ", verify(written(text, tmp_path / "end.gz")))[:40])
        text = f"ultimate claims 1\nclosed boards\n{digits(moves)} {1 - winner} draws \n"
        assert verify(written(text, tmp_path / "end.gz")).startswith("refused: line 3: a loss: ")
    assert len(seen) == 3


def test_where_the_next_mark_goes_belongs_to_a_position(tmp_path):
    """A false claim: its proof has one answer for positions with equal marks that send the player elsewhere."""
    claim = (
        "6442244115566337788113322112288884433882277000011886666225533335522667711446600887733661166557777222233111177447"
        "7551100550077668855445588004444002 1 wins 81 20305530"
    )
    assert not fuzzed_ultimate.is_true(claim, True, fuzzed_ultimate.Truth())
    text = fuzzed_ultimate.text_of([claim], True)
    assert verify(written(text, tmp_path / "win.gz")).startswith("refused: line 3: the moves end too early: ")


def test_who_has_won_a_board_belongs_to_a_position():
    """Moves with one answer for positions with equal marks: in one of them, the other player has won the third board.

    After 2.4, 7.4, 0.4 and 2.5, 1.4 wins; after 0.4, 2.5, 2.4 and 7.4, with the same marks, it does not.
    """
    boards = ["oxxx.oxoo"] * 2 + ["ooxx..oox"] + ["xoxxoxoxo"] * 3 + ["xoxx.ooxo"] * 2 + ["xoxxoxoxo"]
    marks = tuple(tuple(frozenset(c for c in range(9) if board[c] == sign) for board in boards) for sign in "xo")
    moves = "246425746425256425247464242514647414046414042474647424252414242564"
    program = runpy.run_path(str(PROGRAM))
    position = marks, (frozenset(), frozenset({3})), None
    with pytest.raises(AssertionError, match="^a loss: oxxxooxoo oxxxooxoo ooxxoxoox "):
        program["prove"](position, 0, None, iter(program["pairs"](moves)), True)
