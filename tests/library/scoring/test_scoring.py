"""Scores of agents, beside strategies that are made another way."""

import json
import sys
from types import ModuleType

import numpy as np
import pytest

import pttt_ooc as pttt
from pttt_ooc.cli.commands import main
from pttt_ooc.errors import ConfigError, MissingExtraError, StrategyError
from pttt_ooc.library.scoring import agents
from pttt_ooc.library.scoring.scores import agent_strategy, score
from tests.kits import naive
from tests.kits.cli_runner import Runner

GAME = pttt.game("mini-2x3k2-abrupt")
SQUARES = 6


def text_of(infostate, player):
    """The text of an infoset, from its tensor: empty squares, player 1's marks, player 0's marks, attempts."""
    states, attempts = infostate[: 3 * SQUARES].reshape(3, SQUARES), infostate[3 * SQUARES :].reshape(-1, SQUARES)
    made = [int(np.flatnonzero(row)[0]) for row in attempts if row.any()]
    return "|" + "".join(f"{s}{'*' if states[2 - player, s] else '.'}" for s in made)


def liking(seed):
    """Probabilities of a policy, by text: 0 for some squares, and never two equal ones."""

    def policy(text):
        rng = np.random.default_rng([seed, *text.encode()])
        weights = [0.0 if str(s) in text else rng.random() + 0.01 for s in range(SQUARES)]
        return [w / sum(weights) for w in weights]

    return policy


def observing(seed):
    policy = liking(seed)

    def observe(infostates, legal, player):
        assert infostates.dtype == legal.dtype == np.bool_ and legal.shape == (len(infostates), SQUARES)
        texts = [text_of(one, player) for one in infostates]
        assert [[str(s) not in text for s in range(SQUARES)] for text in texts] == legal.tolist()
        return np.array([policy(text) for text in texts])

    return observe


def by_walk(seeds):
    """Value and best responses by a walk over all histories; `seeds`: those of player 0's and player 1's policy."""
    both = [{t: liking(s)(t) for t in pttt.Strategy.uniform(GAME, p)} for p, s in enumerate(seeds)]
    return (
        naive.value(GAME, *both),
        naive.best_response_value(GAME, 0, both[1]),
        naive.best_response_value(GAME, 1, both[0]),
    )


def test_a_function_of_blocks_gets_its_exact_score():
    found = score(GAME, {0: observing(1), 1: observing(2)}, block=50)
    value, best0, best1 = by_walk((1, 2))
    assert found.value == pytest.approx(value, abs=1e-12)
    assert (found.best_response_0, found.best_response_1) == pytest.approx((best0, best1), abs=1e-12)
    assert found.nashconv == 2 * found.mean_exploitability == pytest.approx(best0 + best1, abs=1e-12)
    assert found.infosets == 189 + 107 and found.version == "stochastic"


def test_one_function_plays_both_players_and_need_not_know_which():
    uniform = score(GAME, lambda infostates, legal: legal / legal.sum(axis=1, keepdims=True))
    assert uniform.nashconv == pytest.approx(2 / 3, abs=1e-12)
    assert uniform.exploitability_0 == pytest.approx(13 / 17 + uniform.best_response_1), "the proven value of this game"
    unproven = pttt.game("mini-2x3k3-abrupt-after-1-4")
    assert score(unproven, lambda infostates, legal: legal / legal.sum(axis=1, keepdims=True)).exploitability_0 is None
    small = pttt.game("dark-hex-2x2-abrupt")  # of value 1/2
    known = score(small, lambda infostates, legal: legal / legal.sum(axis=1, keepdims=True), game_value=(0.5, 0.5))
    assert known.exploitability_0 == pytest.approx(0.5 + known.best_response_1)
    assert known.exploitability_1 == pytest.approx(known.best_response_0 - 0.5)


def test_logits_are_softened_over_legal_squares():
    def logits(infostates, legal, player):
        probabilities = observing(3)(infostates, legal, player)
        return np.where(legal, np.log(np.maximum(probabilities, 1e-30)) + 7, 1e9)

    mine = agent_strategy(GAME, 1, logits, "logits")
    for text, row in mine.items():
        assert row == pytest.approx(liking(3)(text), abs=1e-12)


@pytest.mark.parametrize("outputs", ["probabilities", "logits"])
def test_greedy_attempts_the_first_of_the_best_squares(outputs):
    mine = agent_strategy(GAME, 0, observing(4), outputs, greedy=True)
    for text, row in mine.items():
        assert row.tolist() == [float(s == np.argmax(liking(4)(text))) for s in range(SQUARES)]
    first = agent_strategy(GAME, 0, pttt.Strategy.uniform(GAME, 0), greedy=True)
    assert first["|0*2."].tolist() == [0, 1, 0, 0, 0, 0]


@pytest.mark.parametrize("greedy", [False, True])
def test_an_infoset_without_a_likely_square_is_refused(greedy):
    """Probabilities that are all 0, or logits of minus infinity: the agent does nothing there, so it has no score."""

    def silent(infostates, legal, player):
        rows = observing(4)(infostates, legal, player)
        rows[[text_of(one, player) == "|0*2." for one in infostates]] = 0
        return rows

    def softly(infostates, legal, player):
        with np.errstate(divide="ignore"):
            return np.log(silent(infostates, legal, player))

    for agent, outputs, reason in ((silent, "probabilities", "do not sum to 1"), (softly, "logits", "no finite logit")):
        with pytest.raises(StrategyError, match=rf"infoset '\|0\*2\.': it has .*{reason}"):
            agent_strategy(GAME, 0, agent, outputs, greedy=greedy)


@pytest.mark.parametrize("outputs", ["probabilities", "logits"])
def test_greedy_leaves_out_squares_that_may_not_be_attempted(outputs):
    """Also where their number is the highest, as that of a network that has never been told."""

    def unaware(infostates, legal):
        numbers = np.tile(np.linspace(1, 2, SQUARES), (len(legal), 1)) + 90 * ~legal
        return numbers / numbers.sum(axis=1, keepdims=True) if outputs == "probabilities" else numbers

    def last(infostates, legal):
        return np.eye(SQUARES)[SQUARES - 1 - legal[:, ::-1].argmax(axis=1)]

    expected = score(GAME, last)
    assert score(GAME, unaware, outputs, greedy=True).nashconv == expected.nashconv
    assert score(GAME, {0: unaware, 1: last}, outputs, greedy=True).value == expected.value
    for player in (0, 1):
        found = agent_strategy(GAME, player, unaware, outputs, greedy=True)
        assert all(row[max(naive.legal_squares(GAME, text))] == 1 for text, row in found.items())


def test_a_mixture_is_drawn_before_the_game():
    """Its value against an opponent is the mean of its members' values; averaged probabilities would not give it."""
    opponent = pttt.Strategy.from_function(GAME, 1, liking(9))
    members = [agent_strategy(GAME, 0, observing(seed), greedy=True) for seed in (5, 6)]
    mixed = agent_strategy(GAME, 0, [(3, observing(5)), (1, observing(6))], greedy=True)
    values = [pttt.evaluate(one, opponent).value for one in members]
    assert pttt.evaluate(mixed, opponent).value == pytest.approx((3 * values[0] + values[1]) / 4, abs=1e-12)
    wrong = pttt.Strategy.from_function(GAME, 0, lambda t: (3 * members[0][t] + members[1][t]) / 4)
    assert abs(pttt.evaluate(wrong, opponent).value - pttt.evaluate(mixed, opponent).value) > 1e-3


def test_a_policy_of_openspiel():
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    from open_spiel.python.policy import UniformRandomPolicy

    game = pttt.tic_tac_toe(setup=((0, 1, 5), (3, 4, 8)))
    policy = UniformRandomPolicy(pttt.library.api.openspiel.load_game(game))
    expected = score(game, {p: pttt.Strategy.uniform(game, p) for p in (0, 1)})
    assert score(game, policy).nashconv == pytest.approx(expected.nashconv, abs=1e-12)


class Tensor:
    """What is used of torch's tensors: they leave their device, and their gradients, only if told to."""

    def __init__(self, numbers, device="cpu", graph=False):
        self.numbers, self.device, self.graph, self.dtype = numbers, device, graph, numbers.dtype
        self.ndim, self.shape = numbers.ndim, numbers.shape

    def to(self, other):
        if isinstance(other, str):
            return Tensor(self.numbers, other, self.graph)
        return Tensor(self.numbers.astype(other), self.device, self.graph)

    def float(self):
        return self.to(np.float32)

    def detach(self):
        return Tensor(self.numbers, self.device)

    def cpu(self):
        return Tensor(self.numbers, graph=self.graph)

    def double(self):
        return Tensor(self.numbers.astype(np.float64), self.device, self.graph)

    def __array__(self, dtype=None, copy=None):
        if self.graph or self.device != "cpu":
            raise TypeError(f"can't convert {self.device} device type tensor to numpy")
        return np.array(self.numbers, dtype)


class Network:
    """What is used of torch's modules."""

    def __init__(self, device="cpu", dtype=np.float32, parameters=1):
        self.evaluating, self.weights = False, Tensor(np.zeros(3, dtype), device)
        self.listed = [self.weights] * parameters

    def eval(self):
        self.evaluating = True

    def parameters(self):
        return iter(self.listed)

    def __call__(self, tensor):
        assert self.evaluating and (tensor.device, tensor.dtype) == (self.weights.device, self.weights.dtype)
        return Tensor(numbers_of(tensor.numbers).astype(tensor.dtype), tensor.device, graph=True)


def numbers_of(inputs):
    return inputs @ np.arange(inputs.shape[1] * SQUARES, dtype=np.float32).reshape(-1, SQUARES) % 5


@pytest.mark.parametrize("network", [("cpu",), ("cuda:0",), ("cuda:1", np.float16), ("cpu", np.float32, 0)])
def test_a_module_of_torch_is_asked_without_gradients_where_it_is(monkeypatch, network):
    """Torch itself is not installed with the package's tests: this stands for what is used of it."""
    from contextlib import nullcontext

    torch = ModuleType("torch")
    torch.nn = ModuleType("torch.nn")
    torch.nn.Module, torch.no_grad, torch.from_numpy = Network, nullcontext, Tensor
    monkeypatch.setitem(sys.modules, "torch", torch)
    found = score(GAME, Network(*network), "logits")
    monkeypatch.delitem(sys.modules, "torch")
    assert found == score(GAME, lambda seen, legal: numbers_of(seen.astype(np.float32)), "logits")


def test_a_function_may_answer_with_tensors_of_any_device():
    def observe(seen, legal):
        return Tensor(numbers_of(seen.astype(np.float32)), "cuda:0", graph=True)

    expected = score(GAME, lambda seen, legal: numbers_of(seen.astype(np.float32)), "logits")
    assert score(GAME, observe, "logits") == expected


def test_answers_that_are_no_strategy():
    def answering(change):
        def observe(infostates, legal):
            return change(legal / legal.sum(axis=1, keepdims=True))

        return observe

    for change, text in (
        (lambda p: p[:, :5], r"answered with shape \(\d+, 5\) of float64"),
        (lambda p: None, r"answered with an object of the type NoneType, not with floats of"),
        (lambda p: p * 2, "row 0 .*infoset '|': it has numbers that do not sum to 1; logits need --outputs logits"),
        (lambda p: p * 1.002, "row 0 .*do not sum to 1"),
        (
            lambda p: p * (1 - 3 * np.eye(*p.shape)),
            "row 0 .*negative numbers; logits need --outputs",
        ),
        (lambda p: np.where(np.arange(len(p))[:, None] == 3, np.nan, p), r"row 3 .*infoset '\|2\*': it has NaN"),
        (lambda p: p @ np.ones((7, 2)), r"failed at 189 infosets of player 0: ValueError: .* \(test_scoring.py, l"),
        (lambda p: np.roll(p, 1, axis=1), "row 1 .*already been attempted, so that it must have 0"),
        (lambda p: p.astype(str), "of <U"),
    ):
        with pytest.raises(StrategyError, match=text):
            agent_strategy(GAME, 0, answering(change))
    for change, text in (
        (lambda p: p * 0 - np.inf, "row 0 .*no finite logit on a legal square"),
        (lambda p: np.where(p > 0, p, np.inf).cumsum(axis=0), "row 2 .*no finite logit on a legal square"),
        (lambda p: np.where(p > 0, p, np.nan), "row 1 .*has NaN"),
    ):
        with pytest.raises(StrategyError, match=text):
            agent_strategy(GAME, 0, answering(change), "logits")
    almost = agent_strategy(GAME, 0, answering(lambda p: p * 1.0005))
    assert np.abs(almost.probabilities - pttt.Strategy.uniform(GAME, 0).unfolded.probabilities).max() < 1e-15
    for agent, text in (
        (3, "but this is of the type int"),
        (lambda: 0, r"a function of \(\), but must be one of \(infostates, legal\)"),
        (lambda a, b, c, d: 0, r"a function of \(a, b, c, d\), but must be"),
        (lambda infoset, legal: 0, r"a function of \(infoset, legal\): it can only be played, with --games"),
        (ModuleType, "module is a class; the agent must be an object of it"),
        ({1: observing(1)}, "nothing for player 0"),
        ([], "one or more agents"),
        ([(0, observing(1))], "weight above 0"),
        ([observing(1)], "pairs of a weight and an agent"),
    ):
        with pytest.raises(ConfigError, match=text):
            agent_strategy(GAME, 0, agent)


def test_an_onnx_file_needs_its_library(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ConfigError, match=r"There is no file .*net.onnx"):
        agents.find_agent(str(tmp_path / "net.onnx"))
    (tmp_path / "net.onnx").touch()
    with pytest.raises(MissingExtraError, match=r"An agent in an ONNX file needs onnxruntime.*install with"):
        agents.find_agent(str(tmp_path / "net.onnx"))


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent.py").write_text(
        "import friend\ndef observe(infostates, legal):\n    return legal / legal.sum(axis=1, keepdims=True)\n"
        "pair = {0: observe, 1: [(1, observe), (2, observe)]}\n"
    )
    (tmp_path / "friend.py").write_text("")
    run = Runner(capsys, tmp_path / "data", GAME.name)
    line = run.ok("lab", "score", "agent.py:observe").out
    assert line.startswith(
        f"{GAME.name}, stochastic: mean exploitability 0.333333 (NashConv 0.666667); exploitability 0.564706 as"
    )
    assert line.count("\n") == 1 and line.endswith("296 infosets asked.\n")
    for name in ("agent.py:pair", "uniform"):
        found = run("lab", "score", name, "--json").json
        assert found["nashconv"] == pytest.approx(2 / 3, abs=1e-12)
    pttt.Strategy.uniform(GAME, 1).save("one.zip")
    greedy = run("lab", "score", "agent.py:observe", "one.zip", "--json", "--greedy").json
    first = pttt.Strategy.from_function(GAME, 0, lambda t: {min(set(range(6)) - set(map(int, t[1::2]))): 1})
    assert greedy["version"] == "greedy" and greedy["best_response_1"] == pytest.approx(pttt.best_response(first).value)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("none.py:observe",), "There is no file none.py"),
        (("no_such_module_here:observe",), "There is no module no_such_module_here"),
        (("wrong:f",), "There is no module wrong; if the file wrong.py is meant, write wrong.py:NAME.\n"),
        (("json:none",), "json has nothing called none"),
        (("wrong.py:f",), "wrong.py cannot be loaded: ZeroDivisionError: division by zero (wrong.py, line 1).\n"),
        (("syntax.py:f",), "syntax.py cannot be loaded: SyntaxError: "),
        (
            ("lacking.py:f",),
            "lacking.py cannot be loaded: its import (lacking.py, line 1) needs no-such-module-here, which is not "
            "installed; install with: ",
        ),
        (("wrong.py",), "wrong.py is a Python file; say which of its objects is the agent: wrong.py:NAME"),
        (("half.py:half",), "half.py:half has nothing for player 1; name another agent for that player, too"),
        (("uniform", "--outputs", "numbers"), "--outputs is 'numbers', but must be probabilities or logits"),
        (("nothing.zip",), "nothing.zip"),
        (("net.pt",), "net.pt: Not a known kind of file; an agent is FILE.py:NAME (so is a module"),
        (("n.npy",), "n.npy: Exception parsing numpy tensor"),
        (("uniform", "--game-value", "0.9"), "The value of the game cannot be 0.9"),
    ],
)
def test_bad_arguments_of_the_command(arguments, text, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wrong.py").write_text("1 / 0")
    (tmp_path / "syntax.py").write_text("def f(")
    (tmp_path / "lacking.py").write_text("import no_such_module_here.part")
    (tmp_path / "net.pt").write_text("weights")
    (tmp_path / "n.npy").write_text("no array")
    (tmp_path / "half.py").write_text("half = {0: lambda infostates, legal: legal}")
    done = Runner(capsys, tmp_path / "data", GAME.name)("lab", "score", *arguments)
    assert done.code and not done.out and text in done.err and "Traceback" not in done.err


def test_a_policy_that_openspiel_made_has_the_score_that_openspiel_gives_it():
    """OpenSpiel's counterfactual regret minimisation, measured by OpenSpiel's own best responses."""
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    game = pttt.game("dark-hex-2x2-classical")
    theirs = pttt.library.api.openspiel.load_game(game)
    solver = pyspiel.CFRSolver(theirs)
    for _ in range(3):
        solver.evaluate_and_update_policy()
    average = solver.average_policy()
    found = score(game, average)
    assert found.nashconv == pytest.approx(pyspiel.nash_conv(theirs, average), abs=1e-9)
    assert found.nashconv > 1e-3


POLICIES = """
import pyspiel
from open_spiel.python.policy import Policy, TabularPolicy, UniformRandomPolicy

hexes = {n: pyspiel.load_game(f"dark_hex(num_rows=2,num_cols={n},gameversion=adh)") for n in (2, 3)}
uniform, wide = UniformRandomPolicy(hexes[2]), UniformRandomPolicy(hexes[3])
table, both = TabularPolicy(hexes[2]), {0: uniform, 1: [(1, uniform), (2, TabularPolicy(hexes[2]))]}
mixed = [(1, uniform), (1, wide)]
other = UniformRandomPolicy(pyspiel.load_game("kuhn_poker"))


class Bad(Policy):
    def action_probabilities(self, state, player_id=None):
        raise KeyError("no such state")


bad = Bad(hexes[2], [0, 1])
"""


def test_the_game_of_a_policy_of_openspiel_is_scored_and_no_other(tmp_path, monkeypatch, capsys):
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "theirs.py").write_text(POLICIES)

    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            main(["lab", "score", *arguments, "--data", "data"])
        return end.value.code or 0, *capsys.readouterr()

    expected = score(pttt.game("dark-hex-2x2-abrupt"), lambda seen, legal: legal / legal.sum(axis=1, keepdims=True))
    for name in ("uniform", "table", "both"):
        code, out, _ = run(f"theirs.py:{name}", "--json")
        found = json.loads(out)
        assert code == 0 and found["game"] == "dark-hex-2x2-abrupt"
        assert found["nashconv"] == pytest.approx(expected.nashconv, abs=1e-9)
    for arguments, told in (
        (("theirs.py:uniform", "--game", "pttt-abrupt"), "The policy is for dark-hex-2x2-abrupt, not for pttt-abrupt;"),
        (("theirs.py:uniform", "theirs.py:wide"), "different games: dark-hex-2x2-abrupt and dark-hex-2x3-abrupt."),
        (("theirs.py:mixed",), "The agents are for different games: dark-hex-2x2-abrupt and dark-hex-2x3-abrupt."),
        (("theirs.py:other",), "OpenSpiel's game kuhn_poker() has no counterpart here;"),
        (("theirs.py:bad",), "The policy failed at an infoset of player 0: KeyError: 'no such state' (theirs.py, line"),
    ):
        code, out, err = run(*arguments)
        assert code == 1 and out == "" and told in err and err.count("\n") == 1, err


def test_functions_tell_how_far_they_are():
    for player in (0, 1):
        mine = []
        agent_strategy(GAME, player, observing(4), block=50, report=lambda what, share, mine=mine: mine.append(share))
        infosets = len(pttt.Strategy.uniform(GAME, player))
        assert mine == [min(50 * n / infosets, 1) for n in range(1, -(-infosets // 50) + 1)]


def test_policies_of_openspiel_tell_how_far_they_are(monkeypatch):
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    from open_spiel.python.policy import UniformRandomPolicy

    game, told = pttt.game("dark-hex-2x2-abrupt"), []
    policy = UniformRandomPolicy(pttt.library.api.openspiel.load_game(game))
    score(game, policy, block=10, report=lambda what, share: told.append((what, share)))
    for player in (0, 1):
        mine = [share for what, share in told if what == f"Asking player {player}'s policy"]
        assert len(mine) == -(-len(pttt.Strategy.uniform(game, player)) // 10) and mine[-1] == 1
        assert mine == sorted(mine)
