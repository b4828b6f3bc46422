"""PPO in the style of CleanRL: two networks learn from games against each other, and are saved for `pttt lab score`.

    pip install 'pttt-ooc[environments,scoring]'
    python examples/ppo.py --game dark-hex-3x3-classical --steps 200000
    pttt lab score player0.cleanrl_model player1.cleanrl_model --game dark-hex-3x3-classical

The games are the package's PettingZoo environments; nothing else of the package is used.  An observation has the
player's marks and failed attempts, but not their order, so that the networks cannot tell some infosets apart.
"""

import argparse
import time

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

from pttt_ooc.other_games.environments.catalogue import environment


class Agent(nn.Module):
    """The layers of CleanRL's ppo.py, which `pttt lab score` knows by their names."""

    def __init__(self, inputs, actions):
        super().__init__()
        self.actor = self.layers(inputs, actions, 0.01)
        self.critic = self.layers(inputs, 1, 1.0)

    def layers(self, inputs, outputs, std):
        sizes, found = (inputs, 64, 64, outputs), []
        for a, b in zip(sizes, sizes[1:], strict=False):
            linear = nn.Linear(a, b)
            nn.init.orthogonal_(linear.weight, std if b == outputs else 2**0.5)
            nn.init.zeros_(linear.bias)
            found += [linear, nn.Tanh()]
        return nn.Sequential(*found[:-1])

    def policy(self, seen, legal):
        return Categorical(logits=self.actor(seen).masked_fill(~legal, -1e9))


def games(envs, agents, steps):
    """Let both agents play in all environments, until each has made `steps` attempts in games that have ended."""
    done, running = [[], []], [[[], []] for _ in envs]
    for env in envs:
        env.reset()
    while min(map(len, done)) < steps:
        for player in (0, 1):
            chosen = [n for n, env in enumerate(envs) if env.agent_selection == f"player_{player}"]
            if not chosen:
                continue
            found = [envs[n].observe(f"player_{player}") for n in chosen]
            seen = torch.tensor(np.array([one["observation"].ravel() for one in found]), dtype=torch.float32)
            legal = torch.tensor(np.array([one["action_mask"] for one in found]), dtype=torch.bool)
            with torch.no_grad():
                policy, values = agents[player].policy(seen, legal), agents[player].critic(seen)[:, 0]
                actions = policy.sample()
                logs = policy.log_prob(actions)
            for k, n in enumerate(chosen):
                running[n][player].append([seen[k], legal[k], actions[k], logs[k], float(values[k])])
                envs[n].step(int(actions[k]))
                if all(envs[n].terminations.values()):
                    for p in (0, 1):
                        done[p] += advantages(running[n][p], envs[n].rewards[f"player_{p}"])
                    running[n] = [[], []]
                    envs[n].reset()
    return done


def advantages(game, reward, trace=0.95):
    """Generalised advantage estimation over one player's attempts of one game, whose only reward is the last."""
    found, advantage, after = [], 0.0, reward
    for seen, legal, action, log, value in reversed(game):
        advantage = after - value + (trace * advantage if found else 0.0)
        found.append((seen, legal, action, log, advantage, advantage + value))
        after = value
    return found


def update(agent, optimizer, steps, entropy, epochs=4, size=512, clip=0.2):
    """The clipped objective of PPO, with a bonus for entropy."""
    seen, legal, actions, logs = (torch.stack(part) for part in list(zip(*steps, strict=True))[:4])
    gains, returns = torch.tensor([one[4:] for one in steps], dtype=torch.float32).T
    gains = (gains - gains.mean()) / (gains.std() + 1e-8)
    for _ in range(epochs):
        for rows in torch.randperm(len(steps)).split(size):
            policy = agent.policy(seen[rows], legal[rows])
            ratio = (policy.log_prob(actions[rows]) - logs[rows]).exp()
            gain = torch.min(gains[rows] * ratio, gains[rows] * ratio.clamp(1 - clip, 1 + clip)).mean()
            error = (agent.critic(seen[rows])[:, 0] - returns[rows]).square().mean()
            loss = -gain + 0.5 * error - entropy * policy.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="dark-hex-3x3-classical", help="as `pttt info` lists them")
    parser.add_argument("--steps", type=int, default=200_000, help="attempts of each player")
    parser.add_argument("--entropy", type=float, default=0.05, help="weight of the entropy")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    envs = [environment(f"phantom:{options.game}") for _ in range(64)]
    actions = envs[0].action_space("player_0").n
    agents = [Agent(2 * actions, actions) for _ in (0, 1)]
    optimizers = [torch.optim.Adam(agent.parameters(), lr=1e-3, eps=1e-5) for agent in agents]
    made = 0
    while made < options.steps:
        played = games(envs, agents, min(4096, options.steps - made))
        made += min(map(len, played))
        for agent, optimizer, steps in zip(agents, optimizers, played, strict=True):
            update(agent, optimizer, steps, options.entropy)
    for player, agent in enumerate(agents):
        torch.save(agent.state_dict(), f"player{player}.cleanrl_model")
    print(f"{made:,} attempts of each player, {time.process_time():.0f} processor seconds")


if __name__ == "__main__":
    main()
