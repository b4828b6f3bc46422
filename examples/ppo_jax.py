"""PPO in JAX: one network plays both seats of many games at once, and is scored exactly on the way.

    pip install 'pttt-ooc[batched]'
    python examples/ppo_jax.py --game pttt-2x4k3-classical --steps 4000000

An observation is the seat and the information state, so that the network can tell all infosets apart.  The last network
goes round in circles; the bonus for entropy narrows them, and the mean of the weights of all networks, of which the
latest count most, is near their middle.  A line of the output has the mean exploitability of the mean and of the last.
"""

import argparse
import json
import time

import jax
import jax.numpy as jnp
import numpy as np

from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.library.scoring.scores import score
from pttt_ooc.other_games.environments.catalogue import batched_environment

GAMES, LENGTH = 512, 32  # games at once, and attempts in each before the network is improved
BATCHES, EPOCHS, CLIP, TRACE = 8, 4, 0.2, 0.95
RATE = 1e-3  # constant: were it to fall, the last circle would not be completed, and the mean not be in its middle
KEEP = 0.98  # how much of the mean stays, when a network is added to it


def make_network(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    scales = [2**0.5] * (len(sizes) - 2) + [0.01]
    layers = zip(keys, sizes, sizes[1:], scales, strict=False)
    return [(jax.nn.initializers.orthogonal(scale)(k, (a, b)), jnp.zeros(b)) for k, a, b, scale in layers]


def outputs(network, seen, legal):
    """Logarithms of probabilities, and the value for the player who observes."""
    x = seen.astype(jnp.float32)
    for matrix, bias in network[:-1]:
        x = jax.nn.relu(x @ matrix + bias)
    x = x @ network[-1][0] + network[-1][1]
    return jax.nn.log_softmax(jnp.where(legal, x[..., :-1], -1e9)), jnp.tanh(x[..., -1])


def play(env, network, states, key):
    """Let the network play: for each attempt what was seen, done and thought, and what it brought to both agents."""

    def advance(states, key):
        seen, legal, agent = states.observation, states.legal_action_mask, states.current_player
        logs, value = outputs(network, seen, legal)
        square = jax.random.categorical(key, logs)
        states = jax.vmap(env.step_and_reset)(states, square)
        log = jnp.take_along_axis(logs, square[:, None], 1)[:, 0]
        return states, (seen, legal, agent, square, log, value, states.rewards, states.terminated)

    return jax.lax.scan(advance, states, jax.random.split(key, LENGTH))


def targets_of(env, network, states, attempts):
    """Each attempt's target of the value, by TD(lambda) over the same agent's attempts in the game."""
    _, _, agents, _, _, values, rewards, ended = attempts
    everything = jnp.ones(states.legal_action_mask.shape, bool)
    after = [outputs(network, jax.vmap(env.observe, (0, None))(states, agent), everything)[1] for agent in (0, 1)]

    def back(carry, attempt):
        value, target = carry  # of each agent's next attempt in the game, or what its end brought
        agent, mine, reward, over = attempt
        value, target = (jnp.where(over[:, None], reward, one) for one in (value, target))
        acts = jax.nn.one_hot(agent, 2, dtype=bool)
        found = (1 - TRACE) * value + TRACE * target
        carry = jnp.where(acts, mine[:, None], value), jnp.where(acts, found, target)
        return carry, jnp.sum(acts * found, axis=1)

    last = jnp.stack(after, axis=1)
    return jax.lax.scan(back, (last, last), (agents, values, rewards, ended), reverse=True)[1]


def loss(network, batch, entropy):
    seen, legal, square, log, value, target = batch
    logs, found = outputs(network, seen, legal)
    ratio = jnp.exp(jnp.take_along_axis(logs, square[:, None], 1)[:, 0] - log)
    gain = target - value  # as it is: scaled, it would change what the entropy's weight means
    clipped = jnp.minimum(ratio * gain, jnp.clip(ratio, 1 - CLIP, 1 + CLIP) * gain)
    spread = -jnp.sum(jnp.exp(logs) * jnp.where(legal, logs, 0), axis=1)
    return jnp.mean(-clipped + 0.5 * (found - target) ** 2 - entropy * spread)


def adam(network, gradient, moments):
    """One step of Adam, the gradient's norm bounded by 0.5."""
    first, second, count = moments
    norm = jnp.sqrt(sum(jnp.sum(part**2) for part in jax.tree.leaves(gradient)))
    gradient = jax.tree.map(lambda g: g * jnp.minimum(1, 0.5 / (norm + 1e-8)), gradient)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
    second = jax.tree.map(lambda m, g: 0.999 * m + 0.001 * g**2, second, gradient)
    a, b = 1 - 0.9 ** (count + 1), 1 - 0.999 ** (count + 1)
    new = jax.tree.map(lambda w, m, v: w - RATE * (m / a) / (jnp.sqrt(v / b) + 1e-5), network, first, second)
    return new, (first, second, count + 1)


def improve(env, learner, states, key, entropy, keep):
    """Play, and learn from it; a learner is a network, Adam's moments, and the mean of networks."""
    network, moments, mean = learner
    key, own = jax.random.split(key)
    states, attempts = play(env, network, states, own)
    targets = targets_of(env, network, states, attempts)
    seen, legal, _, square, log, value, *_ = attempts
    flat = [one.reshape(GAMES * LENGTH, *one.shape[2:]) for one in (seen, legal, square, log, value, targets)]

    def learn(carry, rows):
        network, moments = carry
        gradient = jax.grad(loss)(network, [one[rows] for one in flat], entropy)
        return adam(network, gradient, moments), None

    keys = jax.random.split(key, EPOCHS)
    rows = jnp.concatenate([jax.random.permutation(k, GAMES * LENGTH).reshape(BATCHES, -1) for k in keys])
    (network, moments), _ = jax.lax.scan(learn, (network, moments), rows)
    return (network, moments, jax.tree.map(lambda old, new: keep * old + (1 - keep) * new, mean, network)), states


def exploitability_of(network, game):
    """Of both seats, exactly; the network is asked at single infosets."""

    def policy(observation, legal_action_mask):
        return jnp.exp(outputs(network, observation, legal_action_mask)[0])

    return round(score(game, policy).mean_exploitability, 5)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="pttt-2x4k3-classical", help="as `pttt info` lists them")
    parser.add_argument("--steps", type=int, default=4_000_000, help="attempts of both players")
    parser.add_argument("--points", type=int, default=8, help="how often the network is scored, beside the start")
    parser.add_argument("--entropy", type=float, default=0.05, help="weight of the entropy")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    game, env = named_game(options.game), batched_environment(options.game)
    weights, begin, key = jax.random.split(jax.random.PRNGKey(options.seed), 3)
    network = make_network(weights, (*env.observation_shape, 64, 64, env.num_actions + 1))
    zeros = jax.tree.map(jnp.zeros_like, network)
    learner, states = (network, (zeros, zeros, 0), network), jax.vmap(env.init)(jax.random.split(begin, GAMES))
    learn = jax.jit(lambda *given: improve(env, *given))
    rounds, spent = max(1, options.steps // (GAMES * LENGTH)), 0.0
    scored = set(np.linspace(0, rounds, options.points + 1).astype(int).tolist())
    for done in range(rounds + 1):
        if done in scored:
            point = {"seed": options.seed, "steps": done * GAMES * LENGTH, "seconds": round(spent, 1)}
            point |= {"mean": exploitability_of(learner[2], game), "last": exploitability_of(learner[0], game)}
            print(json.dumps(point), flush=True)
        begun = time.process_time()
        keep = min(KEEP, done / (done + 1))
        learner, states = learn(learner, states, jax.random.fold_in(key, done), options.entropy, keep)
        jax.block_until_ready(learner)
        spent += time.process_time() - begun


if __name__ == "__main__":
    main()
