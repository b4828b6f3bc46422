"""MaskablePPO of Stable-Baselines3's contributions against uniform opponents, saved for `pttt lab score`.

pip install 'pttt-ooc[environments,scoring]'
python examples/stable_baselines.py --game dark-hex-3x3-classical --steps 30000
pttt lab score player0.zip player1.zip --game dark-hex-3x3-classical
"""

import argparse
import time

import gymnasium
import numpy as np
import torch
from sb3_contrib import MaskablePPO

from pttt_ooc.other_games.environments.catalogue import environment


class AgainstUniform(gymnasium.Env):
    """One player's side of a game of two."""

    def __init__(self, game, player):
        self.env, self.me = environment(f"phantom:{game}"), f"player_{player}"
        self.observation_space = self.env.observation_space(self.me)["observation"]
        self.action_space = self.env.action_space(self.me)

    def action_masks(self):
        return self.env.observe(self.me)["action_mask"].astype(bool)

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)  # makes np_random, of which the opponent's attempts are drawn
        self.env.reset(seed=seed)
        self.let_the_other_play()
        return self.env.observe(self.me)["observation"], {}

    def let_the_other_play(self):
        while self.env.agent_selection != self.me and not any(self.env.terminations.values()):
            mask = self.env.observe(self.env.agent_selection)["action_mask"]
            self.env.step(int(self.np_random.choice(np.flatnonzero(mask))))

    def step(self, action):
        self.env.step(int(action))
        self.let_the_other_play()
        over = self.env.terminations[self.me]
        return self.env.observe(self.me)["observation"], self.env.rewards[self.me], over, False, {}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="dark-hex-3x3-classical", help="as `pttt info` lists them")
    parser.add_argument("--steps", type=int, default=30_000, help="attempts of each player")
    options = parser.parse_args()
    torch.set_num_threads(1)
    for player in (0, 1):
        env = AgainstUniform(options.game, player)
        model = MaskablePPO("MlpPolicy", env, gamma=1.0, seed=player, device="cpu")
        model.learn(options.steps)
        model.save(f"player{player}.zip")
    print(f"{options.steps:,} attempts of each player, {time.process_time():.0f} processor seconds")


if __name__ == "__main__":
    main()
