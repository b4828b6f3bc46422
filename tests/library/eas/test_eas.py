"""The interface of exp-a-spiel, beside a plain walk over histories and beside OpenSpiel."""

import subprocess
import sys
from collections import defaultdict

import numpy as np
import pytest

import pttt_ooc as pttt
from pttt_ooc.errors import ConfigError, GameError, InfosetFileError, StrategyError
from pttt_ooc.library import eas

NEIGHBOURS = ((0, 1), (1, 0), (1, -1), (0, -1), (-1, 0), (-1, 1))  # of a hexagon, by rows and columns


@pytest.fixture(scope="module")
def corner():
    return eas.CornerDhTraverser()


def connects(player, cells):
    """Whether some path of a player's cells goes from top to bottom (player 0) or from left to right (player 1)."""
    todo = [c for c in cells if divmod(c, 3)[player] == 0]
    seen = set(todo)
    while todo:
        row, column = divmod(todo.pop(), 3)
        if (row, column)[player] == 2:
            return True
        for down, right in NEIGHBOURS:
            at = (row + down, column + right)
            cell = 3 * at[0] + at[1]
            if min(at) >= 0 and max(at) <= 2 and cell in cells and cell not in seen:
                seen.add(cell)
                todo.append(cell)
    return False


class Walk:
    """All histories of the game of the corners that one player can reach against a strategy of the other."""

    def __init__(self, me, theirs):
        self.me, self.theirs = me, theirs
        self.gradient = defaultdict(float)  # (infoset, cell) before the end of the game -> payoff times reach
        self.parents = {}
        self.go(0, ({0}, {8}), ({0, 8}, {0, 8}), ("0*", "8*"), 1.0, None)

    def go(self, mover, placed, tried, texts, reach, last):
        for cell in range(9):
            share = 1.0 if mover == self.me else self.theirs[texts[mover]][cell]
            if cell in tried[mover] or not share:
                continue
            failed = cell in placed[1 - mover]
            text = f"{texts[mover]}{cell}{'.' if failed else '*'}"
            now = (texts[mover], cell) if mover == self.me else last
            if mover == self.me:
                self.parents[texts[mover]] = last
            marks = placed if failed else changed(placed, mover, placed[mover] | {cell})
            if not failed and connects(mover, marks[mover]):
                self.gradient[now] += reach * share * (1 if mover == self.me else -1)
                continue
            both = changed(tried, mover, tried[mover] | {cell}), changed(texts, mover, text)
            self.go(mover if failed else 1 - mover, marks, *both, reach * share, now)

    def best(self):
        """Value of the best response."""
        values = defaultdict(float, self.gradient)
        for text in sorted(self.parents, key=len, reverse=True):
            cells = [c for c in range(9) if c not in (0, 8) and str(c) not in text]
            value = max(values[text, c] for c in cells)
            if self.parents[text]:
                values[self.parents[text]] += value
        return value

    def value(self, mine):
        """Of a strategy of the walking player."""
        values = defaultdict(float, self.gradient)
        for text in sorted(self.parents, key=len, reverse=True):
            value = sum(p * values[text, c] for c, p in enumerate(mine[text]) if p)
            if self.parents[text]:
                values[self.parents[text]] += value
        return value


def changed(pair, player, entry):
    return (entry, pair[1]) if player == 0 else (pair[0], entry)


class ByText:
    def __init__(self, traverser, player, strategy):
        self.traverser, self.player, self.strategy = traverser, player, strategy

    def __getitem__(self, text):
        return self.strategy[self.traverser.row_for_infoset(self.player, text)]


def sparse_strategies(traverser, seed):
    """At most two cells in each row, mostly one."""
    rng, out = np.random.default_rng(seed), []
    for uniform in traverser.construct_uniform_strategies():
        strategy = np.zeros_like(uniform)
        rows = np.arange(len(uniform))
        for share in (0.75, 0.25):
            keys = np.where(uniform > 0, rng.random(uniform.shape), -1)
            keys[rng.random(len(keys)) < 0.8] = uniform[0]  # often the same cell
            keys[uniform == 0] = -1
            strategy[rows, keys.argmax(axis=1)] += share
        out.append(strategy)
    return out


@pytest.fixture(scope="module")
def walked(corner):
    strategies = sparse_strategies(corner, 1)
    texts = [ByText(corner, p, strategies[p]) for p in (0, 1)]
    return strategies, texts, [Walk(p, texts[1 - p]) for p in (0, 1)]


@pytest.mark.slow
def test_values_and_responses_of_the_corners_by_a_walk(corner, walked):
    """`expl[i]` is how exploitable player i is: what the opponent's best response adds to what the opponent gets."""
    strategies, texts, walks = walked
    found = corner.ev_and_exploitability(*strategies)
    values = [walks[p].value(texts[p]) for p in (0, 1)]
    assert values[0] == pytest.approx(-values[1], abs=1e-12)
    assert found.ev0 == pytest.approx(values[0], abs=1e-12)
    best = [walk.best() for walk in walks]
    assert found.expl == pytest.approx((best[1] - values[1], best[0] - values[0]), abs=1e-12)
    assert abs(found.expl[0] - found.expl[1]) > 0.1, "this would not tell the players apart"
    for player in (0, 1):
        reply, payoff = found.best_response[player], best[player] * (1 - 2 * player)
        both = (reply, strategies[1]) if player == 0 else (strategies[0], reply)
        assert corner.ev_and_exploitability(*both).ev0 == pytest.approx(payoff, abs=1e-12)


@pytest.mark.slow
def test_gradients_of_the_corners_by_a_walk(corner, walked):
    strategies, _, walks = walked
    found = corner.ev_and_exploitability(*strategies)
    for player in (0, 1):
        expected = np.zeros_like(strategies[player])
        for (text, cell), payoff in walks[player].gradient.items():
            expected[corner.row_for_infoset(player, text), cell] = payoff
        assert np.count_nonzero(expected) > 300
        np.testing.assert_allclose(found.gradient[player], expected, atol=1e-13)


@pytest.mark.slow
def test_rows_are_sorted_by_length_then_cells_and_outcomes(corner, walked):
    """The numbers of rows are those of a build of exp-a-spiel."""
    assert (corner.NUM_INFOS_PL0, corner.NUM_INFOS_PL1) == (20448, 12939)
    for player in (0, 1):
        size = (corner.NUM_INFOS_PL0, corner.NUM_INFOS_PL1)[player]
        texts = [corner.infoset_desc(player, row) for row in range(size)]
        assert texts == sorted(texts, key=lambda t: (len(t), t.replace("*", "~")))  # '.' comes before '~'
        assert len(set(texts)) == size and set(walked[2][player].parents) <= set(texts)
        for row in range(1, size, 97):
            parent, cell = corner.parent_index_and_action(player, row)
            assert texts[parent] == texts[row][:-2] and str(cell) == texts[row][-2]
        assert corner.parent_index_and_action(player, 0) == (0, 8 * player)


def test_the_first_row_of_the_whole_games_has_no_cell_before():
    board = eas.traversers.boards.pttt("abrupt")
    assert board.description(0, "|") == "" and board.text(1, "4.") == "|4."


@pytest.mark.slow
def test_infostates_of_rows_are_those_of_plays(corner):
    rng = np.random.default_rng(2)
    tables = [corner.compute_openspiel_infostates(p) for p in (0, 1)]
    assert [t.shape for t in tables] == [(20448, 162), (12939, 162)] and tables[0].dtype == np.bool_
    for _ in range(100):
        state = eas.CornerDhState()
        while not state.is_terminal():
            player = state.player()
            row = corner.row_for_infoset(player, state.infoset_desc())
            mine = state.compute_openspiel_infostate()
            assert (tables[player][row] == mine).all()
            assert (corner.compute_openspiel_infostate(player, row) == mine).all()
            assert [cell for cell in range(9) if state.action_mask()[cell]] == [
                c for c in range(1, 8) if not mine[81 + c :: 9].any()
            ]
            state.next(int(rng.choice(np.flatnonzero(state.action_mask()))))


@pytest.mark.parametrize(
    ("name", "game"),
    [
        ("Pttt", "phantom_ttt(gameversion=classical)"),
        ("AbruptPttt", "phantom_ttt(gameversion=abrupt)"),
        ("Dh", "dark_hex(board_size=3,gameversion=cdh)"),
        ("AbruptDh", "dark_hex(board_size=3,gameversion=adh)"),
    ],
)
def test_plays_are_those_of_openspiel(name, game):
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    theirs, rng, winners = pyspiel.load_game(game), np.random.default_rng(4), set()
    for _ in range(200):
        state, ours = theirs.new_initial_state(), getattr(eas, f"{name}State")()
        while not state.is_terminal():
            assert ours.player() == state.current_player() and not ours.is_terminal()
            assert np.flatnonzero(ours.action_mask()).tolist() == state.legal_actions()
            tensor = np.array(state.information_state_tensor()) != 0
            assert len(tensor) == ours.OPENSPIEL_INFOSTATE_SIZE
            assert (ours.compute_openspiel_infostate() == tensor).all()
            cell = int(rng.choice(state.legal_actions()))
            state.apply_action(cell)
            ours.next(cell)
        assert ours.is_terminal() and ours.player() is None
        assert {None: 0, 0: 1, 1: -1}[ours.winner()] == state.returns()[0]
        winners.add(ours.winner())
    assert winners >= {0, 1}


def test_a_play_is_shown(corner):
    state = eas.PtttState()
    for cell in (0, 0, 4):
        state.next(cell)
    assert str(state).splitlines() == [
        *("** It is Player 1's turn", "** Player 1's board:", "X..", "...", "..."),
        *("", "** Player 2's board:", "...", ".O.", "..."),
    ]
    hexes = eas.CornerDhState()
    hexes.next(5)
    first, second = str(hexes).split("\n\n")
    assert first.count("t=") == 2 and "t=2" in first and first.count("X") == 2 * 14
    assert second.count("t=") == 1 and second.count("O") == 14 and second.splitlines()[1:][6][28:36] == "/O  8  O"
    for cell in (3, 4, 1, 2, 6):
        hexes.next(cell)
    assert str(hexes).startswith("** It is") or str(hexes).startswith("** GAME OVER -- Player")


def test_a_clone_goes_its_own_way():
    state = eas.AbruptPtttState()
    state.next(4)
    copy = state.clone()
    copy.next(4)
    assert (state.player(), copy.player()) == (1, 0)
    assert (state.infoset_desc(), copy.infoset_desc()) == ("", "4*")


@pytest.fixture(scope="module")
def generations(corner):
    """Of each player, the rows with one attempt, two attempts and so on, with the rows and cells before them."""
    found = []
    for player in (0, 1):
        texts = [
            corner.infoset_desc(player, row) for row in range((corner.NUM_INFOS_PL0, corner.NUM_INFOS_PL1)[player])
        ]
        rows = {text: row for row, text in enumerate(texts)}
        lengths = np.array([len(text) // 2 - 1 for text in texts])
        parts = [np.flatnonzero(lengths == length) for length in range(1, lengths.max() + 1)]
        found.append(
            [(part, ([rows[texts[r][:-2]] for r in part], [int(texts[r][-2]) for r in part])) for part in parts]
        )
    return found


def mixed_by_walk(corner, player, strategies, weights, generations):
    """The average of realization plans, from the first row on."""
    total = np.zeros((len(strategies[0]), 9))
    for strategy, weight in zip(strategies, weights, strict=True):
        plan = strategy.copy()
        for rows, before in generations[player]:
            plan[rows] *= plan[before][:, None]
        total += weight * plan
    sums = total.sum(axis=1, keepdims=True)
    legal = strategies[0] * 0 + (corner.construct_uniform_strategies()[player] > 0)
    return np.where(sums > 0, total / np.where(sums > 0, sums, 1), legal / legal.sum(axis=1, keepdims=True))


WEIGHTS = {
    "UNIFORM": (1, 1, 1),
    "LINEAR": (1, 2, 3),
    "QUADRATIC": (1, 4, 9),
    "EXPERIMENTAL": (0, 24, 216),  # t^3 (t^2 - 1)
    "LAST": (0, 0, 1),
    "CUSTOM": (0.5, 0, 3),
}


@pytest.mark.parametrize("name", WEIGHTS)
def test_averages_are_of_realization_plans(corner, generations, name):
    strategies = [sparse_strategies(corner, seed)[1] for seed in (5, 6, 7)]
    averager = corner.new_averager(1, getattr(eas.AveragingStrategy, name))
    for strategy, weight in zip(strategies, WEIGHTS[name], strict=True):
        averager.push(strategy, weight if name == "CUSTOM" else None)
    expected = mixed_by_walk(corner, 1, strategies, WEIGHTS[name], generations)
    np.testing.assert_allclose(averager.running_avg(), expected, atol=1e-12)


class PlainCfr:
    """The same algorithm on arrays of rows, written from its description."""

    def __init__(self, corner, conf, generations):
        self.corner, self.conf, self.generations = corner, conf, generations
        self.now = list(corner.construct_uniform_strategies())
        self.legal = [s > 0 for s in self.now]
        self.regrets = [np.zeros_like(s) for s in self.now]
        self.played = [[s] for s in self.now]
        self.updates = 0

    def step(self):
        gradients = self.corner.ev_and_exploitability(*self.now).gradient
        for player in (self.updates % 2,) if self.conf.alternation else (0, 1):
            self.update(player, gradients[player].copy())

    def matched(self, weights, legal):
        positive = np.maximum(weights, 0) * legal
        sums = positive.sum(axis=1, keepdims=True)
        return np.where(sums > 0, positive, legal) / np.where(sums > 0, sums, legal.sum(axis=1, keepdims=True))

    def update(self, player, gradient):
        ahead, new = gradient.copy(), self.now[player].copy()
        regrets, legal = self.regrets[player], self.legal[player]
        for rows, before in [*reversed(self.generations[player]), (np.array([0]), None)]:
            now = self.now[player][rows]
            expected = (gradient[rows] * now).sum(axis=1)
            regrets[rows] += (gradient[rows] - expected[:, None]) * legal[rows]
            weights = regrets[rows]
            if self.conf.predictive:
                weights = weights + ahead[rows] - (ahead[rows] * now).sum(axis=1, keepdims=True)
            new[rows] = self.matched(weights, legal[rows])
            if before:
                np.add.at(gradient, before, expected)
                np.add.at(ahead, before, (ahead[rows] * new[rows]).sum(axis=1))
        self.now[player] = new
        self.played[player].append(new)
        t = self.updates // 2 + 1
        if self.conf.rmplus:
            np.maximum(regrets, 0, out=regrets)
        if self.conf.dcfr:
            regrets *= np.where(regrets > 0, t**1.5 / (t**1.5 + 1), 0.5)
        self.updates += 1


@pytest.mark.parametrize(
    "settings",
    [
        {"dcfr": False, "rmplus": True, "predictive": True},
        pytest.param({"alternation": False, "avg": eas.AveragingStrategy.LINEAR}, marks=pytest.mark.slow),
        pytest.param({}, marks=pytest.mark.slow),
        pytest.param({"dcfr": False, "avg": eas.AveragingStrategy.UNIFORM}, marks=pytest.mark.slow),
        pytest.param({"predictive": True, "alternation": False}, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_cfr_by_plain_arrays(corner, generations, settings):
    """To rounding, but where a regret is zero: a cell's probability may then be 0 in one program and 1 in the other."""
    conf = eas.CfrConf(**settings)
    plain, solver = PlainCfr(corner, conf, generations), eas.CfrSolver(corner, conf)
    for _ in range(6):
        plain.step()
        solver.step()
    for player, uniform in enumerate(corner.construct_uniform_strategies()):
        averager = corner.new_averager(player, conf.avg)
        for strategy in plain.played[player]:
            averager.push(strategy)
        average, theirs = averager.running_avg(), solver.avg_bh()[player]
        moved = (average != uniform).any(axis=1)  # few rows: the first player has won this game
        assert moved.sum() > 30
        assert np.mean(np.abs(average - theirs)[moved].max(axis=1) < 1e-12) > 0.9
        # Discounts hardly show in the averages, as one cell is mostly best.
        regrets = corner.treeplexes[player].array(solver._regrets[player])
        seen = np.abs(plain.regrets[player]) > 1e-9
        assert seen.sum() > 300
        assert np.mean(np.abs(regrets - plain.regrets[player])[seen] < 1e-12) > 0.9


@pytest.mark.slow
def test_cfr_reaches_an_equilibrium(corner):
    for conf in (eas.CfrConf.PCFRP, eas.CfrConf.DCFR):
        solver = corner.cfr_solver(conf)
        for _ in range(300):
            solver.step()
        assert sum(corner.ev_and_exploitability(*solver.avg_bh()).expl) < 2e-3


def test_variants_that_do_not_exist(corner):
    with pytest.raises(ConfigError, match="dcfr and rmplus exclude each other"):
        eas.CfrSolver(corner, eas.CfrConf(rmplus=True))
    with pytest.raises(ConfigError, match="custom"):
        corner.cfr_solver(eas.CfrConf(avg=eas.AveragingStrategy.CUSTOM))
    assert eas.CfrConf.PCFRP is not eas.CfrConf.PCFRP, "nobody changes another one's"
    assert vars(eas.CfrConf.PCFRP) == vars(eas.CfrConf(dcfr=False, rmplus=True, predictive=True))
    assert vars(eas.CfrConf.DCFR) == vars(eas.CfrConf(dcfr=True, rmplus=False, predictive=False))


def test_bad_input_gets_a_sentence(corner):
    first, second = corner.construct_uniform_strategies()
    for cell, row, value, text in (
        (1, 0, 0.5, "row 0, infoset '0[*]': the sum is 1.357"),
        (0, 7, 1e-9, "row 7, .*cell 0 has 1e-09, but may not be attempted"),
        (2, 5, np.nan, "row 5, .*cell 2 has nan, which is not a number"),
        (2, 20447, -0.5, "row 20447, .*cell 2 has -0.5, but probabilities are from 0 to 1"),
    ):
        bad = first.copy()
        bad[row, cell] = value
        assert not corner.is_valid_strategy(0, bad)
        with pytest.raises(StrategyError, match=text):
            corner.ev_and_exploitability(bad, second)
    with pytest.raises(StrategyError, match=r"has shape \(20448, 9\), not \(12939, 9\)"):
        corner.ev_and_exploitability(second, first)
    assert not corner.is_valid_strategy(0, second) and corner.is_valid_strategy(0, first.astype(np.float32))
    for call, text in (
        (lambda: corner.infoset_desc(2, 0), "no player 2"),
        (lambda: corner.infoset_desc(0, 20448), "no row 20448; rows are 0 to 20,447"),
        (lambda: corner.infoset_desc(0, -1), "no row -1"),
    ):
        with pytest.raises(GameError, match=text):
            call()
    for text in ("0*9*", "1*", "0*1*1*", "0*x*", "0*8.", "0*\u00b2*"):
        with pytest.raises(InfosetFileError, match="is not an infoset of player 0; an infoset is described by"):
            corner.row_for_infoset(0, text)
    with pytest.raises(GameError, match="cannot attempt cell 8 at '0[*]'; choose one of 1, 2, 3, 4, 5, 6, 7"):
        eas.CornerDhState().next(8)
    with pytest.raises(GameError, match="not over"):
        eas.DhState().winner()
    averager = corner.new_averager(0, eas.AveragingStrategy.CUSTOM)
    for weight in (None, -1.0, np.nan):
        with pytest.raises(ConfigError, match="takes a weight"):
            averager.push(first, weight)
    averager.push(first, 0)
    with pytest.raises(ConfigError, match="no average yet"):
        averager.running_avg()
    with pytest.raises(ConfigError, match="takes no weight"):
        corner.new_averager(0, eas.AveragingStrategy.LAST).push(first, 1.0)


@pytest.mark.slow
def test_a_program_for_eas_runs_unmodified(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, eas, helper\nfrom eas.pyeas import CfrConf\n"
        "print(eas.DhState().player(), CfrConf.DCFR, sys.argv[1], __name__)\n"
    )
    (tmp_path / "helper.py").write_text("")
    command = [sys.executable, "-m", "pttt_ooc.library.eas", program, "word"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    conf = "CfrConf(avg=quadratic, alternation=true, dcfr=true, rmplus=false, predictive=false)"
    assert done.stdout == f"0 {conf} word __main__\n"
    command[-2] = tmp_path / "none.py"
    assert subprocess.run(command, capture_output=True, text=True).returncode == 1


def test_the_games_are_the_packages():
    assert eas.PtttTraverser._board.game == pttt.game("pttt-classical")
    assert {c.__name__: c.OPENSPIEL_INFOSTATE_SIZE for c in eas.traversers.Traverser.__subclasses__()} == {
        **{"PtttTraverser": 108, "AbruptPtttTraverser": 108},
        **{"DhTraverser": 162, "AbruptDhTraverser": 162, "CornerDhTraverser": 162},
    }


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (eas.CornerDhTraverser, (0.3714285714, 1.1619047619, 0.6285714286)),
        pytest.param(eas.DhTraverser, (0.3333333333, 1.1661375661, 0.6666666667), marks=pytest.mark.slow),
    ],
)
def test_uniform_play_has_the_numbers_that_exp_a_spiel_says(kind, told):
    traverser = kind()
    found = traverser.ev_and_exploitability(*traverser.construct_uniform_strategies())
    np.testing.assert_allclose((found.ev0, *found.expl), told, rtol=0, atol=1e-10)
