"""The rational end: sparse systems, vertices, the outer loop; and values by two other roads."""

import itertools
import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from pttt_ooc.errors import PtttError
from pttt_ooc.exact.certificates import equilibrium
from pttt_ooc.exact.certificates import rational_optimum as rational_optimum_module
from pttt_ooc.exact.certificates.equilibrium import exact_equilibrium
from pttt_ooc.exact.certificates.integer_program import IntegerProgram, Simplex, Vertex, integer_program
from pttt_ooc.exact.certificates.rational_optimum import NotOptimalError, rational_optimum
from pttt_ooc.exact.certificates.rational_system import PRIMES, SingularError, lift, solve
from pttt_ooc.exact.double_oracle import oracle as oracle_module
from pttt_ooc.exact.double_oracle.oracle import DoubleOracle
from pttt_ooc.exact.double_oracle.restricted_histories import HistoryFinder
from pttt_ooc.exact.double_oracle.restricted_program import build
from pttt_ooc.exact.double_oracle.rule_tables import rule_tables
from pttt_ooc.exact.double_oracle.sequence_form import sequence_form
from pttt_ooc.exact.double_oracle.sparse_plan import first_infoset
from pttt_ooc.games.rules.catalogue import EXACT_VALUES, PUBLISHED_VALUES, exact_value, named_game, reference_value
from tests.exact.double_oracle.oracles import solved
from tests.kits.exact_simplex import maximise

pytest.importorskip("flint")
pytest.importorskip("highspy")
SMALL = [name for name in EXACT_VALUES if name.startswith(("mini", "dark-hex-2", "dark-hex-3x2"))]


def program_of(name):
    """The last restricted program of the double oracle, and its game."""
    oracle = solved(name)
    plans, won = HistoryFinder(oracle.rules).find_won(oracle.plans)
    return integer_program(plans, won, len(oracle.game.symmetries))


# ---------------------------------------------------------------------------------------------
# Systems of equations


def eliminated(matrix, amounts):
    """By Gaussian elimination in fractions; None if the matrix is singular."""
    rows = [[Fraction(int(a)) for a in row] + [amount] for row, amount in zip(matrix, amounts, strict=True)]
    for k in range(len(rows)):
        pivot = next((r for r in range(k, len(rows)) if rows[r][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [a / rows[k][k] for a in rows[k]]
        for r in range(len(rows)):
            if r != k and rows[r][k]:
                rows[r] = [a - rows[r][k] * b for a, b in zip(rows[r], rows[k], strict=True)]
    return [row[-1] for row in rows]


def test_sparse_systems_are_solved_as_by_elimination():
    from flint import fmpq
    from scipy import sparse

    draw, singular = random.Random(1), 0
    for size in [*[1, 2, 3, 5, 8, 13] * 12, 21, 21]:
        matrix = np.array([[draw.choice([0, 0, 0, draw.randint(-3, 3)]) for _ in range(size)] for _ in range(size)])
        if draw.random() < 0.8:  # a matching there is
            matrix[np.arange(size), draw.sample(range(size), size)] = [draw.choice([-2, 1, 5]) for _ in range(size)]
        amounts = [Fraction(draw.randint(-2, 2), draw.randint(1, 4)) for _ in range(size)]
        expected = eliminated(matrix, amounts)
        system = sparse.csr_array(matrix.astype(np.int64)), [fmpq(a.numerator, a.denominator) for a in amounts]
        if expected is None:
            singular += 1
            continue
        assert [Fraction(int(x.p), int(x.q)) for x in solve(*system)] == expected
    assert singular > 5


def test_large_systems_are_solved_with_large_numbers():
    """Solutions with hundreds of digits, from amounts that are larger than a machine word."""
    from scipy import sparse

    draw = np.random.default_rng(3)
    for size in (2, 30, 200):
        square = draw.integers(-4, 5, (size, size)) * (draw.random((size, size)) < 3 / size)
        square = sparse.csr_array((square + 5 * np.eye(size, dtype=np.int64))[draw.permutation(size)])
        amounts = [int(a) * 10**25 - 3**50 for a in draw.integers(-9, 9, size)]
        numerators, denominator = lift(square, amounts)
        assert denominator > 10 ** (size // 2 - 1)
        for row, amount in zip(square.toarray().tolist(), amounts, strict=True):
            assert sum(a * x for a, x in zip(row, numerators, strict=True)) == amount * denominator


def test_a_system_that_is_singular_modulo_a_prime_is_solved_modulo_another():
    """The determinant is the first prime; or the determinant of a part is, so that the preferred pivot is 0."""
    from scipy import sparse

    small = np.array([[65536, 1], [1, 32768]])
    assert PRIMES[0] == 65536 * 32768 - 1
    numerators, denominator = lift(sparse.csr_array(small), [1, 0])
    assert (numerators, denominator) == ([32768, -1], PRIMES[0])
    for order in itertools.permutations(range(3)):
        for columns in itertools.permutations(range(3)):
            square = np.array([[65536, 1, 0], [1, 32768, 1], [0, 1, 0]])[list(order)][:, list(columns)]
            numerators, denominator = lift(sparse.csr_array(square), [1, 2, 3])
            assert denominator > 1
            assert (square @ np.array(numerators, object) == denominator * np.array([1, 2, 3], object)).all()


def test_coefficients_that_are_too_large_are_refused():
    from scipy import sparse

    with pytest.raises(PtttError, match="too large"):
        lift(sparse.csr_array(np.array([[2**30, 1], [1, 1]])), [1, 0])


def test_a_singular_system_is_refused():
    from flint import fmpq
    from scipy import sparse

    for matrix in ([[0, 1], [0, 1]], [[1, 1], [1, 1]]):
        with pytest.raises(SingularError):
            solve(sparse.csr_array(np.array(matrix, np.int64)), [fmpq(1), fmpq(2)])


# ---------------------------------------------------------------------------------------------
# Vertices and the outer loop


def test_a_vertex_that_is_not_optimal_is_refused():
    """Whatever the simplex method says: another basis is singular, or not feasible, or it has the same value."""
    program = program_of("mini-2x3k2-abrupt")
    vertex = Simplex().vertex(program)
    value = rational_optimum(program, vertex).value
    assert value == Fraction(13, 17)
    refused = 0
    for column in np.flatnonzero(vertex.columns):
        for other in np.flatnonzero(~vertex.columns):
            columns = vertex.columns.copy()
            columns[[column, other]] = False, True
            try:
                assert rational_optimum(program, Vertex(columns, vertex.rows, vertex.reach)).value == value
            except (NotOptimalError, SingularError):
                refused += 1
    columns = vertex.columns.copy()
    columns[np.flatnonzero(columns)[0]] = False
    with pytest.raises(NotOptimalError, match="size"):
        rational_optimum(program, Vertex(columns, vertex.rows, vertex.reach))
    assert refused > 5 or vertex.columns.all()


CONDITIONS = (
    *("flows of player 0", "what player 1 gets at most", "reach of player 0"),
    *("flows of player 1", "what player 0 gets at most", "reach of player 1", "equal objectives"),
)


def broken(program, variables, multipliers):
    """The conditions of an optimum that do not hold, from the matrix as it is written in books."""
    matrix, sums, sequences = program.matrix.toarray().tolist(), program.flows, program.sequences
    one = [int(k == 0) for k in range(max(sums, len(matrix[0]) - sequences))]
    activities = [sum(a * x for a, x in zip(row, variables, strict=True)) for row in matrix]
    prices = [sum(a * y for a, y in zip(column, multipliers, strict=True)) for column in zip(*matrix, strict=True)]
    hold = (
        activities[:sums] == one[:sums],
        max(activities[sums:]) <= 0,
        min(variables[:sequences]) >= 0,
        prices[sequences:] == one[: len(prices) - sequences],
        min(prices[:sequences]) >= 0,
        min(multipliers[sums:]) >= 0,
        variables[sequences] == multipliers[0],
    )
    return [name for name, holds in zip(CONDITIONS, hold, strict=True) if not holds]


def test_each_condition_of_an_optimum_is_checked():
    """A matrix game with two equal rows and columns, and with one of each that is not played.

    Changed a little, a solution is another one, or conditions fail; each of them is sometimes the only one.
    """
    from flint import fmpq
    from scipy import sparse

    payoffs = np.array([[2, 2, -1, 3], [2, 2, -1, 3], [-1, -1, 2, 3], [-2, -2, -2, 3]])
    sums, none = np.array([[1, 0, 0, 0, 0], [-1, 1, 1, 1, 1]]), np.zeros((2, 2), np.int64)
    histories = np.pad(payoffs, ((1, 0), (1, 0)))
    matrix = sparse.csr_array(np.block([[sums, none], [-histories.T, sums.T]]))
    program = IntegerProgram(matrix, (np.zeros(1, np.int64), np.zeros(1, np.int64)), 2)
    plan = [fmpq(1), fmpq(1, 4), fmpq(1, 4), fmpq(1, 2), fmpq(0)]
    best = [*plan, fmpq(1, 2), fmpq(1, 2)], [fmpq(1, 2), fmpq(1, 2), *plan]
    assert broken(program, *best) == [] and rational_optimum_module._check_optimum(program, *best) == Fraction(1, 4)
    draw, alone = random.Random(2), Counter()
    for _ in range(1000):
        pair = [list(part) for part in best]
        for side in draw.choice((pair, pair[:1], pair[1:])):
            amount = draw.choice((-1, 1)) * fmpq(1, draw.choice((1, 2, 7, 10**30)))
            for place in draw.sample(range(7), draw.choice((1, 2, 3))):
                side[place] += amount
                amount = -amount
        fail = broken(program, *pair)
        alone[fail[0] if len(fail) == 1 else len(fail)] += 1
        if fail:
            with pytest.raises(NotOptimalError, match="not optimal in fractions"):
                rational_optimum_module._check_optimum(program, *pair)
        else:
            assert rational_optimum_module._check_optimum(program, *pair) == Fraction(1, 4)
    assert min(alone[0], *(alone[name] for name in CONDITIONS)) > 1, alone


@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", SMALL)
def test_the_outer_loop_ends_from_nothing_with_the_value(name):
    rules, steps = rule_tables(named_game(name)), []
    certificate = exact_equilibrium(named_game(name), (first_infoset(rules, 0), first_infoset(rules, 1)), steps.append)
    assert certificate.exact and certificate.lower == EXACT_VALUES[name]
    assert all(step.added for step in steps[:-1]) and steps[-1].gain == 0


@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", ["mini-2x3k2-abrupt", "dark-hex-2x3-abrupt", "mini-2x3k3-classical"])
def test_the_outer_loop_in_fractions_ends_by_itself(name, monkeypatch):
    """Without double-precision responses, each vertex is solved in fractions, and the integer responses enlarge it."""
    monkeypatch.setattr(equilibrium, "_GAIN", 10.0)
    rules, steps = rule_tables(named_game(name)), []
    certificate = exact_equilibrium(named_game(name), (first_infoset(rules, 0), first_infoset(rules, 1)), steps.append)
    assert certificate.lower == certificate.upper == EXACT_VALUES[name]
    assert steps[-1].fractions == steps[-1].programs == len(steps) > 1
    assert all(step.gain > 0 and step.added > 0 for step in steps[:-1])


@pytest.mark.long_but("classical", "dark-hex-3x3-abrupt")
@pytest.mark.slow
@pytest.mark.parametrize("name", ["dark-hex-3x3-abrupt", "pttt-classical", "pttt-2x4k3-abrupt"])
def test_large_games_have_the_values_of_the_catalogue(name):
    assert exact_equilibrium(named_game(name), solved(name).plans).lower == EXACT_VALUES[name]


def test_intervals_of_the_catalogue_contain_the_fractions():
    for name, value in EXACT_VALUES.items():
        lower, upper = reference_value(named_game(name))
        assert Fraction(lower) - Fraction(1, 10**15) <= value <= Fraction(upper) + Fraction(1, 10**15)
        assert upper - lower < 2e-14 and exact_value(named_game(name)) == value
    for name, told in PUBLISHED_VALUES.items():
        assert round(float(EXACT_VALUES[name]), 4) == float(told)
    assert reference_value(named_game("pttt-abrupt-after-1")) is exact_value(named_game("pttt-abrupt-after-1")) is None


# ---------------------------------------------------------------------------------------------
# Other roads


def dense(program):
    """The program with variables that are not negative: bounds are differences, and an equation is two inequalities."""
    matrix, n = program.matrix.toarray().tolist(), program.sequences
    rows = [row[:n] + row[n:] + [-a for a in row[n:]] for row in matrix]
    limits = [int(row == 0) for row in range(len(rows))]
    rows += [[-a for a in row] for row in rows[: program.flows]]
    limits += [-limit for limit in limits[: program.flows]]
    return [int(j == n) - int(j == len(matrix[0])) for j in range(len(rows[0]))], rows, limits


@pytest.mark.slow_but_one
@pytest.mark.parametrize(
    "name", ["mini-2x3k2-abrupt", "mini-2x2k2-abrupt", "dark-hex-2x2-abrupt", "dark-hex-3x2-abrupt"]
)
def test_fractions_alone_give_the_value(name):
    """A dense tableau and Bland's rule, with nothing but the standard library."""
    program = program_of(name)
    assert maximise(*dense(program)) / program.scale == EXACT_VALUES[name]


@pytest.mark.long_but("mini", "hex-2x3")
@pytest.mark.slow_but_one
@pytest.mark.parametrize(
    "name", ["mini-2x3k3-abrupt", "dark-hex-2x3-abrupt", "dark-hex-3x3-abrupt", "pttt-2x4k3-abrupt"]
)
def test_the_exact_simplex_of_glpk_gives_the_value(name):
    """In rational arithmetic from beginning to end, by other people's program."""
    glpk = pytest.importorskip("swiglpk")
    program = program_of(name)
    rows, columns = program.matrix.shape
    problem, entries = glpk.glp_create_prob(), program.matrix.tocoo()
    glpk.glp_term_out(glpk.GLP_OFF)
    glpk.glp_set_obj_dir(problem, glpk.GLP_MAX)
    glpk.glp_add_rows(problem, rows)
    glpk.glp_add_cols(problem, columns)
    for row in range(rows):
        kind = glpk.GLP_FX if row < program.flows else glpk.GLP_UP
        glpk.glp_set_row_bnds(problem, row + 1, kind, float(row == 0), float(row == 0))
    for column in range(columns):
        kind = glpk.GLP_LO if column < program.sequences else glpk.GLP_FR
        glpk.glp_set_col_bnds(problem, column + 1, kind, 0.0, 0.0)
    glpk.glp_set_obj_coef(problem, program.sequences + 1, 1.0)
    size = len(entries.data)
    ia, ja, ar = glpk.intArray(size + 1), glpk.intArray(size + 1), glpk.doubleArray(size + 1)
    for k in range(size):
        ia[k + 1], ja[k + 1], ar[k + 1] = int(entries.row[k]) + 1, int(entries.col[k]) + 1, float(entries.data[k])
    glpk.glp_load_matrix(problem, size, ia, ja, ar)
    parameters = glpk.glp_smcp()
    glpk.glp_init_smcp(parameters)
    assert glpk.glp_simplex(problem, parameters) == 0
    assert glpk.glp_exact(problem, parameters) == 0
    assert glpk.glp_get_status(problem) == glpk.GLP_OPT
    # It hands its fraction on as a number in double precision.
    assert glpk.glp_get_obj_val(problem) / program.scale == pytest.approx(float(EXACT_VALUES[name]), rel=4e-16)


# ---------------------------------------------------------------------------------------------
# Inside of the optimal face


@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", ["mini-2x3k3-abrupt", "pttt-2x4k3-abrupt", "dark-hex-3x3-abrupt"])
def test_an_equilibrium_inside_has_the_same_value_in_fractions(name, monkeypatch):
    """It plays more than a vertex, and best responses in integers gain nothing."""
    vertex = exact_equilibrium(named_game(name), solved(name).plans)
    monkeypatch.setattr(oracle_module, "NEARBY_FROM", 0)
    oracle, steps = DoubleOracle(named_game(name)), []
    list(oracle.rounds())
    assert oracle.is_inside
    inside = exact_equilibrium(oracle.game, oracle.plans, steps.append, oracle.checked_program, oracle.is_inside)
    assert inside.lower == inside.upper == vertex.lower == exact_value(oracle.game) and steps[-1].gain == 0
    if name.startswith("mini"):
        assert_free_as_plain_fractions_say(*HistoryFinder(oracle.rules).find_won(oracle.plans), steps[-1].free)
    for mixed, pure in zip(inside.plans, vertex.plans, strict=True):
        assert mixed.actions >= pure.actions
    assert sum(plan.actions for plan in inside.plans) > sum(plan.actions for plan in vertex.plans)


def assert_free_as_plain_fractions_say(plans, won, free):
    """By all directions in the face, from Gauss in integers, with none of the code that is tested."""
    from flint import fmpz_mat
    from scipy import sparse

    program, face = build(sequence_form(plans, won)), equilibrium.face_at(plans, won)
    shape = len(program.upper), len(program.costs)
    sequences, flows = len(program.sequences), len(program.row_infosets)
    whole = 8 * sparse.csc_array((program.entries, program.rows, program.starts), shape=shape).toarray()
    values = np.arange(sequences, shape[1]), np.arange(flows)
    for player, (matrix, firsts) in enumerate(((whole, (0, flows)), (whole.T, (flows, 0)))):
        mine, theirs = np.flatnonzero(face.played[player]), np.flatnonzero(face.tight[1 - player])
        variables = np.append(firsts[0] + mine, values[player])
        equations = np.append(firsts[1] + theirs, values[1 - player])
        null, nullity = fmpz_mat(np.rint(matrix[np.ix_(equations, variables)]).astype(int).tolist()).nullspace()
        reach = [row[:nullity] for row in null.tolist()[: len(mine)]]
        assert free.dimensions[player] == fmpz_mat(reach).rank() > 0
        assert np.flatnonzero(free.sequences[player]).tolist() == [
            k for k, row in zip(mine.tolist(), reach, strict=True) if any(row)
        ]


def test_a_wrong_face_is_refused_and_presolve_is_left_out(monkeypatch):
    monkeypatch.setattr(oracle_module, "NEARBY_FROM", 0)
    oracle, asked, of_game = DoubleOracle(named_game("mini-2x3k3-abrupt")), [], equilibrium.face_of
    at_plans = equilibrium.face_at
    list(oracle.rounds())

    def wrong_face(plans, won):
        face = at_plans(plans, won)
        return face._replace(tight=(face.tight[0], np.ones_like(face.tight[1])))

    def face_of(plans, won, presolve=True):
        asked.append(presolve)
        program, found, face = of_game(plans, won, presolve)
        if presolve:  # all of player 1's sequences count as tight
            face = face._replace(tight=(face.tight[0], np.ones_like(face.tight[1])))
        return program, found, face

    monkeypatch.setattr(equilibrium, "face_at", wrong_face)
    monkeypatch.setattr(equilibrium, "face_of", face_of)
    found = exact_equilibrium(oracle.game, oracle.plans, inside=True)
    assert found.lower == found.upper == Fraction(17, 72) and asked == [True, False]
