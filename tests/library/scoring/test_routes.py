"""Routes by which other people's agents come: each beside the same numbers as a plain function."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import pttt_ooc as pttt
from pttt_ooc.errors import ConfigError, MissingExtraError, StrategyError
from pttt_ooc.library.scoring import checkpoints
from pttt_ooc.library.scoring.agents import find_agent, observer
from pttt_ooc.library.scoring.aivat import score_by_games
from pttt_ooc.library.scoring.scores import agent_strategy, score
from pttt_ooc.other_games.environments.catalogue import environment
from tests.kits import naive
from tests.kits.cli_runner import Runner

GAME = pttt.game("mini-2x3k2-abrupt")
HEX = pttt.game("dark-hex-2x2-classical")
SQUARES = 6
ROOT = Path(__file__).parents[3]


def needs(library):
    return pytest.importorskip(library, reason=f"needs {library}, which is not installed")


def size_of(kind, squares=SQUARES):
    return {"infostates": 3 * squares + squares**2, "observations": 2 * squares}[kind]


def weights(kind, seed=0, hidden=5):
    """Matrices and biases of a network with one hidden layer."""
    rng, sizes = np.random.default_rng(seed), (size_of(kind), hidden, SQUARES)
    return [
        (rng.normal(size=(a, b)).astype(np.float32), rng.normal(size=b).astype(np.float32))
        for a, b in zip(sizes, sizes[1:], strict=False)
    ]


def network(layers, activation=np.tanh):
    (first, bias), (second, other) = layers

    def numbers(inputs):
        return activation(inputs.reshape(len(inputs), -1).astype(np.float32) @ first + bias) @ second + other

    return numbers


def plainly(kind, layers, activation=np.tanh):
    """The network as a function of blocks."""
    numbers = network(layers, activation)
    if kind == "infostates":
        return lambda infostates, legal: numbers(infostates)
    return lambda observations, legal: numbers(observations)


def assert_same(found, expected):
    assert found.nashconv == pytest.approx(expected.nashconv, abs=1e-5)
    assert found.value == pytest.approx(expected.value, abs=1e-5)


# ---------------------------------------------------------------------------------------------
# nashbench


@pytest.mark.slow
def test_a_policy_of_nashbench():
    """Of one infoset; it sees the player, then the infostate, and is traced by JAX."""
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    rng = np.random.default_rng(2)
    inner, outer = rng.normal(size=(2 + size_of("infostates"), 7)), rng.normal(size=(7, SQUARES))

    def policy(observation, legal_action_mask):
        assert observation.shape == (2 + size_of("infostates"),) and legal_action_mask.shape == (SQUARES,)
        numbers = jax.numpy.tanh(observation @ inner) @ outer
        return jax.nn.softmax(jax.numpy.where(legal_action_mask, numbers, -jax.numpy.inf))

    def plain(infostates, legal, player):
        seat = np.tile(np.eye(2)[player], (len(legal), 1))
        numbers = np.exp(np.tanh(np.concatenate([seat, infostates], axis=1) @ inner) @ outer) * legal
        return numbers / numbers.sum(axis=1, keepdims=True)

    assert_same(score(GAME, policy), score(GAME, plain))
    assert_same(score(GAME, [(1, policy), (3, plain)], block=50), score(GAME, plain))
    both = [{t: row.tolist() for t, row in agent_strategy(GAME, p, policy).items()} for p in (0, 1)]
    best = [naive.best_response_value(GAME, p, both[1 - p]) for p in (0, 1)]
    assert score(GAME, policy).mean_exploitability == pytest.approx(sum(best) / 2, abs=1e-6), "what nashbench defines"


@pytest.mark.parametrize("bound", [False, True])
def test_a_policy_of_nashbench_is_asked_where_its_weights_are(monkeypatch, bound):
    """Compiled code would ignore the device of weights; so the inputs are brought there, but only if they are bound."""
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    rng, device, places, put = np.random.default_rng(2), jax.devices()[0], [], jax.device_put
    matrix = rng.normal(size=(2 + size_of("infostates"), SQUARES)).astype(np.float32)
    weights = put(matrix, device) if bound else jax.numpy.array(matrix)
    assert weights.committed == bound
    monkeypatch.setattr(jax, "device_count", lambda: 2)  # with a single processor there is no question
    monkeypatch.setattr(jax, "device_put", lambda what, where=None: places.append(where) or put(what, where))
    asked = observer(lambda observation, legal_action_mask: observation @ weights + legal_action_mask)
    for player in (0, 1):
        infostates, legal = (rng.random((5, size)) < 0.5 for size in (size_of("infostates"), SQUARES))
        seen = np.concatenate([np.tile(np.eye(2)[player], (5, 1)), infostates], axis=1)
        assert np.abs(asked(infostates, legal, player) - (seen @ matrix + legal)).max() < 1e-5
    assert places == [device if bound else None] * 2


def test_a_policy_of_nashbench_is_compiled_once():
    """For both players and for the last, smaller block, which would take longer to compile for than to ask twice."""
    jax, traced = pytest.importorskip("jax", reason="JAX is not installed"), []

    def policy(observation, legal_action_mask):
        traced.append(observation)
        numbers = observation[2 : 2 + SQUARES] + observation[0] * np.arange(SQUARES)
        return jax.nn.softmax(jax.numpy.where(legal_action_mask, numbers, -jax.numpy.inf))

    def plain(infostates, legal, player):
        weights = np.where(legal, np.exp(infostates[:, :SQUARES] + (1 - player) * np.arange(SQUARES)), 0)
        return weights / weights.sum(axis=1, keepdims=True)

    found = score(GAME, policy, block=50)
    assert len(traced) == 1
    assert_same(found, score(GAME, plain))
    assert_same(score(GAME, {0: policy, 1: policy}, block=50), found)
    assert len(traced) == 2
    # Who is asked for one infoset after another does not compute a whole block for each.
    ask, infostates = observer(policy), np.zeros((50, size_of("infostates")), np.bool_)
    for count, times in ((50, 3), (1, 3), (1, 4), (1, 4), (7, 4)):
        rows = infostates[:count], np.ones((count, SQUARES), np.bool_), 0
        assert np.abs(ask(*rows) - plain(*rows)).max() < 1e-6 and len(traced) == times


# ---------------------------------------------------------------------------------------------
# What the environment shows


@pytest.mark.parametrize("name", [GAME.name, HEX.name, "dark-hex-2x3-abrupt", "mini-2x3k2-classical"])
def test_observations_of_blocks_are_those_of_the_environment(name):
    game = pttt.game(name)
    seen = [{}, {}]
    for player in (0, 1):
        texts = list(pttt.Strategy.uniform(game, player))

        def observe(observations, legal, player=player, texts=texts):
            assert observations.dtype == np.int8 and observations.shape == (len(legal), game.squares, 2)
            seen[player].update(zip(texts, zip(observations.tolist(), legal.tolist(), strict=True), strict=True))
            return legal / legal.sum(axis=1, keepdims=True)

        agent_strategy(game, player, lambda observations, legal, observe=observe: observe(observations, legal))
    env, rng, checked = environment(f"phantom:{name}"), np.random.default_rng(1), set()
    for _ in range(60):
        env.reset()
        for agent in env.agent_iter():
            found, _, ended, _, _ = env.last()
            if ended:
                env.step(None)
                continue
            player = env.possible_agents.index(agent)
            text = env.history.infoset(player)
            assert seen[player][text] == (found["observation"].tolist(), found["action_mask"].astype(bool).tolist())
            checked.add(text)
            env.step(int(rng.choice(np.flatnonzero(found["action_mask"]))))
    assert len(checked) > 15


def test_a_player_of_environments_is_shown_the_same_in_games():
    opponents = tuple(pttt.Strategy.uniform(GAME, p) for p in (0, 1))

    def by_observation(observation):
        marks, mask = observation["observation"], observation["action_mask"]
        assert marks.shape == (SQUARES, 2) and not (marks.sum(axis=1) * mask).any()
        legal = np.flatnonzero(mask)
        return legal[-1] if marks[:, 1].any() else legal[0]

    def by_text(infoset, legal):
        return legal[-1] if "." in infoset else legal[0]

    assert score_by_games(opponents, by_observation, 200) == score_by_games(opponents, by_text, 200)


# ---------------------------------------------------------------------------------------------
# Libraries


@pytest.mark.parametrize("kind", ["infostates", "observations"])
def test_a_torch_module(kind):
    torch = needs("torch")
    layers = weights(kind)
    module = torch.nn.Sequential(torch.nn.Linear(size_of(kind), 5), torch.nn.Tanh(), torch.nn.Linear(5, SQUARES))
    for linear, (matrix, bias) in zip((module[0], module[2]), layers, strict=True):
        linear.weight.data[:], linear.bias.data[:] = torch.from_numpy(matrix.T.copy()), torch.from_numpy(bias)
    expected = score(GAME, plainly(kind, layers), "logits")
    assert_same(score(GAME, module, "logits"), expected)
    assert_same(score(GAME, module, greedy=True, outputs="logits"), score(GAME, plainly(kind, layers), "logits", True))


def test_a_torch_module_in_another_precision_and_a_function_of_it():
    torch = needs("torch")
    layers = weights("infostates")
    module = torch.nn.Sequential(torch.nn.Linear(54, 5), torch.nn.Tanh(), torch.nn.Linear(5, SQUARES)).double()
    for linear, (matrix, bias) in zip((module[0], module[2]), layers, strict=True):
        linear.weight.data[:], linear.bias.data[:] = torch.from_numpy(matrix.T.copy()), torch.from_numpy(bias)
    expected = score(GAME, plainly("infostates", layers), "logits")
    assert_same(score(GAME, module, "logits"), expected)
    assert_same(score(GAME, lambda seen, legal: module(torch.from_numpy(seen).double()), "logits"), expected)
    rounded = score(GAME, module.bfloat16(), "logits")
    assert rounded.nashconv == pytest.approx(expected.nashconv, abs=0.05)


def test_a_torch_module_of_another_size():
    torch = needs("torch")
    with pytest.raises(
        ConfigError, match="takes 7 numbers, but information states have 54, and the environment's .* 12"
    ):
        score(GAME, torch.nn.Linear(7, SQUARES), "logits")


def test_a_function_of_jax():
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    layers = weights("infostates")
    (first, bias), (second, other) = layers

    @jax.jit
    def observe(infostates, legal):
        return jax.numpy.tanh(infostates @ first + bias) @ second + other

    assert_same(score(GAME, observe, "logits"), score(GAME, plainly("infostates", layers), "logits"))


@pytest.mark.parametrize("kind", ["infostates", "observations"])
def test_an_onnx_file(tmp_path, kind):
    needs("onnxruntime")
    onnx = needs("onnx")
    layers = weights(kind)
    (first, bias), (second, other) = layers
    arrays = {"first": first, "bias": bias, "second": second, "other": other}
    make, number = onnx.helper.make_node, onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        [
            make("MatMul", ["seen", "first"], ["a"]),
            make("Add", ["a", "bias"], ["b"]),
            make("Tanh", ["b"], ["c"]),
            make("MatMul", ["c", "second"], ["d"]),
            make("Add", ["d", "other"], ["logits"]),
        ],
        "net",
        [onnx.helper.make_tensor_value_info("seen", number, ["batch", size_of(kind)])],
        [onnx.helper.make_tensor_value_info("logits", number, ["batch", SQUARES])],
        [onnx.numpy_helper.from_array(array, name) for name, array in arrays.items()],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    path = tmp_path / "net.onnx"
    onnx.save(model, str(path))
    assert_same(score(GAME, find_agent(str(path)), "logits"), score(GAME, plainly(kind, layers), "logits"))
    with pytest.raises(StrategyError, match=r"row 0 .*logits need --outputs logits"):
        score(GAME, find_agent(str(path)))
    with pytest.raises(ConfigError, match=f"takes {size_of(kind)} numbers, but information states have 52, .* 8"):
        score(pttt.game("dark-hex-2x2-abrupt"), find_agent(str(path)))
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 1
    onnx.save(model, str(path))
    with pytest.raises(ConfigError, match=r"net.onnx: The network takes batches of 1; export it for batches"):
        find_agent(str(path))


def save_cleanrl(torch, path, part, layers):
    found = {}
    for number, (matrix, bias) in zip((0, 2), layers, strict=True):
        found[f"{part}.{number}.weight"] = torch.from_numpy(matrix.T.copy())
        found[f"{part}.{number}.bias"] = torch.from_numpy(bias)
    if part == "actor":
        found["critic.0.weight"] = torch.zeros(1, 3)
    torch.save(found, path)


def relu(x):
    return np.maximum(x, 0)


@pytest.mark.parametrize("kind", ["infostates", "observations"])
def test_checkpoints_of_cleanrl(tmp_path, kind):
    torch = needs("torch")
    layers, path = weights(kind, 3), tmp_path / "run.cleanrl_model"
    save_cleanrl(torch, path, "actor", layers)
    expected = score(GAME, plainly(kind, layers), "logits")
    assert_same(score(GAME, find_agent(str(path))), expected)
    assert_same(score(GAME, find_agent(str(path)), "logits"), expected)
    save_cleanrl(torch, path, "network", layers)
    with pytest.raises(ConfigError, match="values of actions, not probabilities; score it with --greedy"):
        score(GAME, find_agent(str(path)))
    assert_same(
        score(GAME, find_agent(str(path)), greedy=True), score(GAME, plainly(kind, layers, relu), "logits", True)
    )


def test_a_checkpoint_of_cleanrl_with_another_network(tmp_path):
    torch = needs("torch")
    path = tmp_path / "run.cleanrl_model"
    for found in ({"body.0.weight": torch.zeros(2, 3)}, {"network.0.weight": torch.zeros(2, 3, 4, 4)}):
        torch.save(found, path)
        with pytest.raises(ConfigError, match="linear layers actor.0, actor.2"):
            find_agent(str(path))
    torch.save({"actor.weight": torch.zeros(2, 3), "network.0.weight": torch.zeros(2, 3, 4, 4)}, path)
    with pytest.raises(ConfigError, match="linear layers actor.0, actor.2"):
        find_agent(str(path))


def space(kind, by_name=False):
    from gymnasium import spaces

    shape = (size_of(kind),) if kind == "infostates" else (SQUARES, 2)
    box = spaces.Box(0, 1, shape, np.int8)
    return spaces.Dict({"observation": box, "action_mask": spaces.Box(0, 1, (SQUARES,), np.int8)}) if by_name else box


def table(observations):
    """An environment of these observations, which nobody steps."""
    import gymnasium

    class Table(gymnasium.Env):
        observation_space, action_space = observations, gymnasium.spaces.Discrete(SQUARES)

        def reset(self, seed=None, options=None):
            return self.observation_space.sample(), {}

    return Table()


@pytest.mark.parametrize("case", ["infostates", "observations", "by name"])
def test_checkpoints_of_stable_baselines(tmp_path, case):
    needs("torch")
    baselines = needs("stable_baselines3")
    by_name = case == "by name"
    kind = "observations" if by_name else case
    env, policy = table(space(kind, by_name)), "MultiInputPolicy" if by_name else "MlpPolicy"
    model = baselines.PPO(policy, env, n_steps=8, batch_size=8, seed=1, policy_kwargs={"net_arch": [7]}, device="cpu")
    path = tmp_path / "ppo.zip"
    model.save(path)

    def asked(seen, legal):
        given = seen if not by_name else {"observation": seen, "action_mask": legal.astype(np.int8)}
        return model.policy.get_distribution(model.policy.obs_to_tensor(given)[0]).distribution.logits.detach().numpy()

    def infostates_agent(infostates, legal):
        return asked(infostates.astype(np.int8), legal)

    def observations_agent(observations, legal):
        return asked(observations, legal)

    expected = score(GAME, infostates_agent if kind == "infostates" else observations_agent, "logits")
    found = score(GAME, find_agent(str(path)))
    assert_same(found, expected)
    assert abs(found.nashconv - 2 / 3) > 1e-4, "it is not uniform"


def test_values_of_stable_baselines_are_scored_greedily(tmp_path):
    needs("torch")
    baselines = needs("stable_baselines3")
    model = baselines.DQN("MlpPolicy", table(space("observations")), seed=2, buffer_size=10, device="cpu")
    model.save(tmp_path / "dqn.zip")
    agent = find_agent(str(tmp_path / "dqn.zip"))
    with pytest.raises(ConfigError, match="score it with --greedy"):
        score(GAME, agent)

    def values(observations, legal):
        return model.q_net(model.policy.obs_to_tensor(observations)[0]).detach().numpy()

    assert_same(score(GAME, agent, greedy=True), score(GAME, values, "logits", greedy=True))


def test_masked_ppo_of_the_contributions_to_stable_baselines(tmp_path):
    needs("torch")
    contrib = needs("sb3_contrib")
    model = contrib.MaskablePPO(
        "MlpPolicy", table(space("observations")), n_steps=8, batch_size=8, seed=1, device="cpu"
    )
    model.save(tmp_path / "masked.zip")

    def probabilities(observations, legal):
        given = model.policy.obs_to_tensor(observations)[0]
        return model.policy.get_distribution(given, action_masks=legal).distribution.probs.detach().numpy()

    assert_same(score(GAME, find_agent(str(tmp_path / "masked.zip"))), score(GAME, probabilities))


class Runtime:
    """What is used of onnxruntime, for networks with inputs of these shapes; the answer is what they are given."""

    def __init__(self, *shapes):
        self.shapes, self.InferenceSession = shapes, lambda path, providers: self

    def get_inputs(self):
        return [SimpleNamespace(name=f"input {n}", shape=shape) for n, shape in enumerate(self.shapes)]

    def run(self, outputs, given):
        return [given["input 0"]]


def test_the_inputs_of_an_onnx_file(tmp_path, monkeypatch):
    """One, for batches of any size; what it takes is what the agent is given."""
    path = tmp_path / "net.onnx"
    path.touch()
    infostates = np.random.default_rng(0).random((4, size_of("infostates"))) < 0.5
    legal = np.ones((4, SQUARES), np.bool_)
    seen = {
        "infostates": infostates.astype(np.float32),
        "observations": checkpoints.environment_observations(infostates, SQUARES, 1).reshape(4, -1),
    }

    def agent(*shapes):
        monkeypatch.setitem(sys.modules, "onnxruntime", Runtime(*shapes))
        return find_agent(str(path))

    for kind, width in (("infostates", size_of("infostates")), ("observations", size_of("observations"))):
        assert np.array_equal(agent(["batch", width])(infostates, legal, 1), seen[kind])
    for shape in (["batch", "width"], [None, None], []):
        assert np.array_equal(agent(shape)(infostates, legal, 1), seen["infostates"])
    with pytest.raises(ConfigError, match="The network takes 7 numbers, but information states have 54, and the env"):
        agent(["batch", 7])(infostates, legal, 1)
    for shapes in ((), (["batch", 54], ["batch", 54])):
        with pytest.raises(ConfigError, match=f"The network has {len(shapes)} inputs, but must have one"):
            agent(*shapes)
    with pytest.raises(ConfigError, match="The network takes batches of 1; export it"):
        agent([1, 54])


@pytest.mark.parametrize(
    ("name", "missing", "text"),
    [
        ("run.cleanrl_model", "torch", "A checkpoint of CleanRL needs torch, which is not installed; install with"),
        ("ppo.zip", "stable_baselines3", ".* of Stable-Baselines3 needs (torch and )?stable-baselines3, which"),
        ("net.onnx", "onnxruntime", "An agent in an ONNX file needs onnxruntime, which"),
    ],
)
def test_what_is_not_installed_is_named(tmp_path, monkeypatch, name, missing, text):
    path = tmp_path / name
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data", "{}")
        archive.writestr("policy.pth", "")
    for module in [one for one in sys.modules if one.startswith(f"{missing}.")]:
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingExtraError, match=text):
        find_agent(str(path))


@pytest.mark.parametrize(
    ("name", "library"), [("run.cleanrl_model", "torch"), ("ppo.zip", "stable_baselines3"), ("net.onnx", "onnxruntime")]
)
def test_damaged_files(tmp_path, name, library):
    needs(library)
    with zipfile.ZipFile(tmp_path / name, "w") as archive:
        archive.writestr("data", "{}")
        archive.writestr("policy.pth", "")
    kinds = "(an ONNX network|weights of torch|a checkpoint of Stable-Baselines3)"
    with pytest.raises(ConfigError, match=rf"{name}: It cannot be read as {kinds} .*[^.]\)\.$"):
        find_agent(str(tmp_path / name))


def test_zips_of_strategies_are_no_checkpoints(tmp_path):
    path = pttt.Strategy.uniform(GAME, 0).save(tmp_path / "mine.zip")
    assert checkpoints.read_checkpoint(path) is None and find_agent(str(path)) is None
    (tmp_path / "text.zip").write_text("no archive")
    assert find_agent(str(tmp_path / "text.zip")) is None
    with pytest.raises(ConfigError, match="There is no file"):
        find_agent(str(tmp_path / "none.zip"))


# ---------------------------------------------------------------------------------------------
# Agents with a memory


class Memory:
    """A small recurrent network, whose state depends on all attempts and their order."""

    def __init__(self, kind=np.asarray, seed=4, nested=False):
        rng = np.random.default_rng(seed)
        self.inner, self.outer = rng.normal(size=(2 * SQUARES + 4, 4)), rng.normal(size=(4, SQUARES))
        self.kind, self.nested, self.largest = kind, nested, 0

    def initial_state(self, batch):
        state = self.kind(np.zeros((batch, 4)))
        return {"h": (state, [state])} if self.nested else state

    def step(self, inputs, state, legal, player):
        assert inputs.dtype == legal.dtype == np.bool_ and legal.shape == (len(inputs), SQUARES)
        self.largest = max(self.largest, len(inputs))
        before = state["h"][1][0] if self.nested else state
        assert before.shape == (len(inputs), 4)
        after = np.tanh(np.concatenate([inputs, np.asarray(before)], axis=1) @ self.inner + player)
        numbers = np.where(legal, np.exp(after @ self.outer), 0)
        after = self.kind(after)
        return numbers / numbers.sum(axis=1, keepdims=True), {"h": (after, [after])} if self.nested else after

    def by_text(self, player):
        """The same, by a plain walk along the text of an infoset."""

        def policy(text):
            state, inputs = np.zeros(4), np.zeros(2 * SQUARES)
            for time in range(1, len(text) + 2, 2):
                state = np.tanh(np.concatenate([inputs, state]) @ self.inner + player)
                if time < len(text):
                    inputs = np.zeros(2 * SQUARES)
                    inputs[int(text[time]) + SQUARES * (text[time + 1] == ".")] = 1
            numbers = np.exp(state @ self.outer)
            numbers[[int(square) for square in text[1::2]]] = 0
            return numbers / numbers.sum()

        return policy


@pytest.mark.parametrize("rule", ["abrupt", "classical"])
@pytest.mark.parametrize("block", [1, 3, 65536])
def test_a_state_is_carried_along_from_infoset_to_infoset(rule, block):
    game, agent = pttt.game(f"mini-2x3k2-{rule}"), Memory()
    for player in (0, 1):
        mine = agent_strategy(game, player, agent, block=block)
        plain = pttt.Strategy.from_function(game, player, agent.by_text(player))
        assert np.abs(mine.tensor() - plain.tensor()).max() < 1e-12
    assert agent.largest <= block
    assert block < 3 or agent.largest > 1


def test_states_of_any_shape_and_kind():
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    expected = score(GAME, Memory())
    assert score(GAME, Memory(nested=True)) == expected
    assert score(GAME, Memory(jax.numpy.asarray)).nashconv == pytest.approx(expected.nashconv, abs=1e-5)


def test_states_of_torch():
    torch = needs("torch")
    assert score(GAME, Memory(torch.from_numpy)) == score(GAME, Memory())


def test_agents_with_a_memory_that_cannot_be_asked():
    with pytest.raises(ConfigError, match="begins with marks on the board"):
        agent_strategy(pttt.game("mini-2x3k2-abrupt-after-0"), 0, Memory())
    agent = Memory()
    agent.step = lambda inputs, state, legal, player: state
    with pytest.raises(StrategyError, match="must return a pair"):
        score(GAME, agent)
    opponents = tuple(pttt.Strategy.uniform(GAME, p) for p in (0, 1))
    with pytest.raises(ConfigError, match="leave out --games"):
        score_by_games(opponents, Memory(), 20)


def test_a_file_of_another_program_from_the_command_line(tmp_path, monkeypatch, capsys):
    torch = needs("torch")
    monkeypatch.chdir(tmp_path)
    layers = weights("observations", 3)
    save_cleanrl(torch, "run.cleanrl_model", "actor", layers)
    found = Runner(capsys, tmp_path / "data", GAME.name)("lab", "score", "run.cleanrl_model", "--json").json
    expected = score(GAME, plainly("observations", layers), "logits")
    assert found["nashconv"] == pytest.approx(expected.nashconv, abs=1e-5)


# ---------------------------------------------------------------------------------------------
# Examples


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "ending", "library"), [("ppo", "cleanrl_model", "torch"), ("stable_baselines", "zip", "sb3_contrib")]
)
def test_examples_train_agents_that_can_be_scored(tmp_path, program, ending, library):
    needs(library)
    command = [sys.executable, ROOT / f"examples/{program}.py", "--game", "mini-2x2k2-abrupt", "--steps", "600"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert done.returncode == 0, done.stderr
    agent = {p: find_agent(str(tmp_path / f"player{p}.{ending}")) for p in (0, 1)}
    found = score(pttt.game("mini-2x2k2-abrupt"), agent)
    assert 0 <= found.nashconv < 2 and " processor seconds" in done.stdout
